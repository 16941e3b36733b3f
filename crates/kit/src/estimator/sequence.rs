//! Sequence numbers of one layer: what arrives, and what is lost (thesis, section 6.2.2; RFC 5348,
//! section 5.1).
//!
//! Each layer numbers its own packets, since a receiver may be subscribed to any subset of the layers. A
//! missing number is lost once enough higher ones have arrived, or once a higher one is old enough. The
//! tracker keeps only the open holes: at most as many as higher packets are needed, so its memory is small
//! and fixed.

mod seen;

use alloc::vec::Vec;

use self::seen::Seen;
use super::{Packet, SendTime};
use layercast_core::units::{Duration, Layer, Rate, Seq, Size, Time, WireSeq};

/// The estimated send time of lost packet `lost` between two packets that arrived, `before` and
/// `after`: interpolated, rounded down to whole microseconds.
pub fn lost_send_time(before: &Packet, after: &Packet, lost: Seq) -> SendTime {
    let steps = after.seq.0.saturating_sub(before.seq.0).max(1);
    let step = lost.0.saturating_sub(before.seq.0).min(steps);
    // A sender's clock does not go back; if stamps do, the earlier one is the best estimate.
    let span_us = after.sent.as_us().saturating_sub(before.sent.as_us());
    let offset_us = u128::from(span_us) * u128::from(step) / u128::from(steps);
    before.sent.plus_us(u64::try_from(offset_us).unwrap_or(u64::MAX))
}

/// The largest gap in sequence numbers that still counts as loss on a layer of this rate: two
/// seconds of it, and at least 1000 packets.
pub fn max_gap_for(rate: Rate, packet_size: Size) -> u32 {
    let per_s = rate.as_bps() / packet_size.as_bits().max(1) as f64;
    ((2.0 * per_s) as u32).clamp(1000, 1 << 30)
}

/// The classification of a packet's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalClass {
    /// The first of this layer since the start or a reset.
    First,
    /// A number not seen before, in order or out of it.
    New,
    /// A number that arrived before.
    Duplicate,
    /// A number that was already declared lost, or lies before the layer's start.
    Late,
    /// Far behind all others: ignored, unless the next packet agrees with it.
    Wild,
    /// The numbers jumped and were resynchronised, without losses. This packet counts as received.
    Resynchronised,
}

impl ArrivalClass {
    /// Whether the packet counts as received for loss estimators.
    pub const fn counts(self) -> bool {
        matches!(self, ArrivalClass::First | ArrivalClass::New | ArrivalClass::Resynchronised)
    }
}

/// How many packets of each kind there were on a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceCounts {
    /// Received and not seen before.
    pub received: u64,
    /// Declared lost.
    pub lost: u64,
    /// Arrived after they were declared lost.
    pub late: u64,
    /// Arrived more than once.
    pub duplicates: u64,
    /// Too far behind to be plausible.
    pub wild: u64,
    /// Jumps after which the numbers were resynchronised.
    pub resynchronised: u64,
}

/// A run of missing numbers that are not declared lost yet.
#[derive(Clone, Copy, Debug)]
struct Hole {
    first: Seq,
    end: Seq,
    before: Packet,
    after: Packet,
    /// How many distinct higher numbers have arrived since.
    higher: u32,
    opened: Time,
}

/// Follows the sequence numbers of one layer.
#[derive(Clone, Debug)]
pub struct SequenceTracker {
    layer: Layer,
    reorder: u32,
    max_gap: u32,
    highest: Option<Packet>,
    seen: Seen,
    holes: Vec<Hole>,
    wild: Option<WireSeq>,
    counts: SequenceCounts,
}

impl SequenceTracker {
    /// A tracker for `layer`. A number is lost when `reorder` distinct higher ones have arrived, 1 to 100
    /// (thesis: 1; RFC 5348, section 5.1: 3). A jump by more than `max_gap` is not loss but a restart (see
    /// [`max_gap_for`]).
    pub fn new(layer: Layer, reorder: u32, max_gap: u32) -> SequenceTracker {
        let reorder = reorder.clamp(1, 100);
        // Each open hole has an arrival above it that a higher hole has not, so there are at most
        // `reorder` at any time; filling one in its middle needs room for one more.
        let holes = Vec::with_capacity(reorder as usize + 2);
        SequenceTracker::starting(layer, reorder, max_gap.clamp(1, 1 << 30), holes)
    }

    /// A tracker for another layer, in the memory of one that is no longer needed.
    #[must_use]
    pub fn recycled(mut self, layer: Layer) -> SequenceTracker {
        self.holes.clear();
        SequenceTracker::starting(layer, self.reorder, self.max_gap, self.holes)
    }

    fn starting(layer: Layer, reorder: u32, max_gap: u32, holes: Vec<Hole>) -> SequenceTracker {
        SequenceTracker {
            layer,
            reorder,
            max_gap,
            highest: None,
            seen: Seen::default(),
            holes,
            wild: None,
            counts: SequenceCounts::default(),
        }
    }

