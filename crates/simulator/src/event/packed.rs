//! An event in one word.

use super::Event;

/// An event as an entry of the list holds it: its kind in the lowest bits, its numbers above.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed(u64);

const ARRIVAL: u64 = 0;
const KIND_BITS: u32 = 4;
const NUMBER_BITS: u32 = 30;
const KIND: u64 = (1 << KIND_BITS) - 1;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;

impl Packed {
    #[inline]
    fn new(kind: u64, first: u32, second: u32) -> Packed {
        let (first, second) = (u64::from(first), u64::from(second));
        // A billion links, agents or scheduled changes do not fit into the memory of any machine.
        debug_assert!(kind <= KIND && first <= NUMBER && second <= NUMBER);
        Packed(kind | first << KIND_BITS | second << (KIND_BITS + NUMBER_BITS))
    }

    #[inline]
    fn first(self) -> u32 {
        (self.0 >> KIND_BITS & NUMBER) as u32
    }

    #[inline]
    fn second(self) -> u32 {
        (self.0 >> (KIND_BITS + NUMBER_BITS)) as u32
    }

    /// The link, if it is a single arrival.
    #[inline]
    pub(super) fn arrival(self) -> Option<u32> {
        (self.0 & KIND == ARRIVAL).then(|| self.first())
    }

    /// The event.
    #[inline]
    pub(super) fn event(self) -> Event {
        let first = self.first();
        match self.0 & KIND {
            ARRIVAL => Event::Arrival(first),
            1 => Event::Arrivals { first, count: self.second() },
            2 => Event::Free(first),
            3 => Event::Change(first),
            4 => Event::Timer(first),
            5 => Event::Membership { route: first, slot: self.second() },
            6 => Event::Start(first),
            7 => Event::Stop(first),
            _ => Event::Crash(first),
        }
    }
}

impl From<Event> for Packed {
    #[inline]
    fn from(event: Event) -> Packed {
        match event {
            Event::Arrival(link) => Packed::new(ARRIVAL, link, 0),
            Event::Arrivals { first, count } => Packed::new(1, first, count),
            Event::Free(link) => Packed::new(2, link, 0),
            Event::Change(link) => Packed::new(3, link, 0),
            Event::Timer(agent) => Packed::new(4, agent, 0),
            Event::Membership { route, slot } => Packed::new(5, route, slot),
            Event::Start(agent) => Packed::new(6, agent, 0),
            Event::Stop(agent) => Packed::new(7, agent, 0),
            Event::Crash(agent) => Packed::new(8, agent, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_what_it_was() {
        let most = NUMBER as u32;
        for (a, b) in [(0, 0), (1, 2), (most, 0), (0, most), (most, most)] {
            for event in [
                Event::Arrival(a),
                Event::Arrivals { first: a, count: b },
                Event::Free(a),
                Event::Change(a),
                Event::Timer(a),
                Event::Membership { route: a, slot: b },
                Event::Start(a),
                Event::Stop(a),
                Event::Crash(a),
            ] {
                assert_eq!(Packed::from(event).event(), event);
            }
        }
    }
}
