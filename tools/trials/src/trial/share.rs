//! One bottleneck, shared with the kernel's TCP: what each gets, and how long short transfers take.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use layercast_simulator::{CoDelConfig, FqCoDelConfig, QueueConfig, QueueLimit};
use serde_json::{Value, json};

use super::{Common, group};
use crate::cables::{Cable, Cables};
use crate::content::Scratch;
use crate::process::{Place, Process};
use crate::program::{self, Program};
use crate::report::Report;
use crate::wire::{Link, Wire};

/// A TCP's share must lie between these, and one of two sessions' of ours between those.
const SHARE: (f64, f64) = (0.35, 0.65);
const EQUAL: (f64, f64) = (0.4, 0.6);
/// The length of the plain queues.
const QUEUE_MS: u64 = 50;
/// The leave latency of the bridge, where it is not what is tried.
const LEAVE_MS: u64 = 20;
/// The first port of a sink.
const PORT: u16 = 7000;
/// What is sent: it outlasts any run.
const ENDLESS: u64 = 4_000_000_000;
/// Short transfers: their length, and the mean gap between them. Of 20 Mbit/s they take a tenth.
const WEB_BYTES: u64 = 100_000;
const WEB_GAP_MS: f64 = 400.0;

/// A bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// A token bucket of the kernel, whose bridge prunes so long after a leave, in ms.
    Tbf {
        /// The leave latency.
        leave_ms: u64,
    },
    /// An emulated link of this round-trip time, in ms.
    Emulated {
        /// Its queue.
        queue: Queue,
        /// Its round-trip time.
        rtt_ms: u64,
    },
}

/// The queue of an emulated link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Plain.
    DropTail,
    /// Controlled delay (RFC 8289).
    CoDel,
    /// A queue for each flow (RFC 8290), with ECN.
    FqCoDel,
}

impl FromStr for Bottleneck {
    type Err = String;

    fn from_str(text: &str) -> Result<Bottleneck, String> {
        let wrong = || {
            format!(
                "`{text}`: say tbf, tbf-leave-MS, drop-tail-RTT, codel-RTT or fq-codel-RTT, in milliseconds"
            )
        };
        if text == "tbf" {
            return Ok(Bottleneck::Tbf { leave_ms: LEAVE_MS });
        }
        let (kind, number) = text.rsplit_once('-').ok_or_else(wrong)?;
        let number = number.parse().map_err(|_| wrong())?;
        let queue = match kind {
            "tbf-leave" => return Ok(Bottleneck::Tbf { leave_ms: number }),
            "drop-tail" => Queue::DropTail,
            "codel" => Queue::CoDel,
            "fq-codel" => Queue::FqCoDel,
            _ => return Err(wrong()),
        };
        Ok(Bottleneck::Emulated { queue, rtt_ms: number })
    }
}

/// Who shares the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// A session of ours and one TCP
    Tcp,
    /// Two sessions of ours
    Two,
    /// Short transfers next to a session of ours
    Web,
    /// Short transfers next to a TCP
    WebTcp,
}

/// The options of the trial.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,

    /// The bottlenecks: tbf, tbf-leave-MS, drop-tail-RTT, codel-RTT, fq-codel-RTT
    #[arg(long, value_delimiter = ',', default_values_t = ["tbf", "drop-tail-20", "drop-tail-60", "drop-tail-200", "codel-20", "codel-60",
        "codel-200", "fq-codel-20", "fq-codel-60", "fq-codel-200"].map(str::to_owned))]
    pub bottlenecks: Vec<String>,

    /// Who shares them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Case::Tcp, Case::Two])]
    pub cases: Vec<Case>,

    /// The congestion controls of TCP
    #[arg(long, value_delimiter = ',', default_values_t = ["cubic", "reno", "bbr"].map(str::to_owned))]
    pub tcp: Vec<String>,

    /// The congestion control of our own sessions
    #[arg(long, default_value = "tide")]
    pub control: String,

    /// Options of it at receivers, NAME=VALUE
    #[arg(long)]
    pub set: Vec<String>,

    /// The rate of the bottleneck in Mbit/s
    #[arg(long, default_value_t = 20.0)]
    pub mbps: f64,

    /// The length of a run in seconds
    #[arg(long, default_value_t = 120)]
    pub seconds: u64,

    /// Report the shares, and do not fail for them
    #[arg(long)]
    pub report_only: bool,
}

