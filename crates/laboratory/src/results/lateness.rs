//! How late an emulated run was, and whether its results stand.

use serde::{Deserialize, Serialize};

use super::statistics::Statistic;

/// How late packets left the emulator in one replication: the time at which each was handed to its host, minus the
/// time at which the simulated network delivered it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lateness {
    /// Packets that were delivered.
    pub packets: u64,
    /// Half of the packets were not later than this, in milliseconds.
    pub median_ms: f64,
    /// 99 % of the packets were not later than this, in milliseconds.
    pub p99_ms: f64,
    /// The latest one, in milliseconds.
    pub largest_ms: f64,
    /// 99 % of the time the emulator looked for packets of its hosts within this time, in milliseconds.
    pub intake_p99_ms: f64,
    /// Packets that the emulator did not take in time, so that the kernel dropped them.
    pub overruns: u64,
    /// The most that `p99_ms` and `intake_p99_ms` may be, in milliseconds.
    pub limit_ms: f64,
}

impl Lateness {
    /// Whether the emulator kept up, so that the results stand.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.p99_ms <= self.limit_ms && self.intake_p99_ms <= self.limit_ms && self.overruns == 0
    }
}

/// How late packets left the emulator, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatenessSummary {
    /// Packets that were delivered, in all replications.
    pub packets: u64,
    /// What half of the packets did not exceed, in milliseconds.
    pub median_ms: Statistic,
    /// What 99 % of the packets did not exceed, in milliseconds.
    pub p99_ms: Statistic,
    /// The latest packet, in milliseconds.
    pub largest_ms: Statistic,
    /// How long packets of the hosts waited at most in 99 % of the cases before they were taken, in milliseconds.
    pub intake_p99_ms: Statistic,
    /// Packets that were not taken in time and dropped by the kernel, in all replications.
    pub overruns: u64,
    /// The most that `p99_ms` and `intake_p99_ms` may be, in milliseconds.
    pub limit_ms: f64,
    /// The replications beyond the limit: their numbers. Their results do not stand.
    pub invalid: Vec<u32>,
}

impl LatenessSummary {
    /// Over the replications that have a lateness, by number; none if none has.
    #[must_use]
    pub fn new(runs: impl Iterator<Item = (u32, Option<Lateness>)>) -> Option<LatenessSummary> {
        let each: Vec<(u32, Lateness)> =
            runs.filter_map(|(number, lateness)| Some((number, lateness?))).collect();
        let limit_ms = each.first()?.1.limit_ms;
        let over = |of: fn(&Lateness) -> f64| Statistic::new(each.iter().map(|(_, one)| Some(of(one))));
        Some(LatenessSummary {
            packets: each.iter().map(|(_, one)| one.packets).sum(),
            median_ms: over(|one| one.median_ms),
            p99_ms: over(|one| one.p99_ms),
            largest_ms: over(|one| one.largest_ms),
            intake_p99_ms: over(|one| one.intake_p99_ms),
            overruns: each.iter().map(|(_, one)| one.overruns).sum(),
            limit_ms,
            invalid: each.iter().filter(|(_, one)| !one.is_valid()).map(|&(number, _)| number).collect(),
        })
    }

    /// What a reader of the results should know, in a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
        let number =
            |statistic: &Statistic| statistic.mean.map_or_else(|| "?".to_owned(), |ms| format!("{ms:.3}"));
        let text = format!(
            "Emulated: of {} packets 99 % left within {} ms of their time, half of them within {} ms; the limit is {} ms.",
            self.packets,
            number(&self.p99_ms),
            number(&self.median_ms),
            self.limit_ms,
        );
        if self.invalid.is_empty() {
            return text;
        }
        let numbers: Vec<String> = self.invalid.iter().map(u32::to_string).collect();
        format!(
            "{text} NOT VALID: the emulator was too late in replication {}; use lower rates or fewer hosts, or a \
             machine with nothing else to do.",
            numbers.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, p99_ms: f64) -> (u32, Option<Lateness>) {
        let limits = Lateness { limit_ms: 1.0, ..Lateness::default() };
        (number, Some(Lateness { packets: 10, median_ms: 0.1, p99_ms, largest_ms: 9.0, ..limits }))
    }

    #[test]
    fn a_replication_beyond_the_limit_is_named() {
        let summary = LatenessSummary::new([run(1, 0.5), run(2, 1.5)].into_iter()).unwrap();
        assert_eq!((summary.packets, &summary.invalid), (20, &vec![2]));
        assert!(summary.sentence().contains("NOT VALID: the emulator was too late in replication 2;"));
        let good = LatenessSummary::new([run(1, 0.5)].into_iter()).unwrap();
        assert!(good.invalid.is_empty() && !good.sentence().contains("NOT VALID"));
    }

    #[test]
    fn what_was_not_taken_in_time_makes_a_replication_invalid() {
        let lost = Lateness { overruns: 1, limit_ms: 1.0, ..Lateness::default() };
        assert!(!lost.is_valid() && Lateness { overruns: 0, ..lost }.is_valid());
        assert!(!Lateness { overruns: 0, intake_p99_ms: 1.1, ..lost }.is_valid());
    }

    #[test]
    fn simulated_runs_have_none() {
        assert_eq!(LatenessSummary::new([(1, None)].into_iter()), None);
    }
}
