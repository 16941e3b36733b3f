//! Losses, many files, and receivers of different rates.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use layercast_core::stream::Stream;
use serde_json::{Value, json};

use super::{Common, FIXED, group};
use crate::content::{self, Scratch};
use crate::process::{Place, Process};
use crate::program::{self, Program};
use crate::report::Report;
use crate::wire::{Link, Wire};

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The number of files
    #[arg(long, default_value_t = 1)]
    pub files: u64,

    /// The length of each in bytes
    #[arg(long, default_value_t = 100_000_000)]
    pub length: u64,

    /// Lengths are between 0 and --length, at random
    #[arg(long)]
    pub vary: bool,

    /// The rates of the layers in Mbit/s, each those below included
    #[arg(long, value_delimiter = ',', default_values_t = [8.0, 16.0, 32.0])]
    pub layers: Vec<f64>,

    /// The rates of the receivers' links in Mbit/s
    #[arg(long, value_delimiter = ',', default_values_t = [100.0])]
    pub links: Vec<f64>,

    /// The share of the packets lost on each link
    #[arg(long, default_value_t = 0.05)]
    pub loss: f64,

    /// The round-trip time in ms
    #[arg(long, default_value_t = 40)]
    pub rtt: u64,

    /// Packet size in bytes
    #[arg(long, default_value_t = 1500)]
    pub packet: u32,

    /// Receivers are ended after this many seconds
    #[arg(long, default_value_t = 600)]
    pub within: u64,

    /// A receiver that is not complete by then is no failure if its goodput was this share of its link
    #[arg(long)]
    pub progress: Option<f64>,

    /// The name of the results
    #[arg(long, default_value = "losses")]
    pub name: String,
}

impl Options {
    /// Small enough for a test: some files over a lossy link.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        Options {
            common,
            files: 50,
            length: 40_000,
            vary: true,
            layers: vec![8.0],
            links: vec![20.0],
            loss: 0.1,
            rtt: 20,
            packet: 1500,
            within: 60,
            progress: None,
            name: "losses".to_owned(),
        }
    }
}

/// Runs the trial.
///
/// # Errors
/// If a receiver did not get what it should, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, &options.name)?;
    let program = Program::find(options.common.program.as_deref())?;
    let scratch = Scratch::new(&options.name)?;
    let sent = scratch.folder("sent")?;
    let bytes = make(&sent, options)?;
    let links: Vec<Link> =
        options.links.iter().map(|mbps| Link::new(*mbps, options.rtt, options.loss)).collect();
    let wire = Wire::new(&links, options.common.seed)?;
    let (base, path, packet) =
        (group(1).to_string(), format!("{}/", sent.display()), format!("{} bytes", options.packet));
    let rates: Vec<String> = options.layers.iter().map(|mbps| format!("{mbps} Mbit/s")).collect();
    let rates = rates.join(",");
    let sending =
        [&["send", &path, "--group", &base, "--rates", &rates, "--packet", &packet][..], &FIXED].concat();
    let mut source = program.start(&Place::Host(wire.source().clone()), &sending)?;
    program::wait_for(&mut source, "ready", Duration::from_secs(300))?;
    let mut receivers = Vec::new();
    for number in 0..links.len() {
        let into = scratch.folder(&format!("into{number}"))?;
        let receiving = ["receive", "--group", &base, "--into", &into.display().to_string()];
        receivers.push((into, program.start(&Place::Host(wire.receiver(number).clone()), &receiving)?));
    }
    let within = Duration::from_secs(options.within);
    let until = Instant::now() + within;
    let mut took = vec![None; receivers.len()];
    while took.contains(&None) && Instant::now() < until {
        for ((_, receiver), took) in receivers.iter_mut().zip(&mut took) {
            if receiver.poll()?.is_some() && took.is_none() {
                *took = Some(receiver.started().elapsed().as_secs_f64());
            }
        }
        source.measure();
        thread::sleep(Duration::from_millis(100));
    }
    for ((number, (into, receiver)), took) in receivers.iter_mut().enumerate().zip(took) {
        let goodput = program::number(receiver, "symbols_held").unwrap_or_default();
        receiver.end_within(Duration::from_secs(10))?;
        let comparison = content::compare(&sent, into)?;
        let link = options.links.get(number).copied().unwrap_or_default();
        let numbers = measures(options, receiver, bytes, goodput, took.unwrap_or(within.as_secs_f64()));
        let rate = numbers["goodput_mbps"].as_f64().unwrap_or_default();
        let is_under_way = options.progress.is_some_and(|least| rate >= least * link);
        let is_right =
            comparison.wrong.is_empty() && (took.is_some() && comparison.is_exact() || is_under_way);
        let mut line = json!({
            "receiver": number, "link_mbps": link, "loss": options.loss, "rtt_ms": options.rtt,
            "complete": took.is_some() && comparison.is_complete(), "files_right": comparison.right,
            "files_wrong": comparison.wrong.len(), "left_over": comparison.left_over.len(),
            "source_cpu_s": source.usage().cpu_s, "source_kb": source.usage().peak_kb,
            "source_bytes": program::number(&source, "bytes"),
            "said": program::said(receiver),
        });
        if let (Some(line), Value::Object(numbers)) = (line.as_object_mut(), numbers) {
            line.extend(numbers);
        }
        report.add(is_right, line)?;
    }
    drop((source, receivers));
    let carried = wire.end()?;
    println!("network: 99 % of packets at most {} late, {} overruns", carried.late, carried.overruns);
    report.end()
}

/// What a receiver's last event says.
fn measures(options: &Options, receiver: &Process, bytes: u64, held: f64, seconds: f64) -> Value {
    let number = |field: &str| program::number(receiver, field).unwrap_or(f64::NAN);
    // The first progress with all symbols: packets after it were for the check of the hash.
    let events = program::events(receiver);
    let done = events.iter().find(|event| {
        event["event"] == "progress"
            && event["symbols_needed"].as_f64().is_some_and(|needed| needed > 0.0)
            && event["symbols_held"] == event["symbols_needed"]
            && event["objects"] == json!(options.files)
    });
    let arrived = done.map_or_else(|| number("bytes"), |event| event["bytes"].as_f64().unwrap_or(f64::NAN));
    let (packets, needed) = (number("packets"), number("symbols_needed"));
    let share = if needed > 0.0 { held.min(needed) / needed } else { 0.0 };
    json!({
        "seconds": seconds, "bytes": bytes, "arrived_bytes": arrived, "arrived_per_byte": arrived / bytes as f64,
        "packets": packets, "symbols_needed": needed, "packets_per_symbol": packets / needed,
        "held": share, "goodput_mbps": share * bytes as f64 * 8e-6 / seconds,
        "level": number("level"), "receiver_cpu_s": receiver.usage().cpu_s, "receiver_kb": receiver.usage().peak_kb,
    })
}

/// Writes the files, a thousand in a folder. Returns their bytes.
fn make(sent: &Path, options: &Options) -> Result<u64> {
    let (mut random, mut bytes) = (Stream::new(options.common.seed, "sizes"), 0);
    for number in 0..options.files {
        let folder = sent.join(format!("{}", number / 1000));
        if number % 1000 == 0 {
            fs::create_dir(&folder)?;
        }
        let length = if options.vary { random.bits() % (options.length + 1) } else { options.length };
        content::write(&folder.join(format!("{number}")), length, options.common.seed ^ number)?;
        bytes += length;
    }
    Ok(bytes)
}
