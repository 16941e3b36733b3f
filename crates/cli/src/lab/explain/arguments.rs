//! Arguments of `layercast explain`.

use std::path::PathBuf;

use clap::Args;
use layercast_core::units::Duration;

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A trace of `receive --trace`, a notes.jsonl of `run --notes`, or the directory of the latter
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The receiver by its name in the trace, such as elm@R1, or by what follows its @
    #[arg(long, value_name = "NAME")]
    pub(crate) receiver: Option<String>,

    /// The replication [default: the first that has the receiver]
    #[arg(long, value_name = "N")]
    pub(crate) replication: Option<u32>,

    /// Explain the level at this time of the trace, with what led to it
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Duration>,

    /// Print lines of JSON: a summary of each receiver, then the entries of its chain
    #[arg(long)]
    pub(crate) json: bool,
}
