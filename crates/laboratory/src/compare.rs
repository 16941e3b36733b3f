//! Comparisons: one scenario, run with each of several protocols in its sessions.
//!
//! [`read`] makes a scenario for each protocol, [`run()`] runs them one after the other, and
//! [`Comparison`] has their results side by side: [`table::render`] prints them, [`write_all`] writes
//! `compare.json`, `report.html`, and the files of `layercast run` for each protocol in its own directory.

pub mod against;
mod completion;
mod contenders;
mod error;
mod report;
mod rows;
pub mod table;

use std::path::{Path, PathBuf};

use layercast_core::family::Family;

pub use completion::Completion;
pub use contenders::{CompareRequest, Contender, read};
pub use error::CompareError;
pub use rows::{Comparison, ReceiverRow, Row};

use crate::results::files::write_whole;
use crate::results::{self, ResultsError, RunCost, Summary};
use crate::run::{self, Outcome, RunError, RunRequest};

/// One protocol's runs.
#[derive(Debug)]
pub struct Ran {
    /// What was run.
    pub contender: Contender,
    /// What it gave.
    pub outcome: Outcome,
    /// Its statistics.
    pub summary: Summary,
}

/// Runs a contender. `progress` is called with the fraction done, from 0 to 1, on any thread.
///
/// # Errors
/// A replication that cannot be run, or results that do not fit.
pub fn run<F: Family>(
    contender: Contender,
    jobs: Option<usize>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Ran, CompareError> {
    let request = RunRequest {
        id: contender.scenario.clone(),
        text: contender.text.clone(),
        command: contender.command.clone(),
        jobs,
        observation: None,
    };
    let failed = |source: RunError| CompareError::Run { protocol: contender.protocol.clone(), source };
    let outcome = run::run::<F>(&contender.plan, &request, progress).map_err(failed)?;
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: None };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)?;
    Ok(Ran { contender, outcome, summary })
}

/// The files that [`write_all`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The rows as JSON.
    pub comparison: PathBuf,
    /// The report as one HTML page.
    pub report: PathBuf,
}

/// The version of `compare.json`.
pub const SCHEMA: u32 = 1;

/// Writes `compare.json`, `report.html`, and each protocol's own files into `dir`.
///
/// # Errors
/// When a file cannot be written or a plot cannot be drawn.
pub fn write_all(dir: &Path, ran: &[Ran], comparison: &Comparison) -> Result<Written, ResultsError> {
    for ran in ran {
        let Ran { contender, outcome, summary } = ran;
        results::write_all(
            &dir.join(&contender.protocol),
            &outcome.experiment,
            &outcome.replications,
            summary,
        )?;
    }
    let written = Written { comparison: dir.join("compare.json"), report: dir.join("report.html") };
    let page = report::html(comparison).into_string();
    write_whole(&written.report, page.as_bytes())?;
    write_whole(&written.comparison, comparison.to_json().as_bytes())?;
    Ok(written)
}
