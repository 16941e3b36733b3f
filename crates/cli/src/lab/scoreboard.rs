//! `layercast scoreboard`: every protocol in every cell of a suite.

pub(crate) mod arguments;

use std::fmt::Write as _;

use anyhow::Context;
use layercast_laboratory::compare::CompareError;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scoreboard::{
    self, Progress as Begun, ScoreboardError, ScoreboardRequest, Store, markdown, table,
};
use layercast_protocols::registry::Registry;

use crate::commands::{Failure, counted, prepare_for, repeated};
use crate::lab::scoreboard::arguments::Scoreboard;
use crate::output::{complain, print, width};
use crate::progress::Progress;

/// Distinguishes wrong input by the user from other failures.
fn failure(error: ScoreboardError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the scoreboard failed"))
}

pub(crate) fn scoreboard(arguments: &Scoreboard) -> Result<(), Failure> {
    let catalogue = Catalogue::of::<Registry>();
    let suite = match &arguments.suite {
        Some(path) => scoreboard::load(path, &catalogue),
        None => scoreboard::built_in(&catalogue),
    };
    check_again(arguments, &catalogue)?;
    let request = ScoreboardRequest {
        suite: suite.map_err(failure)?,
        brief: arguments.brief,
        protocols: arguments.protocols.clone(),
        cells: arguments.cells.clone(),
        with: arguments.with.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
        command: command_line(arguments),
    };
    let prepared = scoreboard::prepare(request, &catalogue).map_err(failure)?;
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
    let results = begun.finish::<Registry>(jobs, &|share| progress.set(share)).map_err(failure)?;
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
fn command_line(arguments: &Scoreboard) -> String {
    let mut command = "layercast scoreboard".to_owned();
    if let Some(path) = &arguments.suite {
        let _ = write!(command, " {}", path.display());
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
