//! One row of the report and of the history.

use crate::case::Case;
use crate::measurement::Measurement;
use crate::spread::Spread;

/// The results of a case.
pub(crate) struct Row {
    pub(crate) case: Case,
    /// Ours, the plain build first, then the peers.
    pub(crate) columns: Vec<Column>,
}

/// The runs of one program, a round each.
pub(crate) struct Column {
    /// `plain` and `by profile` are ours.
    pub(crate) name: &'static str,
    /// Whether it is a build of ours.
    pub(crate) ours: bool,
    /// At least one.
    pub(crate) runs: Vec<Measurement>,
    pub(crate) instructions_per_hop: Option<f64>,
}

impl Column {
    /// Of some measure of each run.
    pub(crate) fn spread(&self, measure: impl FnMut(&Measurement) -> f64) -> Option<Spread> {
        Spread::of(self.runs.iter().map(measure))
    }

    /// The largest of all runs, where the system reported one.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.peak_bytes).max()
    }

    /// How many times as fast as `other`, round by round.
    pub(crate) fn times(&self, other: &Column) -> Option<Spread> {
        let pairs = self.runs.iter().zip(&other.runs);
        Spread::of(pairs.map(|(one, other)| one.hops_per_s() / other.hops_per_s()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(seconds: &[f64]) -> Column {
        let run =
            |&run_s| Measurement { set_up_s: 0.0, run_s, hops: 100, deliveries: 0, peak_bytes: Some(7) };
        Column { name: "x", ours: true, runs: seconds.iter().map(run).collect(), instructions_per_hop: None }
    }

    #[test]
    fn ratios_are_taken_in_each_round() {
        let (ours, peer) = (column(&[1.0, 2.0, 4.0]), column(&[3.0, 8.0, 20.0]));
        assert_eq!(ours.times(&peer), Some(Spread { median: 4.0, least: 3.0, most: 5.0 }));
        assert_eq!(ours.spread(Measurement::hops_per_s).unwrap().median, 50.0);
        assert_eq!(ours.peak_bytes(), Some(7));
    }
}
