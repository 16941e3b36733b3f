//! Studies: scenarios run over a grid, and what each cell gave.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use layercast_laboratory::scenario::catalogue::{self, BuiltIn};
use layercast_laboratory::scenario::{self, Scenario};
use layercast_laboratory::sweep::{
    Cell, Grid, Measured as MeasuredAlone, Outcome, Part, PartWindow, Progress, Store, SweepError,
    SweepRequest, SweepSummary, write_all,
};

use super::effort::Effort;
use super::time_series::{SeriesError, TimeSeries};
use crate::readings::rhythm::Reading;
use crate::samples::Samples;

/// A grid of a scenario. Where an outer factor changes several keys together, it is one sweep for each of
/// its values.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    /// Its name, and that of its directories.
    pub(crate) name: &'static str,
    /// The built-in scenario.
    pub(crate) scenario: &'static str,
    /// Its sweeps.
    pub(crate) sweeps: Vec<Sweep>,
    /// The metrics of the sweeps' tables and reports.
    pub(crate) metrics: &'static [&'static str],
}

/// One sweep of a study.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    /// The outer factor's value, if there is one: the first coordinate of the cells.
    pub(crate) outer: Option<u32>,
    /// What is changed in all cells, as for `layercast sweep --set`.
    pub(crate) set: Vec<String>,
    /// What is varied, as for `layercast sweep --vary`: the further coordinates. A value that is not a
    /// number counts by its index in the list, from 0. If nothing is varied, trajectories over time are
    /// kept instead of samples.
    pub(crate) vary: Vec<String>,
}

/// Why a study could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudyError {
    /// The laboratory could not run it.
    #[error("the study {study} could not be run")]
    Sweep {
        /// The study's name.
        study: &'static str,
        /// Why.
        source: SweepError,
    },
    /// Its trajectories could not be run.
    #[error("the trajectories of the study {study} could not be run")]
    TimeSeries {
        /// The study's name.
        study: &'static str,
        /// Why.
        source: SeriesError,
    },
    /// What it gave could not be written.
    #[error("the results of the study {study} could not be written")]
    Results {
        /// The study's name.
        study: &'static str,
        /// Why.
        source: layercast_laboratory::results::ResultsError,
    },
    /// There is no such scenario.
    #[error("the study {study} is wrong: {what}")]
    Wrong {
        /// The study's name.
        study: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The directory cannot be made.
    #[error("{} cannot be made", .directory.display())]
    Directory {
        /// Which.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The results of a study: samples by position and quantity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    cells: Vec<MeasuredCell>,
    /// By the outer factor's value.
    trajectories: BTreeMap<Option<u32>, TimeSeries>,
}

/// One cell.
#[derive(Clone, Debug)]
struct MeasuredCell {
    at: Vec<f64>,
    /// By the name of a session, of a table of flows, of one flow, a group or a link, and the metric.
    quantities: BTreeMap<(String, String), Samples>,
}

/// A metric of the flows of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    /// The session's or flow's name. Of several flows, the mean is meant.
    pub(crate) flow: &'static str,
    /// The metric.
    pub(crate) metric: &'static str,
}

impl Measured {
    /// Of a study that was not run.
    pub(crate) const fn nothing() -> Measured {
        Measured { cells: Vec::new(), trajectories: BTreeMap::new() }
    }

    /// The samples of a cell; none where the cell or the quantity is not there.
    pub(crate) fn samples(&self, at: &[f64], quantity: Quantity) -> Samples {
        self.of(at, quantity.flow, quantity.metric)
    }

    /// The samples of a cell by the name of a session, a table of flows, a flow, a group or a link; none
    /// where the cell or the metric is not there.
    pub(crate) fn of(&self, at: &[f64], name: &str, metric: &str) -> Samples {
        let near = |(one, other): (&f64, &f64)| (one - other).abs() <= 1e-9 * other.abs();
        let same = |cell: &&MeasuredCell| cell.at.len() == at.len() && cell.at.iter().zip(at).all(near);
        let key = (name.to_owned(), metric.to_owned());
        let found = self.cells.iter().find(same).and_then(|cell| cell.quantities.get(&key));
        found.cloned().unwrap_or_default()
    }

    /// The trajectories of a sweep that varies nothing, by its outer factor.
    pub(crate) fn time_series(&self, outer: Option<u32>) -> Option<&TimeSeries> {
        self.trajectories.get(&outer)
    }

