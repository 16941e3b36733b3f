//! `layercast run`.

pub(crate) mod observe;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use layercast_laboratory::lint;
use layercast_laboratory::results::csv::Csv;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_protocols::registry::Registry;

use crate::arguments::{Run, Scenario, World};
use crate::commands::{Failure, prepare_for, read, repeated};
use crate::emulator::world;
use crate::lab::warnings;
use crate::output::{complain_lines, print, print_written, width};
use crate::progress::Progress;

fn overrides(scenario: &Scenario, run: &Run) -> Vec<String> {
    let mut all = scenario.overrides.clone();
    all.extend(run.replications.map(|count| format!("replications={count}")));
    all.extend(run.seed.map(|seed| format!("seed={seed}")));
    all
}

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let overrides = overrides(&arguments.scenario, arguments);
    let probes = observe::probes(&arguments.probes).map_err(Failure::Input)?;
    let (plan, text) = read(&arguments.scenario.name, &overrides, &probes)?;
    let observation = observe::observation(arguments, &plan).map_err(Failure::Input)?;
    if arguments.world == World::Emulated {
        world::refuse(&plan, arguments.lateness)?;
    }
    let found = lint::before(&plan, &text);
    let found = if arguments.world == World::Emulated { lint::emulated(found) } else { found };
    warnings::warn(&arguments.scenario, &found)?;
    let _claim = arguments.out.as_ref().map(|directory| prepare_for(Holds::Run, directory)).transpose()?;
    if let Some(directory) = &arguments.out {
        directory::remove_extras(directory)
            .with_context(|| format!("an older file in {} cannot be removed", directory.display()))?;
    }
    let observed =
        observation.as_ref().map(|observation| observe::files(observation, &plan)).unwrap_or_default();
    let request = RunRequest {
        id: arguments.scenario.name.clone(),
        text,
        command: command_line(arguments),
        jobs: arguments.jobs.map(|jobs| jobs as usize),
        observation,
        ..RunRequest::default()
    };
    let plural = if plan.replications == 1 { "" } else { "s" };
    let progress = Progress::new(format!("{} replication{plural}", plan.replications), arguments.quiet);
    let outcome = match arguments.world {
        World::Simulated => {
            run::run::<Registry>(&plan, &request, &|share| progress.set(share)).context("the run failed")?
        }
        World::Emulated => world::run(&plan, &request, arguments.lateness, &|share| progress.set(share))?,
    };
    progress.finish();
    let found = lint::measured(&outcome.experiment.findings);
    if !found.is_empty() {
        complain_lines(lint::render(&arguments.scenario.name, &found).trim_end());
    }

    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)
        .context("the results do not fit the scenario")?;
    if arguments.csv {
        let mut csv = Csv::new([]);
        csv.add(&[], &summary);
        print(&csv.finish())?;
    } else {
        print(&results::table::render(&outcome.experiment, &summary, width()))?;
    }
    match &arguments.out {
        Some(directory) => write(directory, &outcome, &summary, &observed, arguments.csv),
        None => Ok(()),
    }
}

fn write(
    directory: &Path,
    outcome: &run::Outcome,
    summary: &Summary,
    observed: &str,
    csv: bool,
) -> Result<(), Failure> {
    let written = results::write_all(directory, &outcome.experiment, &outcome.replications, summary)
        .context("the results could not be written")?;
    let probes =
        written.probes.as_ref().map_or(String::new(), |path| format!("Probes   {}\n", path.display()));
    Ok(print_written(
        csv,
        &format!(
            "\nReport   {}\nSummary  {}\nSeries   {}\n{probes}{observed}",
            written.report.display(),
            written.summary.display(),
            written.series.display()
        ),
    )?)
}

/// The command that repeats a run.
fn command_line(arguments: &Run) -> String {
    let mut command = format!("layercast run {}", arguments.scenario.name);
    for set in &arguments.scenario.overrides {
        let _ = write!(command, " --set '{set}'");
    }
    if arguments.world == World::Emulated {
        command.push_str(" --world emulated");
    }
    repeated(command, arguments.replications, arguments.seed)
}
