//! Agreement: one scenario in the simulated and in the emulated world, and how far apart they are.
//!
//! [`Agreement::new`] puts the summaries of both side by side, row by row, with a [`Verdict`] for each: [`table::render`]
//! prints them, [`write_all`] writes `agree.json` and `report.html`.

mod measure;
mod report;
mod rows;
pub mod table;
#[cfg(test)]
mod testing;
mod verdict;

use std::path::{Path, PathBuf};

pub use measure::Measure;
pub use rows::{Agreement, Row};
pub use verdict::{FEWEST, Verdict, Worlds, judge};

use crate::results::ResultsError;
use crate::results::files::write_whole;

/// The version of `agree.json`.
pub const SCHEMA: u32 = 1;

/// The directories of each world's own results.
pub const DIRECTORIES: [&str; 2] = ["simulated", "emulated"];

/// The files that [`write_all`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The rows as JSON.
    pub agreement: PathBuf,
    /// The report as one HTML page.
    pub report: PathBuf,
}

/// Writes `agree.json` and `report.html` into `dir`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(dir: &Path, agreement: &Agreement) -> Result<Written, ResultsError> {
    let written = Written { agreement: dir.join("agree.json"), report: dir.join("report.html") };
    write_whole(&written.report, report::html(agreement).into_string().as_bytes())?;
    write_whole(&written.agreement, agreement.to_json().as_bytes())?;
    Ok(written)
}
