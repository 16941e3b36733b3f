//! The scoreboard: every protocol in every cell of a suite, judged.
//!
//! A suite is a file ([`read_suite`](crate::scenario::read_suite)); [`built_in`] is the one that comes with Layercast, and
//! [`drawn`] makes one of random networks.
//! [`prepare`] puts the protocols into its cells, [`Progress`] runs what a directory does not have yet, and
//! [`Scoreboard`] has the verdicts: [`table::render`] prints them, [`markdown::render`] makes a page, and [`write_all`]
//! writes `scoreboard.json` and `report.html`. `docs/scoreboard.md` describes them.

mod board;
mod built_in;
mod drawn;
mod error;
pub mod markdown;
mod measures;
mod number;
mod prepare;
mod report;
mod runner;
mod store;
pub mod table;
mod verdict;

use std::path::{Path, PathBuf};

pub use board::{CellRow, ModernTotal, PapersTotal, ResultRow, SCHEMA, Scoreboard, Total};
pub use built_in::{BUILT_IN, built_in, load};
pub use drawn::drawn;
pub use error::ScoreboardError;
pub use prepare::{Cell, Entry, Prepared, Run, ScoreboardRequest, prepare};
pub use runner::{Done, Progress};
pub use store::{Record, Store};
pub use verdict::{Ranked, Verdict, place, rank};

use crate::results::ResultsError;
use crate::results::files::write_whole;

/// The files that [`write_all`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The verdicts and numbers as JSON.
    pub scoreboard: PathBuf,
    /// The report as one HTML page.
    pub report: PathBuf,
}

/// Writes `report.html` and `scoreboard.json` into `dir`, which exists.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(dir: &Path, board: &Scoreboard) -> Result<Written, ResultsError> {
    let written = Written { scoreboard: dir.join("scoreboard.json"), report: dir.join("report.html") };
    write_whole(&written.report, report::html(board).into_string().as_bytes())?;
    // Last, so that the report exists once the numbers do.
    write_whole(&written.scoreboard, board.to_json().as_bytes())?;
    Ok(written)
}
