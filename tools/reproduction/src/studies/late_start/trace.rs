//! One replication over time.

use layercast_laboratory::results::{Experiment, ProbeInfo, Replication};
use layercast_laboratory::run::Outcome;

/// The flow of AMCA that is measured.
const AMCA: &str = "amca@R1";
/// How many seconds decide when a rate is reached, as in `docs/reproduction/amca.md`.
const STEADY: usize = 5;

/// A replication and what its numbers belong to.
pub(super) struct Trace<'o> {
    experiment: &'o Experiment,
    replication: &'o Replication,
}

/// The replications of a run.
pub(super) fn traces(outcome: &Outcome) -> Vec<Trace<'_>> {
    let of = |replication| Trace { experiment: &outcome.experiment, replication };
    outcome.replications.iter().map(of).collect()
}

impl Trace<'_> {
    /// The round-trip time that the source takes for that of the empty path, at a time.
    pub(super) fn base_ms(&self, at_s: f64) -> Option<f64> {
        let (index, info) = self.probe("base")?;
        let looks = self.replication.probes.get(index)?.first()?;
        let until = looks.iter().enumerate().take_while(|(look, _)| info.time_s(*look) <= at_s);
        until.map(|(_, &value)| value).filter(|value| value.is_finite()).last()
    }

    /// What the bottleneck dropped from one time to another.
    pub(super) fn drops(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let (index, info) = self.probe("bottleneck")?;
        let looks = self.replication.probes.get(index)?.first()?;
        let is_within = |look: usize| info.time_s(look) > from_s && info.time_s(look) <= to_s;
        let within = looks.iter().enumerate().filter(|(look, value)| is_within(*look) && value.is_finite());
        Some(within.map(|(_, value)| value).sum())
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
    fn seconds(&self, flow: &str, from_s: f64, to_s: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
        let index = self.experiment.flows.iter().position(|info| info.name == flow);
        let series = index.and_then(|index| self.replication.series.flows.get(index));
        let bins = series.map_or(&[][..], |series| &series.throughput_kbps);
        let timed = bins.iter().enumerate().map(|(bin, &value)| (self.experiment.bin_end_s(bin), value));
        timed.filter(move |(end, value)| *end > from_s && *end <= to_s && value.is_finite())
    }

    fn mean_kbps(&self, flow: &str, from_s: f64, to_s: f64) -> Option<f64> {
        let values: Vec<f64> = self.seconds(flow, from_s, to_s).map(|(_, value)| value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    fn probe(&self, name: &str) -> Option<(usize, &ProbeInfo)> {
        self.experiment.probes.iter().enumerate().find(|(_, info)| info.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_laboratory::results::{FlowInfo, FlowSeries, Role, Series};

    fn info(name: &str) -> FlowInfo {
        FlowInfo {
            name: name.to_owned(),
            protocol: String::new(),
            role: Role::Receiver,
            session: None,
            node: String::new(),
            level_rates_kbps: Vec::new(),
            traffic: None,
            has_transfers: false,
            has_object: false,
            one_rate: false,
            is_constant_rate: false,
        }
    }

    fn experiment() -> Experiment {
        Experiment {
            scenario: String::new(),
            title: String::new(),
            description: None,
            scenario_text: String::new(),
            scenario_hash: String::new(),
            command: String::new(),
            world: "simulated",
            seed: 1,
            duration_s: 100.0,
            windows_s: Vec::new(),
            series_bin_s: 1.0,
            flows: vec![info(AMCA), info("tcp@R3")],
            groups: Vec::new(),
            links: Vec::new(),
            paper: Vec::new(),
            findings: Vec::new(),
            probes: vec![ProbeInfo {
                name: "base".to_owned(),
                subject: String::new(),
                quantities: vec!["source_base_rtt_ms"],
                every_ns: 1_000_000_000,
            }],
            remarks: Vec::new(),
        }
    }

    #[test]
    fn shares_recovery_and_base_are_read_off_seconds() {
        let series = |of: fn(u32) -> f64| FlowSeries {
            throughput_kbps: (0..100).map(of).collect(),
            ..FlowSeries::default()
        };
        // AMCA has 300 and from second 60 on 900, but for one second at 50.
        let amca = |second: u32| if second == 50 || second >= 60 { 900.0 } else { 300.0 };
        let tcp = |second: u32| if second < 40 { 600.0 } else { 0.0 };
        let base =
            (0..100).map(|second| if second < 20 { f64::NAN } else { 90.0 - f64::from(second) / 10.0 });
        let replication = Replication {
            number: 1,
            series: Series { flows: vec![series(amca), series(tcp)], ..Series::default() },
            probes: vec![vec![base.collect()]],
            ..Replication::default()
        };
        let experiment = experiment();
        let trace = Trace { experiment: &experiment, replication: &replication };
        assert_eq!(trace.share(&["tcp@R3"], 10.0, 30.0), Some(300.0 / 450.0));
        assert_eq!(trace.reached_s(810.0, 40.0, 100.0), Some(20.0), "one second alone does not count");
        assert_eq!(trace.reached_s(950.0, 40.0, 100.0), Some(60.0), "never");
        assert_eq!(trace.base_ms(10.0), None);
        assert_eq!(trace.base_ms(50.0), Some(90.0 - 4.9));
        assert_eq!(trace.drops(0.0, 100.0), None, "there is no such probe");
    }
}
