//! A million hostile packets while a file is sent: it must arrive, and neither side may grow.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Common, FEEDBACK, FIXED, group};
use crate::content::{self, Comparison, Scratch};
use crate::flood::{self, Flood, Plan};
use crate::hostile::{ALL, Hostile};
use crate::process::{Place, Process, Usage};
use crate::program::{self, Program};
use crate::report::Report;
use crate::wire::{Link, Wire};

/// By how much the memory of a program may grow (CHOICE): 12 MiB. Hostile packets take space in the socket's buffer, so that
/// some of the session's are lost and a block is decoded, which takes several times its 1.4 MB; the run without them may
/// lose none. To keep the hostile packets of the shortest run would take 35 MB.
pub const GROWTH_KB: u64 = 12 * 1024;
/// The share of the hostile packets that goes to the source's port for reports.
const TO_SOURCE: f64 = 0.2;
/// How long the stranger listens before it begins.
const EARS: Duration = Duration::from_secs(2);

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// Hostile packets
    #[arg(long, default_value_t = 1_000_000)]
    pub packets: u64,

    /// Hostile packets per second
    #[arg(long, default_value_t = 25_000.0)]
    pub per_second: f64,

    /// The rate of the upper of two layers, in Mbit/s; that of the lower is half of it
    #[arg(long, default_value_t = 4.0)]
    pub mbps: f64,

    /// The cases
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Case::Stranger, Case::Keyed])]
    pub cases: Vec<Case>,
}

impl Options {
    /// Small enough for a test.
    pub fn brief(program: PathBuf, out: PathBuf) -> Options {
        let common = Common { program: Some(program), out, seed: 1 };
        Options { common, packets: 20_000, per_second: 10_000.0, mbps: 8.0, cases: vec![Case::Keyed] }
    }
}

/// From where the packets come, and what protects the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// From another address; no key.
    Stranger,
    /// From the source's own address; packets are authenticated.
    Keyed,
}

/// What a transfer gave.
#[derive(Debug)]
struct Run {
    comparison: Comparison,
    status: Option<i32>,
    seconds: f64,
    hostile: u64,
    source: Usage,
    receiver: Usage,
    rejected: f64,
    said: String,
}

/// Runs the trial.
///
/// # Errors
/// If something was not as it must be, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "hostile")?;
    let program = Program::find(options.common.program.as_deref())?;
    for &case in &options.cases {
        let calm = transfer(options, &program, case, false)?;
        let storm = transfer(options, &program, case, true)?;
        let growth = |storm: Usage, calm: Usage| storm.peak_kb.saturating_sub(calm.peak_kb);
        let source = growth(storm.source, calm.source);
        let receiver = growth(storm.receiver, calm.receiver);
        let is_right = storm.status == Some(0)
            && storm.comparison.is_exact()
            && storm.hostile >= options.packets
            && source.max(receiver) <= GROWTH_KB;
        report.add(
            is_right,
            json!({
                "case": format!("{case:?}"),
                "hostile_packets": storm.hostile,
                "status": storm.status,
                "exact": storm.comparison.is_exact(),
                "source_kb": [calm.source.peak_kb, storm.source.peak_kb],
                "receiver_kb": [calm.receiver.peak_kb, storm.receiver.peak_kb],
                "source_cpu_s": [calm.source.cpu_s, storm.source.cpu_s],
                "receiver_cpu_s": [calm.receiver.cpu_s, storm.receiver.cpu_s],
                "seconds": [calm.seconds, storm.seconds],
                "rejected": storm.rejected,
                "said": storm.said,
            }),
        )?;
    }
    report.end()
}

