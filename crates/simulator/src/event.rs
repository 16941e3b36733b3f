//! The event list, ordered by time, then by order of insertion.

mod heap;
mod packed;
mod wheel;

use layercast_core::units::Time;

use self::heap::Heap;
use self::packed::Packed;
use self::wheel::TimingWheel;

/// The time of an event, and its order among events of the same instant.
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
    /// Arrivals at a run of links whose numbers increase by two, at one instant, with order numbers that
    /// increase by two.
    Arrivals { first: u32, count: u32 },
    /// A link's transmitter becomes free while packets wait.
    Free(u32),
    /// A link changes.
    Change(u32),
    /// An agent's deadline, or an older one of it that has become stale.
    Timer(u32),
    /// A scheduled change of membership takes effect.
    Membership { route: u32, slot: u32 },
    /// An agent starts.
    Start(u32),
    /// An agent stops.
    Stop(u32),
    /// An agent crashes.
    Crash(u32),
}

/// Arrivals to be entered in the event list, one entry for as many as follow each other. A packet sent to
/// all children of a node at once takes one entry instead of one per child.
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

    /// Adds an arrival; what cannot extend the run is entered.
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

/// An event and when it happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    event: Packed,
}

impl Entry {
    /// The event.
    #[inline]
    pub(crate) fn event(&self) -> Event {
        self.event.event()
    }

    /// The link, if the event is a single arrival, as most are. This takes a comparison and not a jump
    /// through a table.
    #[inline]
    pub(crate) fn arrival(&self) -> Option<u32> {
        self.event.arrival()
    }
}

/// For how many entries each part of the list has room from the start, so that a reshaped wheel that holds
/// more than any before does not allocate, except in large networks.
const ROOM: usize = 64;

/// The pending events: those of the next slots of time in a wheel, later ones in a heap. Most events are
/// therefore entered and removed in constant time, and distant events do not slow down near ones.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    wheel: TimingWheel,
    /// Entries that were beyond the wheel when they came, or had no place in a crowded slot.
    far: Heap,
    next_order: u64,
}

impl EventQueue {
    /// Takes the next order number. The cause of an event takes the number at that moment, even if the
    /// event enters the list later, so that ties are resolved as if it had been entered at once.
    #[inline]
    pub(crate) fn next_order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    /// A key at `time` with a fresh order number.
    #[inline]
    pub(crate) fn key_at(&mut self, time: Time) -> Key {
        Key { time, order: self.next_order() }
    }

