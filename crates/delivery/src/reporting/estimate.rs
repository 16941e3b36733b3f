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

/// With fewer answers than this an estimate is no better than a guess, since its standard deviation may be a third (CHOICE). Then
/// the receivers that were heard are counted.
const SURE: f64 = 10.0;

/// A number of receivers in the making: answers that were sent for certain, and of the others the sum of their inverse
/// probabilities, and its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub(super) certain: f64,
    pub(super) sum: f64,
    pub(super) variance: f64,
    /// How many answers the sum has.
    pub(super) answers: f64,
}

impl Total {
    /// Adds an answer that was sent with probability 2^-exponent and counts as so much (Horvitz and Thompson; the variance is that
    /// of independent draws).
    pub(super) fn add(&mut self, exponent: u8, by: f64) {
        let weight = weight(exponent);
        if exponent == 0 {
            self.certain += by;
        } else {
            self.answers += 1.0;
            self.sum += weight * by;
            self.variance += weight * (weight - 1.0) * by * by;
        }
    }

    /// Adds another total, multiplied.
    pub(super) fn add_scaled(&mut self, other: Total, by: f64) {
        self.certain += other.certain * by;
        self.answers += other.answers * by;
        self.sum += other.sum * by;
        self.variance += other.variance * by * by;
    }

    /// The interval, if so many have been heard one by one. `unseen` is the inverse probability of an answer where there was none.
    ///
    /// A sum of weights with mean m and variance v is taken for a Poisson count of m^2 / v answers, with Byar's limits
    /// (Rothman and Boice 1979), which hold down to a few answers.
    pub(super) fn interval(self, unseen: f64, heard: f64) -> Interval {
        let Total { certain, sum, variance, answers } = self;
        let least = heard.max(certain);
        if sum <= 0.0 {
            // No answer at all: e^-3 is 5 %.
            let more = if unseen > 1.0 { 3.0 * unseen } else { 0.0 };
            return Interval { mean: least, low: least, high: least.max(certain + more) };
        }
        let count = sum * sum / variance;
        let cube = |x: f64| x * x * x;
        let low = count * cube((1.0 - 1.0 / (9.0 * count) - Z / (3.0 * count.sqrt())).max(0.0));
        let next = count + 1.0;
        let high = certain + sum / count * next * cube(1.0 - 1.0 / (9.0 * next) + Z / (3.0 * next.sqrt()));
        let (mean, low) =
            if answers < SURE { (least, least) } else { (certain + sum, certain + sum * low / count) };
        Interval { mean: mean.max(least), low: low.max(least), high: high.max(least) }
    }
}

/// 2^exponent: for how many receivers an answer stands.
pub(super) fn weight(exponent: u8) -> f64 {
    (1u64 << exponent.min(63)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(answers: usize, exponent: u8) -> Total {
        let mut total = Total::default();
        (0..answers).for_each(|_| total.add(exponent, 1.0));
        total
    }

    #[test]
    fn certain_answers_count_exactly() {
        assert_eq!(total(7, 0).interval(1.0, 5.0), Interval { mean: 7.0, low: 7.0, high: 7.0 });
        assert_eq!(Total::default().interval(1.0, 0.0), Interval::default());
        assert_eq!(Total::default().interval(8.0, 2.0), Interval { mean: 2.0, low: 2.0, high: 24.0 });
    }

    /// Exact limits of a Poisson count of 10 are 4.80 and 18.39; with a weight of 1024 the binomial's are within a
    /// thousandth of these.
    #[test]
    fn the_limits_are_those_of_a_poisson_count() {
        let interval = total(10, 10).interval(1.0, 10.0);
        assert_eq!(interval.mean, 10_240.0);
        assert!((interval.low / 1024.0 - 4.80).abs() < 0.05, "{interval:?}");
        assert!((interval.high / 1024.0 - 18.39).abs() < 0.05, "{interval:?}");
    }

    #[test]
    fn few_uncertain_answers_are_counted_and_bound_what_there_may_be() {
        let Interval { mean, low, high } = total(1, 4).interval(1.0, 2.0);
        assert!((mean, low) == (2.0, 2.0) && (80.0..100.0).contains(&high), "{mean} {low} {high}");
        let mut mixed = total(3, 0);
        mixed.add(4, 1.0);
        let Interval { mean, low, high } = mixed.interval(1.0, 4.0);
        assert!((mean, low) == (4.0, 4.0) && high > 80.0, "{mean} {low} {high}");
    }
}
