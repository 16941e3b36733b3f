//! A set of packets as ascending, disjoint ranges.

use super::Block;

/// The initial capacity in ranges, so that a first burst of losses does not allocate.
pub(super) const ROOM: usize = 64;

/// The packets above the cumulative acknowledgement that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    blocks: Vec<Block>,
    /// How many packets they hold.
    total: i64,
}

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges { blocks: Vec::with_capacity(ROOM), total: 0 }
    }
}

impl Ranges {
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.total = 0;
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Removes everything below `bottom`.
    pub(super) fn raise(&mut self, bottom: i64) {
        let gone = self.blocks.iter().take_while(|range| range.1 <= bottom).count();
        self.total -= self.blocks.drain(..gone).map(|range| range.1 - range.0).sum::<i64>();
        if let Some(first) = self.blocks.first_mut().filter(|range| range.0 < bottom) {
            self.total -= bottom - first.0;
            first.0 = bottom;
        }
    }

    pub(super) fn insert(&mut self, (mut left, mut right): Block) {
        if left >= right {
            return;
        }
        let first = self.blocks.partition_point(|range| range.1 < left);
        let mut end = first;
        while let Some(range) = self.blocks.get(end).filter(|range| range.0 <= right) {
            left = left.min(range.0);
            right = right.max(range.1);
            self.total -= range.1 - range.0;
            end += 1;
        }
        self.total += right - left;
        // Mostly a block grows at its end.
        if end == first + 1 {
            self.blocks[first] = (left, right);
        } else {
            self.blocks.splice(first..end, [(left, right)]);
        }
    }

    /// How many packets it holds.
    pub(super) fn total(&self) -> i64 {
        self.total
    }

    /// The ranges that hold packets from `seq` on.
    pub(super) fn from(&self, seq: i64) -> &[Block] {
        &self.blocks[self.blocks.partition_point(|range| range.1 <= seq)..]
    }

    /// How many packets below `seq` it holds.
    pub(super) fn below(&self, seq: i64) -> i64 {
        let at = self.blocks.partition_point(|range| range.0 < seq);
        let (below, above) = self.blocks.split_at(at);
        let held = |ranges: &[Block]| ranges.iter().map(|range| range.1 - range.0).sum::<i64>();
        // The shorter side is counted.
        let begun = if below.len() < above.len() { held(below) } else { self.total - held(above) };
        begun - below.last().map_or(0, |last| (last.1 - seq).max(0))
    }

    /// The lowest packet from `seq` on that it does not hold.
    pub(super) fn gap_from(&self, seq: i64) -> i64 {
        let at = self.blocks.partition_point(|range| range.1 <= seq);
        self.blocks.get(at).filter(|range| range.0 <= seq).map_or(seq, |range| range.1)
    }

    /// The packet that has `count` - 1 others above it, if there are that many.
    pub(super) fn nth_from_top(&self, mut count: i64) -> Option<i64> {
        for &(left, right) in self.blocks.iter().rev() {
            if count <= right - left {
                return Some(right - count);
            }
            count -= right - left;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        Insert(Block),
        Raise(i64),
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// It is the set of what was inserted and not removed.
        #[test]
        fn ranges_are_a_set(
            operations in prop::collection::vec(
                prop_oneof![
                    4 => (0i64..60, 0i64..8).prop_map(|(left, count)| Operation::Insert((left, left + count))),
                    1 => (0i64..60).prop_map(Operation::Raise),
                ],
                1..40,
            ),
        ) {
            let (mut ranges, mut model) = (Ranges::default(), std::collections::BTreeSet::new());
            for operation in operations {
                match operation {
                    Operation::Insert(block) => {
                        ranges.insert(block);
                        model.extend(block.0..block.1);
                    }
                    Operation::Raise(bottom) => {
                        ranges.raise(bottom);
                        model.retain(|&seq| seq >= bottom);
                    }
                }
                let held: Vec<i64> = ranges.blocks().iter().flat_map(|range| range.0..range.1).collect();
                prop_assert!(held.iter().eq(&model), "{held:?}");
                prop_assert_eq!(ranges.total(), model.len() as i64);
                for seq in 0..70 {
                    prop_assert_eq!(ranges.below(seq), model.range(..seq).count() as i64);
                    let from = ranges.from(seq).iter().flat_map(|range| range.0.max(seq)..range.1);
                    prop_assert!(from.eq(model.range(seq..).copied()));
                }
                prop_assert!(ranges.blocks().windows(2).all(|pair| pair[0].1 < pair[1].0), "disjoint");
            }
        }
    }
}