    /// Adds an event.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: Key, event: Event) {
        self.wheel.push(key, event.into(), &mut self.far);
    }

    /// The first event, if it is not after `end`.
    #[inline]
    pub(crate) fn first(&mut self, end: Time) -> Option<(Key, Event)> {
        if self.wheel.first().is_none() {
            self.advance();
        }
        let first = match (self.wheel.first(), self.far.first()) {
            (Some(near), Some(far)) if far.key < near.key => far,
            (None, far) => far?,
            (Some(near), _) => near,
        };
        (first.key.time <= end).then(|| (first.key, first.event.event()))
    }

    /// Takes the entry of the first event, if it is not after `end`.
    #[inline(always)]
    pub(crate) fn pop_entry(&mut self, end: Time) -> Option<Entry> {
        if self.wheel.first().is_none() {
            self.advance();
        }
        let first = match (self.wheel.first(), self.far.first()) {
            (Some(&near), far) if far.is_none_or(|far| near.key.rank() < far.key.rank()) => near,
            _ => return self.pop_far(end),
        };
        if first.key.time > end {
            return None;
        }
        self.wheel.remove_first();
        Some(first)
    }

    #[inline(never)]
    fn pop_far(&mut self, end: Time) -> Option<Entry> {
        let first = self.far.first().filter(|entry| entry.key.time <= end).copied()?;
        self.far.remove_first();
        Some(first)
    }

    /// Takes the first event, if it is not after `end`.
    #[cfg(test)]
    pub(crate) fn pop(&mut self, end: Time) -> Option<(Key, Event)> {
        self.pop_entry(end).map(|entry| (entry.key, entry.event()))
    }

    /// Goes on to the next slot that has entries.
    #[inline(never)]
    fn advance(&mut self) {
        if self.wheel.is_adaptation_due() {
            self.wheel.adapt_slots(&mut self.far);
            if self.wheel.first().is_some() {
                return;
            }
        }
        self.wheel.advance(&mut self.far);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use layercast_core::stream::Stream;

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
        while let Some(first) = queue.pop(Time::MAX) {
            served.push(first);
        }
        assert_eq!(served, expected);
    }

    #[test]
    fn an_event_that_causes_another_keeps_the_order() {
        let mut queue = EventQueue::default();
        for i in 0..20 {
            let key = queue.key_at(Time::from_ns(10 * i));
            queue.push(key, Event::Free(i as u32));
        }
        let key = queue.key_at(Time::from_ns(55));
        assert!(queue.pop(Time::MAX).is_some());
        queue.push(key, Event::Arrival(7));
        let mut times = Vec::new();
        while let Some((key, _)) = queue.pop(Time::MAX) {
            times.push(key.time.as_ns());
        }
        assert_eq!(times.len(), 20);
        assert!(times.is_sorted());
        assert!(times.contains(&55));
    }

    use proptest::prelude::*;

    /// What the caller of the list does.
    #[derive(Clone, Copy, Debug)]
    enum Operation {
        /// Adds an event so long after the last one served.
        Push(u64),
        /// Serves the first event that is not after so long after the last one.
        Serve(u64),
        /// Serves the first event, which causes another so long after it.
        Replace(u64),
    }

    fn operations() -> impl Strategy<Value = Vec<Operation>> {
        // From ties up to minutes, so that slots of all lengths occur.
        let after =
            prop_oneof![Just(0u64), 0u64..100, 0u64..100_000, 0u64..50_000_000, 0u64..200_000_000_000];
        let operation = (0..5, after).prop_map(|(kind, after)| match kind {
            0 | 1 => Operation::Push(after),
            2 => Operation::Replace(after),
            _ => Operation::Serve(after),
        });
        prop::collection::vec(operation, 1..300)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is done: the first is the least of all that were added and not served.
        #[test]
        fn the_first_is_the_least(operations in operations()) {
            let mut queue = EventQueue::default();
            let mut model = std::collections::BTreeSet::new();
            let mut now = 0;
            for operation in operations {
                match operation {
                    Operation::Push(after) => {
                        let key = queue.key_at(Time::from_ns(now + after));
                        queue.push(key, Event::Timer(1));
                        model.insert(key);
                    }
                    Operation::Serve(after) => {
                        let end = Time::from_ns(now + after);
                        let first = queue.first(end).map(|(key, _)| key);
                        prop_assert_eq!(first, model.first().copied().filter(|key| key.time <= end));
                        prop_assert_eq!(queue.pop(end).map(|(key, _)| key), first);
                        if let Some(key) = first {
                            model.remove(&key);
                            now = key.time.as_ns();
                        }
                    }
                    Operation::Replace(after) => {
                        let first = queue.pop(Time::MAX).map(|(key, _)| key);
                        prop_assert_eq!(first, model.first().copied());
                        if let Some(key) = first {
                            let next = queue.key_at(Time::from_ns(key.time.as_ns() + after));
                            queue.push(next, Event::Timer(2));
                            model.remove(&key);
                            model.insert(next);
                            now = key.time.as_ns();
                        }
                    }
                }
            }
        }
    }

    /// A load that is served long enough for slots to be made shorter, then longer, then shorter.
    #[test]
    fn slots_of_another_length_hold_the_same_events() {
        let mut queue = EventQueue::default();
        let mut stream = Stream::new(1, "events");
        let mut last = Key { time: Time::ZERO, order: 0 };
        for number in 0..64 {
            let key = queue.key_at(Time::from_ns(number));
            queue.push(key, Event::Timer(0));
        }
        let mut served = 0;
        for bound in [1_000, 30_000_000_000, 100_000] {
            for _ in 0..200_000 {
                let (key, _) = queue.pop(Time::MAX).unwrap();
                assert!(key > last);
                (last, served) = (key, served + 1);
                let next = queue.key_at(Time::from_ns(key.time.as_ns() + stream.bits() % bound));
                queue.push(next, Event::Timer(0));
            }
        }
        let mut left = 0;
        while queue.pop(Time::MAX).is_some() {
            left += 1;
        }
        assert_eq!((served, left), (600_000, 64));
    }
}
