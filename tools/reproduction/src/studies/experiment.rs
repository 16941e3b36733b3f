//! Scenarios with some keys changed, run, and what each replication gave.

use std::path::PathBuf;

use anyhow::Context;
use layercast_laboratory::scenario::{self, Catalogue, Scenario, catalogue};
use layercast_laboratory::sweep::{Measured, Part, SweepRequest};
use layercast_protocols::registry::Registry;

use crate::common::finish;
use crate::frame::time_series::TimeSeries;
use crate::readings::rhythm::{Reading, Rhythm};
use crate::samples::Samples;

/// A scenario and what is changed in it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The name of the built-in scenario.
    pub(crate) scenario: &'static str,
    /// Its text, which a study may have changed.
    pub(crate) text: String,
    /// Changes, as for `--set`.
    pub(crate) set: Vec<String>,
}

impl Case {
    /// A built-in scenario.
    pub(crate) fn new(scenario: &'static str) -> anyhow::Result<Case> {
        let found =
            catalogue::find(scenario).with_context(|| format!("there is no built-in scenario {scenario}"))?;
        Ok(Case { scenario, text: found.text.to_owned(), set: Vec::new() })
    }

    /// The same with more changes.
    pub(crate) fn with<T: AsRef<str>>(&self, set: impl IntoIterator<Item = T>) -> Case {
        let mut changed = self.clone();
        changed.set.extend(set.into_iter().map(|set| set.as_ref().to_owned()));
        changed
    }

    /// The same with pieces of its text replaced, each of which must be there.
    pub(crate) fn replacing(&self, pieces: &[(&str, &str)]) -> anyhow::Result<Case> {
        let mut changed = self.clone();
        for (old, new) in pieces {
            anyhow::ensure!(changed.text.contains(old), "{} has no {old:?}", self.scenario);
            changed.text = changed.text.replace(old, new);
        }
        Ok(changed)
    }

    /// The same in a rhythm.
    pub(crate) fn at(&self, rhythm: Rhythm) -> anyhow::Result<Case> {
        Ok(self.with(rhythm.overrides(&self.read()?)))
    }

    /// The scenario as changed.
    pub(crate) fn read(&self) -> anyhow::Result<Scenario> {
        Ok(scenario::read(self.scenario, &self.text, &self.set, &Catalogue::of::<Registry>())?)
    }
}

/// What runs cases.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    /// The directory of the sweeps, in which finished replications are found again.
    pub(crate) directory: PathBuf,
    /// Two replications of everything.
    pub(crate) is_quick: bool,
    /// The number of threads.
    pub(crate) jobs: Option<usize>,
}

/// What each case measures.
const METRICS: [&str; 3] = ["throughput_kbps", "loss_rate", "level_changes"];

impl Runner {
    fn count(&self, replications: u32) -> u32 {
        if self.is_quick { replications.min(2) } else { replications }
    }

    /// Runs a case as a sweep of one cell.
    pub(crate) fn parts(&self, name: &str, case: &Case, replications: u32) -> anyhow::Result<Vec<Part>> {
        let mut cells = self.cells(name, case, &[], replications, None)?;
        Ok(cells.pop().map(|(_, parts)| parts).unwrap_or_default())
    }

    /// Runs a case at the first delays of a reading: of each its replications.
    pub(crate) fn phases(
        &self,
        name: &str,
        case: &Case,
        reading: Reading,
        phases: u8,
        replications: u32,
    ) -> anyhow::Result<Vec<Vec<Part>>> {
        let at = |phase: u8| {
            let rhythm = reading.at(phase);
            self.parts(&format!("{name} {}", rhythm.name()), &case.at(rhythm)?, replications)
        };
        (0..phases).map(at).collect()
    }

    /// Runs a case over a grid: of each cell the values of the axes as written, and its replications.
    pub(crate) fn cells(
        &self,
        name: &str,
        case: &Case,
        vary: &[String],
        replications: u32,
        seed: Option<u64>,
    ) -> anyhow::Result<Vec<(Vec<String>, Vec<Part>)>> {
        let request = SweepRequest {
            id: case.scenario.to_owned(),
            text: case.text.clone(),
            overrides: case.set.clone(),
            vary: vary.to_vec(),
            metrics: METRICS.map(str::to_owned).to_vec(),
            replications: Some(self.count(replications)),
            seed,
            command: command(case, vary),
        };
        let directory = self.directory.join(name.replace([' ', ',', '/', '='], "-"));
        let (grid, parts) = finish(&request, &directory, self.jobs).with_context(|| name.to_owned())?;
        eprintln!("{name}: {} cells of {} replications", grid.cells.len(), grid.replications);
        let values = grid
            .cells
            .iter()
            .map(|cell| grid.values(cell).into_iter().map(str::to_owned).collect::<Vec<_>>());
        Ok(values.zip(parts).collect())
    }

    /// Runs a case and keeps its time series.
    pub(crate) fn series(&self, name: &str, case: &Case, replications: u32) -> anyhow::Result<TimeSeries> {
        let case = case.with([format!("replications={}", self.count(replications))]);
        let series = TimeSeries::of(case.scenario, &case.text, &case.set, self.jobs)
            .with_context(|| name.to_owned())?;
        eprintln!("{name}: {} replications", series.replications().count());
        Ok(series)
    }
}

fn command(case: &Case, vary: &[String]) -> String {
    let sets = case.set.iter().map(|set| format!(" --set '{set}'"));
    let varies = vary.iter().map(|vary| format!(" --vary '{vary}'"));
    format!("layercast sweep {}{}", case.scenario, varies.chain(sets).collect::<String>())
}

/// Which measure of which flows, groups or links: the mean over those whose names are meant.
#[derive(Clone, Copy)]
pub(crate) struct Meant<'a> {
    /// Whether a name is meant.
    pub(crate) names: &'a dyn Fn(&str) -> bool,
    /// The metric.
    pub(crate) metric: &'static str,
    /// The window, from 0.
    pub(crate) window: usize,
}

/// The mean of one replication; none where there is nothing or where one is undefined.
pub(crate) fn mean(part: &Part, meant: Meant<'_>) -> Option<f64> {
    let window = part.windows.get(meant.window)?;
    let all = [&window.flows, &window.groups, &window.links];
    let is_meant = |one: &&Measured| (meant.names)(&one.name) && one.values.contains_key(meant.metric);
    let found = all.into_iter().flatten().filter(is_meant);
    let value = |one: &Measured| one.values.get(meant.metric).copied().flatten();
    let values: Vec<f64> = found.map(value).collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A measure of one flow, group or link in each replication.
pub(crate) fn samples(parts: &[Part], name: &str, metric: &'static str, window: usize) -> Samples {
    let names = |one: &str| one == name;
    Samples(parts.iter().map(|part| mean(part, Meant { names: &names, metric, window })).collect())
}
