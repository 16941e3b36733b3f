//! What a run measured: statistics, files and the report.
//!
//! The runner fills an [`Experiment`] and one [`Replication`] per seed. [`Summary::new`] turns them
//! into statistics; [`table::render`] prints those, and [`write_all`] writes `summary.json`,
//! `series.parquet` and `report.html` into a directory, and `probes.parquet` if there are probes.
//! `docs/results.md` describes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) mod aggregates;
pub mod bottleneck;
pub(crate) mod columns;
mod completion;
pub mod csv;
pub mod directory;
mod error;
mod experiment;
pub mod explanation;
pub(crate) mod explanation_text;
pub(crate) mod files;
mod finding;
pub(crate) mod json;
mod lateness;
pub mod layout;
pub mod limited;
pub mod movement;
pub mod note;
pub mod paper;
pub mod probes;
pub(crate) mod queue_delay;
mod replication;
pub mod report;
mod reported;
pub mod series;
mod shape;
pub(crate) mod share;
pub mod statistics;
pub mod summary;
pub mod table;
pub(crate) mod text;
pub mod traffic;
pub mod why;

pub use error::ResultsError;
pub use experiment::{Experiment, FlowInfo, GroupInfo, LinkInfo, ProbeInfo, Role};
pub(crate) use files::PartialFile;
pub use finding::Finding;
pub use lateness::{Lateness, LatenessSummary};
pub use queue_delay::QueueDelay;
pub use replication::{
    EngineMeasures, FlowMeasures, FlowSeries, LinkMeasures, ObjectMeasures, Replication, Series,
    WindowMeasures,
};
pub use reported::{Metric, PaperValue, Relation};
pub use statistics::Statistic;
pub use summary::{RunCost, Summary};
pub use traffic::{CallMeasures, TrafficKind, VideoMeasures};

/// The files that [`write_all`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The statistics as JSON.
    pub summary: PathBuf,
    /// The time series of every flow as Parquet.
    pub series: PathBuf,
    /// What probes kept as Parquet, if there are any.
    pub probes: Option<PathBuf>,
    /// The report as one HTML page.
    pub report: PathBuf,
}

/// Writes `summary.json`, `series.parquet` and `report.html` into `dir`, which is made when missing.
///
/// # Errors
/// When a file cannot be written, or the replications do not fit the experiment.
pub fn write_all(
    dir: &Path,
    experiment: &Experiment,
    replications: &[Replication],
    summary: &Summary,
) -> Result<Written, ResultsError> {
    fs::create_dir_all(dir).map_err(|source| ResultsError::Write { path: dir.to_owned(), source })?;
    let written = Written {
        summary: dir.join("summary.json"),
        series: dir.join("series.parquet"),
        probes: (!experiment.probes.is_empty()).then(|| dir.join("probes.parquet")),
        report: dir.join("report.html"),
    };
    let page = report::html(experiment, replications, summary)?;
    series::write(&written.series, experiment, replications)?;
    if let Some(path) = &written.probes {
        probes::write(path, experiment, replications)?;
    }
    files::write_whole(&written.report, page.as_bytes())?;
    // Last, so that the other files exist once the summary does.
    files::write_whole(&written.summary, summary.to_json().as_bytes())?;
    Ok(written)
}

/// Reads a `summary.json`.
///
/// # Errors
/// When the file cannot be read or is not a summary of a known schema version.
pub fn read_summary(path: &Path) -> Result<Summary, ResultsError> {
    let text = fs::read_to_string(path)
        .map_err(|source: io::Error| ResultsError::Read { path: path.to_owned(), source })?;
    Summary::from_json(&text).map_err(|source| ResultsError::Json { path: path.to_owned(), source })
}
