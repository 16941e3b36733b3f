//! `layercast endpoint`: one end of a session without a file, for networks that are emulated.
//!
//! Standard input is the line to whoever started it: `begin N` says that the run is N nanoseconds old, `stop` ends it,
//! and so does the end of the input, so that nothing stays when that process is gone. Events go to standard output.

use std::io::BufRead as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration as StdDuration, Instant};

use anyhow::Context as _;
use clap::{Args, Parser, ValueEnum};
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_delivery::protocols::set_options;
use layercast_protocols::registry::{self, Protocol};
use layercast_transport::endpoint::{self, EndpointPlan};

use crate::failure::Failure;
use crate::modes::{BOTH, Cell, Fact, Mode, Row, Table, USED, no, row};
use crate::net::arguments::option;
use crate::net::failure::failure;

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Source,
    Receiver,
}

#[derive(Debug, Args)]
pub(crate) struct Endpoint {
    /// Source or receiver
    pub(crate) role: Role,

    /// The congestion control
    #[arg(long)]
    pub(crate) protocol: String,

    /// An option of the protocol
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,

    /// The rates of the layers, each alone, in bit/s
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) layers: Vec<f64>,

    /// The size of packets with all headers, in bytes
    #[arg(long)]
    pub(crate) packet: u32,

    /// The group and port of the base layer
    #[arg(long)]
    pub(crate) group: SocketAddr,

    /// The address of the source
    #[arg(long)]
    pub(crate) source: IpAddr,

    /// The port of the source that takes reports
    #[arg(long)]
    pub(crate) feedback_port: u16,

    /// The address of this host
    #[arg(long)]
    pub(crate) address: IpAddr,

    /// The number of the session, unless the protocol draws it
    #[arg(long)]
    pub(crate) number: u32,

    /// The seed of the session
    #[arg(long)]
    pub(crate) seed: u64,

    /// The seed of this receiver
    #[arg(long, default_value_t = 0)]
    pub(crate) receiver_seed: u64,

    /// Where a source serves relays and receivers by unicast, instead of sending to groups
    #[arg(long)]
    pub(crate) serve: Option<SocketAddr>,

    /// The relay or serving source from which a receiver has its packets, instead of joining groups
    #[arg(long)]
    pub(crate) relay: Option<SocketAddr>,

    /// Data may be marked
    #[arg(long)]
    pub(crate) ecn: bool,

    /// When it starts, in nanoseconds of the run
    #[arg(long, default_value_t = 0)]
    pub(crate) start_ns: u64,

    /// When it stops
    #[arg(long)]
    pub(crate) stop_ns: Option<u64>,

    /// How often estimates are reported, in nanoseconds
    #[arg(long, default_value_t = 1_000_000_000)]
    pub(crate) every_ns: u64,

    /// The packets with data that make a receiver complete, which then stops
    #[arg(long)]
    pub(crate) needed: Option<u64>,
}

pub(crate) static ENDPOINT: Table<Role> = Table {
    command: "endpoint",
    arguments: Endpoint::augment_args,
    default: Role::Source,
    modes: &[
        Mode { mode: Role::Source, by: "", name: "source" },
        Mode { mode: Role::Receiver, by: "receiver", name: "receiver" },
    ],
    facts: &[Fact {
        name: "receiver",
        text: "receiver",
        holds: |matches| matches.get_one("role") == Some(&Role::Receiver),
    }],
    rows: ROWS,
};

const OF_SOURCE: &[Cell] = &[USED, no("it is of sources", "leave it out")];
const OF_RECEIVER: &[Cell] = &[no("it is of receivers", "leave it out"), USED];

const ROWS: &[Row] = &[
    row("role", BOTH),
    row("protocol", BOTH),
    row("options", BOTH),
    row("layers", BOTH),
    row("packet", BOTH),
    row("group", BOTH),
    row("source", BOTH),
    row("feedback_port", BOTH),
    row("address", BOTH),
    row("number", BOTH),
    row("seed", BOTH),
    row("receiver_seed", OF_RECEIVER),
    row("serve", OF_SOURCE),
    row("relay", OF_RECEIVER),
    row("ecn", OF_SOURCE),
    row("start_ns", BOTH),
    row("stop_ns", BOTH),
    row("every_ns", OF_RECEIVER),
    row("needed", OF_RECEIVER),
];

/// The arguments on their own, as the emulated world makes them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Alone {
    #[command(flatten)]
    arguments: Endpoint,
}

/// Why the transport cannot run an endpoint with these arguments, which follow the word `endpoint`; nothing if it can.
pub(crate) fn check(arguments: &[String]) -> Result<(), String> {
    let parsed = Alone::try_parse_from(arguments).map_err(|error| error.to_string())?;
    let plan = plan(&parsed.arguments).map_err(|error| match error {
        Failure::Input(text) => text.trim_start_matches("error: ").to_owned(),
        Failure::Status(status) => format!("exit status {status}"),
        Failure::Other(error) => format!("{error:#}"),
    })?;
    plan.session().map(|_| ()).map_err(|error| error.to_string())
}

pub(crate) fn plan(arguments: &Endpoint) -> Result<EndpointPlan, Failure> {
    let mut protocol = <Protocol as layercast_core::family::AnyProtocol>::named(&arguments.protocol)
        .ok_or_else(|| {
            let known = registry::NAMES.join(", ");
            Failure::Input(format!("error: there is no protocol `{}`; there are {known}", arguments.protocol))
        })?;
    set_options(&mut protocol, &arguments.options).map_err(|error| failure(error.into()))?;
    let rates = arguments.layers.iter().map(|&bps| Rate::from_bps(bps));
    let layers = LayerTable::from_rates(rates).map_err(|error| Failure::Input(format!("error: {error}")))?;
    Ok(EndpointPlan {
        role: match arguments.role {
            Role::Source => endpoint::Role::Source,
            Role::Receiver => endpoint::Role::Receiver,
        },
        protocol,
        layers,
        packet: Size::from_bytes(arguments.packet),
        group: arguments.group,
        source: arguments.source,
        feedback_port: arguments.feedback_port,
        address: arguments.address,
        number: arguments.number,
        seed: arguments.seed,
        receiver_seed: arguments.receiver_seed,
        ecn: arguments.ecn,
        serve: arguments.serve,
        relay: arguments.relay,
        start: Time::from_ns(arguments.start_ns),
        stop: arguments.stop_ns.map(Time::from_ns),
        every: Duration::from_ns(arguments.every_ns),
        needed: arguments.needed,
    })
}

pub(crate) fn endpoint(arguments: &Endpoint) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (begins, begun) = mpsc::channel();
    let stops = Arc::clone(&stop);
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                let age = line.strip_prefix("begin ").and_then(|age| age.trim().parse().ok());
                match age.and_then(|age| Instant::now().checked_sub(StdDuration::from_nanos(age))) {
                    // Nobody waits for a second beginning.
                    Some(begin) => drop(begins.send(begin)),
                    None => break,
                }
            }
            stops.store(true, Ordering::Relaxed);
        })
        .context("a thread cannot be started")?;
    let out = &mut std::io::stdout().lock();
    endpoint::run(&plan, || begun.recv().ok(), &stop, out).map_err(failure)
}
