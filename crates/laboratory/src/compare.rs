//! Comparisons: one scenario, run with each of several protocols in its sessions.
//!
//! [`read`] makes a scenario for each protocol and one without multicast, [`run_all`] runs them one after the other,
//! and [`Comparison`] has their results side by side, the paired differences and a verdict: [`table::render`] prints
//! them, [`write_all`] writes `compare.json`, `report.html`, and the files of `layercast run` for each protocol in its
//! own directory.

pub mod against;
mod candidates;
mod completion;
mod differences;
mod effects;
mod error;
mod interval;
mod paired;
mod ran;
mod receivers;
pub(crate) mod report;
mod row;
mod rows;
pub mod table;
mod verdict;

use std::path::{Path, PathBuf};

pub use candidates::{BASELINE, Candidate, CompareRequest, Prepared, read};
pub use completion::Completion;
pub use effects::{Effect, Worst};
pub use error::{CompareError, Rejected};
pub(crate) use interval::signed;
pub(crate) use paired::difference;
pub use paired::{FEWEST, Shown, shown};
pub use ran::{Ran, Results, run, run_all};
pub use receivers::ReceiverRow;
pub use row::{Difference, Row};
pub(crate) use rows::row_alone;
pub use rows::{Baseline, Comparison};
pub use verdict::Verdict;

use crate::results::files::write_whole;
use crate::results::{self, ResultsError};

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

/// The directory of the runs without the compared sessions.
pub(crate) const BASELINE_DIRECTORY: &str = "without-multicast";

/// Writes `compare.json`, `report.html`, and each protocol's own files into `dir`.
///
/// # Errors
/// When a file cannot be written or a plot cannot be drawn.
pub fn write_all(dir: &Path, results: &Results, comparison: &Comparison) -> Result<Written, ResultsError> {
    let protocols = results.ran.iter().map(|ran| (ran.candidate.protocol.as_str(), ran));
    let baseline = results.baseline.iter().map(|ran| (BASELINE_DIRECTORY, ran));
    for (name, ran) in protocols.chain(baseline) {
        let Ran { outcome, summary, .. } = ran;
        results::write_all(&dir.join(name), &outcome.experiment, &outcome.replications, summary)?;
    }
    let written = Written { comparison: dir.join("compare.json"), report: dir.join("report.html") };
    let page = report::html(comparison)?.into_string();
    write_whole(&written.report, page.as_bytes())?;
    write_whole(&written.comparison, comparison.to_json().as_bytes())?;
    Ok(written)
}