impl Options {
    /// Small enough for a test: that all parts run, not what they give.
    pub fn brief(program: std::path::PathBuf, out: std::path::PathBuf) -> Options {
        Options {
            common: Common { program: Some(program), out, seed: 1 },
            bottlenecks: vec!["tbf".to_owned()],
            cases: vec![Case::Tcp],
            tcp: vec!["cubic".to_owned()],
            control: "tide".to_owned(),
            set: Vec::new(),
            mbps: 8.0,
            seconds: 6,
            report_only: true,
        }
    }
}

/// Runs the trial. `ourselves` is this program, which is the TCP too.
///
/// # Errors
/// If a share was not within its bounds, or a run was not possible.
pub fn run(options: &Options, ourselves: &std::path::Path) -> Result<()> {
    let mut report = Report::new(&options.common.out, "share")?;
    let program = Program::find(options.common.program.as_deref())?;
    let mut runs = Vec::new();
    for name in &options.bottlenecks {
        let bottleneck = name.parse::<Bottleneck>().map_err(anyhow::Error::msg)?;
        for &case in &options.cases {
            match case {
                Case::Tcp => {
                    runs.extend(options.tcp.iter().map(|tcp| (name, bottleneck, case, tcp.as_str())))
                }
                Case::Two | Case::Web | Case::WebTcp => runs.push((name, bottleneck, case, "cubic")),
            }
        }
    }
    for (name, bottleneck, case, tcp) in runs {
        let network = bottleneck.make(options.mbps, options.common.seed)?;
        let mut line = once(options, &program, ourselves, &network, case, tcp)?;
        let share = line["share"].as_f64();
        let within = |(least, most): (f64, f64)| share.is_some_and(|share| (least..=most).contains(&share));
        let is_right = match case {
            Case::Tcp => tcp == "bbr" || within(SHARE),
            Case::Two => within(EQUAL),
            Case::Web | Case::WebTcp => true,
        };
        line["bottleneck"] = json!(name);
        line["late_ms"] = json!(network.end()?);
        report.add(is_right || options.report_only, line)?;
    }
    report.end()
}

/// A network with a source and one host behind the bottleneck.
enum Made {
    Cables(Cables),
    Wire(Wire),
}

impl Bottleneck {
    fn make(self, mbps: f64, seed: u64) -> Result<Made> {
        match self {
            Bottleneck::Tbf { leave_ms } => {
                let link = Cable { mbps: Some(mbps), queue_ms: QUEUE_MS };
                Ok(Made::Cables(Cables::with_leave(&[link], leave_ms)?))
            }
            Bottleneck::Emulated { queue, rtt_ms } => {
                let plain = QueueLimit::Bytes((mbps * 125.0 * QUEUE_MS as f64) as u64);
                // A thousand packets, as in Linux.
                let limit = QueueLimit::Packets(1000);
                let config = match queue {
                    Queue::DropTail => QueueConfig::drop_tail(plain),
                    Queue::CoDel => QueueConfig::CoDel(CoDelConfig { limit, ..CoDelConfig::default() }),
                    Queue::FqCoDel => QueueConfig::FqCoDel(FqCoDelConfig::default()),
                };
                let link = Link::new(mbps, rtt_ms, 0.0).with_queue(config);
                let made = Made::Wire(Wire::new(&[link], seed)?);
                if queue == Queue::FqCoDel {
                    made.allow_ecn()?;
                }
                Ok(made)
            }
        }
    }
}

impl Made {
    fn source(&self) -> Place {
        match self {
            Made::Cables(cables) => cables.source(),
            Made::Wire(wire) => Place::Host(wire.source().clone()),
        }
    }

    fn receiver(&self) -> Place {
        match self {
            Made::Cables(cables) => cables.receiver(0),
            Made::Wire(wire) => Place::Host(wire.receiver(0).clone()),
        }
    }

    fn receiver_address(&self) -> Ipv4Addr {
        match self {
            Made::Cables(_) => Cables::receiver_address(0),
            Made::Wire(wire) => wire.receiver(0).ipv4(),
        }
    }

    /// Lets TCP ask for ECN.
    fn allow_ecn(&self) -> Result<()> {
        for place in [self.source(), self.receiver()] {
            let mut command = Command::new("sysctl");
            command.args(["-q", "-w", "net.ipv4.tcp_ecn=1"]);
            let mut process = place.start(command)?;
            let ended = process.wait_until(Instant::now() + Duration::from_secs(5))?;
            if !ended.is_some_and(|status| status.success()) {
                bail!("ECN of TCP: {}", program::said(&process));
            }
        }
        Ok(())
    }

    /// How late 99 % of the packets of an emulated network were at most, in ms.
    fn end(self) -> Result<Option<f64>> {
        match self {
            Made::Cables(_) => Ok(None),
            Made::Wire(wire) => Ok(Some(wire.end()?.late.as_ns() as f64 * 1e-6)),
        }
    }
}

