//! `layercast agree`: a scenario in both worlds.

pub(crate) mod tolerance;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use layercast_laboratory::agree::{self, Agreement, DIRECTORIES};
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, Outcome, RunRequest};
use layercast_laboratory::scenario::Scenario as Plan;
use layercast_protocols::registry::Registry;

use crate::arguments::Agree;
use crate::commands::{Failure, counted, prepare_for, read, repeated};
use crate::emulator::world;
use crate::lab::warnings;
use crate::output::print;
use crate::progress::Progress;

pub(crate) fn agree(arguments: &Agree) -> Result<(), Failure> {
    let with = |count: Option<u32>| {
        let mut all = arguments.scenario.overrides.clone();
        all.extend(count.map(|count| format!("replications={count}")));
        all.extend(arguments.seed.map(|seed| format!("seed={seed}")));
        read(&arguments.scenario.name, &all, &[])
    };
    let (simulated, simulated_text) = with(arguments.replications)?;
    let (emulated, emulated_text) = with(Some(arguments.emulated_replications))?;
    world::refuse(&emulated, arguments.lateness)?;
    warnings::warn(&arguments.scenario, &lint::emulated(lint::before(&simulated, &simulated_text)))?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Agreement, directory)).transpose()?;
    if let Some(directory) = &arguments.out {
        for world in DIRECTORIES {
            prepare_for(Holds::Run, &directory.join(world))?;
        }
    }
    // The emulated world first: if rights are missing, that is known at once.
    let request =
        request(arguments, emulated_text, " --world emulated", arguments.emulated_replications.into());
    let real = with_progress(&emulated, "emulated", arguments.quiet, |progress| {
        world::run(&emulated, &request, arguments.lateness, progress)
    })?;
    let request = self::request(arguments, simulated_text, "", arguments.replications);
    let ideal = with_progress(&simulated, "simulated", arguments.quiet, |progress| {
        Ok(run::run::<Registry>(&simulated, &request, progress).context("the run failed")?)
    })?;
    let (ideal_summary, real_summary) = (summary(&ideal)?, summary(&real)?);
    let agreement =
        Agreement::new(&ideal_summary, &real_summary, arguments.tolerance, &command_line(arguments));
    print(&agree::table::render(&agreement))?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    for (world, (outcome, summary)) in
        DIRECTORIES.iter().zip([(&ideal, &ideal_summary), (&real, &real_summary)])
    {
        write_world(&directory.join(world), outcome, summary)?;
    }
    let written = agree::write_all(directory, &agreement).context("the results could not be written")?;
    Ok(print(&format!(
        "\nReport     {}\nAgreement  {}\n",
        written.report.display(),
        written.agreement.display()
    ))?)
}

fn with_progress(
    plan: &Plan,
    world: &str,
    quiet: bool,
    run: impl FnOnce(&(dyn Fn(f64) + Sync)) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let what = format!("{world}, {}", counted(plan.replications as usize, "replication"));
    let progress = Progress::new(what, quiet);
    let outcome = run(&|share| progress.set(share));
    progress.finish();
    outcome
}

fn request(arguments: &Agree, text: String, world: &str, replications: Option<u32>) -> RunRequest {
    let command = format!("layercast run {}{}{world}", arguments.scenario.name, settings(arguments));
    RunRequest {
        id: arguments.scenario.name.clone(),
        text,
        command: repeated(command, replications, arguments.seed),
        jobs: arguments.jobs.map(|jobs| jobs as usize),
        ..RunRequest::default()
    }
}

fn summary(outcome: &Outcome) -> Result<Summary, Failure> {
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost);
    Ok(summary.context("the results do not fit the scenario")?)
}

fn write_world(directory: &Path, outcome: &Outcome, summary: &Summary) -> Result<(), Failure> {
    results::write_all(directory, &outcome.experiment, &outcome.replications, summary)
        .context("the results could not be written")?;
    Ok(())
}

fn settings(arguments: &Agree) -> String {
    arguments.scenario.overrides.iter().fold(String::new(), |mut text, set| {
        let _ = write!(text, " --set '{set}'");
        text
    })
}

/// The command that repeats both.
fn command_line(arguments: &Agree) -> String {
    let mut command = format!("layercast agree {}{}", arguments.scenario.name, settings(arguments));
    let _ = write!(command, " --emulated-replications {}", arguments.emulated_replications);
    let _ = write!(command, " --tolerance {}", arguments.tolerance);
    repeated(command, arguments.replications, arguments.seed)
}
