//! The arguments of `scoreboard`.

use std::path::PathBuf;

use clap::Args;

use crate::lab::trimmed::trimmed;

#[derive(Debug, Args)]
pub(crate) struct Scoreboard {
    /// A suite file [default: the built-in suite]
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<PathBuf>,

    /// Run the brief version: the cells that the suite names for it, in shorter runs with fewer replications
    #[arg(long)]
    pub(crate) brief: bool,

    /// The protocols, in the order of the columns [default: all with layers but those that the suite excepts]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) protocols: Vec<String>,

    /// Only the cells whose name fits one of these; `*` stands for any characters [default: all]
    #[arg(long, value_name = "A,B*,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) cells: Vec<String>,

    /// Set an option of one of the protocols in all cells, or its layers, packet_size or ecn; may be repeated
    #[arg(long = "with", value_name = "PROTOCOL.OPTION=VALUE")]
    pub(crate) with: Vec<String>,

    /// Run these protocols again, though their results are there: after a change of their code
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) again: Vec<String>,

    /// Number of replications of each protocol in every cell [default: from the suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers [default: from the suite]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write scoreboard.json and report.html to this directory, and the results of each run, from which an
    /// interrupted scoreboard goes on, to DIR/results
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Write the scoreboard as a page of Markdown to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
