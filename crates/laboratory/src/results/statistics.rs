//! Means, confidence intervals and the fairness index.
//!
//! The Student-t quantile is our own: for whole degrees of freedom the distribution is a short finite
//! sum, which with a portable arctangent gives the same bits on every machine. Libraries go through
//! logarithms of the platform, whose last digit differs, and `summary.json` must not.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How samples spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// There are fewer than two samples.
    Unknown,
    /// The ends of the 95 % confidence interval of the mean.
    Interval(f64, f64),
    /// The least and the greatest sample.
    Range(f64, f64),
}

/// A measure over the replications.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statistic {
    /// The mean of the defined samples; none if there is none.
    pub mean: Option<f64>,
    /// Half the width of the 95 % Student-t interval; none below two defined samples.
    pub ci95: Option<f64>,
    /// One value per replication, in their order; none where it is undefined.
    pub samples: Vec<Option<f64>>,
}

impl Statistic {
    /// The statistic of one sample per replication. What is not finite counts as undefined.
    #[must_use]
    pub fn new(samples: impl IntoIterator<Item = Option<f64>>) -> Self {
        let samples: Vec<Option<f64>> =
            samples.into_iter().map(|sample| sample.filter(|value| value.is_finite())).collect();
        let defined: Vec<f64> = samples.iter().copied().flatten().collect();
        Self { mean: mean(&defined), ci95: half_width_95(&defined), samples }
    }

    /// What can honestly be said of how the samples spread. `possible` are the values that the measure can have.
    ///
    /// Two samples have an interval so wide that it says nothing, and one that leaves the possible values shows that
    /// the samples are not distributed as it assumes: the least and the greatest sample stand for both.
    #[must_use]
    pub fn spread(&self, possible: &RangeInclusive<f64>) -> Spread {
        let (Some(mean), Some(half)) = (self.mean, self.ci95) else { return Spread::Unknown };
        let (low, high) = (mean - half, mean + half);
        // Rounding must not make an interval of no width impossible.
        let slack = 1e-9 * mean.abs();
        let leaves = low < possible.start() - slack || high > possible.end() + slack;
        if self.defined() == 2 || leaves && possible.contains(&mean) {
            let (least, greatest) = self.extremes().unwrap_or((mean, mean));
            return Spread::Range(least, greatest);
        }
        Spread::Interval(low, high)
    }

    /// The least and the greatest sample, if any is defined.
    #[must_use]
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let samples = self.samples.iter().copied().flatten().map(|sample| (sample, sample));
        samples.reduce(|(least, greatest), (sample, _)| (least.min(sample), greatest.max(sample)))
    }

    /// How many samples are defined.
    #[must_use]
    pub fn defined(&self) -> usize {
        self.samples.iter().flatten().count()
    }
}

/// The arithmetic mean; none of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (over n - 1); none below two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Half the width of the 95 % confidence interval of the mean; none below two values.
#[must_use]
pub fn half_width_95(values: &[f64]) -> Option<f64> {
    let deviation = standard_deviation(values)?;
    let n = values.len();
    Some(t_quantile_975(n - 1)? * deviation / (n as f64).sqrt())
}

/// The Jain fairness index, from 1/n to 1; none for nothing, all zero, or an undefined throughput.
#[must_use]
pub fn jain_index(throughputs: &[f64]) -> Option<f64> {
    if throughputs.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // Scaled by the largest, so that the squares of huge or tiny rates stay in range.
    let largest = throughputs.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest <= 0.0 {
        return None;
    }
    let sum: f64 = throughputs.iter().map(|x| x / largest).sum();
    let squares: f64 = throughputs.iter().map(|x| (x / largest) * (x / largest)).sum();
    Some(sum * sum / (throughputs.len() as f64 * squares))
}

/// The 0.975 quantile of Student's t; none for zero degrees of freedom.
#[must_use]
pub fn t_quantile_975(degrees: usize) -> Option<f64> {
    if degrees == 0 {
        return None;
    }
    // The quantile falls from 12.71 at one degree to 1.96, so these bounds hold it.
    let (mut low, mut high) = (1.9_f64, 13.0_f64);
    loop {
        let middle = 0.5 * (low + high);
        // As close as two numbers can be: halving goes no further.
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if t_probability(middle, degrees) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// P(-t < T < t) for whole degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4.
#[must_use]
pub fn t_probability(t: f64, degrees: usize) -> f64 {
    let nu = degrees as f64;
    let hypotenuse = (nu + t * t).sqrt();
    let (sine, cosine_squared) = (t / hypotenuse, nu / (nu + t * t));
    // Terms are products of cos² · k / (k + 1) with k odd for even degrees, even for odd ones.
    let odd = degrees % 2 == 1;
    let first = if odd { 2 } else { 1 };
    let mut term = 1.0;
    let mut sum = if degrees == 1 { 0.0 } else { 1.0 };
    for k in (first..degrees.saturating_sub(2)).step_by(2) {
        term *= cosine_squared * k as f64 / (k + 1) as f64;
        sum += term;
    }
    if odd {
        let cosine = nu.sqrt() / hypotenuse;
        std::f64::consts::FRAC_2_PI * (libm::atan(t / nu.sqrt()) + sine * cosine * sum)
    } else {
        sine * sum
    }
}
