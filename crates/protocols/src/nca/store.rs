//! The packets that the source and the repair servers keep for repairs.

use alloc::vec::Vec;

use layercast_core::contract::{ChildLink, ChildSet};
use layercast_core::units::{Duration, Seq, Time};

/// A slot for a packet, and the links that requested it.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The number of the packet that the slot is for.
    seq: Seq,
    /// Whether the host has it.
    held: bool,
    /// The links on which it was repaired at `repaired_at`, or a little later.
    repaired: ChildSet,
    repaired_at: Time,
    /// The links that wait for it.
    waiting: ChildSet,
    /// When it was requested from above.
    asked_at: Option<Time>,
}

/// How to answer a request for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Send it on the link.
    Repair,
    /// Request it from above.
    Ask,
    /// Ignore it: it was answered a moment ago, or the packet is too old.
    Nothing,
}

/// The last packets, a fixed number of them.
#[derive(Clone, Debug)]
pub(super) struct Store {
    slots: Vec<Slot>,
    hold: Duration,
    /// The number after the highest one held.
    next: Seq,
}

impl Store {
    /// Room for `size` packets. Nothing is repeated within `hold`.
    pub(super) fn new(size: u32, hold: Duration) -> Store {
        let slots = (0..u64::from(size.max(1))).map(|seq| Slot { seq: Seq(seq), ..Slot::default() });
        Store { slots: slots.collect(), hold, next: Seq(0) }
    }

    /// The number after the highest one held.
    pub(super) fn next(&self) -> Seq {
        self.next
    }

    /// The first number that the store has room for.
    fn first(&self) -> Seq {
        Seq(self.next.0.saturating_sub(self.slots.len() as u64))
    }

    /// A packet arrived, or was sent. Returns the links that wait for it.
    pub(super) fn insert(&mut self, seq: Seq, now: Time) -> ChildSet {
        if seq < self.first() {
            return ChildSet(0);
        }
        self.next = self.next.max(Seq(seq.0 + 1));
        let slot = self.slot(seq);
        slot.held = true;
        let waiting = core::mem::take(&mut slot.waiting);
        if waiting.0 != 0 {
            (slot.repaired, slot.repaired_at) = (waiting, now);
        }
        waiting
    }

    /// A link requests a packet. An unknown number is not remembered, so that a forged
    /// one has no effect.
    pub(super) fn request(&mut self, seq: Seq, link: ChildLink, now: Time) -> Request {
        if seq < self.first() || seq >= self.next {
            return Request::Nothing;
        }
        let hold = self.hold;
        let bit = link.bit();
        let slot = self.slot(seq);
        if !slot.held {
            slot.waiting.0 |= bit;
            if slot.asked_at.is_some_and(|at| now.since(at) < hold) {
                return Request::Nothing;
            }
            slot.asked_at = Some(now);
            return Request::Ask;
        }
        if now.since(slot.repaired_at) >= hold {
            slot.repaired = ChildSet(0);
        }
        if bit == 0 || slot.repaired.0 & bit != 0 {
            return Request::Nothing;
        }
        slot.repaired.0 |= bit;
        slot.repaired_at = now;
        Request::Repair
    }

    /// A packet was found missing, and is requested from above.
    pub(super) fn on_missing(&mut self, seq: Seq, now: Time) {
        if seq >= self.first() {
            self.slot(seq).asked_at = Some(now);
        }
    }

    /// The slot of a number that is not too old, emptied if it was another packet's.
    fn slot(&mut self, seq: Seq) -> &mut Slot {
        let size = self.slots.len() as u64;
        let slot = &mut self.slots[(seq.0 % size) as usize];
        if slot.seq != seq {
            *slot = Slot { seq, ..Slot::default() };
        }
        slot
    }

    /// The highest number that has fallen out of the store.
    pub(super) fn forgotten(&self) -> Option<Seq> {
        self.first().0.checked_sub(1).map(Seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_is_sent_once_on_a_link_within_the_hold() {
        let mut store = Store::new(8, Duration::from_ms(100));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        store.insert(Seq(0), at(0));
        let ask = |store: &mut Store, link, ms| store.request(Seq(0), ChildLink(link), at(ms));
        assert_eq!(ask(&mut store, 0, 500), Request::Repair);
        assert_eq!(ask(&mut store, 0, 550), Request::Nothing);
        assert_eq!(ask(&mut store, 1, 560), Request::Repair);
        assert_eq!(ask(&mut store, 0, 700), Request::Repair);
        assert_eq!(ask(&mut store, 64, 900), Request::Nothing, "there is no such link");
    }

    #[test]
    fn a_missing_packet_is_requested_once_and_goes_to_the_links_that_wait() {
        let mut store = Store::new(8, Duration::from_ms(100));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        store.insert(Seq(2), at(0));
        assert_eq!(store.request(Seq(1), ChildLink(3), at(1)), Request::Ask);
        assert_eq!(store.request(Seq(1), ChildLink(5), at(2)), Request::Nothing);
        assert_eq!(store.insert(Seq(1), at(30)), ChildSet(1 << 3 | 1 << 5));
        assert_eq!(store.request(Seq(1), ChildLink(5), at(40)), Request::Nothing);
        assert_eq!(store.request(Seq(3), ChildLink(5), at(40)), Request::Nothing, "not sent yet");
        store.insert(Seq(20), at(50));
        assert_eq!(store.request(Seq(12), ChildLink(0), at(60)), Request::Nothing, "too old");
        assert_eq!(store.request(Seq(13), ChildLink(0), at(60)), Request::Ask);
        assert_eq!(store.forgotten(), Some(Seq(12)));
    }
}
