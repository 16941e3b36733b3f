//! The implementation of each command.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::{self, Scenario as Plan, catalogue, default_queue};

use crate::arguments::{Check, Run, Scenario, World};
use crate::emulated;
use crate::observe;
use crate::output::{complain, print};
use crate::progress::Progress;
use crate::warnings;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the text says what, where and what would be right.
    Input(String),
    /// A program that was run for the user has failed, with this exit status, and has said why.
    Status(u8),
    /// Anything else.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}

/// Finds a scenario.
pub(crate) fn load(name: &str) -> Result<catalogue::Source, Failure> {
    catalogue::load(name).map_err(|error| {
        let hint = match error {
            catalogue::LoadError::Unknown { .. } => {
                "\n  = help: `layercast list` names the built-in scenarios"
            }
            catalogue::LoadError::Unreadable { .. } => "",
        };
        Failure::Input(format!("error: {error}{hint}"))
    })
}

/// Reads and checks a scenario with its overrides and those that add probes. The text returned is what
/// decides the numbers, which probes do not.
pub(crate) fn read(
    name: &str,
    overrides: &[String],
    probes: &[observe::ProbeSetting],
) -> Result<(Plan, String), Failure> {
    let source = load(name)?;
    let settings = overrides.iter().chain(probes.iter().map(|probe| &probe.set));
    let settings: Vec<String> = settings.cloned().collect();
    let plan = scenario::read(&source.name, &source.text, &settings, &Catalogue::of::<Registry>())
        .map_err(|errors| Failure::Input(observe::in_flags(errors, overrides.len(), probes).to_string()))?;
    Ok((plan, run::as_run(&source.text, overrides)))
}

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
        emulated::check(arguments, &plan)?;
    }
    warnings::warn(&arguments.scenario, &lint::before(&plan, &text))?;
    if let Some(directory) = &arguments.out {
        prepare_for(Holds::Run, directory)?;
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
    };
    let plural = if plan.replications == 1 { "" } else { "s" };
    let progress = Progress::new(format!("{} replication{plural}", plan.replications), arguments.quiet);
    let outcome = match arguments.world {
        World::Simulated => {
            run::run::<Registry>(&plan, &request, &|share| progress.set(share)).context("the run failed")?
        }
        World::Emulated => emulated::run(&plan, &request, arguments.lateness, &|share| progress.set(share))?,
    };
    progress.finish();
    let found = lint::after(&plan, &request.text, &outcome.experiment.links, &outcome.replications);
    if !found.is_empty() {
        complain(lint::render(&arguments.scenario.name, &found).trim_end());
    }

    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)
        .context("the results do not fit the scenario")?;
    print(&results::table::render(&outcome.experiment, &summary))?;
    match &arguments.out {
        Some(directory) => write(directory, &outcome, &summary, &observed),
        None => Ok(()),
    }
}

/// Checks that results can be written to the directory, and that it holds none of another command.
pub(crate) fn prepare_for(wanted: Holds, directory: &Path) -> Result<(), Failure> {
    directory::check(directory, wanted).map_err(|error| Failure::Input(error.to_string()))?;
    prepare(directory)
}

/// Checks that results can be written to the directory. A long run should not start if they cannot.
pub(crate) fn prepare(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(".layercast-probe");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe))
        .with_context(|| format!("nothing can be written to the directory {}", directory.display()))?;
    Ok(())
}

fn write(directory: &Path, outcome: &run::Outcome, summary: &Summary, observed: &str) -> Result<(), Failure> {
    let written = results::write_all(directory, &outcome.experiment, &outcome.replications, summary)
        .context("the results could not be written")?;
    let probes =
        written.probes.as_ref().map_or(String::new(), |path| format!("Probes   {}\n", path.display()));
    Ok(print(&format!(
        "\nReport   {}\nSummary  {}\nSeries   {}\n{probes}{observed}",
        written.report.display(),
        written.summary.display(),
        written.series.display()
    ))?)
}

/// Appends the number of replications and the seed to a command line.
pub(crate) fn repeated(mut command: String, replications: Option<u32>, seed: Option<u64>) -> String {
    if let Some(count) = replications {
        let _ = write!(command, " --replications {count}");
    }
    if let Some(seed) = seed {
        let _ = write!(command, " --seed {seed}");
    }
    command
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

pub(crate) fn check(arguments: &Check) -> Result<(), Failure> {
    let (plan, text) = read(&arguments.scenario.name, &arguments.scenario.overrides, &[])?;
    let findings = lint::before(&plan, &text);
    let remark = default_queue::remark(&plan).map_or(String::new(), |remark| format!("{remark}\n"));
    print(&format!(
        "{}: fine ({}, {}, {}, {} of {})\n{remark}{}",
        arguments.scenario.name,
        counted(plan.nodes.len(), "node"),
        counted(plan.links.len(), "link"),
        counted(plan.flow_names().len(), "flow"),
        counted(plan.replications as usize, "replication"),
        plan.duration,
        lint::render(&arguments.scenario.name, &findings),
    ))?;
    Ok(warnings::deny(&arguments.scenario, &findings)?)
}

pub(crate) fn expand(arguments: &Check) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let flat = scenario::expand(
        &source.name,
        &source.text,
        &arguments.scenario.overrides,
        &Catalogue::of::<Registry>(),
    )
    .map_err(|errors| Failure::Input(errors.to_string()))?;
    Ok(print(&flat)?)
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
