//! Whether two worlds agree on a measure.

use serde::Serialize;

use super::measure::Measure;
use crate::results::Statistic;
use crate::results::statistics::Spread;

/// With fewer replications of either world there is no interval to judge by.
pub const FEWEST: usize = 3;

/// The verdict on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The means are within the tolerance, or the intervals overlap.
    Agrees,
    /// Neither.
    Differs,
    /// An emulated replication is not valid, or there are too few replications with a value.
    Unknown,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::Unknown => "unknown",
        }
    }
}

/// A measure in both worlds.
#[derive(Debug, Clone, Copy)]
pub struct Worlds<'a> {
    /// In the simulated world.
    pub simulated: &'a Statistic,
    /// In the emulated world.
    pub emulated: &'a Statistic,
    /// Whether all emulated replications kept up with the clock.
    pub is_valid: bool,
}

/// The verdict on a measure. `tolerance` is a share of the simulated mean.
#[must_use]
pub fn judge(measure: Measure, worlds: Worlds<'_>, tolerance: f64) -> Verdict {
    let Worlds { simulated, emulated, is_valid } = worlds;
    let fewest = simulated.defined().min(emulated.defined());
    let (Some(one), Some(other)) = (simulated.mean, emulated.mean) else { return Verdict::Unknown };
    if !is_valid || fewest < FEWEST {
        return Verdict::Unknown;
    }
    let is_close = (other - one).abs() <= (tolerance * one.abs()).max(measure.slack());
    if is_close || overlap(measure, simulated, emulated) { Verdict::Agrees } else { Verdict::Differs }
}

/// Whether the intervals have a value in common. Where an interval holds values that cannot be, the least and the
/// greatest replication stand for it.
fn overlap(measure: Measure, one: &Statistic, other: &Statistic) -> bool {
    let reach = |statistic: &Statistic| match statistic.spread(&measure.possible()) {
        Spread::Interval(low, high) | Spread::Range(low, high) => Some((low, high)),
        Spread::Unknown => None,
    };
    let both = reach(one).zip(reach(other));
    both.is_some_and(|((low, high), (other_low, other_high))| low <= other_high && other_low <= high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(measure: Measure, simulated: &[f64], emulated: &[f64]) -> Verdict {
        let statistic = |samples: &[f64]| Statistic::new(samples.iter().map(|sample| Some(*sample)));
        let (simulated, emulated) = (statistic(simulated), statistic(emulated));
        judge(measure, Worlds { simulated: &simulated, emulated: &emulated, is_valid: true }, 0.15)
    }

    #[test]
    fn means_within_the_tolerance_agree() {
        let steady = [1000.0, 1000.0, 1000.0];
        let with = |emulated| of(Measure::ThroughputKbps, &steady, &[emulated; 3]);
        assert_eq!([850.0, 1149.0].map(with), [Verdict::Agrees; 2]);
        assert_eq!([849.0, 1151.0].map(with), [Verdict::Differs; 2]);
    }

    #[test]
    fn intervals_that_overlap_agree() {
        // 1000 ± 248 and 1400 ± 248: apart by 40 %, but the intervals meet.
        let (low, high) = ([900.0, 1000.0, 1100.0], [1300.0, 1400.0, 1500.0]);
        assert_eq!(of(Measure::ThroughputKbps, &low, &high), Verdict::Agrees);
        assert_eq!(of(Measure::ThroughputKbps, &low, &[1590.0, 1600.0, 1610.0]), Verdict::Differs);
    }

    #[test]
    fn differences_of_numbers_close_to_zero_count_as_none() {
        assert_eq!(of(Measure::LossRate, &[0.0; 3], &[0.001; 3]), Verdict::Agrees);
        assert_eq!(of(Measure::LossRate, &[0.0; 3], &[0.002; 3]), Verdict::Differs);
        assert_eq!(of(Measure::MeanQueuePackets, &[0.1; 3], &[0.5; 3]), Verdict::Agrees);
    }

    #[test]
    fn nothing_is_known_of_few_or_late_replications() {
        assert_eq!(of(Measure::ThroughputKbps, &[1.0, 1.0], &[1.0, 1.0, 1.0]), Verdict::Unknown);
        assert_eq!(of(Measure::ThroughputKbps, &[1.0, 1.0, 1.0], &[]), Verdict::Unknown);
        let same = Statistic::new([Some(1.0); 3]);
        let late = Worlds { simulated: &same, emulated: &same, is_valid: false };
        assert_eq!(judge(Measure::ThroughputKbps, late, 0.15), Verdict::Unknown);
    }
}
