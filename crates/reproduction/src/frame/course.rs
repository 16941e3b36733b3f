//! Courses: what a few runs of a scenario were like over time.

use layercast_laboratory::results::{Experiment, Replication};
use layercast_laboratory::run::{self, RegistryCatalogue, RunError, RunRequest};
use layercast_laboratory::scenario::{self, ScenarioErrors, catalogue};

use super::effort::Effort;

/// What the replications of a scenario were like over time.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    experiment: Experiment,
    replications: Vec<Replication>,
}

/// Why there is no course.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CourseError {
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

impl Course {
    /// Runs a built-in scenario with some keys changed.
    pub(super) fn run(
        scenario: &'static str,
        set: &[String],
        effort: Effort,
        jobs: Option<usize>,
    ) -> Result<Course, CourseError> {
        let source = catalogue::find(scenario).ok_or(CourseError::Unknown(scenario))?;
        let replications = effort.replications().map(|count| format!("replications={count}"));
        let in_full = scenario::read(source.name, source.text, set, &RegistryCatalogue)?;
        let brief = effort.overrides(in_full.duration);
        let overrides: Vec<String> = [set.to_vec(), brief].concat().into_iter().chain(replications).collect();
        let plan = scenario::read(source.name, source.text, &overrides, &RegistryCatalogue)?;
        let request = RunRequest {
            id: source.name.to_owned(),
            text: run::as_run(source.text, &overrides),
            jobs,
            ..RunRequest::default()
        };
        let outcome = run::run(&plan, &request, &|_| {})?;
        Ok(Course { experiment: outcome.experiment, replications: outcome.replications })
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
