//! Courses: what a few runs of a scenario were like over time.

use layercast_laboratory::results::{Experiment, Replication};
use layercast_laboratory::run::{self, RunError, RunRequest};
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scenario::{self, ScenarioErrors, catalogue};
use layercast_protocols::registry::Registry;

use super::effort::Effort;

/// What the replications of a scenario were like over time.
#[derive(Clone, Debug)]
pub(crate) struct TimeSeries {
    experiment: Experiment,
    replications: Vec<Replication>,
}

/// Why there is no time series.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SeriesError {
    /// There is no such scenario.
    #[error("there is no built-in scenario {0}")]
    Unknown(&'static str),
    /// The scenario cannot be changed like that.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// It cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Points of time in seconds, and values.
pub(crate) type Points = Vec<(f64, f64)>;

impl TimeSeries {
    /// Runs a built-in scenario with some keys changed, so often, or as often as it says.
    pub(super) fn run(
        scenario: &'static str,
        set: &[String],
        effort: Effort,
        replications: Option<u32>,
        jobs: Option<usize>,
    ) -> Result<TimeSeries, SeriesError> {
        let source = catalogue::find(scenario).ok_or(SeriesError::Unknown(scenario))?;
        let replications = replications.map(|count| format!("replications={count}"));
        let in_full = scenario::read(source.name, source.text, set, &Catalogue::of::<Registry>())?;
        let brief = effort.overrides(in_full.duration);
        let overrides: Vec<String> = [set.to_vec(), brief].concat().into_iter().chain(replications).collect();
        TimeSeries::of(source.name, source.text, &overrides, jobs)
    }

    /// Runs a scenario of this name and text with some keys changed.
    pub(crate) fn of(
        name: &str,
        text: &str,
        overrides: &[String],
        jobs: Option<usize>,
    ) -> Result<TimeSeries, SeriesError> {
        let plan = scenario::read(name, text, overrides, &Catalogue::of::<Registry>())?;
        let request = RunRequest {
            id: name.to_owned(),
            text: run::as_run(text, overrides),
            jobs,
            ..RunRequest::default()
        };
        let outcome = run::run::<Registry>(&plan, &request, &|_| {})?;
        Ok(TimeSeries { experiment: outcome.experiment, replications: outcome.replications })
    }

    /// The replications of all in turn, the first of each first, with new numbers; none of nothing.
    pub(super) fn in_turn(all: Vec<TimeSeries>) -> Option<TimeSeries> {
        let experiment = all.first()?.experiment.clone();
        let mut each: Vec<_> = all.into_iter().map(|one| one.replications.into_iter()).collect();
        let mut replications = Vec::new();
        loop {
            let round: Vec<Replication> = each.iter_mut().filter_map(Iterator::next).collect();
            if round.is_empty() {
                return Some(TimeSeries { experiment, replications });
            }
            for replication in round {
                replications.push(Replication { number: replications.len() as u32 + 1, ..replication });
            }
        }
    }

    /// The numbers of the replications, from 1.
    pub(crate) fn replications(&self) -> impl Iterator<Item = u32> + '_ {
        self.replications.iter().map(|replication| replication.number)
    }

    /// The names of the flows.
    pub(crate) fn flows(&self) -> impl Iterator<Item = &str> {
        self.experiment.flows.iter().map(|flow| flow.name.as_str())
    }

    /// The main window, in seconds.
    pub(crate) fn window_s(&self) -> [f64; 2] {
        self.experiment.windows_s.first().copied().unwrap_or([0.0, self.experiment.duration_s])
    }

    /// A flow's throughput in kbit/s by the ends of bins; nothing of what is not there.
    pub(crate) fn throughput(&self, replication: u32, flow: &str) -> Points {
        let Some((found, flow)) = self.find(replication, flow) else { return Vec::new() };
        let bins = found.series.flows.get(flow).map_or(&[][..], |series| &series.throughput_kbps);
        self.timed(bins.iter().copied())
    }

    /// A receiver's level at the ends of bins, -1 for none; nothing of what is not there.
    pub(crate) fn levels(&self, replication: u32, flow: &str) -> Points {
        let Some((found, flow)) = self.find(replication, flow) else { return Vec::new() };
        let bins = found.series.flows.get(flow).map_or(&[][..], |series| &series.level);
        self.timed(bins.iter().map(|level| level.map_or(f64::NAN, f64::from)))
    }

    /// How long the transfers of a flow took, in seconds, in the last window that has one; none if it made none.
    pub(crate) fn completion_s(&self, replication: u32, flow: &str) -> Option<f64> {
        let (found, flow) = self.find(replication, flow)?;
        found.windows.iter().rev().find_map(|window| window.flows.get(flow)?.completion_s)
    }

    /// What a probe kept; nothing of what is not there.
    pub(crate) fn probe(&self, replication: u32, probe: &str, quantity: &str) -> Points {
        let found = self.replications.iter().find(|found| found.number == replication);
        let info = self.experiment.probes.iter().position(|info| info.name == probe);
        let Some((found, info)) = found.zip(info) else { return Vec::new() };
        let kept = found.probes.get(info).zip(self.experiment.probes.get(info));
        let Some((kept, info)) = kept else { return Vec::new() };
        let Some(index) = info.quantities.iter().position(|known| *known == quantity) else {
            return Vec::new();
        };
        let looks = kept.get(index).map_or(&[][..], Vec::as_slice);
        looks.iter().enumerate().map(|(look, &value)| (info.time_s(look), value)).collect()
    }

    fn find(&self, replication: u32, flow: &str) -> Option<(&Replication, usize)> {
        let found = self.replications.iter().find(|found| found.number == replication)?;
        Some((found, self.experiment.flows.iter().position(|info| info.name == flow)?))
    }

    fn timed(&self, values: impl Iterator<Item = f64>) -> Points {
        let timed = values.enumerate().map(|(bin, value)| (self.experiment.bin_end_s(bin), value));
        timed.filter(|(_, value)| !value.is_nan()).collect()
    }
}

