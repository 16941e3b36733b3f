//! Kills (SIGKILL) of the sender or the receiver at random moments: every transfer must end right.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use layercast_core::stream::Stream;
use serde_json::json;

use super::{Common, FIXED};
use crate::content::{self, Comparison, Scratch};
use crate::flood::Tap;
use crate::process::{Place, Process};
use crate::program::{self, Program};
use crate::report::Report;

/// The longest time from one kill to the next, and from a kill to the start.
const NEXT_S: f64 = 2.0;
const AGAIN_S: f64 = 0.3;
/// How long a transfer may take after its last kill.
const PATIENCE: Duration = Duration::from_secs(120);

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// Kills
    #[arg(long, default_value_t = 500)]
    pub kills: u64,

    /// Kills in a transfer at most
    #[arg(long, default_value_t = 6)]
    pub each: u32,

    /// Transfers at the same time
    #[arg(long, default_value_t = 3)]
    pub jobs: u16,

    /// The length of the long file in bytes
    #[arg(long, default_value_t = 3_000_000)]
    pub length: u64,
}

impl Options {
    /// Small enough for a test.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        Options { common, kills: 2, each: 2, jobs: 1, length: 1_000_000 }
    }
}

/// What a transfer gave.
#[derive(Clone, Debug, Default)]
struct Run {
    sender_kills: u64,
    receiver_kills: u64,
    comparison: Comparison,
    status: Option<i32>,
    /// What is next to the state file.
    next_to_state: Vec<String>,
    seconds: f64,
    /// Packets that were sent while a receiver ran.
    packets: u64,
    said: String,
}

impl Run {
    fn is_right(&self) -> bool {
        self.status == Some(0) && self.comparison.is_exact() && self.next_to_state.is_empty()
    }
}

/// Runs the trial.
///
/// # Errors
/// If a transfer did not end right, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let report = Report::new(&options.common.out, "kills")?;
    let program = Program::find(options.common.program.as_deref())?;
    let calm = transfer(options, &program, 0, 0)?;
    let report = Mutex::new((report, Totals::default()));
    let (kills, numbers) = (AtomicU64::new(0), AtomicU64::new(1));
    let work = || -> Result<()> {
        while kills.load(Ordering::Relaxed) < options.kills {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            let run = transfer(options, &program, number, options.each)?;
            kills.fetch_add(run.sender_kills + run.receiver_kills, Ordering::Relaxed);
            let mut report = report.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            report.1.add(&run);
            if !run.is_right() {
                report.0.add(false, json!({ "number": number, "run": format!("{run:?}") }))?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        jobs.into_iter().try_for_each(|job| job.join().map_err(|_| anyhow::anyhow!("a job panicked"))?)
    })?;
    let (mut report, totals) = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mean = |sum: f64| sum / totals.runs.max(1) as f64;
    report.add(
        calm.is_right() && totals.right == totals.runs,
        json!({
            "transfers": totals.runs, "right": totals.right,
            "sender_kills": totals.sender_kills, "receiver_kills": totals.receiver_kills,
            "packets_without_kills": calm.packets, "packets_mean": mean(totals.packets as f64),
            "overhead": mean(totals.packets as f64) / calm.packets as f64 - 1.0,
            "seconds_without_kills": calm.seconds, "seconds_mean": mean(totals.seconds),
        }),
    )?;
    report.end()
}

#[derive(Debug, Default)]
struct Totals {
    runs: u64,
    right: u64,
    sender_kills: u64,
    receiver_kills: u64,
    packets: u64,
    seconds: f64,
}

impl Totals {
    fn add(&mut self, run: &Run) {
        self.runs += 1;
        self.right += u64::from(run.is_right());
        self.sender_kills += run.sender_kills;
        self.receiver_kills += run.receiver_kills;
        self.packets += run.packets;
        self.seconds += run.seconds;
    }
}

/// One long file and files that are kept in memory until they are complete, one of them empty.
fn make(sent: &Path, length: u64, seed: u64) -> Result<()> {
    let mut random = Stream::new(seed, "sizes");
    content::write(&sent.join("long"), length, seed)?;
    fs::create_dir(sent.join("small"))?;
    for number in 0..20 {
        let length = if number == 0 { 0 } else { random.bits() % 20_000 };
        content::write(&sent.join(format!("small/{number}")), length, seed ^ number)?;
    }
    Ok(())
}

/// A transfer in which a program is killed up to `most` times.
fn transfer(options: &Options, program: &Program, number: u64, most: u32) -> Result<Run> {
    let seed = options.common.seed.wrapping_mul(1_000_003) + number;
    let mut random = Stream::new(seed, "kills");
    let scratch = Scratch::new(&format!("kills-{number}"))?;
    let (sent, into, states) = (scratch.folder("sent")?, scratch.folder("into")?, scratch.folder("state")?);
    make(&sent, options.length, seed)?;
    let port = 20_000 + (std::process::id() as u64 * 97 + number) % 30_000;
    let group = SocketAddrV4::new(Ipv4Addr::new(239, 255, 80, 0), u16::try_from(port)?);
    let (base, path) = (group.to_string(), format!("{}/", sent.display()));
    let (state, into_text) = (states.join("state").display().to_string(), into.display().to_string());
    let layers = ["--base", "8 Mbit/s", "--layers", "1"];
    let sending = [&["send", &path, "--group", &base, "--state", &state][..], &layers, &FIXED].concat();
    let receiving = ["receive", "--group", &base, "--into", &into_text, "--patience", "60 s"];
    let place = Place::Loopback;
    let start = |arguments: &[&str]| program.start(&place, arguments);
    let tap = Tap::new(&place, group)?;
    let began = Instant::now();
    let mut source = start(&sending)?;
    let mut receiver = start(&receiving)?;
    let mut run = Run::default();
    let mut since = tap.count();
    for _ in 0..most {
        let wait = random.uniform_in(0.0, NEXT_S);
        if receiver.wait_until(Instant::now() + Duration::from_secs_f64(wait))?.is_some() {
            break;
        }
        let again = Duration::from_secs_f64(random.uniform_in(0.0, AGAIN_S));
        if random.chance(0.5) {
            kill(&mut source)?;
            run.sender_kills += 1;
            thread::sleep(again);
            source = start(&sending)?;
        } else {
            kill(&mut receiver)?;
            run.receiver_kills += 1;
            run.packets += tap.count() - since;
            thread::sleep(again);
            since = tap.count();
            receiver = start(&receiving)?;
        }
    }
    let status = receiver.wait_until(Instant::now() + PATIENCE)?;
    run.packets += tap.count() - since;
    run.seconds = began.elapsed().as_secs_f64();
    run.status = status.and_then(|status| status.code());
    if source.poll()?.is_some() {
        bail!("the sender ended: {}", program::said(&source));
    }
    source.end_within(Duration::from_secs(10))?;
    run.comparison = content::compare(&sent, &into)?;
    let found = fs::read_dir(&states)?
        .filter_map(|entry| Some(entry.ok()?.file_name().into_string().unwrap_or_default()));
    run.next_to_state = found.filter(|name| name != "state").collect();
    run.said = program::said(&receiver);
    Ok(run)
}

/// Kills a program, which must not have ended by itself.
fn kill(process: &mut Process) -> Result<()> {
    if let Some(status) = process.poll()? {
        bail!("ended by itself ({status}): {}", program::said(process));
    }
    process.kill()
}
