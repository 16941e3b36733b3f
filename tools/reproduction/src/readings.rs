//! Three readings of every experiment with a drop-tail queue, side by side.
//!
//! *Plain*: senders answer at once, layers are evenly spaced, and nothing else varies, so the round-trip time modulo a
//! packet's time on the bottleneck decides who meets the full queue (Floyd and Jacobson 1992). One delay is one of
//! many answers, so eight are taken. *Jittered*: TCPs wait a random time of up to a packet's time on the slowest link
//! of their path before they use their window, and sources shift departures by up to half of their spacing. Less of
//! the phase is left, but not nothing, so the same eight delays are taken. *Together*: TCPs wait, and all layers of a source
//! begin at one moment, as a script starts constant rates, so that their packets leave in bursts.

mod experiment;
mod list;
mod measure;
mod page;
pub(crate) mod rhythm;

use anyhow::Context;
use layercast_laboratory::scenario::{self, Catalogue, catalogue};
use layercast_laboratory::sweep::SweepRequest;
use layercast_protocols::registry::Registry;

use crate::common::{Plan, finish, read, write};
use experiment::Experiment;
use measure::{Row, rows};
use rhythm::Rhythm;

/// Runs what is missing and writes the tables.
///
/// # Errors
/// A scenario that cannot be run, a file that cannot be written.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    let mut all: Vec<(Experiment, Vec<Row>)> = Vec::new();
    for experiment in list::all().into_iter().filter(|experiment| plan.wants(&experiment.name)) {
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
        let text = page::with_table(&read(path)?, &table);
        write(path, &text.with_context(|| format!("{} has no place for the table", path.display()))?)?;
    }
    Ok(())
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
        let (_, mut cells) = finish(&request, &directory, plan.jobs)?;
        parts.push((rhythm, cells.pop().unwrap_or_default()));
        eprintln!("{}: {}", experiment.name, rhythm.name());
    }
    Ok(rows(experiment, &parts))
}

fn command(scenario: &str, overrides: &[String]) -> String {
    let sets: String = overrides.iter().map(|set| format!(" --set '{set}'")).collect();
    format!("layercast run {scenario}{sets}")
}

#[cfg(test)]
mod tests;