#[cfg(test)]
impl TimeSeries {
    /// One replication of flows with this throughput in kbit/s in each second, and of probes of one quantity with
    /// this value in each second.
    pub(crate) fn made_up(
        duration_s: u32,
        flows: &[(&str, &dyn Fn(u32) -> f64)],
        quantity: &'static str,
        probes: &[(&str, &dyn Fn(u32) -> f64)],
        completion_s: Option<f64>,
    ) -> TimeSeries {
        use layercast_laboratory::results::{
            FlowInfo, FlowMeasures, FlowSeries, ProbeInfo, Role, Series, WindowMeasures,
        };
        let seconds = |value: &dyn Fn(u32) -> f64| (0..duration_s).map(value).collect::<Vec<f64>>();
        let info = |name: &str| FlowInfo {
            name: name.to_owned(),
            protocol: String::new(),
            role: Role::Receiver,
            session: None,
            node: String::new(),
            level_rates_kbps: Vec::new(),
            traffic: None,
            has_transfers: completion_s.is_some(),
            has_object: false,
            one_rate: false,
            is_constant_rate: false,
        };
        let probe = |name: &str| ProbeInfo {
            name: name.to_owned(),
            subject: String::new(),
            quantities: vec![quantity],
            every_ns: 1_000_000_000,
        };
        let experiment = Experiment {
            scenario: String::new(),
            title: String::new(),
            description: None,
            scenario_text: String::new(),
            scenario_hash: String::new(),
            command: String::new(),
            world: "simulated",
            seed: 1,
            duration_s: f64::from(duration_s),
            windows_s: Vec::new(),
            series_bin_s: 1.0,
            flows: flows.iter().map(|(name, _)| info(name)).collect(),
            groups: Vec::new(),
            links: Vec::new(),
            paper: Vec::new(),
            findings: Vec::new(),
            probes: probes.iter().map(|(name, _)| probe(name)).collect(),
            remarks: Vec::new(),
        };
        let series = |(_, value): &(&str, &dyn Fn(u32) -> f64)| FlowSeries {
            throughput_kbps: seconds(value),
            ..FlowSeries::default()
        };
        let measures = FlowMeasures { completion_s, ..FlowMeasures::default() };
        let window = WindowMeasures { flows: vec![measures; flows.len()], links: Vec::new() };
        let replication = Replication {
            number: 1,
            windows: vec![window],
            series: Series { flows: flows.iter().map(series).collect(), ..Series::default() },
            probes: probes.iter().map(|(_, value)| vec![seconds(value)]).collect(),
            ..Replication::default()
        };
        TimeSeries { experiment, replications: vec![replication] }
    }
}
