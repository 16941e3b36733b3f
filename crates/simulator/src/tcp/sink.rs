//! The receiving end of a TCP connection.

use layercast_core::units::{Duration, Size, Time};

use super::ranges::ROOM;
use super::{Ack, Block, MAX_BLOCKS, Segment, TcpOptions};

/// Receives packets and acknowledges them.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    selective: bool,
    header_size: Size,
    ack_delay: Option<Duration>,
    /// So many packets of a connection are acknowledged at once.
    quick_acks: u32,
    /// How many of them are left.
    quick_acks_left: u32,
    /// Whether the acknowledgement of a repetition of the last packet in sequence is held too, as ns-2 does.
    holds_repetitions: bool,
    ack_due: Option<Time>,
    /// The lowest packet that has not arrived.
    next: i64,
    /// Arrived ranges above `next`, ascending.
    ranges: Vec<Block>,
    /// The blocks reported last, most recent first.
    reported: Vec<Block>,
    /// A mark arrived after the sender's last CWR.
    echo: bool,
    incarnation: u32,
}

/// The outcome of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// Whether the packet had not arrived before.
    pub(crate) is_new: bool,
    /// The acknowledgement to send now, if it is not held back.
    pub(crate) ack: Option<Ack>,
}

impl Sink {
    pub(crate) fn new(options: &TcpOptions) -> Sink {
        Sink {
            selective: options.variant.is_selective(),
            header_size: options.ack_size,
            ack_delay: options.delayed_ack.then_some(options.ack_delay),
            quick_acks: options.quick_acks,
            quick_acks_left: options.quick_acks,
            holds_repetitions: options.ns2_compat,
            ack_due: None,
            next: 0,
            ranges: Vec::with_capacity(ROOM),
            reported: Vec::with_capacity(MAX_BLOCKS + 1),
            echo: false,
            incarnation: 0,
        }
    }

    /// The next connection between the same ends begins.
    pub(crate) fn restart(&mut self, incarnation: u32) {
        self.incarnation = incarnation;
        self.quick_acks_left = self.quick_acks;
        self.ack_due = None;
        self.next = 0;
        self.ranges.clear();
        self.reported.clear();
        self.echo = false;
    }

