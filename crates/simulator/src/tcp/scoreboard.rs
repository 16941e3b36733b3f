//! The record of selectively acknowledged packets of [`Sack1`](super::sack1).

use super::Block;
use super::ranges::Ranges;

/// Ranges above the cumulative acknowledgement that have arrived, and how far holes were resent.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    ranges: Ranges,
    /// The lowest packet not yet acknowledged.
    una: i64,
    /// Holes below this were resent in this recovery.
    resent_below: i64,
}

impl Scoreboard {
    /// Takes an acknowledgement of everything up to `cumulative` and of `blocks`. True if it reported
    /// something new: only then does a repeated acknowledgement count as a duplicate.
    #[inline]
    pub(super) fn update(&mut self, cumulative: i64, blocks: &[Block]) -> bool {
        let before = self.ranges.total();
        let passed = cumulative >= self.una && !self.ranges.blocks().is_empty();
        self.una = cumulative + 1;
        self.ranges.raise(self.una);
        for &(left, right) in blocks {
            self.ranges.insert((left.max(self.una), right));
        }
        passed || self.ranges.total() != before
    }

    /// The lowest packet that has not arrived, was not resent, and has an arrived one above it.
    pub(super) fn next_hole(&mut self) -> Option<i64> {
        let mut hole = self.resent_below.max(self.una);
        for &(left, right) in self.ranges.from(hole) {
            if hole < left {
                self.resent_below = hole;
                return Some(hole);
            }
            hole = hole.max(right);
        }
        None
    }

    /// Packet `seq` was resent.
    pub(super) fn mark_resent(&mut self, seq: i64) {
        self.resent_below = self.resent_below.max(seq + 1);
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.resent_below = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_testkit::golden;
    use serde_json::json;

    #[test]
    fn golden_scoreboard() {
        let case = golden::vector("vectors-active-and-unicast.json", "sack-sb-01");
        let mut board = Scoreboard::default();
        let steps = case.input["steps"].as_array().unwrap();
        let rows = case.expected["rows"].as_array().unwrap();
        assert_eq!(steps.len(), rows.len());
        for (step, row) in steps.iter().zip(rows) {
            let found = match step[0].as_str().unwrap() {
                "ack" => {
                    let blocks: Vec<Block> = step[2].as_array().unwrap().iter().map(block).collect();
                    let changed = board.update(step[1].as_i64().unwrap(), &blocks);
                    json!(["changed", changed, board.ranges.blocks()])
                }
                "mark" => {
                    board.mark_resent(step[1].as_i64().unwrap());
                    json!(["h", board.resent_below])
                }
                "next" => {
                    let next = board.next_hole().unwrap_or(-1);
                    json!(["next", next, board.resent_below])
                }
                other => panic!("unknown step {other}"),
            };
            assert_eq!(&found, row, "after {step}");
        }
    }

    fn block(value: &serde_json::Value) -> Block {
        (value[0].as_i64().unwrap(), value[1].as_i64().unwrap())
    }
}
