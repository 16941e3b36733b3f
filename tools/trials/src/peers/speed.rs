//! One long file to one receiver over a link that costs what the kernel takes: how fast each tool is, and what it uses.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use super::tool::{Programs, Setting, Tool};
use crate::cables::{Cable, Cables};
use crate::content::{self, Scratch};
use crate::process::{Place, Process, Usage};
use crate::program::{self, Program};
use crate::report::Report;
use crate::trial::{Common, group};

/// How often it is looked whether a transfer is over.
const LOOK: Duration = Duration::from_millis(10);
/// What receivers need to be ready.
const READY: Duration = Duration::from_secs(1);

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The program of tools/trials/norm, built with libnorm
    #[arg(long, value_name = "FILE")]
    pub norm: Option<PathBuf>,

    /// The tools to measure [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub tools: Vec<Tool>,

    /// The congestion control of our own sender
    #[arg(long, value_delimiter = ',', default_values_t = ["fixed".to_owned(), "tide".to_owned()])]
    pub controls: Vec<String>,

    /// The length of the file in bytes
    #[arg(long, default_value_t = 1_000_000_000)]
    pub length: u64,

    /// The rates to send at, in Mbit/s: each tool is run with each, and its best run counts
    #[arg(long, value_delimiter = ',', default_values_t = [500.0, 1000.0, 2000.0, 3000.0])]
    pub rates: Vec<f64>,

    /// The share of packets lost at the receiver, a table for each
    #[arg(long, value_delimiter = ',', default_values_t = [0.0, 0.01, 0.05])]
    pub losses: Vec<f64>,

    /// Packet size of our own sender, in bytes
    #[arg(long, default_value_t = 1400)]
    pub packet: u32,

    /// A run is ended after this many seconds
    #[arg(long, default_value_t = 120)]
    pub within: u64,

    /// Write the table to this file too
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
}

impl Options {
    /// Small enough for a test: our own sender, once.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        Options {
            common: Common { program: Some(program), out, seed: 1 },
            norm: None,
            tools: vec![Tool::Layercast],
            controls: vec!["fixed".to_owned()],
            length: 5_000_000,
            rates: vec![40.0],
            losses: vec![0.01],
            packet: 1400,
            within: 60,
            table: None,
        }
    }
}

/// What is run.
#[derive(Clone, Copy, Debug)]
struct Candidate<'a> {
    tool: Tool,
    /// The congestion control of our own.
    control: &'a str,
}

impl Candidate<'_> {
    fn name(&self) -> String {
        match self.tool {
            Tool::Layercast => format!("layercast, {}", self.control),
            other => other.name().to_owned(),
        }
    }
}

/// What became of a run.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    rate_mbps: f64,
    is_right: bool,
    /// From the start of the sender, and from the receiver's first packet where it says when that came.
    whole_s: f64,
    transfer_s: Option<f64>,
    /// Packets that arrived, per symbol that the file has, as our own receiver says it.
    packets_per_symbol: Option<f64>,
    sender: Usage,
    receiver: Usage,
}

impl Outcome {
    fn goodput(&self, length: u64) -> f64 {
        if self.is_right { length as f64 * 8e-6 / self.whole_s } else { 0.0 }
    }
}

/// Measures each tool at each rate.
///
/// # Errors
/// If our own command never delivered the file, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "speed")?;
    let programs =
        Programs { ours: Program::find(options.common.program.as_deref())?, norm: options.norm.clone() };
    let scratch = Scratch::new("speed")?;
    let file = scratch.folder("sent")?.join("file");
    content::write(&file, options.length, options.common.seed)?;
    let tools = if options.tools.is_empty() { Tool::ALL.to_vec() } else { options.tools.clone() };
    let mut candidates = Vec::new();
    for tool in tools {
        match tool {
            Tool::Layercast => {
                candidates.extend(options.controls.iter().map(|control| Candidate { tool, control }));
            }
            _ => candidates.push(Candidate { tool, control: "" }),
        }
    }
    let mut table = String::from(
        "| loss | tool | sent at, Mbit/s | goodput, Mbit/s | sender, CPU s/GB | receiver, CPU s/GB | sender, MB | receiver, MB |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for &loss in &options.losses {
        for candidate in &candidates {
            let label = format!("| {:.0} % | {} |", loss * 100.0, candidate.name());
            if let Some(missing) = candidate.tool.missing(&programs) {
                table += &format!("{label} skipped: {missing} | | | | | |\n");
                continue;
            }
            let mut outcomes = Vec::new();
            for &rate in &options.rates {
                let outcome = once(options, &programs, &scratch, &file, candidate, rate, loss)?;
                report.add(true, line(options, candidate, loss, &outcome))?;
                outcomes.push(outcome);
            }
            let best = outcomes
                .into_iter()
                .max_by(|one, other| one.goodput(options.length).total_cmp(&other.goodput(options.length)));
            let best = best.context("no rate to send at")?;
            if candidate.tool == Tool::Layercast && !best.is_right {
                report.add(
                    false,
                    json!({ "tool": candidate.name(), "loss": loss, "said": "no run was right" }),
                )?;
            }
            table += &format!("{label}{}\n", row(&best, options.length));
        }
    }
    println!("{table}");
    if let Some(path) = &options.table {
        fs::write(path, table)?;
    }
    report.end()
}

