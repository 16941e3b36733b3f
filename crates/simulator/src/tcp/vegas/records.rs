//! When Vegas sent each packet last, and how often.

use std::collections::VecDeque;

use layercast_core::units::Time;

/// A packet's last departure, none if it was not sent, and how often it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) at: Option<Time>,
    pub(super) times: u32,
}

/// The records of a flow. ns-2 keeps them in an array that packets enter by their number modulo the window,
/// and forgets to clear those of an acknowledgement that wraps around its end: the next packet in such a
/// slot counts as sent before. It also reallocates the array whenever packet 0 is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// The packets not acknowledged, from the lowest.
    sent: VecDeque<Sent>,
    /// Records that were not cleared, by the packet that will find them, ascending.
    leftovers: VecDeque<(i64, Sent)>,
}

/// More than this stay behind at once only in wide windows after long recoveries.
const ROOM: usize = 64;

impl Records {
    /// Allocates space for what a flow may leave behind, so that nothing is allocated later.
    pub(super) fn prepare(&mut self) {
        self.leftovers.reserve(ROOM);
    }

    /// Clears all packets and keeps the allocation.
    pub(super) fn clear(&mut self) {
        self.sent.clear();
        self.leftovers.clear();
    }

    /// Packet `seq` is sent; `first` is the lowest not acknowledged.
    pub(super) fn record(&mut self, seq: i64, first: i64, now: Time, ns2_compat: bool) {
        if seq == 0 && ns2_compat {
            self.sent.iter_mut().for_each(|record| *record = Sent::default());
        }
        let at = Some(now);
        match self.sent.get_mut((seq - first) as usize) {
            Some(record) => *record = Sent { at, times: record.times + 1 },
            None => {
                let times = self.leftover(seq).times + 1;
                self.leftovers.retain(|&(number, _)| number > seq);
                self.sent.push_back(Sent { at, times });
            }
        }
    }

    /// All packets from `first` to `last` are acknowledged. Returns the record of the last one.
    pub(super) fn acknowledge(&mut self, first: i64, last: i64, array: Option<i64>) -> Sent {
        let count = ((last - first + 1).max(0) as usize).min(self.sent.len());
        let covered = match count {
            0 => Sent::default(),
            _ => self.sent[count - 1],
        };
        let cleared = self.sent.drain(..count);
        if let Some(size) = array
            && first % size > last % size
        {
            self.leftovers.extend((first + size..).zip(cleared));
        }
        covered
    }

    /// The record of the lowest packet not acknowledged, `first`.
    pub(super) fn first(&self, first: i64) -> Sent {
        self.sent.front().copied().unwrap_or_else(|| self.leftover(first))
    }

    fn leftover(&self, seq: i64) -> Sent {
        match self.leftovers.front() {
            Some(&(number, record)) if number == seq => record,
            _ => Sent::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_all(records: &mut Records, seqs: std::ops::Range<i64>, first: i64) {
        for seq in seqs {
            records.record(seq, first, Time::from_ns(1000 + seq as u64), true);
        }
    }

    #[test]
    fn an_acknowledged_packet_is_forgotten() {
        let mut records = Records::default();
        record_all(&mut records, 0..6, 0);
        let covered = records.acknowledge(0, 3, None);
        assert_eq!(covered, Sent { at: Some(Time::from_ns(1003)), times: 1 });
        assert_eq!(records.first(4), Sent { at: Some(Time::from_ns(1004)), times: 1 });
        records.acknowledge(4, 5, None);
        assert_eq!(records.first(6), Sent::default());
    }

    /// In an array of 4 an acknowledgement of 3 and 4 starts in slot 3 and ends in slot 0.
    #[test]
    fn what_wraps_around_the_array_stays_in_it() {
        let mut records = Records::default();
        record_all(&mut records, 0..3, 0);
        records.acknowledge(0, 2, Some(4));
        record_all(&mut records, 3..7, 3);
        records.acknowledge(3, 4, Some(4));
        records.acknowledge(5, 6, Some(4));
        assert_eq!(records.first(7), Sent { at: Some(Time::from_ns(1003)), times: 1 });
        record_all(&mut records, 7..10, 7);
        let times = [7, 8, 9].map(|seq| records.acknowledge(seq, seq, Some(4)).times);
        assert_eq!(times, [2, 2, 1]);
    }

    #[test]
    fn packet_0_resets_the_array_in_ns2() {
        for (ns2_compat, times) in [(true, 1), (false, 2)] {
            let mut records = Records::default();
            for _ in 0..2 {
                records.record(0, 0, Time::ZERO, ns2_compat);
            }
            assert_eq!(records.first(0).times, times);
        }
    }
}
