//! `layercast scoreboard`: every protocol in every cell of a suite.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use layercast_laboratory::compare::CompareError;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scoreboard::{
    self, Progress as Begun, ScoreboardError, ScoreboardRequest, Store, markdown, table,
};

use crate::failure::Failure;
use crate::output::{complain, counted, print, width};
use crate::program::Program;
use crate::progress::Progress;
use crate::scenario::{prepare_for, repeated, trimmed};

#[derive(Debug, Args)]
pub(crate) struct Scoreboard {
    /// A suite file [default: the built-in suite]
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<PathBuf>,

    /// A suite of N networks that the seed draws: rates, delays, queues, TCP, losses, receivers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with_all = ["suite", "brief"], allow_negative_numbers = true)]
    pub(crate) random: Option<u32>,

    /// Run the brief version: the cells that the suite names for it, in shorter runs with fewer replications
    #[arg(long)]
    pub(crate) brief: bool,

    /// The protocols, in the order of the columns [default: all with layers but those that the suite excepts]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) protocols: Vec<String>,

    /// Only the cells whose name fits one of these; `*` stands for any characters [default: all]
    #[arg(long, value_name = "A,B*,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) cells: Vec<String>,

    /// Set an option of one of the protocols in all cells, or its layers, packet_size or ecn; may be repeated
    #[arg(long = "with", value_name = "PROTOCOL.OPTION=VALUE")]
    pub(crate) with: Vec<String>,

    /// Run these protocols again, though their results are there: after a change of their code
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) again: Vec<String>,

    /// Number of replications of each protocol in every cell [default: from the suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers, and of the networks of --random [default: from the suite, 1 with --random]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write scoreboard.json and report.html to this directory, and the results of each run, from which an
    /// interrupted scoreboard goes on, to DIR/results
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Write the scoreboard as a page of Markdown to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Distinguishes wrong input by the user from other failures.
fn failure(error: ScoreboardError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the scoreboard failed"))
}

pub(crate) fn scoreboard(arguments: &Scoreboard, program: &Program) -> Result<(), Failure> {
    let catalogue = &program.catalogue;
    let suite = match (&arguments.suite, arguments.random) {
        (_, Some(count)) => Ok(scoreboard::drawn(count, arguments.seed.unwrap_or(1))),
        (Some(path), None) => scoreboard::load(path, catalogue),
        (None, None) => scoreboard::built_in(catalogue),
    };
    check_again(arguments, catalogue)?;
    let request = ScoreboardRequest {
        suite: suite.map_err(failure)?,
        brief: arguments.brief,
        protocols: arguments.protocols.clone(),
        cells: arguments.cells.clone(),
        with: arguments.with.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
        command: command_line(arguments, program.name),
    };
    let prepared = scoreboard::prepare(request, catalogue).map_err(failure)?;
    let _claim = prepare_for(Holds::Scoreboard, &arguments.out)?;
    let store = Store::open(&arguments.out).context("the results cannot be kept")?;
    let begun = Begun::load(&prepared, &store, &arguments.again).map_err(failure)?;
    let (done, all) = (begun.done(), prepared.runs.len());
    if done > 0 {
        complain(&format!("{done} of {} were there already", counted(all, "run")));
    }
    let what = format!("{}, {} to do", counted(prepared.cells.len(), "cell"), counted(all - done, "run"));
    let progress = Progress::new(what, arguments.quiet);
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let results = (program.scoreboard)(begun, jobs, &|share| progress.set(share)).map_err(failure)?;
    progress.finish();

    let board = scoreboard::Scoreboard::new(&prepared, &results);
    print(&table::render(&board, width()))?;
    let written =
        scoreboard::write_all(&arguments.out, &board).context("the results could not be written")?;
    if let Some(path) = &arguments.markdown {
        std::fs::write(path, markdown::render(&board))
            .with_context(|| format!("{} could not be written", path.display()))?;
    }
    Ok(print(&format!(
        "\nReport      {}\nScoreboard  {}\n",
        written.report.display(),
        written.scoreboard.display()
    ))?)
}

/// A protocol that is to be run again exists.
fn check_again(arguments: &Scoreboard, catalogue: &Catalogue) -> Result<(), Failure> {
    let known = catalogue.names();
    match arguments.again.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(failure(ScoreboardError::Protocols(CompareError::unknown_protocol(name, &known)))),
        None => Ok(()),
    }
}

/// The command that repeats a scoreboard.
fn command_line(arguments: &Scoreboard, program: &str) -> String {
    let mut command = format!("{program} scoreboard");
    if let Some(path) = &arguments.suite {
        let _ = write!(command, " {}", path.display());
    }
    if let Some(count) = arguments.random {
        let _ = write!(command, " --random {count}");
    }
    if arguments.brief {
        command.push_str(" --brief");
    }
    if !arguments.protocols.is_empty() {
        let _ = write!(command, " --protocols {}", arguments.protocols.join(","));
    }
    if !arguments.cells.is_empty() {
        let _ = write!(command, " --cells '{}'", arguments.cells.join(","));
    }
    for with in &arguments.with {
        let _ = write!(command, " --with '{with}'");
    }
    repeated(command, arguments.replications, arguments.seed)
}
