//! `layercast agree`: a scenario in both worlds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use layercast_core::units::Duration;
use layercast_laboratory::agree::{self, Agreement, DIRECTORIES};
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, Outcome, RunRequest};
use layercast_laboratory::scenario::Scenario as Plan;

use crate::emulator;
use crate::failure::Failure;
use crate::output::{counted, print};
use crate::program::Program;
use crate::progress::Progress;
use crate::scenario::{Scenario, prepare_for, read, repeated, warn};

#[derive(Debug, Args)]
pub(crate) struct Agree {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Number of simulated replications [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Number of emulated replications, each as long as the scenario's duration; verdicts need three
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) emulated_replications: u32,

    /// How far the emulated value may be from the simulated one
    #[arg(long, value_name = "SHARE", default_value = "15 %", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tolerance: f64,

    /// A replication in which more than 1 % of the packets are later than this is not valid
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) lateness: Duration,

    /// Seed of all random numbers, the same for both worlds [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads of the simulated world [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write agree.json and report.html to this directory, and the results of each world to DIR/simulated and
    /// DIR/emulated
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

pub(crate) fn agree(arguments: &Agree, program: &Program) -> Result<(), Failure> {
    let with = |count: Option<u32>| {
        let mut all = arguments.scenario.overrides.clone();
        all.extend(count.map(|count| format!("replications={count}")));
        all.extend(arguments.seed.map(|seed| format!("seed={seed}")));
        read(&arguments.scenario.name, &all, &program.catalogue)
    };
    let simulated = with(arguments.replications)?;
    let emulated = with(Some(arguments.emulated_replications))?;
    emulator::refuse(&emulated.plan, arguments.lateness)?;
    warn(&arguments.scenario, &lint::emulated(lint::before(&simulated.plan, &simulated.text)))?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Agreement, directory)).transpose()?;
    if let Some(directory) = &arguments.out {
        for world in DIRECTORIES {
            prepare_for(Holds::Run, &directory.join(world))?;
        }
    }
    // The emulated world first: if rights are missing, that is known at once.
    let request = request(
        arguments,
        program.name,
        emulated.text,
        " --world emulated",
        arguments.emulated_replications.into(),
    );
    let real = with_progress(&emulated.plan, "emulated", arguments.quiet, |progress| {
        emulator::run(&emulated.plan, &request, arguments.lateness, progress)
    })?;
    let request = self::request(arguments, program.name, simulated.text, "", arguments.replications);
    let ideal = with_progress(&simulated.plan, "simulated", arguments.quiet, |progress| {
        Ok((program.run)(&simulated.plan, &request, progress).context("the run failed")?)
    })?;
    let (ideal_summary, real_summary) = (summary(&ideal)?, summary(&real)?);
    let agreement = Agreement::new(
        &ideal_summary,
        &real_summary,
        arguments.tolerance,
        &command_line(arguments, program.name),
    );
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

fn request(
    arguments: &Agree,
    program: &str,
    text: String,
    world: &str,
    replications: Option<u32>,
) -> RunRequest {
    let command = format!("{program} run {}{}{world}", arguments.scenario.name, settings(arguments));
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
fn command_line(arguments: &Agree, program: &str) -> String {
    let mut command = format!("{program} agree {}{}", arguments.scenario.name, settings(arguments));
    let _ = write!(command, " --emulated-replications {}", arguments.emulated_replications);
    let _ = write!(command, " --tolerance {}", arguments.tolerance);
    repeated(command, arguments.replications, arguments.seed)
}

/// A share, from per cent (`15 %`) or as a fraction (`0.15`).
///
/// # Errors
/// What is wrong, and what would be right.
fn tolerance(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number / divisor);
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        "a tolerance is a part of the simulated value such as '15 %' or 0.15, from 0 to 1".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::tolerance;

    #[test]
    fn tolerances_are_shares() {
        assert_eq!(tolerance("15 %"), Ok(0.15));
        assert_eq!(tolerance("20%"), Ok(0.2));
        assert_eq!(tolerance("0.1"), Ok(0.1));
        for wrong in ["15", "-1 %", "much", "101 %", "NaN"] {
            assert!(tolerance(wrong).unwrap_err().contains("'15 %' or 0.15"), "{wrong}");
        }
    }
}
