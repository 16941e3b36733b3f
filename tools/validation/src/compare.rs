//! Comparison of two simulators' means.

use layercast_laboratory::results::Statistic;
use serde::Serialize;

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It is within the joint 95 % interval.
    Agrees,
    /// It is outside the interval, but within the tolerance.
    Tolerated,
    /// It is neither.
    Differs,
}

/// A measure of both simulators.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) ours: Statistic,
    pub(crate) ns: Statistic,
    /// Ours less ns-2's, as a fraction of ns-2's; none if one of them measured nothing.
    pub(crate) difference: Option<f64>,
    /// The half width of the 95 % interval of the difference, as a fraction of ns-2's mean: the root of the
    /// sum of both half widths' squares, since the runs are independent.
    pub(crate) joint: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Comparison {
    /// Compares samples, one a replication. `tolerance` is a fraction of ns-2's mean.
    pub(crate) fn new(ours: Vec<f64>, ns: Vec<f64>, tolerance: f64) -> Comparison {
        let (ours, ns) = (statistic(ours), statistic(ns));
        let (difference, joint, verdict) = match (ours.mean, ns.mean) {
            (Some(mean), Some(reference)) => {
                let half = ours.ci95.zip(ns.ci95).map_or(0.0, |(a, b)| (a * a + b * b).sqrt());
                let apart = (mean - reference).abs();
                let verdict = if apart <= half {
                    Verdict::Agrees
                } else if apart <= tolerance * reference.abs() {
                    Verdict::Tolerated
                } else {
                    Verdict::Differs
                };
                let share = |value: f64| (reference != 0.0).then(|| value / reference);
                (share(mean - reference), share(half), verdict)
            }
            // A difference that cannot be seen is not an agreement.
            _ => (None, None, Verdict::Differs),
        };
        Comparison { ours, ns, difference, joint, verdict }
    }
}

/// The statistic of samples that are all defined.
pub(crate) fn statistic(samples: Vec<f64>) -> Statistic {
    Statistic::new(samples.into_iter().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_within_the_joint_interval_agrees() {
        // Means 10 and 11; half widths t(0.975, 1) * 1 / ... are far larger than 1.
        let wide = Comparison::new(vec![9.0, 11.0], vec![10.0, 12.0], 0.0);
        assert_eq!(wide.verdict, Verdict::Agrees);
        assert!((wide.difference.unwrap() + 1.0 / 11.0).abs() < 1e-12);
        // t(0.975, 1) is 12.706 and the standard error of both is 1.
        assert!((wide.joint.unwrap() - 12.706_204_74 * 2f64.sqrt() / 11.0).abs() < 1e-6);
    }

    #[test]
    fn what_lies_outside_needs_the_tolerance() {
        let pair = |tolerance| Comparison::new(vec![104.0, 104.0], vec![100.0, 100.0], tolerance).verdict;
        assert_eq!(pair(0.05), Verdict::Tolerated);
        assert_eq!(pair(0.03), Verdict::Differs);
    }

    #[test]
    fn nothing_measured_is_not_an_agreement() {
        assert_eq!(Comparison::new(vec![], vec![1.0], 1.0).verdict, Verdict::Differs);
        assert_eq!(Comparison::new(vec![f64::NAN], vec![1.0, 1.0], 1.0).verdict, Verdict::Differs);
    }

    #[test]
    fn zero_agrees_with_zero() {
        let none = Comparison::new(vec![0.0, 0.0], vec![0.0, 0.0], 0.0);
        assert_eq!((none.verdict, none.difference), (Verdict::Agrees, None));
    }
}
