//! AMCA over relays that take part, in the networks of the report's figures 6 to 9, against the simulation of the same scenarios.
//!
//! Source, relays and receivers are programs in an emulated network. TCP Vegas is the simulated one, on the same links: kernels
//! seldom have it.

use std::time::{Duration as StdDuration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_emulator::world::Bare;
use layercast_laboratory::BuiltIn;
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::protocols::Catalogue;
use layercast_laboratory::scenario::{Draw, Scenario, Traffic, catalogue, read};
use layercast_simulator::{Demand, TcpConfig, TcpId};
use serde_json::{Value, json};

use super::Common;
use crate::content::Scratch;
use crate::process::{Place, Process};
use crate::program::{self, Program};
use crate::report::Report;

/// A rate must be within this part of the simulated one.
const TOLERANCE: f64 = 0.15;
/// Rates below this are not judged, in kbit/s: those of a TCP that has ended.
const LEAST_KBPS: f64 = 45.0;
/// The name of the session, which no network carries.
const GROUP: &str = "239.1.2.0";
/// The port of relays and of the source.
const PORT: u16 = 5600;
/// What is sent: it outlasts any run.
const BYTES: u64 = 60_000_000;
/// How long the tree may take to come into being.
const START: StdDuration = StdDuration::from_secs(20);
/// How exactly the start of the session is observed.
const STEP: Duration = Duration::from_ms(10);

/// The set-ups: a name, a scenario, and its settings.
const SETUPS: [(&str, &str, &[&str]); 7] = [
    ("6-16", "amca/convergence", &["session.amca.report_every=16"]),
    ("6-32", "amca/convergence", &[]),
    ("6-64", "amca/convergence", &["session.amca.report_every=64"]),
    ("6-128", "amca/convergence", &["session.amca.report_every=128"]),
    ("7", "amca/two-tcp", &[]),
    ("8", "amca/one-tcp", &[]),
    ("9", "amca/overlap", &[]),
];

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The figures, those of figure 6 with their number of packets in a report
    #[arg(long, value_delimiter = ',', default_values_t = SETUPS.map(|(name, ..)| name.to_owned()))]
    pub figures: Vec<String>,

    /// Runs of each
    #[arg(long, default_value_t = 5)]
    pub runs: u32,

    /// Simulated replications
    #[arg(long, default_value_t = 15)]
    pub replications: u32,

    /// End after so many seconds, and report the windows that end before
    #[arg(long)]
    pub seconds: Option<f64>,

    /// Report the rates, and do not fail for them
    #[arg(long)]
    pub report_only: bool,
}

impl Options {
    /// Small enough for a test: that all parts run, not what they give.
    pub fn brief(program: std::path::PathBuf, out: std::path::PathBuf) -> Options {
        Options {
            common: Common { program: Some(program), out, seed: 1 },
            figures: vec!["8".to_owned()],
            runs: 1,
            replications: 1,
            seconds: Some(21.0),
            report_only: true,
        }
    }
}

/// Runs the trial.
///
/// # Errors
/// If a rate was not as in the simulation, or a run was not possible.
pub fn run(options: &Options) -> Result<()> {
    let mut report = Report::new(&options.common.out, "amca")?;
    let program = Program::find(options.common.program.as_deref())?;
    for figure in &options.figures {
        let setup = SETUPS.iter().find(|(name, ..)| name == figure);
        let Some(&(_, name, settings)) = setup else { bail!("there is no set-up `{figure}`") };
        let replications = format!("replications={}", options.replications);
        let settings: Vec<String> =
            settings.iter().copied().chain([replications.as_str()]).map(str::to_owned).collect();
        let source = catalogue::load(name)?;
        let scenario = read(&source.name, &source.text, &settings, &Catalogue::of::<BuiltIn>())
            .map_err(|errors| anyhow::anyhow!("{errors}"))?;
        let runs: Result<Vec<Rates>> =
            (0..options.runs).map(|run| emulate(options, &program, &scenario, run)).collect();
        let simulated = simulate(&scenario)?;
        add(options, &mut report, figure, &scenario, &runs?, &simulated)?;
    }
    report.end()
}

/// What each flow received in each window, in kbit/s: first the session's receivers, then the TCPs.
struct Rates {
    /// None of a window that a run did not reach.
    windows: Vec<Option<Vec<f64>>>,
    late_ms: Option<f64>,
}

