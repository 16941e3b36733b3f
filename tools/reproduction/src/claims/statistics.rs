//! Probabilities under a null hypothesis. All are one-sided.
//!
//! The distribution of Student's t is the laboratory's own, for whole degrees of freedom and with the same digits on
//! every machine; the normal one is libm's complementary error function.

use layercast_laboratory::results::statistics::{mean, standard_deviation, t_probability};

/// Below this share of the mean a spread is the rounding of equal numbers.
const ROUNDING: f64 = 1e-12;

/// Whether samples can be tested: two or more that differ.
pub(crate) fn varies(values: &[f64]) -> bool {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    standard_deviation(values).is_some_and(|deviation| deviation > ROUNDING * largest)
}

/// P(T > t) for whole degrees of freedom.
fn upper_tail(t: f64, degrees: usize) -> f64 {
    let outside = (1.0 - t_probability(t.abs(), degrees)).clamp(0.0, 1.0);
    if t >= 0.0 { 0.5 * outside } else { 1.0 - 0.5 * outside }
}

/// The probability of a mean at least so high if the true one were the bound. None of samples that do not vary.
pub(crate) fn above(values: &[f64], bound: f64) -> Option<f64> {
    if !varies(values) {
        return None;
    }
    let error = standard_deviation(values)? / (values.len() as f64).sqrt();
    Some(upper_tail((mean(values)? - bound) / error, values.len() - 1))
}

/// The same of a mean at most so high.
pub(crate) fn below(values: &[f64], bound: f64) -> Option<f64> {
    above(values, bound).map(|probability| 1.0 - probability)
}

/// The probability of a difference of means at least so high if there were none, for samples that do not belong
/// together in pairs (Welch). Degrees of freedom are rounded down, which asks for more.
pub(crate) fn differs(greater: &[f64], smaller: &[f64]) -> Option<f64> {
    let share = |values: &[f64]| {
        let deviation = standard_deviation(values)?;
        Some(deviation * deviation / values.len() as f64)
    };
    let (one, other) = (share(greater)?, share(smaller)?);
    if !varies(greater) && !varies(smaller) {
        return None;
    }
    let rest = |part: f64, values: &[f64]| part * part / (values.len() - 1) as f64;
    let degrees = (one + other) * (one + other) / (rest(one, greater) + rest(other, smaller));
    let t = (mean(greater)? - mean(smaller)?) / (one + other).sqrt();
    Some(upper_tail(t, (degrees as usize).max(1)))
}

/// The probability of a trend at least so clear if there were none: Page's test for ordered alternatives (1963), a
/// block for each replication, by the normal approximation with a correction for continuity. Ties share ranks, which
/// asks for more. None where all blocks are the same or nothing can be ranked.
pub(crate) fn rises(blocks: &[Vec<f64>]) -> Option<f64> {
    let first = blocks.first()?;
    let (n, k) = (blocks.len() as f64, first.len() as f64);
    let is_spread = (0..first.len()).any(|at| {
        let values: Vec<f64> = blocks.iter().filter_map(|block| block.get(at).copied()).collect();
        varies(&values)
    });
    if blocks.len() < 2 || first.len() < 2 || !is_spread {
        return None;
    }
    let weighted =
        |block: &Vec<f64>| (1..).zip(ranks(block)).map(|(at, rank)| f64::from(at) * rank).sum::<f64>();
    let sum: f64 = blocks.iter().map(weighted).sum();
    let expected = n * k * (k + 1.0) * (k + 1.0) / 4.0;
    let deviation = (n * k * k * (k + 1.0) * (k * k - 1.0) / 144.0).sqrt();
    let distance = sum - expected;
    let corrected = if distance > 0.0 { (distance - 0.5).max(0.0) } else { distance };
    Some(0.5 * libm::erfc(corrected / deviation / std::f64::consts::SQRT_2))
}

/// The ranks of values from 1; equal ones share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let smaller = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        smaller as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Rising pairs of a sequence less falling ones: the statistic of Mann and Kendall.
pub(crate) fn kendall(values: &[f64]) -> i64 {
    let pairs = values.iter().enumerate().flat_map(|(at, one)| {
        values.iter().skip(at + 1).map(move |later| i64::from(later > one) - i64::from(later < one))
    });
    pairs.sum()
}

/// Whether the least of several probabilities is significant at a level for all of them together (the first step of
/// Holm's procedure, 1979).
pub(crate) fn any_by_holm(probabilities: &[f64], level: f64) -> bool {
    probabilities.iter().any(|probability| probability * (probabilities.len() as f64) < level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 5e-4), "{found:?}, not {expected}");
    }

    #[test]
    fn t_is_that_of_the_tables() {
        // t = 2.0 with 2 degrees of freedom: P(T > t) = 0.0918.
        let values = [1.0, 2.0, 3.0];
        near(above(&values, 2.0 - 2.0 / 3.0_f64.sqrt()), 0.0918);
        near(below(&values, 2.0), 0.5);
        assert_eq!(above(&[1.0, 1.0], 0.0), None);
        assert_eq!(above(&[1.0], 0.0), None);
    }

    #[test]
    fn welch_is_the_plain_test_where_spreads_are_the_same() {
        // t = 1.2247 with 4 degrees of freedom.
        near(differs(&[2.0, 3.0, 4.0], &[1.0, 2.0, 3.0]), 0.1439);
        assert_eq!(differs(&[2.0, 2.0], &[1.0, 1.0]), None);
    }

    #[test]
    fn a_trend_is_that_of_page() {
        // Six blocks of three in order: L = 84 of 72 ± 3.46.
        let blocks: Vec<Vec<f64>> = (0..6).map(|block| vec![1.0 + f64::from(block), 8.0, 9.0]).collect();
        near(rises(&blocks), 0.0005);
        let same = vec![vec![1.0, 2.0, 3.0]; 4];
        assert_eq!(rises(&same), None);
        assert_eq!(ranks(&[3.0, 1.0, 3.0]), [2.5, 1.0, 2.5]);
        assert_eq!([kendall(&[1.0, 2.0, 3.0]), kendall(&[1.0, 1.0]), kendall(&[3.0, 1.0])], [3, 0, -1]);
    }

    #[test]
    fn one_of_many_must_be_clearer() {
        assert!(any_by_holm(&[0.02], 0.025));
        assert!(!any_by_holm(&[0.02, 0.5], 0.025));
        assert!(any_by_holm(&[0.01, 0.5], 0.025) && !any_by_holm(&[], 0.025));
    }
}
