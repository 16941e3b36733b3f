//! Receivers behind links of very different rates, on the kernel's own links: how soon each has its rate, whether it
//! keeps it, whether the others cost it anything, and when each has a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use super::{Common, group};
use crate::cables::{Cable, Cables};
use crate::content::{self, Scratch};
use crate::process::Process;
use crate::program::{self, Program};
use crate::report::Report;

/// What counts as a receiver's rate: this share of its link, or so much where nothing limits it.
const SHARE: f64 = 0.75;
const UNSHAPED_MBPS: f64 = 300.0;
/// For how long the rate is watched once it was there.
const KEPT: Duration = Duration::from_secs(60);

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The rates of the receivers' links in Mbit/s; 0 for one that is not shaped
    #[arg(long, value_delimiter = ',', default_values_t = [5.0, 20.0, 100.0, 0.0])]
    pub links: Vec<f64>,

    /// The queue before each link, in ms
    #[arg(long, default_value_t = 50)]
    pub queue: u64,

    /// The lowest rate of the session
    #[arg(long, default_value = "1 Mbit/s")]
    pub from: String,

    /// The highest rate of the session
    #[arg(long, default_value = "1 Gbit/s")]
    pub to: String,

    /// The congestion control
    #[arg(long, default_value = "tide")]
    pub control: String,

    /// Options of it at receivers, NAME=VALUE
    #[arg(long)]
    pub set: Vec<String>,

    /// Packet size in bytes
    #[arg(long, default_value_t = 1400)]
    pub packet: u32,

    /// The time within which each must have its rate, in seconds
    #[arg(long, default_value_t = 15)]
    pub within: u64,

    /// The length of what is sent while rates are watched, in bytes: it must outlast them
    #[arg(long, default_value_t = 4_000_000_000)]
    pub endless: u64,

    /// The length of the file that all receive to its end, in bytes; 0 for none
    #[arg(long, default_value_t = 1_000_000_000)]
    pub length: u64,

    /// The time for that, in seconds
    #[arg(long, default_value_t = 3000)]
    pub patience: u64,

    /// Do not run each receiver alone too
    #[arg(long)]
    pub together: bool,

    /// Report the rates, and do not fail for them
    #[arg(long)]
    pub report_only: bool,
}

impl Options {
    /// Small enough for a test: two slow links, for as long as a start takes.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        Options {
            common,
            links: vec![3.0, 12.0],
            queue: 50,
            from: "500 kbit/s".to_owned(),
            to: "20 Mbit/s".to_owned(),
            control: "tide".to_owned(),
            set: Vec::new(),
            packet: 1400,
            within: 30,
            endless: 200_000_000,
            length: 2_000_000,
            patience: 120,
            together: true,
            report_only: true,
        }
    }

    fn wanted_mbps(&self, link: f64) -> f64 {
        if link > 0.0 { SHARE * link } else { UNSHAPED_MBPS }
    }
}

/// Runs the trial.
///
/// # Errors
/// If a receiver did not get its rate or the file, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "links")?;
    let program = Program::find(options.common.program.as_deref())?;
    let scratch = Scratch::new("links")?;
    let cables: Vec<Cable> = options
        .links
        .iter()
        .map(|&mbps| Cable { mbps: (mbps > 0.0).then_some(mbps), queue_ms: options.queue })
        .collect();
    let endless = scratch.at("endless");
    // Zeros cost the code as much as anything else, and no space.
    File::create(&endless)?.set_len(options.endless)?;
    let all: Vec<usize> = (0..cables.len()).collect();
    let together = watch(options, &program, &scratch, &endless, &cables, &all)?;
    for (number, rates) in together.iter().enumerate() {
        let link = options.links.get(number).copied().unwrap_or_default();
        let mut line = rates.clone();
        let mut is_right = line["seconds_to_rate"].as_f64().is_some_and(|s| s <= options.within as f64);
        is_right &= line["mean_mbps"].as_f64().is_some_and(|mean| mean >= options.wanted_mbps(link));
        if !options.together {
            let alone = watch(options, &program, &scratch, &endless, &cables, &[number])?;
            let alone = alone.first().context("a receiver alone")?;
            let of = |line: &Value| line["mean_mbps"].as_f64().unwrap_or_default();
            is_right &= of(&line) >= 0.9 * of(alone);
            line["alone"] = alone.clone();
        }
        report.add(is_right || options.report_only, line)?;
    }
    if options.length > 0 {
        complete(options, &program, &scratch, &cables, &mut report)?;
    }
    report.end()
}

/// Starts the source of a file.
fn source(options: &Options, program: &Program, cables: &Cables, file: &Path) -> Result<Process> {
    let (base, packet) = (group(1).to_string(), format!("{} bytes", options.packet));
    let path = file.display().to_string();
    let rates = ["--from", &options.from, "--to", &options.to, "--control", &options.control];
    let arguments =
        [&["send", &path, "--group", &base, "--packet", &packet, "--no-announce"][..], &rates[..]].concat();
    let mut source = program.start(&cables.source(), &arguments)?;
    program::wait_for(&mut source, "ready", Duration::from_secs(300))?;
    Ok(source)
}

fn receive(
    options: &Options,
    program: &Program,
    cables: &Cables,
    number: usize,
    into: &Path,
) -> Result<Process> {
    program.receive(&cables.receiver(number), &group(1).to_string(), into, &options.set)
}