fn add(
    options: &Options,
    report: &mut Report,
    figure: &str,
    scenario: &Scenario,
    emulated: &[Rates],
    simulated: &Rates,
) -> Result<()> {
    let names = scenario.flow_names();
    for (place, window) in scenario.windows.iter().enumerate() {
        let of = |rates: &Rates| rates.windows.get(place).cloned().flatten();
        let (runs, Some(ideal)) = (emulated.iter().filter_map(of).collect::<Vec<_>>(), of(simulated)) else {
            continue;
        };
        if runs.is_empty() {
            continue;
        }
        let compared: Vec<Value> = names
            .iter()
            .zip(&ideal)
            .enumerate()
            .filter(|(_, (_, ideal))| **ideal >= LEAST_KBPS)
            .map(|(flow, (name, ideal))| {
                let of_runs: Vec<f64> = runs.iter().filter_map(|run| run.get(flow).copied()).collect();
                let mean = of_runs.iter().sum::<f64>() / of_runs.len() as f64;
                let each: Vec<f64> = of_runs.iter().map(|kbps| kbps.round()).collect();
                json!({ "flow": name.name, "relays_kbps": mean.round(), "each_kbps": each,
                    "simulated_kbps": ideal.round(), "ratio": mean / ideal })
            })
            .collect();
        let is_near =
            |one: &Value| one["ratio"].as_f64().is_some_and(|ratio| (ratio - 1.0).abs() <= TOLERANCE);
        let is_right = !compared.is_empty() && compared.iter().all(is_near);
        let line = json!({
            "figure": figure, "from_s": window.start.as_secs_f64(), "to_s": window.end.as_secs_f64(),
            "late_ms": emulated.iter().map(|run| run.late_ms).collect::<Vec<_>>(), "flows": compared,
        });
        report.add(is_right || options.report_only, line)?;
    }
    Ok(())
}

fn simulate(scenario: &Scenario) -> Result<Rates> {
    let outcome = run::run::<BuiltIn>(scenario, &RunRequest::default(), &|_| {})?;
    let count = outcome.replications.len().max(1) as f64;
    let windows = (0..scenario.windows.len()).map(|window| {
        let mut sums = vec![0.0; scenario.flow_names().len()];
        for replication in &outcome.replications {
            let flows = replication.windows.get(window).map(|window| window.flows.as_slice());
            for (sum, flow) in sums.iter_mut().zip(flows.unwrap_or_default()) {
                *sum += flow.throughput_kbps / count;
            }
        }
        Some(sums)
    });
    Ok(Rates { windows: windows.collect(), late_ms: None })
}

/// The programs of a tree.
struct Tree {
    source: Process,
    relays: Vec<Process>,
    receivers: Vec<Process>,
}

impl Tree {
    /// Source, a relay at each router, and receivers.
    fn start(program: &Program, scenario: &Scenario, bare: &Bare, scratch: &Scratch) -> Result<Tree> {
        let hosts = bare.emulation.hosts();
        let place = |node: usize| hosts.get(node).cloned().map(Place::Host).context("a host");
        let address = |node: usize| -> Result<String> {
            let host = hosts.get(node).context("a host")?;
            Ok(format!("{}:{PORT}", host.ipv4()))
        };
        let node = |name: &str| scenario.nodes.iter().position(|node| node == name).context("a node");
        let start = |node: usize, arguments: &[&str]| place(node)?.start(program.command(arguments));
        let session = scenario.sessions.first().context("a session")?;
        let file = scratch.at("file");
        std::fs::File::create(&file)?.set_len(BYTES)?;
        let (file, serve) = (file.display().to_string(), format!("0.0.0.0:{PORT}"));
        let packet = format!("{} bytes", session.packet_size.as_bytes());
        let every = session.protocol.get_option("report_every").context("an option")?;
        let every = format!("report_every={every}");
        let source = start(
            session.source,
            &[
                "send",
                &file,
                "--group",
                GROUP,
                "--serve",
                &serve,
                "--reliable",
                "--gather",
                "4 s",
                "--packet",
                &packet,
                "--set",
                &every,
            ],
        )?;
        let mut relays = Vec::new();
        let mut parent = session.source;
        for name in ["A", "B"] {
            let at = node(name)?;
            let above = address(parent)?;
            relays.push(start(at, &["relay", GROUP, "--protocol", "amca", "--parent", &above])?);
            parent = at;
        }
        let mut receivers = Vec::new();
        for receiver in &session.receivers {
            let (above, into) = (address(parent)?, scratch.folder(&receiver.flow)?.display().to_string());
            let arguments = ["receive", "--group", GROUP, "--into", &into, "--relay", &above, "--reliable"];
            receivers.push(start(receiver.node, &arguments)?);
        }
        Ok(Tree { source, relays, receivers })
    }

    /// That all run still.
    fn poll(&mut self) -> Result<()> {
        let all = self.receivers.iter_mut().chain(&mut self.relays).chain([&mut self.source]);
        for process in all {
            if let Some(status) = process.poll()? {
                bail!("a program ended with {status}: {}", program::said(process));
            }
        }
        Ok(())
    }
}

