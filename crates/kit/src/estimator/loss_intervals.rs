//! The history of loss intervals and its weighted average.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The weights of `count` intervals, newest first: the newer half counts fully, the older half
/// falls linearly (thesis, equation 10; RFC 5348, section 5.4).
pub fn interval_weights(count: usize) -> Vec<f64> {
    let weight = |i: usize| {
        if 2 * i < count { 1.0 } else { 2.0 * (count - i) as f64 / (count + 2) as f64 }
    };
    (0..count).map(weight).collect()
}

/// One closed loss interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its length in packets. Not always whole: a first interval may be calculated.
    pub length: f64,
    /// How many losses it counts; always 1 where losses of an event are not counted.
    pub impact: f64,
    /// The fraction of its weight after history discounting, 0 to 1.
    pub discount: f64,
}

/// The newest closed loss intervals, with sums that make the average cheap to read.
#[derive(Clone, Debug)]
pub struct LossIntervals {
    weights: Vec<f64>,
    threshold: Option<f64>,
    closed: VecDeque<Interval>,
    sums: Sums,
}

/// A weighted sum of lengths.
#[derive(Clone, Copy, Debug, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn add(&mut self, weight: f64, interval: &Interval) {
        self.sum += weight * interval.discount * interval.length;
        self.weight += weight * interval.discount;
    }

    /// The average, if the weight is not zero.
    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Weighted sums of lengths.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// The newest closed interval has the first weight.
    alone: Weighted,
    /// The open interval has the first weight and the oldest closed one drops out.
    with_open: Weighted,
    /// The open interval has the first weight and, if there is room, no closed one drops out.
    after_push: Weighted,
}

impl LossIntervals {
    /// An empty history of `count` intervals, at least 1 (thesis and RFC 5348: 8). `threshold` is the
    /// floor of history discounting (RFC 5348, section 5.5: 0.25; RFC 3448 and ns-2: 0.5); none turns
    /// discounting off.
    pub fn new(count: usize, threshold: Option<f64>) -> LossIntervals {
        let count = count.max(1);
        LossIntervals {
            weights: interval_weights(count),
            threshold: threshold.filter(|t| !t.is_nan()).map(|t| t.clamp(0.0, 1.0)),
            closed: VecDeque::with_capacity(count + 1),
            sums: Sums::default(),
        }
    }

    /// The closed intervals, newest first.
    pub fn closed(&self) -> impl ExactSizeIterator<Item = &Interval> + Clone {
        self.closed.iter()
    }

    /// The weights, for the newest interval first.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether no interval is closed yet.
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// The discount factor of the closed intervals, given an open one of this length (RFC 5348, section
    /// 5.5): 1 unless the open interval is more than twice their average.
    pub fn discount_factor(&self, open: f64) -> f64 {
        let (Some(threshold), Some(mean)) = (self.threshold, self.sums.alone.mean()) else { return 1.0 };
        if open > 2.0 * mean { (2.0 * mean / open).max(threshold) } else { 1.0 }
    }

    /// The average interval, given an open one: the larger of the averages with and without it. None before
    /// the first interval closed.
    pub fn average(&self, open: f64) -> Option<f64> {
        let without_open = self.sums.alone.mean()?;
        Some(self.joined(open, self.sums.with_open).max(without_open))
    }

    /// The average interval if one of `length` closed now and a new one had nothing in it yet.
    pub fn average_after_push(&self, length: f64) -> f64 {
        self.joined(length, self.sums.after_push)
    }

    /// The average of an interval of `length`, with the first weight, and discounted older ones.
    fn joined(&self, length: f64, older: Weighted) -> f64 {
        let discount = self.discount_factor(length);
        (length + discount * older.sum) / (1.0 + discount * older.weight)
    }

    /// Closes an interval: older ones keep the discount that it caused.
    pub fn push(&mut self, length: f64, impact: f64) {
        let discount = self.discount_factor(length);
        for interval in &mut self.closed {
            interval.discount *= discount;
        }
        if self.closed.len() == self.weights.len() {
            self.closed.pop_back();
        }
        self.closed.push_front(Interval { length, impact, discount: 1.0 });
        self.refresh();
    }

    /// Adds to the impact of the closed interval number `index`, 0 the newest.
    pub(super) fn add_impact(&mut self, index: usize, impact: f64) {
        if let Some(interval) = self.closed.get_mut(index) {
            interval.impact += impact;
        }
    }

    /// Replaces the length of the oldest interval that is still kept. For a first interval that is
    /// calculated (RFC 5348, section 6.3.1) or rescaled (RFC 4654, section 5.6). A length below one
    /// packet is refused.
    pub fn replace_oldest(&mut self, length: f64) {
        if length >= 1.0
            && length.is_finite()
            && let Some(interval) = self.closed.back_mut()
        {
            interval.length = length;
            self.refresh();
        }
    }

    /// Restores a saved history, newest first; surplus intervals are dropped.
    pub fn restore(&mut self, intervals: impl Iterator<Item = Interval>) {
        self.closed.clear();
        self.closed.extend(intervals.take(self.weights.len()));
        self.refresh();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.closed.clear();
        self.refresh();
    }

    fn refresh(&mut self) {
        let count = self.closed.len();
        let mut sums = Sums::default();
        for (i, interval) in self.closed.iter().enumerate() {
            sums.alone.add(self.weights[i], interval);
            if let Some(&weight) = self.weights.get(i + 1) {
                sums.after_push.add(weight, interval);
                if i + 1 < count {
                    sums.with_open.add(weight, interval);
                }
            }
        }
        self.sums = sums;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_after_a_push_is_what_a_push_gives() {
        for threshold in [None, Some(0.25)] {
            let mut intervals = LossIntervals::new(4, threshold);
            for length in [10.0, 500.0, 20.0, 30.0, 2000.0, 15.0] {
                let predicted = intervals.average_after_push(length);
                intervals.push(length, 1.0);
                let average = intervals.average(0.0).unwrap();
                assert!((predicted - average).abs() < 1e-9, "{predicted} {average}");
            }
        }
    }

    #[test]
    fn a_discounted_history_stays_discounted_after_the_next_event() {
        let mut intervals = LossIntervals::new(8, Some(0.25));
        for length in [100.0, 100.0, 400.0] {
            intervals.push(length, 1.0);
        }
        let discounts: Vec<f64> = intervals.closed().map(|interval| interval.discount).collect();
        assert_eq!(discounts, [1.0, 0.5, 0.5]);
    }

    #[test]
    fn the_oldest_interval_can_be_replaced() {
        let mut intervals = LossIntervals::new(2, None);
        intervals.replace_oldest(7.0);
        assert_eq!(intervals.average(0.0), None);
        intervals.push(100.0, 1.0);
        intervals.replace_oldest(40.0);
        intervals.replace_oldest(f64::NAN);
        assert_eq!(intervals.average(0.0), Some(40.0));
    }
}