    /// Adds a cell's quantity.
    pub(crate) fn add(&mut self, at: &[f64], flow: &str, metric: &str, samples: Samples) {
        let position = self.cells.iter().position(|cell| cell.at == at).unwrap_or_else(|| {
            self.cells.push(MeasuredCell { at: at.to_vec(), quantities: BTreeMap::new() });
            self.cells.len() - 1
        });
        if let Some(cell) = self.cells.get_mut(position) {
            cell.quantities.insert((flow.to_owned(), metric.to_owned()), samples);
        }
    }

    /// Adds what a sweep gave at several delays: samples and trajectories of all in turn.
    fn add_in_turn(&mut self, each: Vec<Measured>) {
        for cell in each.first().map_or(&[][..], |first| &first.cells) {
            for (flow, metric) in cell.quantities.keys() {
                let all: Vec<Samples> = each.iter().map(|one| one.of(&cell.at, flow, metric)).collect();
                self.add(&cell.at, flow, metric, Samples::in_turn(&all));
            }
        }
        let outer: Vec<Option<u32>> = each.iter().flat_map(|one| one.trajectories.keys().copied()).collect();
        let mut each = each;
        for outer in outer {
            let all = each.iter_mut().filter_map(|one| one.trajectories.remove(&outer)).collect();
            if let Some(in_turn) = TimeSeries::in_turn(all) {
                self.trajectories.insert(outer, in_turn);
            }
        }
    }

    /// Adds trajectories by the outer factor's value.
    #[cfg(test)]
    pub(crate) fn add_time_series(&mut self, outer: Option<u32>, time_series: TimeSeries) {
        self.trajectories.insert(outer, time_series);
    }

    /// How many cells there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }
}

/// The progress of a study's sweeps.
pub(crate) trait Listener: Sync {
    /// A sweep begins: what it is, how many replications there are, and how many are there already.
    fn begins(&self, what: &str, all: usize, done: usize);

    /// A study whose scenario does not have what is set stays as it is.
    fn keeps(&self, what: &str, set: &str);
}

/// Where and how studies are run.
pub(crate) struct Runs<'r> {
    /// How much is run.
    pub(crate) effort: Effort,
    /// The directory below which a sweep's parts are.
    pub(crate) directory: &'r Path,
    /// The number of threads.
    pub(crate) jobs: Option<usize>,
    /// Changes of all scenarios that have these keys.
    pub(crate) set: &'r [String],
    /// What hears of the progress.
    pub(crate) listener: &'r dyn Listener,
}

/// In which reading a study is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InReading {
    /// Which.
    pub(crate) reading: Reading,
    /// Whether it is the one that counts.
    pub(crate) counts: bool,
}

/// Runs what is missing of a study and reads all of it: as its sweeps say, or in a reading, whose delays take turns in
/// the samples.
pub(crate) fn run(
    study: &Study,
    reading: Option<InReading>,
    runs: &Runs<'_>,
) -> Result<Measured, StudyError> {
    let mut measured = Measured::default();
    let (further, unknown): (Vec<String>, Vec<String>) =
        runs.set.iter().cloned().partition(|set| takes(study, set));
    unknown.iter().for_each(|set| runs.listener.keeps(study.name, set));
    for sweep in &study.sweeps {
        let sweep = &Sweep { set: [&sweep.set[..], &further].concat(), ..sweep.clone() };
        let Some(InReading { reading, counts }) = reading else {
            run_sweep(
                study,
                sweep,
                &sweep_name(study, sweep),
                runs.effort.replications(),
                runs,
                &mut measured,
            )?;
            continue;
        };
        let plan = plan(study, &sweep.set).map_err(|what| StudyError::Wrong { study: study.name, what })?;
        let (phases, replications) = runs.effort.phases(plan.replications, counts);
        let mut each = Vec::new();
        for rhythm in phases.into_iter().map(|phase| reading.at(phase)) {
            // Luck of its own for each delay: without TCP delays change little, and equal runs would count as many.
            let luck = vec![format!("seed={}", plan.seed + 1 + each.len() as u64)];
            let set = [sweep.set.clone(), unless_set(rhythm.overrides(&plan), &further), luck].concat();
            let shifted = Sweep { set, ..sweep.clone() };
            let name = format!("{}-{}", sweep_name(study, sweep), rhythm.name());
            let mut at_one = Measured::default();
            run_sweep(study, &shifted, &name, Some(replications), runs, &mut at_one)?;
            each.push(at_one);
        }
        measured.add_in_turn(each);
    }
    Ok(measured)
}

