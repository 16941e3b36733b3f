//! A set of packets as ascending, disjoint ranges.

use super::Block;

/// The initial capacity in ranges, so that a first burst of losses does not allocate.
pub(super) const ROOM: usize = 64;

/// The packets above the cumulative acknowledgement that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Ranges(Vec<Block>);

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges(Vec::with_capacity(ROOM))
    }
}

impl Ranges {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.0
    }

    /// Removes everything below `bottom`.
    pub(super) fn raise(&mut self, bottom: i64) {
        self.0.retain_mut(|range| {
            range.0 = range.0.max(bottom);
            range.0 < range.1
        });
    }

    pub(super) fn insert(&mut self, (mut left, mut right): Block) {
        if left >= right {
            return;
        }
        let first = self.0.partition_point(|range| range.1 < left);
        let mut end = first;
        while let Some(range) = self.0.get(end).filter(|range| range.0 <= right) {
            left = left.min(range.0);
            right = right.max(range.1);
            end += 1;
        }
        self.0.splice(first..end, [(left, right)]);
    }

    /// How many packets it holds.
    pub(super) fn total(&self) -> i64 {
        self.0.iter().map(|range| range.1 - range.0).sum()
    }

    /// How many packets below `seq` it holds.
    pub(super) fn below(&self, seq: i64) -> i64 {
        self.0.iter().take_while(|range| range.0 < seq).map(|range| range.1.min(seq) - range.0).sum()
    }

    /// The lowest packet from `seq` on that it does not hold.
    pub(super) fn gap_from(&self, seq: i64) -> i64 {
        let at = self.0.partition_point(|range| range.1 <= seq);
        self.0.get(at).filter(|range| range.0 <= seq).map_or(seq, |range| range.1)
    }

    /// The packet that has `count` - 1 others above it, if there are that many.
    pub(super) fn nth_from_top(&self, mut count: i64) -> Option<i64> {
        for &(left, right) in self.0.iter().rev() {
            if count <= right - left {
                return Some(right - count);
            }
            count -= right - left;
        }
        None
    }
}