    /// A packet arrived. One of an earlier connection is ignored. It came with or
    /// without a router's mark.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, segment: Segment, marked: bool) -> Received {
        if segment.incarnation != self.incarnation {
            return Received { is_new: false, ack: None };
        }
        let seq = segment.seq;
        self.echo = marked || self.echo && !segment.reduced;
        let is_new = if seq == self.next && self.ranges.is_empty() {
            // Nothing has been missing, so there are no blocks.
            self.next += 1;
            true
        } else {
            self.receive_otherwise(seq)
        };
        let is_quick = self.quick_acks_left > 0;
        self.quick_acks_left = self.quick_acks_left.saturating_sub(1);
        // One that fills a gap is no longer the last in sequence, or others wait above it.
        let is_last = seq + 1 == self.next && self.ranges.is_empty();
        if let Some(delay) = self.ack_delay
            && is_last
            && !is_quick
            && (is_new || self.holds_repetitions)
            && seq != 0
            && self.ack_due.is_none()
        {
            self.ack_due = Some(now + delay);
            return Received { is_new, ack: None };
        }
        self.ack_due = None;
        Received { is_new, ack: Some(self.ack()) }
    }

    /// A packet arrived that is not the next, or others have arrived above it.
    #[inline(never)]
    fn receive_otherwise(&mut self, seq: i64) -> bool {
        let is_new = self.insert(seq);
        self.update_blocks(seq);
        is_new
    }

    /// Whether it may hold acknowledgements, and so have a deadline.
    #[inline]
    pub(crate) fn may_hold(&self) -> bool {
        self.ack_delay.is_some()
    }

    /// When a held acknowledgement is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.ack_due
    }

    /// The deadline has come: the acknowledgement that was held.
    pub(crate) fn take_due(&mut self) -> Option<Ack> {
        self.ack_due.take().map(|_| self.ack())
    }

    /// The size of an acknowledgement on the wire.
    #[inline]
    pub(crate) fn ack_size(&self, ack: &Ack) -> Size {
        Size::from_bytes(self.header_size.as_bytes() + 8 * u32::from(ack.block_count))
    }

    #[inline]
    fn ack(&self) -> Ack {
        let mut blocks = [(0, 0); MAX_BLOCKS];
        let count = self.reported.len().min(MAX_BLOCKS);
        blocks[..count].copy_from_slice(&self.reported[..count]);
        Ack {
            cumulative: self.next - 1,
            blocks,
            block_count: count as u8,
            incarnation: self.incarnation,
            echo: self.echo,
        }
    }

    fn insert(&mut self, seq: i64) -> bool {
        if seq < self.next {
            return false;
        }
        let at = self.ranges.partition_point(|range| range.1 < seq);
        match self.ranges.get_mut(at) {
            Some(range) if range.0 <= seq && seq < range.1 => return false,
            Some(range) if range.1 == seq => {
                range.1 += 1;
                let right = range.1;
                if self.ranges.get(at + 1).is_some_and(|above| above.0 == right) {
                    self.ranges[at].1 = self.ranges.remove(at + 1).1;
                }
            }
            Some(range) if range.0 == seq + 1 => range.0 = seq,
            _ if seq > self.next => self.ranges.insert(at, (seq, seq + 1)),
            _ => {}
        }
        if seq == self.next {
            self.next += 1;
        }
        while let Some(&(left, right)) = self.ranges.first().filter(|range| range.0 <= self.next) {
            debug_assert!(left <= self.next);
            self.next = self.next.max(right);
            self.ranges.remove(0);
        }
        true
    }

    /// The block with the packet just received first, then the earlier ones that it does not cover.
    fn update_blocks(&mut self, seq: i64) {
        if !self.selective {
            return;
        }
        let next = self.next;
        let at = self.ranges.partition_point(|range| range.1 <= seq);
        let newest = self.ranges.get(at).filter(|range| range.0 <= seq).copied();
        self.reported.retain(|block| {
            block.0 >= next && newest.is_none_or(|newest| block.1 <= newest.0 || block.0 >= newest.1)
        });
        if let Some(newest) = newest {
            self.reported.insert(0, newest);
            self.reported.truncate(MAX_BLOCKS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{TcpProfile, TcpVariant};
    use layercast_testkit::golden;
    use serde_json::json;

    fn receive(sink: &mut Sink, seq: i64) -> Received {
        sink.receive(Time::ZERO, Segment::numbered(seq), false)
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_has_cut_its_window() {
        let mut sink = Sink::new(&TcpOptions::new(TcpVariant::Reno, TcpProfile::Ns2));
        let arrivals =
            [(false, false), (true, false), (false, false), (false, true), (false, false), (true, true)];
        let echoes = arrivals.into_iter().enumerate().map(|(seq, (marked, reduced))| {
            sink.receive(Time::ZERO, Segment { reduced, ..Segment::numbered(seq as i64) }, marked)
                .ack
                .unwrap()
                .echo
        });
        assert_eq!(echoes.collect::<Vec<_>>(), [false, true, true, false, false, true]);
    }

    #[test]
    fn golden_selective_acknowledgements() {
        for id in ["sack-sink-01", "sack-sink-02"] {
            let case = golden::vector("vectors-active-and-unicast.json", id);
            let mut sink = Sink::new(&TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2));
            let arrivals = case.input["arrivals"].as_array().unwrap();
            let acks: Vec<_> = arrivals
                .iter()
                .map(|seq| {
                    let ack = receive(&mut sink, seq.as_i64().unwrap()).ack.unwrap();
                    json!([ack.cumulative, ack.blocks()])
                })
                .collect();
            assert_eq!(json!(acks), case.expected["acks"], "{id}");
        }
    }

    /// A sender that goes back repeats packets that have arrived. RFC 5681, section 4.2, wants each of them
    /// acknowledged at once; ns-2 treats the last of them as one in sequence.
    #[test]
    fn a_repetition_of_the_last_packet_is_held_only_as_ns2_does() {
        for ns2_compat in [true, false] {
            let mut options = TcpOptions::new(TcpVariant::Tahoe, TcpProfile::Ns2);
            (options.delayed_ack, options.ns2_compat) = (true, ns2_compat);
            let mut sink = Sink::new(&options);
            let mut held = |seq| receive(&mut sink, seq).ack.is_none();
            // The first is never held, then every other one.
            assert_eq!([0, 1, 2, 3, 4].map(&mut held), [false, true, false, true, false]);
            // 3 is not the last, 4 is; 5 comes while the timer runs, if it does.
            assert_eq!([3, 4, 5].map(held), [false, ns2_compat, !ns2_compat]);
        }
    }

    /// What fills a gap is acknowledged at once, wholly or in part.
    #[test]
    fn what_fills_a_gap_is_never_held() {
        let mut options = TcpOptions::new(TcpVariant::Reno, TcpProfile::Ns2);
        options.delayed_ack = true;
        let mut sink = Sink::new(&options);
        let held = [0, 2, 1, 4, 6, 3, 5].map(|seq| receive(&mut sink, seq).ack.is_none());
        assert_eq!(held, [false; 7]);
    }

    #[test]
    fn a_packet_counts_once() {
        let mut sink = Sink::new(&TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2));
        let new = [0, 2, 2, 1, 1, 4, 0, 3, 5].map(|seq| receive(&mut sink, seq).is_new);
        assert_eq!(new, [true, true, false, true, false, true, false, true, true]);
        assert_eq!(sink.next, 6);
        assert!(sink.ranges.is_empty());
    }
}
