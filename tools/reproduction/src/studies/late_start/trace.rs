//! One replication over time.

use crate::frame::time_series::{Points, TimeSeries};

/// The flow of AMCA that is measured.
const AMCA: &str = "amca@R1";
/// How many seconds decide when a rate is reached, as in `docs/reproduction/amca.md`.
const STEADY: usize = 5;

/// A replication of a run.
pub(super) struct Trace<'s> {
    series: &'s TimeSeries,
    replication: u32,
}

/// The replications of a run.
pub(super) fn traces(series: &TimeSeries) -> Vec<Trace<'_>> {
    series.replications().map(|replication| Trace { series, replication }).collect()
}

impl Trace<'_> {
    /// The round-trip time that the source takes for that of the empty path, at a time.
    pub(super) fn base_ms(&self, at_s: f64) -> Option<f64> {
        let looks = self.series.probe(self.replication, "base", "source_base_rtt_ms");
        let until = looks.into_iter().take_while(|(time_s, _)| *time_s <= at_s);
        until.map(|(_, value)| value).filter(|value| value.is_finite()).last()
    }

    /// What the bottleneck dropped from one time to another.
    pub(super) fn drops(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let looks = self.series.probe(self.replication, "bottleneck", "drops");
        (!looks.is_empty()).then(|| within(looks, from_s, to_s).map(|(_, value)| value).sum())
    }

    /// AMCA's throughput over the mean of all flows.
    pub(super) fn share(&self, others: &[&str], from_s: f64, to_s: f64) -> Option<f64> {
        let own = self.mean_kbps(AMCA, from_s, to_s)?;
        let others: Vec<f64> =
            others.iter().map(|other| self.mean_kbps(other, from_s, to_s)).collect::<Option<_>>()?;
        let mean = (own + others.iter().sum::<f64>()) / (others.len() + 1) as f64;
        (mean > 0.0).then(|| own / mean)
    }

    /// Seconds after `from_s` until AMCA has a rate, and has it for five seconds on average; all the time there was if
    /// it never does.
    pub(super) fn reached_s(&self, kbps: f64, from_s: f64, to_s: f64) -> Option<f64> {
        let seconds: Vec<(f64, f64)> = self.seconds(AMCA, from_s, to_s).collect();
        let mean = |some: &[(f64, f64)]| some.iter().map(|(_, value)| value).sum::<f64>() / STEADY as f64;
        let has_it = |some: &&[(f64, f64)]| some[0].1 >= kbps && mean(some) >= kbps;
        let first = seconds.windows(STEADY).find(has_it).and_then(|some| some.first());
        (!seconds.is_empty()).then(|| first.map_or(to_s, |(end, _)| end - 1.0) - from_s)
    }

    /// The ends of the seconds of a flow from one time to another, with its throughput in kbit/s.
    fn seconds(&self, flow: &str, from_s: f64, to_s: f64) -> impl Iterator<Item = (f64, f64)> {
        within(self.series.throughput(self.replication, flow), from_s, to_s)
    }

    fn mean_kbps(&self, flow: &str, from_s: f64, to_s: f64) -> Option<f64> {
        let values: Vec<f64> = self.seconds(flow, from_s, to_s).map(|(_, value)| value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// The values from one time to another.
fn within(points: Points, from_s: f64, to_s: f64) -> impl Iterator<Item = (f64, f64)> {
    points.into_iter().filter(move |(time_s, value)| *time_s > from_s && *time_s <= to_s && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_recovery_and_base_are_read_off_seconds() {
        // AMCA has 300 and from second 60 on 900, but for one second at 50.
        let amca = |second: u32| if second == 50 || second >= 60 { 900.0 } else { 300.0 };
        let tcp = |second: u32| if second < 40 { 600.0 } else { 0.0 };
        let base = |second: u32| if second < 20 { f64::NAN } else { 90.0 - f64::from(second) / 10.0 };
        let flows: [(&str, &dyn Fn(u32) -> f64); 2] = [(AMCA, &amca), ("tcp@R3", &tcp)];
        let series = TimeSeries::made_up(100, &flows, "source_base_rtt_ms", &[("base", &base)], None);
        let trace = traces(&series).pop().expect("a replication");
        assert_eq!(trace.share(&["tcp@R3"], 10.0, 30.0), Some(300.0 / 450.0));
        assert_eq!(trace.reached_s(810.0, 40.0, 100.0), Some(20.0), "one second alone does not count");
        assert_eq!(trace.reached_s(950.0, 40.0, 100.0), Some(60.0), "never");
        assert_eq!(trace.base_ms(10.0), None);
        assert_eq!(trace.base_ms(50.0), Some(90.0 - 4.9));
        assert_eq!(trace.drops(0.0, 100.0), None, "there is no such probe");
    }
}
