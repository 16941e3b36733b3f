//! What can go wrong with results.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why results could not be made, written or read. What the system said is the error's source.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// A file or directory could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
        /// What the Parquet library said.
        source: parquet::errors::ParquetError,
    },
    /// A packet capture could not be written.
    #[error("cannot write {}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// What the library for captures said.
        source: pcap_file::PcapError,
    },
    /// A plot could not be drawn.
    #[error("cannot draw the plot \"{plot}\": {reason}")]
    Plot {
        /// What the plot shows.
        plot: String,
        /// What the plotting library said.
        reason: String,
    },
    /// A replication does not have the shape that its experiment declares.
    #[error("replication {replication} does not fit the experiment: {what}")]
    Shape {
        /// The replication's number.
        replication: u32,
        /// What differs.
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
