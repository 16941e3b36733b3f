//! The last values of a flow, in order of arrival and in order of size (thesis, section 6.2.5).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use layercast_core::cannot_be;
use layercast_core::math::ceil;
use layercast_core::units::{Rate, RateEstimate};

/// Order statistics over the last rates.
///
/// An unbounded rate is kept as a largest value given at construction, so that it sorts last;
/// larger known rates count as that value too.
#[derive(Clone, Debug)]
pub struct FlowStat {
    capacity: usize,
    largest_bps: f64,
    clear_on_first_finite: bool,
    arrived: VecDeque<(f64, bool)>,
    sorted_bps: Vec<f64>,
    unbounded: usize,
    seen_finite: bool,
    sum_bps: f64,
    since_refresh: usize,
}

impl FlowStat {
    /// An empty window of the last `capacity` values, 1 to 4096. With `clear_on_first_finite` the values
    /// from before the first bounded rate are dropped when that rate arrives, since otherwise they would
    /// dominate the upper percentiles for most of a window.
    pub fn new(capacity: u32, largest: Rate, clear_on_first_finite: bool) -> FlowStat {
        let capacity = capacity.clamp(1, 4096) as usize;
        FlowStat {
            capacity,
            largest_bps: largest.as_bps(),
            clear_on_first_finite,
            arrived: VecDeque::with_capacity(capacity),
            sorted_bps: Vec::with_capacity(capacity),
            unbounded: 0,
            seen_finite: false,
            sum_bps: 0.0,
            since_refresh: 0,
        }
    }

    /// Adds a value. An unknown rate is ignored.
    pub fn push(&mut self, rate: RateEstimate) {
        let (bps, is_unbounded) = match rate {
            RateEstimate::Unknown => return,
            RateEstimate::Unbounded => (self.largest_bps, true),
            RateEstimate::Known(rate) => (rate.as_bps().min(self.largest_bps), false),
        };
        if !is_unbounded && !self.seen_finite {
            self.seen_finite = true;
            if self.clear_on_first_finite {
                self.clear_values();
            }
        }
        if self.arrived.len() == self.capacity {
            self.replace_oldest(bps);
        } else {
            let index = self.sorted_bps.partition_point(|&other| other < bps);
            self.sorted_bps.insert(index, bps);
        }
        self.arrived.push_back((bps, is_unbounded));
        self.unbounded += usize::from(is_unbounded);
        self.sum_bps += bps;
        // A running sum drifts; recomputing it once per window keeps the drift negligible.
        self.since_refresh += 1;
        if self.since_refresh >= self.capacity {
            self.sum_bps = self.sorted_bps.iter().sum();
            self.since_refresh = 0;
        }
    }

    /// Replaces the oldest value by a new one in the sorted list, moving only the values between the two:
    /// rates change little from packet to packet, so often none moves.
    fn replace_oldest(&mut self, new_bps: f64) {
        let Some((old_bps, was_unbounded)) = self.arrived.pop_front() else {
            return cannot_be("the window is full");
        };
        self.unbounded -= usize::from(was_unbounded);
        self.sum_bps -= old_bps;
        if old_bps == new_bps {
            return;
        }
        let from = self.sorted_bps.partition_point(|&other| other < old_bps);
        let to = self.sorted_bps.partition_point(|&other| other < new_bps);
        let index = if from < to {
            self.sorted_bps.copy_within(from + 1..to, from);
            to - 1
        } else {
            self.sorted_bps.copy_within(to..from, to + 1);
            to
        };
        self.sorted_bps[index] = new_bps;
    }

    fn clear_values(&mut self) {
        self.arrived.clear();
        self.sorted_bps.clear();
        self.unbounded = 0;
        self.sum_bps = 0.0;
        self.since_refresh = 0;
    }

    /// How many values are kept.
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Whether no value is kept.
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// How many of the values were unbounded.
    pub fn unbounded(&self) -> usize {
        self.unbounded
    }

