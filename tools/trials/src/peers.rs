//! The same faults for other tools that send files by multicast, in the same networks and the same run as ours.

mod fault;
pub mod speed;
mod tool;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;

pub use fault::{Fault, Outcome};
pub use tool::Tool;

use crate::program::Program;
use crate::report::Report;
use crate::trial::Common;

/// The options of the comparison.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The program of tools/trials/norm, built with libnorm
    #[arg(long, value_name = "FILE")]
    pub norm: Option<PathBuf>,

    /// The tools to compare [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub tools: Vec<Tool>,

    /// The faults to give them [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub faults: Vec<Fault>,

    /// The length of the file in bytes
    #[arg(long, default_value_t = 5_000_000)]
    pub length: u64,

    /// A run is ended after this many seconds
    #[arg(long, default_value_t = 60)]
    pub within: u64,

    /// Write the table to this file too
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
}

impl Options {
    /// Small enough for a test: our own command with one fault.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        Options {
            common: Common { program: Some(program), out, seed: 1 },
            norm: None,
            tools: vec![Tool::Layercast],
            faults: vec![Fault::Loss30],
            length: 300_000,
            within: 30,
            table: None,
        }
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.common.seed
    }
}

/// Gives every fault to every tool.
///
/// # Errors
/// If our own command did not do what it must, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "peers")?;
    let programs = tool::Programs {
        ours: Program::find(options.common.program.as_deref())?,
        norm: options.norm.clone(),
    };
    let or_all = |chosen: &[Tool]| if chosen.is_empty() { Tool::ALL.to_vec() } else { chosen.to_vec() };
    let faults = if options.faults.is_empty() { Fault::ALL.to_vec() } else { options.faults.clone() };
    let mut table = String::from(
        "| fault | tool | outcome | seconds | sent/size | what it said |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for fault in faults {
        for tool in or_all(&options.tools) {
            if let Some(missing) = tool.missing(&programs) {
                table += &format!("| {} | {} | skipped: {missing} | | | |\n", fault.words(), tool.name());
                continue;
            }
            let outcome = fault::run(options, &programs, tool, fault)?;
            // The injected packets leave from the sender's host too.
            let sent = outcome.sent_bytes as f64 / options.length as f64;
            let sent = if fault == Fault::Forged { "-".to_owned() } else { format!("{sent:.2}") };
            table += &format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                fault.words(),
                tool.name(),
                outcome.verdict(),
                outcome.seconds(),
                sent,
                outcome.said.replace('|', "/"),
            );
            let is_right = tool != Tool::Layercast || outcome.is_as_it_must_be(fault);
            report.add(
                is_right,
                json!({
                    "tool": tool.name(), "fault": fault.words(), "verdict": outcome.verdict(),
                    "took_s": outcome.took_s, "sent_bytes": outcome.sent_bytes, "statuses": outcome.statuses,
                    "said": outcome.said, "lines": outcome.lines,
                }),
            )?;
        }
    }
    println!("{table}");
    if let Some(path) = &options.table {
        std::fs::write(path, table)?;
    }
    report.end()
}
