//! The scoreboard of RFC 6675: which packets have arrived, which are lost, and how many are in flight.

use super::Block;
use super::connection::DUPLICATES;
use super::ranges::Ranges;

/// The board. Numbers count packets.
#[derive(Clone, Debug, Default)]
pub(super) struct RfcBoard {
    arrived: Ranges,
    /// The lowest packet not acknowledged.
    una: i64,
    /// Holes up to this were resent in this recovery (`HighRxt` of the RFC).
    resent_to: i64,
    /// Holes below this are considered lost because of a timeout.
    presumed_lost_to: i64,
}

/// What to send next (`NextSeg` of the RFC, rules 1 to 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSegment {
    /// A hole considered lost.
    Lost(i64),
    /// Data not sent before.
    New,
    /// A hole that is not yet considered lost.
    Doubtful(i64),
}

impl RfcBoard {
    /// Takes an acknowledgement. Blocks that are empty or cover packets never sent are ignored. True if a
    /// packet is known to have arrived that was not before.
    pub(super) fn update(&mut self, cumulative: i64, blocks: &[Block], highest_sent: i64) -> bool {
        self.una = cumulative + 1;
        self.arrived.raise(self.una);
        let before = self.arrived.total();
        for &(left, right) in blocks {
            if right <= highest_sent + 1 {
                self.arrived.insert((left.max(self.una), right));
            }
        }
        self.arrived.total() != before
    }

    /// How many packets are known to have arrived since the connection began.
    pub(super) fn delivered(&self) -> i64 {
        self.una + self.arrived.total()
    }

    /// Clears the state and keeps the allocation.
    pub(super) fn clear(&mut self) {
        self.arrived.clear();
        self.una = 0;
        self.resent_to = 0;
        self.presumed_lost_to = 0;
    }

    /// Nothing has been resent in the recovery that starts now.
    pub(super) fn begin_recovery(&mut self) {
        self.resent_to = self.una - 1;
    }

    pub(super) fn mark_resent(&mut self, seq: i64) {
        self.resent_to = self.resent_to.max(seq);
    }

    /// Whether the first packet not acknowledged is considered lost.
    pub(super) fn first_is_lost(&self) -> bool {
        self.lost_below() > self.una
    }

    /// Holes below this are lost: at least three packets above them have arrived, or the timer expired.
    pub(super) fn lost_below(&self) -> i64 {
        self.arrived.nth_from_top(DUPLICATES).unwrap_or(self.una).max(self.presumed_lost_to)
    }

    /// All holes below `end` are lost, and none of them has been resent since.
    pub(super) fn presume_lost(&mut self, end: i64) {
        self.presumed_lost_to = end;
        self.begin_recovery();
    }

    /// Whether a hole considered lost is still to be resent.
    pub(super) fn has_lost_to_resend(&self) -> bool {
        matches!(self.next_segment(false), Some(NextSegment::Lost(_)))
    }

    /// The packets not arrived among those from the first not acknowledged to below `end`.
    pub(super) fn holes_below(&self, end: i64) -> i64 {
        (end - self.una).max(0) - self.arrived.below(end)
    }

    /// The packets in flight (`Pipe` of the RFC) if all below `end` have been sent: those not considered
    /// lost, and those resent.
    pub(super) fn pipe(&self, end: i64) -> i64 {
        let not_lost = self.holes_below(end) - self.holes_below(self.lost_below());
        not_lost + self.holes_below(self.resent_to + 1)
    }

    pub(super) fn next_segment(&self, new_allowed: bool) -> Option<NextSegment> {
        let hole = self.arrived.gap_from((self.resent_to + 1).max(self.una));
        let has_arrived_above = self.arrived.nth_from_top(1).is_some_and(|top| hole < top);
        if hole < self.lost_below() {
            Some(NextSegment::Lost(hole))
        } else if new_allowed {
            Some(NextSegment::New)
        } else if has_arrived_above {
            Some(NextSegment::Doubtful(hole))
        } else {
            None
        }
    }

    /// The lowest packet from `seq` on that is not known to have arrived.
    pub(super) fn missing_from(&self, seq: i64) -> i64 {
        self.arrived.gap_from(seq)
    }

    /// The highest packet below `end` not known to have arrived, if there is one.
    pub(super) fn highest_missing(&self, end: i64) -> Option<i64> {
        let top = match self.arrived.blocks().last() {
            Some(&(left, right)) if right == end => left,
            _ => end,
        };
        (top > self.una).then_some(top - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_testkit::golden;
    use serde_json::json;

    #[test]
    fn golden_pipe_and_next_segment() {
        for number in 1..=5 {
            let id = format!("sack-6675-{number:02}");
            let case = golden::vector("vectors-active-and-unicast.json", &id);
            let integer = |key: &str| case.input[key].as_i64().unwrap();
            let next = integer("snd_nxt");
            let mut board = RfcBoard::default();
            for seq in case.input["sacked"].as_array().unwrap() {
                let seq = seq.as_i64().unwrap();
                assert!(board.update(integer("snd_una") - 1, &[(seq, seq + 1)], next - 1));
            }
            board.begin_recovery();
            for seq in case.input["retransmitted"].as_array().unwrap() {
                board.mark_resent(seq.as_i64().unwrap());
            }
            assert_eq!(board.resent_to, integer("high_rxt"), "{id}");
            assert_eq!(Some(board.pipe(next)), case.expected["pipe"].as_i64(), "{id}");
            let found = match board.next_segment(case.input["new_data_allowed"].as_bool().unwrap()) {
                Some(NextSegment::Lost(seq)) => json!([seq, "rule1"]),
                Some(NextSegment::New) => json!([next, "rule2"]),
                Some(NextSegment::Doubtful(seq)) => json!([seq, "rule3"]),
                None => json!(null),
            };
            assert_eq!(found, case.expected["next_seg"], "{id}");
        }
    }

    #[test]
    fn blocks_of_packets_never_sent_are_ignored() {
        let mut board = RfcBoard::default();
        assert!(!board.update(4, &[(7, 12), (9, 8), (1, 3)], 10));
        assert!(board.update(4, &[(7, 11)], 10));
        assert_eq!((board.pipe(11), board.highest_missing(11)), (0, Some(6)));
    }
}