    /// The value at quantile `q`, 0 to 1, by nearest rank: the value at rank ceil(q n). Unbounded if
    /// the rank falls among the unbounded values, unknown without values.
    pub fn percentile(&self, q: f64) -> RateEstimate {
        match self.rank(q) {
            None => RateEstimate::Unknown,
            Some(rank) if rank >= self.len() - self.unbounded => RateEstimate::Unbounded,
            Some(rank) => RateEstimate::Known(Rate::from_bps(self.sorted_bps[rank])),
        }
    }

    fn rank(&self, q: f64) -> Option<usize> {
        let last = self.len().checked_sub(1)?;
        // A negative or not-a-number rank becomes 0 in the cast.
        Some(((ceil(q * self.len() as f64) - 1.0) as usize).min(last))
    }

    /// The mean, with unbounded values as the largest. None without values.
    pub fn mean(&self) -> Option<Rate> {
        (!self.is_empty()).then(|| Rate::from_bps(self.sum_bps / self.len() as f64))
    }

    /// The mean of two quantiles (thesis, equation 24: 0.2 and 0.8), with unbounded values as the
    /// largest. Unbounded only if the lower quantile is.
    pub fn middle(&self, low: f64, high: f64) -> RateEstimate {
        let (Some(low_rank), Some(high_rank)) = (self.rank(low), self.rank(high)) else {
            return RateEstimate::Unknown;
        };
        if low_rank >= self.len() - self.unbounded {
            return RateEstimate::Unbounded;
        }
        let middle_bps = (self.sorted_bps[low_rank] + self.sorted_bps[high_rank]) / 2.0;
        RateEstimate::Known(Rate::from_bps(middle_bps))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.clear_values();
        self.seen_finite = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: Rate = Rate::from_bps(1000.0);

    fn known(bps: f64) -> RateEstimate {
        RateEstimate::Known(Rate::from_bps(bps))
    }

    #[test]
    fn unbounded_values_sort_last_and_are_counted() {
        let mut stat = FlowStat::new(4, LARGEST, false);
        for rate in [RateEstimate::Unbounded, known(10.0), known(5000.0), RateEstimate::Unknown] {
            stat.push(rate);
        }
        assert_eq!((stat.len(), stat.unbounded()), (3, 1));
        assert_eq!(stat.percentile(0.1), known(10.0));
        assert_eq!(stat.percentile(0.5), known(1000.0));
        assert_eq!(stat.percentile(1.0), RateEstimate::Unbounded);
        assert_eq!(stat.middle(0.2, 0.8), known(505.0));
    }

    #[test]
    fn the_first_bounded_rate_clears_what_came_before() {
        let mut stat = FlowStat::new(4, LARGEST, true);
        stat.push(RateEstimate::Unbounded);
        assert_eq!(stat.middle(0.2, 0.8), RateEstimate::Unbounded);
        stat.push(known(10.0));
        assert_eq!((stat.len(), stat.mean()), (1, Some(Rate::from_bps(10.0))));
        stat.push(RateEstimate::Unbounded);
        stat.push(known(20.0));
        assert_eq!(stat.len(), 3);
    }

    #[test]
    fn a_full_window_holds_the_last_values_in_order() {
        let mut stat = FlowStat::new(7, LARGEST, false);
        let mut state = 1u32;
        let mut pushed = Vec::new();
        for _ in 0..500 {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let bps = f64::from((state >> 16) % 12);
            stat.push(known(bps));
            pushed.push(bps);
            let mut last: Vec<f64> = pushed.iter().rev().take(7).copied().collect();
            last.sort_by(f64::total_cmp);
            assert_eq!(stat.sorted_bps, last);
        }
    }

    #[test]
    fn without_values_nothing_is_known() {
        let stat = FlowStat::new(0, LARGEST, true);
        assert_eq!(stat.mean(), None);
        assert_eq!(stat.percentile(0.5), RateEstimate::Unknown);
        assert_eq!(stat.middle(0.2, 0.8), RateEstimate::Unknown);
    }
}
