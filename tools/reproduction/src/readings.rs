//! Two readings of every experiment with a drop-tail queue, side by side.
//!
//! *Plain*: senders answer at once, layers are evenly spaced, and nothing else varies, so the round-trip time modulo a
//! packet's time on the bottleneck decides who meets the full queue (Floyd and Jacobson 1992). One delay is one of
//! many answers, so eight are taken. *Jittered*: TCPs wait a random time of up to a packet's time on the slowest link
//! of their path before they use their window, and sources shift departures by up to half of their spacing. Less of
//! the phase is left, but not nothing, so the same eight delays are taken.

mod experiment;
mod list;
mod measure;
mod page;
pub(crate) mod rhythm;

use std::path::{Path, PathBuf};

use anyhow::Context;
use layercast_laboratory::scenario::{self, Catalogue, catalogue};
use layercast_laboratory::sweep::{Grid, Part, Progress, Store, SweepRequest};
use layercast_protocols::registry::Registry;

use experiment::Experiment;
use measure::{Row, rows};
use rhythm::Rhythm;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The directory of the results.
    pub(crate) out: PathBuf,
    /// The page whose table is written; none for none.
    pub(crate) page: Option<PathBuf>,
    /// Only experiments whose names contain this; their table is printed and no page written.
    pub(crate) only: Option<String>,
    /// Two replications of everything.
    pub(crate) quick: bool,
    /// The number of threads.
    pub(crate) jobs: Option<usize>,
}

/// Runs what is missing and writes the tables.
///
/// # Errors
/// A scenario that cannot be run, a file that cannot be written.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    let wanted =
        |experiment: &Experiment| plan.only.as_deref().is_none_or(|part| experiment.name.contains(part));
    let mut all: Vec<(Experiment, Vec<Row>)> = Vec::new();
    for experiment in list::all().into_iter().filter(wanted) {
        let rows = run_experiment(plan, &experiment).with_context(|| experiment.name.clone())?;
        all.push((experiment, rows));
    }
    let table = page::table(&all);
    print!("{}", if plan.only.is_some() { page::artefact(&all) } else { table.clone() });
    if plan.only.is_some() {
        return Ok(());
    }
    write(&plan.out.join("readings.md"), &page::artefact(&all))?;
    write(&plan.out.join("readings.tsv"), &page::values(&all))?;
    if let Some(path) = &plan.page {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let text = page::with_table(&text, &table);
        write(path, &text.with_context(|| format!("{} has no place for the table", path.display()))?)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

fn run_experiment(plan: &Plan, experiment: &Experiment) -> anyhow::Result<Vec<Row>> {
    let scenario = catalogue::find(experiment.scenario)
        .with_context(|| format!("there is no built-in scenario {}", experiment.scenario))?;
    let known = Catalogue::of::<Registry>();
    let read = scenario::read(scenario.name, scenario.text, &experiment.set, &known)?;
    let mut parts = Vec::new();
    for rhythm in Rhythm::all() {
        let mut overrides = experiment.set.clone();
        overrides.extend(rhythm.overrides(&read));
        let replications = if plan.quick { 2 } else { Rhythm::replications(read.replications) };
        let request = SweepRequest {
            id: scenario.name.to_owned(),
            text: scenario.text.to_owned(),
            command: command(scenario.name, &overrides),
            overrides,
            vary: Vec::new(),
            metrics: vec!["throughput_kbps".to_owned(), "loss_rate".to_owned()],
            replications: Some(replications),
            seed: None,
        };
        let directory = plan.out.join(experiment.directory()).join(rhythm.name());
        parts.push((rhythm, finish(&request, &directory, plan.jobs)?));
        eprintln!("{}: {}", experiment.name, rhythm.name());
    }
    Ok(rows(experiment, &parts))
}

/// The parts of all replications: those that are there, and the rest run.
fn finish(request: &SweepRequest, directory: &Path, jobs: Option<usize>) -> anyhow::Result<Vec<Part>> {
    let grid = Grid::read::<Registry>(request)?;
    std::fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let store = Store::open(directory, &grid)?;
    let mut outcome = Progress::load(&grid, &store)?.finish::<Registry>(jobs, &|_| {})?;
    Ok(outcome.parts.pop().unwrap_or_default())
}

fn command(scenario: &str, overrides: &[String]) -> String {
    let sets: String = overrides.iter().map(|set| format!(" --set '{set}'")).collect();
    format!("layercast run {scenario}{sets}")
}

#[cfg(test)]
mod tests;
