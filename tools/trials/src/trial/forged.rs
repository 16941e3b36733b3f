//! Forged packets at a multiple of the session's rate, from the source's own address: what they cost a session with
//! a group key.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::json;

use super::{Common, FIXED, group};
use crate::content::{self, Scratch};
use crate::flood::{self, Flood, Plan};
use crate::hostile::{Hostile, Kind};
use crate::process::Place;
use crate::program::{self, Program};
use crate::report::Report;
use crate::wire::{Link, Wire};

/// Bits of a packet, with all headers.
const PACKET_BITS: f64 = 8000.0;

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// Forged packets for each of the session
    #[arg(long, default_value_t = 10.0)]
    pub times: f64,

    /// The rate of the highest of three layers, in Mbit/s
    #[arg(long, default_value_t = 8.0)]
    pub mbps: f64,

    /// The length of the file in bytes
    #[arg(long, default_value_t = 20_000_000)]
    pub length: u64,

    /// The least goodput, as a share of that without forged packets
    #[arg(long, default_value_t = 0.9)]
    pub least: f64,

    /// Runs with and without forged packets
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
}

impl Options {
    /// Small enough for a test.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        // One short transfer with a busy machine's delays says only that goodput does not collapse.
        Options { common, times: 10.0, mbps: 4.0, length: 1_500_000, least: 0.5, runs: 1 }
    }
}

/// What a transfer gave.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    seconds: f64,
    receiver_cpu_s: f64,
    forged: u64,
    level: f64,
    lost: f64,
    overruns: u64,
}

/// Runs the trial.
///
/// # Errors
/// If the goodput was too low, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "forged")?;
    let program = Program::find(options.common.program.as_deref())?;
    let (mut calm, mut forged) = (Vec::new(), Vec::new());
    for number in 0..options.runs {
        calm.push(transfer(options, &program, number, false)?);
        forged.push(transfer(options, &program, number, true)?);
    }
    let mean =
        |runs: &[Run], of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64;
    let goodput = |runs: &[Run]| options.length as f64 * 8.0 / mean(runs, |run| run.seconds);
    let seconds = |runs: &[Run]| runs.iter().map(|run| run.seconds).collect::<Vec<_>>();
    let share = goodput(&forged) / goodput(&calm);
    report.add(
        share >= options.least,
        json!({
            "session_mbps": options.mbps, "times": options.times, "runs": options.runs,
            "goodput_bps": [goodput(&calm), goodput(&forged)], "share": share,
            "seconds": [seconds(&calm), seconds(&forged)],
            "forged_packets": mean(&forged, |run| run.forged as f64),
            "forged_per_second": mean(&forged, |run| run.forged as f64 / run.seconds),
            "receiver_cpu": [mean(&calm, |run| run.receiver_cpu_s / run.seconds), mean(&forged, |run| run.receiver_cpu_s / run.seconds)],
            "level": [mean(&calm, |run| run.level), mean(&forged, |run| run.level)],
            "packets_lost": [mean(&calm, |run| run.lost), mean(&forged, |run| run.lost)],
            "overruns": forged.iter().map(|run| run.overruns).sum::<u64>(),
        }),
    )?;
    report.end()
}

fn transfer(options: &Options, program: &Program, number: u32, with_forged: bool) -> Result<Run> {
    let scratch = Scratch::new("forged")?;
    let (sent, into) = (scratch.folder("sent")?, scratch.folder("into")?);
    content::write(&sent.join("file"), options.length, options.common.seed)?;
    // It carries all with space to spare.
    let room = (4.0 * options.mbps * (1.0 + options.times)).max(100.0);
    let wire = Wire::new(&[Link::new(room, 20, 0.0)], options.common.seed + u64::from(number))?;
    let (from, to) = (Place::Host(wire.source().clone()), Place::Host(wire.receiver(0).clone()));
    let key = scratch.at("key");
    program.group_key(&key)?;
    let (key, base, path) = (key.display().to_string(), group(1).to_string(), format!("{}/", sent.display()));
    let rates = [0.25, 0.5, 1.0].map(|share| format!("{} Mbit/s", options.mbps * share)).join(",");
    let sending =
        [&["send", &path, "--group", &base, "--rates", &rates, "--group-key", &key][..], &FIXED].concat();
    let mut source = program.start(&from, &sending)?;
    program::wait_for(&mut source, "ready", Duration::from_secs(20))?;
    // The forger hears the session before it begins.
    let mut hostile = Hostile::new(options.common.seed);
    let ears = flood::listener(&Place::Host(wire.stranger().clone()), group(1))?;
    flood::hear(&ears, Duration::from_secs(5), 300, |packet| hostile.hear(packet))?;
    ensure!(hostile.known().0 >= 300, "the session was not heard");
    let per_second = options.times * options.mbps * 1e6 / PACKET_BITS;
    let plan = Plan { kinds: vec![Kind::Forged], to: vec![group(1).into()], per_second, most: None };
    let flood = with_forged
        .then(|| -> Result<Flood> { Ok(Flood::start(flood::sender(&from)?, Some(ears), plan, hostile)) });
    let flood = flood.transpose()?;
    let into_text = into.display().to_string();
    let receiving = ["receive", "--group", &base, "--into", &into_text, "--group-key", &key];
    let mut receiver = program.start(&to, &receiving)?;
    let status = receiver.wait_until(Instant::now() + Duration::from_secs(300))?.context("it did not end")?;
    let seconds = receiver.started().elapsed().as_secs_f64();
    let forged = flood.map_or(0, Flood::end);
    ensure!(status.success(), "the receiver: {}", program::said(&receiver));
    ensure!(content::compare(&sent, &into)?.is_exact(), "what arrived is not what was sent");
    let number = |field: &str| program::number(&receiver, field).unwrap_or_default();
    let run = Run {
        seconds,
        receiver_cpu_s: receiver.usage().cpu_s,
        forged,
        level: number("level"),
        lost: number("packets_lost"),
        overruns: 0,
    };
    drop((source, receiver));
    Ok(Run { overruns: wire.end()?.overruns, ..run })
}