fn row(best: &Outcome, length: u64) -> String {
    if !best.is_right {
        return " none complete | | | | | |".to_owned();
    }
    let per_gb = 1e9 / length as f64;
    format!(
        " {:.0} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} |",
        best.rate_mbps,
        best.goodput(length),
        best.sender.cpu_s * per_gb,
        best.receiver.cpu_s * per_gb,
        best.sender.peak_kb as f64 / 1e3,
        best.receiver.peak_kb as f64 / 1e3,
    )
}

fn line(options: &Options, candidate: &Candidate<'_>, loss: f64, outcome: &Outcome) -> Value {
    json!({
        "tool": candidate.name(), "loss": loss, "rate_mbps": outcome.rate_mbps, "complete": outcome.is_right,
        "whole_s": outcome.whole_s, "transfer_s": outcome.transfer_s,
        "packets_per_symbol": outcome.packets_per_symbol,
        "goodput_mbps": outcome.goodput(options.length), "bytes": options.length,
        "sender_cpu_s": outcome.sender.cpu_s, "sender_user_s": outcome.sender.user_s,
        "receiver_cpu_s": outcome.receiver.cpu_s, "receiver_user_s": outcome.receiver.user_s,
        "sender_kb": outcome.sender.peak_kb, "receiver_kb": outcome.receiver.peak_kb,
    })
}

/// One transfer.
fn once(
    options: &Options,
    programs: &Programs,
    scratch: &Scratch,
    file: &Path,
    candidate: &Candidate<'_>,
    rate: f64,
    loss: f64,
) -> Result<Outcome> {
    let cables = Cables::new(&[Cable { mbps: None, queue_ms: 0 }])?;
    cables.lose(0, loss)?;
    let into = scratch.folder("into")?;
    let (from, to) = (cables.source(), cables.receiver(0));
    let state = scratch.at("state");
    let setting = Setting { file: file.to_owned(), mbps: vec![rate], receivers: 1, key: None, state };
    let mut receiver = match candidate.tool {
        Tool::Layercast => {
            let (base, into) = (group(9).to_string(), into.display().to_string());
            programs.ours.start(&to, &["receive", "--group", &base, "--into", &into])?
        }
        other => to.start(other.receiver(programs, &setting, &to, &into))?,
    };
    thread::sleep(READY);
    let started = Instant::now();
    let mut sender = match candidate.tool {
        Tool::Layercast => ours(options, programs, file, candidate.control, rate, &from)?,
        other => from.start(other.sender(programs, &setting, &from))?,
    };
    let path = into.join(file.file_name().unwrap_or_default());
    let until = started + Duration::from_secs(options.within);
    let mut took = None;
    while took.is_none() && Instant::now() < until {
        thread::sleep(LOOK);
        sender.measure();
        let has_ended = receiver.poll()?.is_some();
        let is_whole = fs::metadata(&path).is_ok_and(|found| found.len() == options.length);
        // These give a file its name when it is complete, and go on: to report it, or for the next file.
        let names_at_end = matches!(candidate.tool, Tool::Layercast | Tool::Uftp);
        if has_ended || is_whole && names_at_end {
            took = Some(started.elapsed());
        }
    }
    receiver.wait_until(Instant::now() + READY)?;
    let is_right = took.is_some() && content::is_same(file, &path).unwrap_or(false);
    let outcome = Outcome {
        rate_mbps: rate,
        is_right,
        whole_s: took.unwrap_or_else(|| started.elapsed()).as_secs_f64(),
        transfer_s: transfer(&receiver),
        packets_per_symbol: packets_per_symbol(&receiver),
        sender: sender.usage(),
        receiver: receiver.usage(),
    };
    if !is_right {
        eprintln!("{} at {rate} Mbit/s: {}", candidate.name(), program::said(&receiver));
    }
    drop((sender, receiver));
    let _ = fs::remove_dir_all(&into);
    Ok(outcome)
}

/// Our own sender: `fixed` in one layer of the rate, other protocols from a thousandth of it on.
fn ours(
    options: &Options,
    programs: &Programs,
    file: &Path,
    control: &str,
    rate: f64,
    from: &Place,
) -> Result<Process> {
    let (path, base) = (file.display().to_string(), group(9).to_string());
    let (low, high) = (format!("{} Mbit/s", rate / 1e3), format!("{rate} Mbit/s"));
    let packet = format!("{} bytes", options.packet);
    let session = ["send", &path, "--group", &base, "--no-announce", "--packet", &packet];
    let rates: &[&str] =
        if control == "fixed" { &["--rates", &high] } else { &["--from", &low, "--to", &high] };
    programs.ours.start(from, &[&session[..], &["--control", control], rates].concat())
}

/// From the session's first packet until the file is in place, as our own receiver says it.
fn transfer(receiver: &Process) -> Option<f64> {
    let begin = program::last(receiver, "session")?["time_s"].as_f64()?;
    Some(program::last(receiver, "object_complete")?["time_s"].as_f64()? - begin)
}

fn packets_per_symbol(receiver: &Process) -> Option<f64> {
    Some(program::number(receiver, "packets")? / program::number(receiver, "symbols_needed")?)
}
