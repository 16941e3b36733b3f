//! A receiver that keeps nothing of what it receives.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use layercast_core::contract::TraceEvent;
use layercast_core::units::Time;
use layercast_delivery::node::{Discard, Output, Paths, ReceiverNote, ReceiverSettings, SessionReceiver};
use layercast_delivery::protocols::own_options;
use layercast_delivery::search::Known;

use super::{EndpointPlan, Event, LONGEST_WAIT, RunClock, say};
use crate::error::Error;
use crate::receiver::{self, HostPaths, ReceiverHost, RelayUse};
use crate::relay::FeedbackPath;

pub(super) fn run(
    plan: &EndpointPlan,
    wait_for_begin: impl FnOnce() -> Option<Instant>,
    stop: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let relays = RelayUse {
        relays: plan.relay.into_iter().collect(),
        amt: None,
        feedback: FeedbackPath::Relay,
        only: true,
    };
    let paths = HostPaths {
        interface: Some(plan.address.to_string()),
        relays,
        any_source: true,
        takes_relays: false,
    };
    let settings = ReceiverSettings {
        protocol_options: own_options(&plan.protocol),
        paths: if plan.relay.is_some() { Paths::Relay } else { Paths::Multicast },
        traces: true,
        seed: plan.receiver_seed,
        ..ReceiverSettings::new(Known::Session(Box::new(plan.session()?)))
    };
    let mut host = <ReceiverHost<Discard>>::new(settings, paths, Discard::default());
    say(out, Event::Ready, Time::ZERO)?;
    let Some(begin) = wait_for_begin() else { return Ok(()) };
    let clock = RunClock { begin };
    if !clock.sleep_until(plan.start, stop) {
        return Ok(());
    }
    let mut notes = Vec::new();
    host.start(&mut |_, event| keep(&mut notes, event))?;
    let ends = plan.stop.unwrap_or(Time::MAX);
    let mut next_report = Time::ZERO + plan.every;
    loop {
        report(&mut notes, clock.now(), out)?;
        let now = clock.now();
        if now >= next_report {
            let estimates = host.node.session().map(SessionReceiver::estimates).unwrap_or_default();
            say(out, Event::Estimates(estimates.into()), now)?;
            let passed = now.since(Time::ZERO).as_ns() / plan.every.as_ns().max(1);
            next_report = Time::from_ns((passed + 1) * plan.every.as_ns().max(1));
        }
        let is_complete = plan.needed.is_some_and(|needed| host.node.sink.packets >= needed);
        if is_complete {
            say(out, Event::Complete, now)?;
        }
        if is_complete || now >= ends || stop.load(Ordering::Relaxed) {
            break;
        }
        let wait = LONGEST_WAIT.min(ends.min(next_report).since(now));
        host.step(host.clock().now() + wait, &mut |_, event| keep(&mut notes, event))?;
    }
    host.stop(&mut |_, event| keep(&mut notes, event))?;
    report(&mut notes, clock.now(), out)
}

fn keep(notes: &mut Vec<ReceiverNote>, event: receiver::Event<Discard>) {
    if let Output::Trace(note, _) = event {
        notes.push(note);
    }
}

/// Reports what the receiver did since the last call. Packets are read as they come, so `now` is when it did it.
fn report(notes: &mut Vec<ReceiverNote>, now: Time, out: &mut dyn Write) -> Result<(), Error> {
    notes.drain(..).try_for_each(|note| {
        let event = match note {
            ReceiverNote::Joined(channel) => Event::Join { channel: channel.0 },
            ReceiverNote::Left(channel) => Event::Leave { channel: channel.0 },
            ReceiverNote::Trace(TraceEvent::LevelChanged { from, to, cause }) => {
                Event::Level { from: from.as_number(), to: to.as_number(), cause: cause.to_string() }
            }
            ReceiverNote::Trace(TraceEvent::SlowStartEnded { .. }) => Event::SlowStartEnded,
            ReceiverNote::Trace(_) => return Ok(()),
        };
        say(out, event, now)
    })
}