/// What a reading changes, without what another set-up sets, of one flow or session by name or of all by a default. What a
/// reading does to links begins from what is set, and stays.
fn unless_set(reading: Vec<String>, further: &[String]) -> Vec<String> {
    let key = |set: &str| set.split('=').next().unwrap_or_default().trim().to_owned();
    let covers = |of_set_up: &str, of_reading: &str| match of_set_up.strip_prefix("defaults.") {
        None => of_set_up == of_reading,
        Some(of_all) => of_all.split_once('.').is_some_and(|(table, rest)| {
            of_reading.starts_with(&format!("{table}.")) && of_reading.ends_with(&format!(".{rest}"))
        }),
    };
    let is_set = |own: &str| further.iter().any(|set| covers(&key(set), &key(own)));
    reading.into_iter().filter(|own| own.starts_with("link.") || !is_set(own)).collect()
}

/// Whether a study's scenario takes this change.
pub(crate) fn takes(study: &Study, set: &str) -> bool {
    plan(study, &[set.to_owned()]).is_ok()
}

/// The name of a sweep's directory.
fn sweep_name(study: &Study, sweep: &Sweep) -> String {
    sweep.outer.map_or(study.name.to_owned(), |outer| format!("{}-{outer}", study.name))
}

/// A study's scenario with these changes.
fn plan(study: &Study, set: &[String]) -> Result<Scenario, String> {
    let built_in = built_in(study)?;
    let plan = scenario::read(built_in.name, built_in.text, set, &Catalogue::of::<Registry>());
    plan.map_err(|errors| errors.to_string())
}

fn built_in(study: &Study) -> Result<&'static BuiltIn, String> {
    catalogue::find(study.scenario).ok_or_else(|| format!("there is no built-in scenario {}", study.scenario))
}

fn run_sweep(
    study: &Study,
    sweep: &Sweep,
    name: &str,
    replications: Option<u32>,
    runs: &Runs<'_>,
    measured: &mut Measured,
) -> Result<(), StudyError> {
    let wrong = |what: String| StudyError::Wrong { study: study.name, what };
    let failed = |source| StudyError::Sweep { study: study.name, source };
    let (effort, jobs) = (runs.effort, runs.jobs);
    if sweep.vary.is_empty() {
        let time_series = TimeSeries::run(study.scenario, &sweep.set, effort, replications, jobs)
            .map_err(|source| StudyError::TimeSeries { study: study.name, source })?;
        let count = time_series.replications().count();
        runs.listener.begins(name, count, count);
        measured.trajectories.insert(sweep.outer, time_series);
        return Ok(());
    }
    let request = request(study, sweep, effort, replications).map_err(wrong)?;
    let grid = Grid::read::<Registry>(&request).map_err(failed)?;
    let directory = runs.directory.join(name);
    std::fs::create_dir_all(&directory)
        .map_err(|source| StudyError::Directory { directory: directory.clone(), source })?;
    let store = Store::open(&directory, &grid).map_err(failed)?;
    let begun = Progress::load(&grid, &store).map_err(failed)?;
    runs.listener.begins(name, grid.cells.len() * grid.replications as usize, begun.done());
    let outcome = begun.finish::<Registry>(jobs, &|_| {}).map_err(failed)?;
    write_all(&directory, &outcome, &SweepSummary::new(&outcome))
        .map_err(|source| StudyError::Results { study: study.name, source })?;
    read(&outcome, sweep, measured);
    Ok(())
}

/// What the laboratory is asked for.
fn request(
    study: &Study,
    sweep: &Sweep,
    effort: Effort,
    replications: Option<u32>,
) -> Result<SweepRequest, String> {
    let scenario = built_in(study)?;
    let overrides = [sweep.set.clone(), effort.overrides(plan(study, &[])?.duration)].concat();
    let flags = sweep.vary.iter().map(|vary| format!(" --vary '{vary}'"));
    let sets = overrides.iter().map(|set| format!(" --set '{set}'"));
    let metrics = study.metrics.join(",");
    let command = format!(
        "layercast sweep {}{} --metric {metrics}",
        study.scenario,
        flags.chain(sets).collect::<String>()
    );
    Ok(SweepRequest {
        id: scenario.name.to_owned(),
        text: scenario.text.to_owned(),
        overrides,
        vary: sweep.vary.clone(),
        metrics: study.metrics.iter().map(|&metric| metric.to_owned()).collect(),
        replications,
        seed: None,
        command,
    })
}

