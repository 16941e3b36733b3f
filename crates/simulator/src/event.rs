//! The event list: a 4-ary implicit heap ordered by time, then by order of insertion.

use layercast_protocol::units::Time;

/// When an event happens and its place among events of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) time: Time,
    pub(crate) order: u64,
}

impl Key {
    /// The key as one number of the same order. Comparing it takes no branch, which the processor
    /// would guess wrong half of the time.
    #[inline]
    fn rank(self) -> u128 {
        u128::from(self.time.as_ns()) << 64 | u128::from(self.order)
    }
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The head of a link's wire reaches the far end.
    Arrival(u32),
    /// The same at a run of links, each two numbers after the one before, at the same instant and
    /// with order numbers that go up by two.
    Arrivals { first: u32, count: u32 },
    /// A link's transmitter becomes free while packets wait.
    Free(u32),
    /// A link changes.
    Change(u32),
    /// An agent's deadline, or an older one of it that has become stale.
    Timer(u32),
    /// A scheduled change of membership comes into force.
    Membership { route: u32, slot: u32 },
    /// An agent starts.
    Start(u32),
    /// An agent stops.
    Stop(u32),
    /// An agent is gone all of a sudden.
    Crash(u32),
}

/// Arrivals to be entered in the event list, one entry for as many as follow each other. A packet
/// that sets out to all children of a node at once takes one entry, not one for each.
#[derive(Debug)]
pub(crate) struct ArrivalRun {
    key: Key,
    first: u32,
    count: u32,
}

impl ArrivalRun {
    /// How far apart the links of a run are: both directions of a link stand together.
    const LINK_STEP: u32 = 2;
    /// How far apart their order numbers are: a transmission takes one for the arrival and one for
    /// the release of the transmitter.
    const ORDER_STEP: u64 = 2;

    /// No arrivals yet.
    pub(crate) fn new() -> ArrivalRun {
        ArrivalRun { key: Key { time: Time::ZERO, order: 0 }, first: 0, count: 0 }
    }

    /// The link and the key of arrival `index` of the run that starts with these.
    #[inline]
    pub(crate) fn nth(first: u32, key: Key, index: u32) -> (u32, Key) {
        let order = key.order + Self::ORDER_STEP * u64::from(index);
        (first + Self::LINK_STEP * index, Key { time: key.time, order })
    }

    /// Adds an arrival; what does not go on with it is entered.
    #[inline]
    pub(crate) fn add(&mut self, events: &mut EventQueue, link: u32, key: Key) {
        if self.count > 0 && Self::nth(self.first, self.key, self.count) == (link, key) {
            self.count += 1;
        } else {
            self.enter(events);
            *self = ArrivalRun { key, first: link, count: 1 };
        }
    }

    /// Enters what was added.
    #[inline]
    pub(crate) fn enter(&mut self, events: &mut EventQueue) {
        match std::mem::take(&mut self.count) {
            0 => {}
            1 => events.push(self.key, Event::Arrival(self.first)),
            count => events.push(self.key, Event::Arrivals { first: self.first, count }),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    event: Event,
}

/// The pending events.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    next_order: u64,
}

const ARITY: usize = 4;

impl EventQueue {
    /// Takes the next order number. Whoever causes an event takes its number at that moment, even
    /// if the event enters the list later, so that ties fall as if it had been there all along.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    /// A key at `time` with a fresh order number.
    pub(crate) fn key_at(&mut self, time: Time) -> Key {
        Key { time, order: self.next_order() }
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, key: Key, event: Event) {
        self.heap.push(Entry { key, event });
        self.sift_up(self.heap.len() - 1);
    }

    /// The first event, if it is not after `end`.
    pub(crate) fn first(&self, end: Time) -> Option<(Key, Event)> {
        self.heap.first().filter(|entry| entry.key.time <= end).map(|entry| (entry.key, entry.event))
    }

    /// Removes the first event.
    pub(crate) fn remove_first(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down_from_top(last);
        }
    }

    /// Replaces the first event by another: cheaper than removing and adding.
    pub(crate) fn replace_first(&mut self, key: Key, event: Event) {
        self.sift_down_from_top(Entry { key, event });
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent].key <= entry.key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Puts `entry` into the hole at the top and restores the order.
    fn sift_down_from_top(&mut self, entry: Entry) {
        let length = self.heap.len();
        let rank = entry.key.rank();
        let mut at = 0;
        loop {
            let first_child = at * ARITY + 1;
            if first_child >= length {
                break;
            }
            let least = first_child + least_of(&self.heap[first_child..(first_child + ARITY).min(length)]);
            let child = self.heap[least];
            if rank <= child.key.rank() {
                break;
            }
            self.heap[at] = child;
            at = least;
        }
        self.heap[at] = entry;
    }
}

/// The index of the first of some siblings.
#[inline]
fn least_of(siblings: &[Entry]) -> usize {
    if let [a, b, c, d] = siblings {
        // In two rounds, so that the comparisons do not wait for each other.
        let ranks = [a.key.rank(), b.key.rank(), c.key.rank(), d.key.rank()];
        let left = usize::from(ranks[1] < ranks[0]);
        let right = 2 + usize::from(ranks[3] < ranks[2]);
        return if ranks[right] < ranks[left] { right } else { left };
    }
    let ranks = siblings.iter().map(|entry| entry.key.rank()).enumerate();
    ranks.min_by_key(|&(_, rank)| rank).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_protocol::stream::Stream;

    #[test]
    fn serves_by_time_then_by_insertion() {
        let mut queue = EventQueue::default();
        let mut stream = Stream::new(1, "events");
        let mut expected = Vec::new();
        for i in 0..1000 {
            let key = queue.key_at(Time::from_ns(stream.bits() % 50));
            queue.push(key, Event::Timer(i));
            expected.push((key, Event::Timer(i)));
        }
        expected.sort_by_key(|&(key, _)| key);
        let mut served = Vec::new();
        while let Some(first) = queue.first(Time::MAX) {
            queue.remove_first();
            served.push(first);
        }
        assert_eq!(served, expected);
    }

    #[test]
    fn replacing_the_first_keeps_the_order() {
        let mut queue = EventQueue::default();
        for i in 0..20 {
            let key = queue.key_at(Time::from_ns(10 * i));
            queue.push(key, Event::Free(i as u32));
        }
        let key = queue.key_at(Time::from_ns(55));
        queue.replace_first(key, Event::Arrival(7));
        let mut times = Vec::new();
        while let Some((key, _)) = queue.first(Time::MAX) {
            queue.remove_first();
            times.push(key.time.as_ns());
        }
        assert_eq!(times.len(), 20);
        assert!(times.is_sorted());
        assert!(times.contains(&55));
    }
}