/// The rates of these receivers over time, a line each.
fn watch(
    options: &Options,
    program: &Program,
    scratch: &Scratch,
    file: &Path,
    links: &[Cable],
    numbers: &[usize],
) -> Result<Vec<Value>> {
    let cables = Cables::new(links)?;
    let mut source = source(options, program, &cables, file)?;
    let mut receivers = Vec::new();
    for &number in numbers {
        let into = scratch.folder(&format!("watch{number}"))?;
        receivers.push((number, receive(options, program, &cables, number, &into)?, into));
    }
    thread::sleep(Duration::from_secs(options.within) + KEPT);
    source.measure();
    let mut lines = Vec::new();
    for (number, mut receiver, into) in receivers {
        receiver.measure();
        let link = options.links.get(number).copied().unwrap_or_default();
        let mut line = judge(&receiver, options.wanted_mbps(link), options.within as f64);
        line["receiver"] = json!(number);
        line["link_mbps"] = json!(link);
        line["with"] = json!(numbers.len());
        line["dropped"] = json!(cables.dropped(number));
        line["receiver_cpu_s"] = json!(receiver.usage().cpu_s);
        line["source_cpu_s"] = json!(source.usage().cpu_s);
        line["source_mbps"] = json!(mean_mbps(&source, f64::INFINITY));
        line["source_late"] = json!(program::events(&source).iter().any(|event| event["name"] == "late"));
        receiver.kill()?;
        let _ = std::fs::remove_dir_all(into);
        lines.push(line);
    }
    Ok(lines)
}

/// Times and bytes that a program has printed in its progress.
fn counted(process: &Process) -> Vec<(f64, f64)> {
    let events = program::events(process);
    let progress = events.iter().filter(|event| event["event"] == "progress");
    progress.filter_map(|event| Some((event["time_s"].as_f64()?, event["bytes"].as_f64()?))).collect()
}

/// The mean rate of the last so many seconds.
fn mean_mbps(process: &Process, seconds: f64) -> Option<f64> {
    let counted = counted(process);
    let (end, bytes) = *counted.last()?;
    let (begin, before) = *counted.iter().find(|(at, _)| end - at <= seconds)?;
    (end > begin).then(|| (bytes - before) * 8e-6 / (end - begin))
}

/// When a receiver had its rate over a second for the first time, and what it had afterwards: for 60 s, or from the limit
/// on if it never had it.
fn judge(receiver: &Process, wanted_mbps: f64, within_s: f64) -> Value {
    let counted = counted(receiver);
    let found = program::events(receiver).iter().find(|event| event["event"] == "session").cloned();
    let begin = found.and_then(|event| event["time_s"].as_f64()).unwrap_or_default();
    let rates: Vec<(f64, f64)> = counted
        .iter()
        .zip(counted.iter().skip(2))
        .map(|(one, other)| (other.0, (other.1 - one.1) * 8e-6 / (other.0 - one.0).max(1e-3)))
        .collect();
    let reached = rates.iter().find(|(_, rate)| *rate >= wanted_mbps).map(|(at, _)| *at);
    let from = reached.unwrap_or(begin + within_s);
    let kept: Vec<f64> = rates
        .iter()
        .filter(|(at, _)| *at > from && *at <= from + KEPT.as_secs_f64())
        .map(|(_, rate)| *rate)
        .collect();
    let mean = kept.iter().sum::<f64>() / kept.len().max(1) as f64;
    // One rate for each five seconds is enough to see how it went.
    let curve: Vec<f64> =
        rates.chunks(10).filter_map(|part| part.last()).map(|(_, rate)| rate.round()).collect();
    json!({
        "wanted_mbps": wanted_mbps, "seconds_to_rate": reached.map(|at| at - begin), "mean_mbps": mean,
        "least_mbps": kept.iter().copied().reduce(f64::min), "curve_mbps": curve,
        "packets_lost": program::number(receiver, "packets_lost"), "rtt_ms": program::number(receiver, "rtt_ms"),
        "fair_bps": program::number(receiver, "fair_bps"), "level": program::number(receiver, "level"),
        "level_changes": program::number(receiver, "level_changes"),
        "leave_longest_ms": program::number(receiver, "leave_longest_ms"),
    })
}

/// One file to all of them.
fn complete(
    options: &Options,
    program: &Program,
    scratch: &Scratch,
    links: &[Cable],
    report: &mut Report,
) -> Result<()> {
    let cables = Cables::new(links)?;
    let file = scratch.at("file");
    content::write(&file, options.length, options.common.seed)?;
    let mut source = source(options, program, &cables, &file)?;
    let mut receivers = Vec::new();
    for number in 0..links.len() {
        let into = scratch.folder(&format!("into{number}"))?;
        receivers.push((receive(options, program, &cables, number, &into)?, into, None));
    }
    let until = Instant::now() + Duration::from_secs(options.patience);
    while receivers.iter().any(|(_, _, took)| took.is_none()) && Instant::now() < until {
        for (receiver, _, took) in &mut receivers {
            if took.is_none() && receiver.poll()?.is_some() {
                *took = Some(receiver.started().elapsed().as_secs_f64());
            }
        }
        source.measure();
        thread::sleep(Duration::from_millis(100));
    }
    for (number, (mut receiver, into, took)) in receivers.into_iter().enumerate() {
        receiver.measure();
        let link = options.links.get(number).copied().unwrap_or_default();
        let is_right = took.is_some() && content::is_same(&file, &into.join("file"))?;
        let goodput = took.map(|seconds: f64| options.length as f64 * 8e-6 / seconds);
        let line = json!({
            "receiver": number, "link_mbps": link, "bytes": options.length, "seconds": took, "goodput_mbps": goodput,
            "receiver_cpu_s": receiver.usage().cpu_s, "receiver_kb": receiver.usage().peak_kb,
            "source_cpu_s": source.usage().cpu_s, "source_kb": source.usage().peak_kb,
            "said": program::said(&receiver),
        });
        report.add(is_right, line)?;
    }
    Ok(())
}
