//! Which packets a receiver has, and which share of the latest ones was lost.

use alloc::vec::Vec;

use crate::nca::Options;
use layercast_core::units::Seq;

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrivalOutcome {
    /// It was new or a duplicate.
    InOrder,
    /// It was new, and packets before it are found missing.
    AfterGap,
    /// It is further ahead than a source may send.
    Refused,
}

/// The packets of a receiver.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    /// By number modulo the length: whether the packet is present. Valid between `complete` and `next` alone.
    held: Vec<bool>,
    /// How many packets from the beginning are present.
    complete: Seq,
    /// The number after the highest one known.
    next: Seq,
    /// What `complete` was at the last delivery.
    delivered: Seq,
    started: bool,
    /// Whether a missing packet is no longer available anywhere.
    broken: bool,
    /// Whether each of the last packets was lost at first. A ring.
    lost: Vec<bool>,
    lost_count: u32,
    measured: u64,
}

impl Reception {
    pub(super) fn new(options: &Options) -> Reception {
        Reception {
            held: alloc::vec![false; options.buffer as usize],
            complete: Seq(0),
            next: Seq(0),
            delivered: Seq(0),
            started: false,
            broken: false,
            lost: alloc::vec![false; options.loss_window as usize],
            lost_count: 0,
            measured: 0,
        }
    }

    /// How many packets from the beginning are present.
    pub(super) fn complete(&self) -> Seq {
        self.complete
    }

    /// The number after the highest one known.
    pub(super) fn next(&self) -> Seq {
        self.next
    }

    /// The loss rate over the last packets.
    pub(super) fn loss(&self) -> f64 {
        let packets = self.measured.min(self.lost.len() as u64);
        if packets == 0 { 0.0 } else { f64::from(self.lost_count) / packets as f64 }
    }

    /// Whether a packet has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.started
    }

    /// The first packet that is wanted, since those before it are no longer available, and the first that came. Those between
    /// them passed before the receiver came, as a rule: they are missing, and do not count as lost.
    pub(super) fn begin(&mut self, first: Seq, came: Seq) {
        (self.complete, self.next, self.delivered) = (first, first, first);
        if came.0 - first.0 < self.held.len() as u64 {
            self.next = came;
        }
        self.started = true;
    }

    /// A packet arrived.
    pub(super) fn accept(&mut self, seq: Seq, is_repair: bool) -> ArrivalOutcome {
        if seq < self.complete {
            return ArrivalOutcome::InOrder;
        }
        if seq.0 - self.complete.0 >= self.held.len() as u64 {
            return ArrivalOutcome::Refused;
        }
        let gap = seq > self.next;
        while self.next <= seq {
            let missed = self.next < seq || is_repair;
            let slot = self.slot(self.next);
            self.held[slot] = false;
            self.record_loss(missed);
            self.next = Seq(self.next.0 + 1);
        }
        let slot = self.slot(seq);
        self.held[slot] = true;
        self.advance();
        if gap { ArrivalOutcome::AfterGap } else { ArrivalOutcome::InOrder }
    }

    /// Packets before this number are no longer kept anywhere. If one of them is missing, delivery ends: it
    /// would not be in order.
    pub(super) fn forget(&mut self, before: Seq) {
        let before = before.min(self.next);
        if before > self.complete {
            self.complete = before;
            self.broken = true;
            self.advance();
        }
    }

    /// The last packet to deliver, if there are new ones.
    pub(super) fn deliver(&mut self) -> Option<Seq> {
        (self.complete > self.delivered && !self.broken).then(|| {
            self.delivered = self.complete;
            Seq(self.complete.0 - 1)
        })
    }

    /// The first missing packet, and which of the 32 after it are missing.
    pub(super) fn missing(&self) -> Option<(Seq, u32)> {
        (self.complete < self.next).then(|| {
            let offsets = (0..u32::BITS).filter(|&bit| {
                let seq = Seq(self.complete.0 + 1 + u64::from(bit));
                seq < self.next && !self.held[self.slot(seq)]
            });
            (self.complete, offsets.fold(0, |more, bit| more | 1 << bit))
        })
    }

    fn advance(&mut self) {
        while self.complete < self.next && self.held[self.slot(self.complete)] {
            self.complete = Seq(self.complete.0 + 1);
        }
    }

    fn record_loss(&mut self, missed: bool) {
        let place = (self.measured % self.lost.len() as u64) as usize;
        let before = core::mem::replace(&mut self.lost[place], missed);
        self.lost_count = self.lost_count + u32::from(missed) - u32::from(before);
        self.measured += 1;
    }

    fn slot(&self, seq: Seq) -> usize {
        (seq.0 % self.held.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_reported_once_and_filled_in_any_order() {
        let mut reception = Reception::new(&Options { buffer: 8, ..Options::default() });
        assert_eq!(reception.accept(Seq(0), false), ArrivalOutcome::InOrder);
        assert_eq!(reception.deliver(), Some(Seq(0)));
        assert_eq!(reception.accept(Seq(4), false), ArrivalOutcome::AfterGap);
        assert_eq!(reception.missing(), Some((Seq(1), 0b11)));
        assert_eq!(reception.accept(Seq(2), true), ArrivalOutcome::InOrder);
        assert_eq!(reception.missing(), Some((Seq(1), 0b10)));
        assert_eq!(reception.deliver(), None);
        assert_eq!(reception.accept(Seq(9), false), ArrivalOutcome::Refused);
        reception.accept(Seq(1), true);
        assert_eq!(reception.deliver(), Some(Seq(2)));
        reception.accept(Seq(3), true);
        assert_eq!((reception.deliver(), reception.missing()), (Some(Seq(4)), None));
        assert_eq!(reception.loss(), 0.6, "three of five came late");
    }

    #[test]
    fn what_passed_before_a_receiver_came_is_missing_but_was_not_lost() {
        let mut reception = Reception::new(&Options { buffer: 8, ..Options::default() });
        reception.begin(Seq(1), Seq(4));
        reception.accept(Seq(4), false);
        assert_eq!((reception.missing(), reception.loss()), (Some((Seq(1), 0b11)), 0.0));
        for seq in 1..4 {
            reception.accept(Seq(seq), true);
        }
        assert_eq!((reception.deliver(), reception.loss()), (Some(Seq(4)), 0.0));
    }

    #[test]
    fn what_others_gave_up_ends_the_delivery_in_order() {
        let mut reception = Reception::new(&Options { buffer: 8, ..Options::default() });
        reception.begin(Seq(3), Seq(3));
        reception.accept(Seq(3), false);
        assert_eq!(reception.deliver(), Some(Seq(3)));
        reception.accept(Seq(5), false);
        reception.forget(Seq(5));
        assert_eq!((reception.complete(), reception.missing()), (Seq(6), None));
        assert_eq!(reception.deliver(), None);
    }
}
