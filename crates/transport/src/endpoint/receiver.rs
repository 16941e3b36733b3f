//! A receiver that keeps nothing of what it receives.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use layercast_core::contract::TraceEvent;
use layercast_core::units::{Duration, Time};
use layercast_delivery::node::ReceiverNote;

use super::{EndpointPlan, Event, LONGEST_WAIT, RunClock, say};
use crate::error::Error;
use crate::host::{Access, Groups, Interface, ReceiverHost};
use crate::relay::{FeedbackPath, RelayTunnel};

pub(super) fn run(
    plan: &EndpointPlan,
    wait_for_begin: impl FnOnce() -> Option<Instant>,
    stop: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let session = plan.session()?;
    let interface = Interface::find(Some(&plan.address.to_string()), plan.group)?;
    let access = match plan.relay {
        Some(relay) => {
            let tunnel = RelayTunnel::open(plan.key(), &[relay], Duration::ZERO, FeedbackPath::Relay)?;
            Access::Tunnel(Box::new(tunnel))
        }
        None => Access::Native(Groups::new(interface.clone(), None)),
    };
    let mut host = ReceiverHost::by(access, interface, &plan.protocol, session, plan.receiver_seed)?;
    host.node.keep_log();
    say(out, &Event::Ready, Time::ZERO)?;
    let Some(begin) = wait_for_begin() else { return Ok(()) };
    let clock = RunClock { begin };
    if !clock.sleep_until(plan.start, stop) {
        return Ok(());
    }
    host.start()?;
    let ends = plan.stop.unwrap_or(Time::MAX);
    let (mut next_report, mut packets) = (Time::ZERO + plan.every, 0);
    loop {
        report(&mut host, clock.now(), out)?;
        let now = clock.now();
        if now >= next_report {
            say(out, &Event::Estimates(host.node.estimates()), now)?;
            let passed = now.since(Time::ZERO).as_ns() / plan.every.as_ns().max(1);
            next_report = Time::from_ns((passed + 1) * plan.every.as_ns().max(1));
        }
        let is_complete = plan.needed.is_some_and(|needed| packets >= needed);
        if is_complete {
            say(out, &Event::Complete, now)?;
        }
        if is_complete || now >= ends || stop.load(Ordering::Relaxed) {
            break;
        }
        let wait = LONGEST_WAIT.min(ends.min(next_report).since(now));
        host.step(host.clock().now() + wait, &mut |_, accepted| {
            packets += u64::from(!accepted.payload.is_empty());
            Ok(())
        })?;
    }
    host.stop()?;
    report(&mut host, clock.now(), out)
}

/// Reports what the receiver did since the last call. Packets are read as they come, so `now` is when it did it.
fn report(host: &mut ReceiverHost, now: Time, out: &mut dyn Write) -> Result<(), Error> {
    host.node.drain_log().try_for_each(|note| {
        let event = match note {
            ReceiverNote::Joined(channel) => Event::Join(channel),
            ReceiverNote::Left(channel) => Event::Leave(channel),
            ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause }) => {
                Event::Level { from, to, cause }
            }
            ReceiverNote::Trace(TraceEvent::SlowStartEnded { .. }) => Event::SlowStartEnded,
            ReceiverNote::Trace(_) => return Ok(()),
        };
        say(out, &event, now)
    })
}
