//! `layercast endpoint`: one end of a session without a file, for networks that are emulated.
//!
//! Standard input is the line to whoever started it: `begin N` says that the run is N nanoseconds old, `stop` ends it,
//! and so does the end of the input, so that nothing stays when that process is gone. Events go to standard output.

pub(crate) mod arguments;

use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration as StdDuration, Instant};

use anyhow::Context as _;
use clap::Parser;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_delivery::protocols::set_options;
use layercast_protocols::registry::{self, Protocol};
use layercast_transport::endpoint::{self, EndpointPlan};

use crate::commands::Failure;
use crate::emulator::endpoint::arguments::{Endpoint, Role};
use crate::net::transport_failure::failure;

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
