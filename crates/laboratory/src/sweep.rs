//! Sweeps: a scenario run in every cell of a grid of values.
//!
//! [`Grid::read`] reads a scenario and the flags that vary it, and checks every cell. [`Progress`] knows
//! which replications a directory has, and runs the others: each becomes a part file there as soon as it
//! is done, so an interrupted sweep resumes where it stopped. [`write_all`] writes
//! `sweep.parquet`, `sweep.json` and `report.html`, [`table::render`] makes the table.
//! `docs/sweeps.md` describes them.

mod axis;
mod error;
mod grid;
mod lines;
pub mod metric;
mod part;
mod probed;
mod range;
mod report;
mod rows;
mod runner;
mod store;
mod summary;
pub mod table;
mod task;

use std::path::{Path, PathBuf};

pub use axis::{Axis, Scale};
pub use error::{Mistake, SweepError, SweepErrors};
pub use grid::{Cell, Grid, SweepRequest};
pub use metric::Metric;
pub use part::{Measured, Part, PartWindow};
pub use runner::{Outcome, Progress};
pub use store::Store;
pub use summary::{CellSummary, KeySummary, SubjectSummary, SweepSummary, WindowSummary};
pub use task::Task;

use crate::results::ResultsError;
use crate::results::files::write_whole;

/// The files that [`write_all`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Every value of every replication as Parquet.
    pub values: PathBuf,
    /// The statistics of the cells as JSON.
    pub summary: PathBuf,
    /// The report as one HTML page.
    pub report: PathBuf,
}

/// Writes `sweep.parquet`, `sweep.json` and `report.html` into `dir`, which exists.
///
/// # Errors
/// When a file cannot be written or a plot cannot be drawn.
pub fn write_all(dir: &Path, outcome: &Outcome<'_>, summary: &SweepSummary) -> Result<Written, ResultsError> {
    let written = Written {
        values: dir.join("sweep.parquet"),
        summary: dir.join("sweep.json"),
        report: dir.join("report.html"),
    };
    let page = report::html(outcome, summary)?;
    rows::write(&written.values, outcome)?;
    write_whole(&written.report, page.as_bytes())?;
    // Last, so that the other files exist once the summary does.
    write_whole(&written.summary, summary.to_json().as_bytes())?;
    Ok(written)
}