fn transfer(options: &Options, program: &Program, case: Case, with_storm: bool) -> Result<Run> {
    let scratch = Scratch::new("storm")?;
    let (sent, into) = (scratch.folder("sent")?, scratch.folder("into")?);
    // As long as the storm, at the rate of the upper layer, and a little longer.
    let storm_s = options.packets as f64 / options.per_second + EARS.as_secs_f64() + 2.0;
    content::write(&sent.join("file"), (storm_s * options.mbps * 1e6 / 8.0) as u64, options.common.seed)?;
    let wire = Wire::new(&[Link::new(1000.0, 10, 0.0)], options.common.seed)?;
    let (from, to) = (Place::Host(wire.source().clone()), Place::Host(wire.receiver(0).clone()));
    let key = scratch.at("key");
    let mut keyed = Vec::new();
    if case == Case::Keyed {
        program.group_key(&key)?;
        keyed = vec!["--group-key".to_owned(), key.display().to_string()];
    }
    let keyed: Vec<&str> = keyed.iter().map(String::as_str).collect();
    let base = group(1).to_string();
    let rates = format!("{} Mbit/s,{} Mbit/s", options.mbps / 2.0, options.mbps);
    let path = format!("{}/", sent.display());
    let port = FEEDBACK.to_string();
    let sending =
        [&["send", &path, "--group", &base, "--rates", &rates, "--feedback-port", &port][..], &FIXED]
            .concat();
    let mut source = program.start(&from, &[&sending[..], &keyed].concat())?;
    program::wait_for(&mut source, "ready", Duration::from_secs(20))?;
    let into_text = into.display().to_string();
    let receiving = ["receive", "--group", &base, "--into", &into_text];
    let mut receiver = program.start(&to, &[&receiving[..], &keyed].concat())?;
    // Which session is received without a key is decided by the first packet: the trial begins after it.
    program::wait_for(&mut receiver, "session", Duration::from_secs(20))?;
    let floods = if with_storm { storm(options, program, &wire, case, &scratch)? } else { Vec::new() };
    let until = Instant::now() + Duration::from_secs_f64(60.0 + 6.0 * storm_s);
    let status = receiver.wait_until(until)?;
    let seconds = receiver.started().elapsed().as_secs_f64();
    let hostile = floods.into_iter().map(Flood::end).sum();
    source.measure();
    let rejected = program::number(&receiver, "packets_rejected").unwrap_or_default();
    let source_ended = source.end_within(Duration::from_secs(10))?;
    ensure!(source_ended.is_some_and(|status| status.success()), "the source: {}", program::said(&source));
    Ok(Run {
        comparison: content::compare(&sent, &into)?,
        status: status.and_then(|status| status.code()),
        seconds,
        hostile,
        source: source.usage(),
        receiver: receiver.usage(),
        rejected,
        said: program::said(&receiver),
    })
}

/// Starts the floods: to the groups, and to the source.
fn storm(
    options: &Options,
    program: &Program,
    wire: &Wire,
    case: Case,
    scratch: &Scratch,
) -> Result<Vec<Flood>> {
    let stranger = Place::Host(wire.stranger().clone());
    let mut hostile = Hostile::new(options.common.seed);
    let ears = flood::listener(&stranger, group(1))?;
    let mut other = other_session(program, &stranger, scratch)?;
    let other_ears = flood::listener(&Place::Host(wire.source().clone()), group(2))?;
    flood::hear(&other_ears, EARS / 2, 1000, |packet| hostile.hear_other(packet))?;
    other.end_within(Duration::from_secs(5))?;
    // The table comes a few times a second.
    flood::hear(&ears, EARS / 2, usize::MAX, |packet| hostile.hear(packet))?;
    let (known, table, others) = hostile.known();
    ensure!(known > 0 && table > 0 && others > 0, "nothing heard: {known}, {table}, {others}");
    let from = if case == Case::Keyed { Place::Host(wire.source().clone()) } else { stranger };
    let upper = SocketAddr::from(([239, 1, 1, 1], group(1).port()));
    let plan = |to: Vec<SocketAddr>, share: f64| Plan {
        kinds: ALL.to_vec(),
        to,
        per_second: options.per_second * share,
        most: None,
    };
    let groups = plan(vec![group(1).into(), group(1).into(), upper], 1.0 - TO_SOURCE);
    let source = plan(vec![(wire.source().ipv4(), FEEDBACK).into()], TO_SOURCE);
    let mut reports = Hostile::new(options.common.seed + 1);
    for report in reports_of_corpus()? {
        reports.hear(&report);
        reports.hear_other(&report);
    }
    Ok(vec![
        Flood::start(flood::sender(&from)?, Some(ears), groups, hostile),
        Flood::start(flood::sender(&Place::Host(wire.stranger().clone()))?, None, source, reports),
    ])
}

/// Another session, whose packets are sent to the groups of the first.
fn other_session(program: &Program, place: &Place, scratch: &Scratch) -> Result<Process> {
    let path = scratch.at("other");
    content::write(&path, 300_000, 7)?;
    let (path, base) = (path.display().to_string(), group(2).to_string());
    let mut source = program.start(
        place,
        &[&["send", &path, "--group", &base, "--base", "4 Mbit/s", "--all-layers"][..], &FIXED].concat(),
    )?;
    program::wait_for(&mut source, "ready", Duration::from_secs(20))?;
    // The group is known to the network from the first packets on.
    thread::sleep(Duration::from_millis(200));
    Ok(source)
}

/// Reports of all protocols, as the fuzzer has them.
fn reports_of_corpus() -> Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/report");
    let entries = fs::read_dir(&folder).with_context(|| format!("no {}", folder.display()))?;
    entries.map(|entry| Ok(fs::read(entry?.path())?)).collect()
}