    /// A packet of this layer arrived at `now`. `on_lost` is called for each packet that this declares
    /// lost, in order; those precede the packet itself.
    pub fn on_packet(
        &mut self,
        wire: WireSeq,
        sent: SendTime,
        now: Time,
        mut on_lost: impl FnMut(&Packet),
    ) -> (Seq, ArrivalClass) {
        let Some(before @ Packet { seq: highest, .. }) = self.highest else {
            return (self.start_at(wire, sent), ArrivalClass::First);
        };
        let distance = wire.distance(highest.wire());
        if distance.unsigned_abs() > self.max_gap {
            return self.on_jump(wire, sent, distance > 0);
        }
        self.wild = None;
        let seq = wire.expand(highest);
        let packet = Packet { seq, sent, ..before };
        if seq > highest {
            self.on_higher(seq);
            if seq.0 - highest.0 > 1 {
                self.holes.push(Hole {
                    first: highest.next(),
                    end: seq,
                    before,
                    after: packet,
                    higher: 1,
                    opened: now,
                });
            }
            self.highest = Some(packet);
            self.seen.advance(highest, seq);
        } else if self.seen.contains(highest, seq) {
            self.counts.duplicates += 1;
            return (seq, ArrivalClass::Duplicate);
        } else if !self.fill(packet) {
            self.seen.insert(highest, seq);
            self.counts.late += 1;
            return (seq, ArrivalClass::Late);
        } else {
            self.seen.insert(highest, seq);
        }
        self.counts.received += 1;
        let reorder = self.reorder;
        self.declare(|hole| hole.higher >= reorder, &mut on_lost);
        (seq, ArrivalClass::New)
    }

    fn start_at(&mut self, wire: WireSeq, sent: SendTime) -> Seq {
        let seq = Seq(u64::from(wire.0));
        self.highest = Some(Packet { layer: self.layer, seq, sent });
        self.seen = Seen::starting();
        self.holes.clear();
        self.wild = None;
        self.counts.received += 1;
        seq
    }

    fn on_jump(&mut self, wire: WireSeq, sent: SendTime, forward: bool) -> (Seq, ArrivalClass) {
        let agrees = self.wild.is_some_and(|wild| (1..=self.max_gap as i32).contains(&wire.distance(wild)));
        if forward || agrees {
            self.counts.resynchronised += 1;
            return (self.start_at(wire, sent), ArrivalClass::Resynchronised);
        }
        self.wild = Some(wire);
        self.counts.wild += 1;
        (Seq(u64::from(wire.0)), ArrivalClass::Wild)
    }

    fn on_higher(&mut self, seq: Seq) {
        for hole in self.holes.iter_mut().filter(|hole| hole.end <= seq) {
            hole.higher += 1;
        }
    }

    /// Fills an open hole with a packet that came out of order. False if it is in no hole.
    fn fill(&mut self, packet: Packet) -> bool {
        let seq = packet.seq;
        self.on_higher(seq);
        let Some(index) = self.holes.iter().position(|hole| hole.first <= seq && seq < hole.end) else {
            return false;
        };
        let hole = self.holes[index];
        let left = Hole { end: seq, after: packet, higher: hole.higher + 1, ..hole };
        let right = Hole { first: seq.next(), before: packet, ..hole };
        let is_open = |hole: &Hole| hole.first < hole.end;
        match (is_open(&left), is_open(&right)) {
            (true, true) => {
                self.holes[index] = left;
                self.holes.insert(index + 1, right);
            }
            (true, false) => self.holes[index] = left,
            (false, true) => self.holes[index] = right,
            (false, false) => {
                self.holes.remove(index);
            }
        }
        true
    }

    /// Declares lost every missing number below one that arrived `patience` ago or earlier. Meant for
    /// `reorder` above 1, with one round-trip time as patience.
    pub fn expire(&mut self, now: Time, patience: Duration, mut on_lost: impl FnMut(&Packet)) {
        if !self.holes.is_empty() {
            self.declare(|hole| now.since(hole.opened) >= patience, &mut on_lost);
        }
    }

    /// When [`SequenceTracker::expire`] would next declare something.
    pub fn deadline(&self, patience: Duration) -> Option<Time> {
        self.holes.iter().map(|hole| hole.opened + patience).min()
    }

    fn declare(&mut self, is_lost: impl Fn(&Hole) -> bool, on_lost: &mut impl FnMut(&Packet)) {
        let (layer, counts) = (self.layer, &mut self.counts);
        self.holes.retain(|hole| {
            if !is_lost(hole) {
                return true;
            }
            for number in hole.first.0..hole.end.0 {
                let seq = Seq(number);
                on_lost(&Packet { layer, seq, sent: lost_send_time(&hole.before, &hole.after, seq) });
            }
            counts.lost += hole.end.0 - hole.first.0;
            false
        });
    }

    /// Drops the open holes without declaring anything lost. For times in which losses do not count.
    pub fn forgive(&mut self) {
        self.holes.clear();
    }

    /// How many packets are missing and not declared lost.
    pub fn missing(&self) -> u64 {
        self.holes.iter().map(|hole| hole.end.0 - hole.first.0).sum()
    }

    /// The lowest number that is missing and not declared lost.
    pub fn first_missing(&self) -> Option<Seq> {
        self.holes.first().map(|hole| hole.first)
    }

    /// The highest number that arrived.
    pub fn highest(&self) -> Option<Seq> {
        self.highest.map(|packet| packet.seq)
    }

    /// The counts since the tracker was created.
    pub fn counts(&self) -> SequenceCounts {
        self.counts
    }

    /// The layer was left: open holes are dropped, and the next packet restarts the tracker. Counts stay.
    pub fn reset(&mut self) {
        self.highest = None;
        self.holes.clear();
        self.wild = None;
    }
}

#[cfg(test)]
mod tests;
