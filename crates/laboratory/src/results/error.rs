//! Errors of results.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why results could not be made, written or read. The system's error is the source.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// A file or directory could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not a summary that this version understands.
    #[error("{} is not a summary of schema version 1", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why it differs.
        source: serde_json::Error,
    },
    /// The Parquet file could not be written.
    #[error("cannot write {}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The error of the Parquet library.
        source: parquet::errors::ParquetError,
    },
    /// A packet capture could not be written.
    #[error("cannot write {}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The error of the capture library.
        source: pcap_file::PcapError,
    },
    /// A plot could not be drawn.
    #[error("cannot draw the plot \"{plot}\": {reason}")]
    Plot {
        /// The plot's name.
        plot: String,
        /// The error of the plotting library.
        reason: String,
    },
    /// A replication does not have the shape that its experiment declares.
    #[error("replication {replication} does not fit the experiment: {what}")]
    Shape {
        /// The replication's number.
        replication: u32,
        /// The difference.
        what: String,
    },
    /// A group names a flow that does not exist.
    #[error("group {group} has flow number {flow}, but there are {flows} flows")]
    Group {
        /// The group's name.
        group: String,
        /// The index that is out of range.
        flow: usize,
        /// How many flows there are.
        flows: usize,
    },
}