fn emulate(options: &Options, program: &Program, scenario: &Scenario, run: u32) -> Result<Rates> {
    let scratch = Scratch::new("amca")?;
    let mut bare = Bare::new(scenario)?;
    bare.emulation.start();
    let mut tree = Tree::start(program, scenario, &bare, &scratch)?;
    let size = scenario.sessions.first().map_or(0, |session| u64::from(session.packet_size.as_bytes()));
    let zero = first_packet(&mut bare, &mut tree, size)?;
    let tcps = add_tcps(&mut bare, scenario, zero, options.common.seed + u64::from(run))?;
    let ends = receivers_links(scenario, &bare)?;
    let received = |bare: &Bare| -> Vec<u64> {
        let carried = bare.carried();
        let ours = ends.iter().map(|&link| carried.get(link).map_or(0, |link| link.bytes));
        let simulation = bare.emulation.simulation();
        ours.chain(tcps.iter().map(|&id| simulation.tcp_counters(id).received_bytes)).collect()
    };
    let last = options.seconds.map_or(Time::MAX, |seconds| Time::ZERO + Duration::from_secs_f64(seconds));
    let reached = scenario.windows.iter().filter(|window| window.end <= last);
    let mut moments: Vec<Time> = reached.flat_map(|window| [window.start, window.end]).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut seen = Vec::new();
    for moment in moments {
        let end = zero + moment.since(Time::ZERO);
        while bare.emulation.now() < end {
            let next = (bare.emulation.now() + Duration::from_ms(500)).min(end);
            bare.emulation.run_until(next)?;
            tree.poll()?;
        }
        seen.push((moment, received(&bare)));
    }
    let at =
        |moment: Time| seen.iter().find(|(other, _)| *other == moment).map(|(_, bytes)| bytes.as_slice());
    let windows = scenario.windows.iter().map(|window| {
        let kbps = 8e-3 / window.end.since(window.start).as_secs_f64();
        let (before, after) = (at(window.start)?, at(window.end)?);
        Some(before.iter().zip(after).map(|(before, after)| (after - before) as f64 * kbps).collect())
    });
    let windows = windows.collect();
    let late = bare.emulation.lateness().deliveries.quantile(0.99);
    Ok(Rates { windows, late_ms: Some(late.as_secs_f64() * 1e3) })
}

/// Carries packets until the first one with data, and returns when that was.
fn first_packet(bare: &mut Bare, tree: &mut Tree, size: u64) -> Result<Time> {
    let begin = Instant::now();
    let carried = |bare: &Bare| bare.carried().iter().map(|link| link.bytes).max().unwrap_or(0);
    loop {
        let (before, next) = (carried(bare), bare.emulation.now() + STEP);
        bare.emulation.run_until(next)?;
        // What is on a link before is shorter in so short a time.
        if carried(bare) - before >= size {
            return Ok(bare.emulation.now());
        }
        tree.poll()?;
        if begin.elapsed() > START {
            bail!("nothing was sent: {}", program::said(&tree.source));
        }
    }
}

/// The scenario's TCPs, on its clock.
fn add_tcps(bare: &mut Bare, scenario: &Scenario, zero: Time, seed: u64) -> Result<Vec<TcpId>> {
    let hosts = bare.emulation.hosts();
    let node = |place: usize| hosts.get(place).map(layercast_emulator::Host::node).context("a host");
    let mut ids = Vec::new();
    for flow in &scenario.flows {
        let Traffic::Tcp { options, .. } = &flow.traffic else { bail!("{} is no TCP", flow.name) };
        for end in &flow.to {
            let drawn = match flow.start {
                Draw::Fixed(at) => at,
                Draw::Uniform { low, high } => {
                    low + Stream::new(seed, &end.flow).uniform_duration(high.since(low))
                }
            };
            let config = TcpConfig {
                from: node(flow.from)?,
                to: node(end.node)?,
                options: options.clone(),
                demand: Demand::Endless,
                start: zero + drawn.since(Time::ZERO),
                stop: flow.stop.map(|stop| zero + stop.since(Time::ZERO)),
                name: end.flow.clone(),
            };
            ids.push(bare.emulation.simulation_mut().add_tcp(config)?);
        }
    }
    Ok(ids)
}

/// The places of the links to the receivers.
fn receivers_links(scenario: &Scenario, bare: &Bare) -> Result<Vec<usize>> {
    let session = scenario.sessions.first().context("a session")?;
    let link = |node: usize| {
        let end = scenario.nodes.get(node)?;
        bare.link_names.iter().position(|name| name.ends_with(&format!("-{end}")))
    };
    let links = session.receivers.iter().map(|receiver| link(receiver.node).context("a receiver's link"));
    links.collect()
}