/// One run.
fn once(
    options: &Options,
    program: &Program,
    ourselves: &std::path::Path,
    network: &Made,
    case: Case,
    tcp: &str,
) -> Result<Value> {
    let scratch = Scratch::new("share")?;
    let file = scratch.at("endless");
    std::fs::File::create(&file)?.set_len(ENDLESS)?;
    let path = file.display().to_string();
    let (from, to) = (network.source(), network.receiver());
    let start = |place: &Place, arguments: &[&str]| {
        let mut command = Command::new(ourselves);
        command.args(arguments);
        place.start(command)
    };
    let ours = match case {
        Case::Tcp | Case::Web => 1,
        Case::Two => 2,
        Case::WebTcp => 0,
    };
    let (mut sources, mut receivers) = (Vec::new(), Vec::new());
    for number in 0..ours {
        let base = group(10 + number).to_string();
        let into = scratch.folder(&format!("into{number}"))?;
        let rates = ["--from", "500 kbit/s", "--to", "100 Mbit/s", "--control", &options.control];
        let send = ["send", &path, "--group", &base, "--no-announce", "--packet", "1400 bytes"];
        let mut source = program.start(&from, &[&send[..], &rates[..]].concat())?;
        program::wait_for(&mut source, "ready", Duration::from_secs(120))?;
        sources.push(source);
        receivers.push(program.receive(&to, &base, &into, &options.set)?);
    }
    let address = |port: u16| SocketAddr::from((network.receiver_address(), port)).to_string();
    let mut flows = Vec::new();
    if matches!(case, Case::Tcp | Case::WebTcp) {
        let sink = start(&to, &["tcp-sink", &PORT.to_string()])?;
        thread::sleep(Duration::from_millis(200));
        let source = start(&from, &["tcp-source", &address(PORT), "--control", tcp])?;
        flows.push((sink, source));
    }
    if matches!(case, Case::Web | Case::WebTcp) {
        let (port, bytes, gap) = (PORT + 1, WEB_BYTES.to_string(), WEB_GAP_MS.to_string());
        let sink = start(&to, &["tcp-sink", &port.to_string()])?;
        thread::sleep(Duration::from_millis(200));
        let arguments =
            ["tcp-source", &address(port), "--control", "cubic", "--transfers", &bytes, "--gap-ms", &gap];
        let source = start(&from, &arguments)?;
        flows.push((sink, source));
    }
    thread::sleep(Duration::from_secs(options.seconds));
    let rate = |process: &Process| {
        let bytes = program::number(process, "bytes").unwrap_or_default();
        bytes * 8e-6 / options.seconds as f64
    };
    let ours: Vec<f64> = receivers.iter().map(&rate).collect();
    let theirs: Vec<f64> = flows.iter().map(|(sink, _)| rate(sink)).collect();
    let of = |name: &str| -> Vec<Option<f64>> {
        receivers.iter().map(|receiver| program::number(receiver, name)).collect()
    };
    for (_, source) in &mut flows {
        if source.poll()?.is_some() {
            bail!("TCP ended: {}", program::said(source));
        }
    }
    let (part, all) = match case {
        Case::Tcp => (theirs.first(), theirs.iter().chain(&ours).sum::<f64>()),
        Case::Two => (ours.first(), ours.iter().sum()),
        Case::Web | Case::WebTcp => (None, 1.0),
    };
    let mut line = json!({
        "case": case.to_possible_value().context("a name")?.get_name(), "tcp": tcp, "control": options.control,
        "seconds": options.seconds, "mbps": options.mbps, "share": part.map(|part| part / all.max(1e-9)),
        "ours_mbps": ours, "tcp_mbps": theirs, "packets_lost": of("packets_lost"), "rtt_ms": of("rtt_ms"),
        "fair_bps": of("fair_bps"), "packets_marked": of("packets_marked"), "leave_longest_ms": of("leave_longest_ms"),
    });
    if let (Case::Web | Case::WebTcp, Some((_, source))) = (case, flows.last()) {
        line["transfers"] = transfers(source);
    }
    Ok(line)
}

/// Quantiles of the times that short transfers took, in seconds.
fn transfers(source: &Process) -> Value {
    let events = program::events(source);
    let mut times: Vec<f64> = events.iter().filter_map(|event| event["seconds"].as_f64()).collect();
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get(((times.len().saturating_sub(1)) as f64 * part).round() as usize).copied();
    json!({ "count": times.len(), "begun": events.len(), "median_s": at(0.5), "p95_s": at(0.95), "longest_s": at(1.0) })
}
