//! A source with payload of no meaning.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use layercast_core::units::{Channel, Time};

use super::{EndpointPlan, Event, LONGEST_WAIT, RunClock, say};
use crate::error::Error;
use crate::host::{Interface, SourceHost};
use crate::relay::{ServeOptions, SourceServer};
use layercast_delivery::node::Content;
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::Allowed;
use layercast_delivery::sender::PacketPayload;

/// The time to live of packets: more hops than any network of a scenario has.
const TTL: u8 = 255;

/// The most relays and receivers that a source serves by unicast.
const CHILDREN_MAX: usize = 10_000;

/// Payload of no meaning. The host gives packets their size.
struct Synthetic;

impl Content for Synthetic {
    type Error = Error;

    fn next(&mut self, _channel: Channel, _now: Time, _room: &mut [u8]) -> Result<PacketPayload, Error> {
        Ok(PacketPayload { toi: 1, ..PacketPayload::default() })
    }
}

/// How the session is served by unicast.
fn serving(plan: &EndpointPlan, listen: SocketAddr) -> ServeOptions {
    ServeOptions {
        listen,
        allowed: Allowed { sessions: vec![plan.key()], prefixes: Vec::new() },
        alternatives: Alternatives::default(),
        limits: Limits { children: CHILDREN_MAX, per_address: CHILDREN_MAX, ..Limits::default() },
        highest: None,
    }
}

pub(super) fn run(
    plan: &EndpointPlan,
    wait_for_begin: impl FnOnce() -> Option<Instant>,
    stop: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let session = plan.session()?;
    let interface = Interface::find(Some(&plan.address.to_string()), plan.group)?;
    let mut host = SourceHost::new(&interface, &plan.protocol, session, plan.feedback_port, TTL, plan.seed)?;
    host.set_ecn(plan.ecn)?;
    host.node.fill_packets();
    if let Some(listen) = plan.serve {
        host.add_unicast_path(Box::new(SourceServer::open(&serving(plan, listen), plan.source)?), true);
    }
    say(out, Event::Ready, Time::ZERO)?;
    let Some(begin) = wait_for_begin() else { return Ok(()) };
    let clock = RunClock { begin };
    if !clock.sleep_until(plan.start, stop) {
        return Ok(());
    }
    host.start(&mut Synthetic)?;
    let ends = plan.stop.unwrap_or(Time::MAX);
    while !stop.load(Ordering::Relaxed) && clock.now() < ends {
        let wait = LONGEST_WAIT.min(ends.since(clock.now()));
        host.step(host.clock().now() + wait, &mut Synthetic)?;
        while host.node.take_completion().is_some() {}
    }
    host.stop(&mut Synthetic)
}