fn read(outcome: &Outcome<'_>, sweep: &Sweep, measured: &mut Measured) {
    let grid = outcome.grid;
    for (cell, parts) in grid.cells.iter().zip(&outcome.parts) {
        let mut at: Vec<f64> = sweep.outer.iter().map(|&outer| f64::from(outer)).collect();
        for (axis, &index) in grid.axes.iter().zip(&cell.at) {
            let number = axis.scale.as_ref().and_then(|scale| scale.numbers.get(index));
            at.push(number.copied().unwrap_or(index as f64));
        }
        for (family, members) in families(cell) {
            for metric in metrics(parts, &members) {
                let mean = |part: &Part| mean(part, &members, &metric);
                measured.add(&at, &family, &metric, Samples(parts.iter().map(mean).collect()));
            }
        }
        read_alone(parts, &at, measured);
    }
}

/// What was measured of each flow, group and link by itself.
fn read_alone(parts: &[Part], at: &[f64], measured: &mut Measured) {
    let kinds: [fn(&PartWindow) -> &[MeasuredAlone]; 3] =
        [|window| &window.flows, |window| &window.groups, |window| &window.links];
    for kind in kinds {
        let all: Vec<&[MeasuredAlone]> =
            parts.iter().map(|part| part.windows.first().map_or(&[][..], kind)).collect();
        for (index, alone) in all.first().copied().unwrap_or_default().iter().enumerate() {
            for metric in alone.values.keys() {
                let value = |all: &&[MeasuredAlone]| *all.get(index)?.values.get(metric)?;
                measured.add(at, &alone.name, metric, Samples(all.iter().map(value).collect()));
            }
        }
    }
}

/// The flows of each name, by their indices.
fn families(cell: &Cell) -> BTreeMap<String, Vec<usize>> {
    let mut families: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, flow) in cell.experiment.flows.iter().enumerate() {
        let family = flow.session.as_deref().unwrap_or_else(|| flow.family());
        families.entry(family.to_owned()).or_default().push(index);
    }
    families
}

/// What was measured of these flows in the main window.
fn metrics(parts: &[Part], members: &[usize]) -> Vec<String> {
    let first = parts.first().and_then(|part| part.windows.first()?.flows.get(*members.first()?));
    first.map_or_else(Vec::new, |first| first.values.keys().cloned().collect())
}

/// The mean over flows in one replication; none if one of them has none.
fn mean(part: &Part, members: &[usize], metric: &str) -> Option<f64> {
    let window = part.windows.first()?;
    let value = |&member: &usize| window.flows.get(member).and_then(|flow| *flow.values.get(metric)?);
    let values: Vec<f64> = members.iter().map(value).collect::<Option<_>>()?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_set_up_takes_the_place_of_what_a_reading_sets() {
        let reading = || {
            ["flow.tcp.overhead=automatic", "session.elm.layers.phases=together"].map(str::to_owned).to_vec()
        };
        let phases = ["defaults.session.layers.phases=random".to_owned()];
        assert_eq!(unless_set(reading(), &phases), ["flow.tcp.overhead=automatic"]);
        assert_eq!(unless_set(reading(), &["flow.tcp.count=3".to_owned()]), reading());
        let of_others = ["session.rlc.layers.phases=random", "link.A-B.delay=5 ms"].map(str::to_owned);
        assert_eq!(unless_set(reading(), &of_others), reading());
        let shifts = vec!["link.A-B.delay=5375000 ns".to_owned(), "link.B-C.delay=1375000 ns".to_owned()];
        assert_eq!(unless_set(shifts.clone(), &of_others), shifts);
    }

    #[test]
    fn samples_are_found_by_their_place() {
        let mut measured = Measured::default();
        measured.add(&[0.03, 80.0], "cbr", "lip_loss", Samples::exactly(0.02));
        measured.add(&[0.03, 80.0], "tcp", "loss_rate", Samples::exactly(0.03));
        measured.add(&[0.1, 80.0], "cbr", "lip_loss", Samples::exactly(0.05));
        assert_eq!(measured.len(), 2);
        let lip = Quantity { flow: "cbr", metric: "lip_loss" };
        assert_eq!(measured.samples(&[0.1, 80.0], lip), Samples::exactly(0.05));
        assert_eq!(measured.samples(&[0.1, 160.0], lip), Samples::default());
        assert_eq!(measured.samples(&[0.1], lip), Samples::default());
        measured.add(&[0.0, 80.0], "cbr", "lip_loss", Samples::exactly(0.0));
        assert_eq!(measured.samples(&[0.0, 80.0], lip), Samples::exactly(0.0));
        measured.add(&[0.0, 1.0], "A-B", "drops", Samples::exactly(7.0));
        assert_eq!(measured.of(&[0.0, 1.0], "A-B", "drops"), Samples::exactly(7.0));
        assert!(measured.time_series(None).is_none());
    }
}
