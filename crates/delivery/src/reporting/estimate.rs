//! Numbers of receivers from answers that were sent with known probabilities.

/// The quantile of the normal distribution for 95 %, both sides.
const Z: f64 = 1.96;

/// A number and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A number of receivers in the making: the sum of the inverse probabilities of answers, and its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub(super) sum: f64,
    pub(super) variance: f64,
}

impl Total {
    /// Adds an answer that was sent with probability 2^-exponent (Horvitz and Thompson; the variance is that of
    /// independent draws).
    pub(super) fn add(&mut self, exponent: u8) {
        let weight = weight(exponent);
        self.sum += weight;
        self.variance += weight * (weight - 1.0);
    }

    /// Adds another total, multiplied.
    pub(super) fn add_scaled(&mut self, other: Total, by: f64) {
        self.sum += other.sum * by;
        self.variance += other.variance * by * by;
    }

    /// The interval. `unseen` is the inverse probability of an answer where there was none.
    ///
    /// A sum of weights with mean m and variance v is taken for a Poisson count of m^2 / v answers, with Byar's limits
    /// (Rothman and Boice 1979), which hold down to a few answers.
    pub(super) fn interval(self, unseen: f64) -> Interval {
        let Total { sum, variance } = self;
        if sum <= 0.0 {
            // No answer at all: e^-3 is 5 %.
            let high = if unseen > 1.0 { 3.0 * unseen } else { 0.0 };
            return Interval { mean: 0.0, low: 0.0, high };
        }
        if variance <= 0.0 {
            return Interval { mean: sum, low: sum, high: sum };
        }
        let count = sum * sum / variance;
        let cube = |x: f64| x * x * x;
        let low = count * cube((1.0 - 1.0 / (9.0 * count) - Z / (3.0 * count.sqrt())).max(0.0));
        let next = count + 1.0;
        let high = next * cube(1.0 - 1.0 / (9.0 * next) + Z / (3.0 * next.sqrt()));
        Interval { mean: sum, low: sum * low / count, high: sum * high / count }
    }
}

/// 2^exponent: for how many receivers an answer stands.
pub(super) fn weight(exponent: u8) -> f64 {
    (1u64 << exponent.min(63)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_answers_count_exactly() {
        let mut total = Total::default();
        (0..7).for_each(|_| total.add(0));
        assert_eq!(total.interval(1.0), Interval { mean: 7.0, low: 7.0, high: 7.0 });
        assert_eq!(Total::default().interval(1.0), Interval::default());
        assert_eq!(Total::default().interval(8.0).high, 24.0);
    }

    /// Exact limits of a Poisson count of 10 are 4.80 and 18.39; with a weight of 1024 the binomial's are within a
    /// thousandth of these.
    #[test]
    fn the_limits_are_those_of_a_poisson_count() {
        let mut total = Total::default();
        (0..10).for_each(|_| total.add(10));
        let interval = total.interval(1.0);
        assert_eq!(interval.mean, 10_240.0);
        assert!((interval.low / 1024.0 - 4.80).abs() < 0.05, "{interval:?}");
        assert!((interval.high / 1024.0 - 18.39).abs() < 0.05, "{interval:?}");
    }

    #[test]
    fn one_answer_has_a_wide_interval() {
        let mut total = Total::default();
        total.add(3);
        let Interval { mean, low, high } = total.interval(1.0);
        assert!(mean == 8.0 && low < 1.0 && high > 40.0, "{low} {high}");
    }
}
