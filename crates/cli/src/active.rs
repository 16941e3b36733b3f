//! `--reliable` of `send` and `receive`, and `layercast relay --protocol`: files in order over relays that take part.

use std::net::SocketAddr;
use std::time::Duration as StdDuration;

use indicatif::ProgressBar;
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::Duration;
use layercast_delivery::relay::child::News;
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::session::SessionKey;
use layercast_protocols::registry::Protocol;
use layercast_transport::active::{
    self as transport, ActiveEvent, ActiveFailure, ActiveProgress, ActiveReceiveOptions, ActiveRelayOptions,
    ActiveSendOptions,
};

use crate::commands::{Failure, counted};
use crate::metrics::Served;
use crate::output::{complain, one_line, print};
use crate::relay::{key, serve_metrics};
use crate::relay_arguments::Relay;
use crate::relay_status;
use crate::relaying::addresses;
use crate::transfer::{line, stop_flag};
use crate::transfer_arguments::{PacketSize, Receive, Send};
use crate::view::rounded;

/// The protocol of `send --reliable` unless another one is named.
const DEFAULT: &str = "amca";

fn std(duration: Duration) -> StdDuration {
    StdDuration::from_nanos(duration.as_ns())
}

fn input(text: &str) -> Failure {
    Failure::Input(format!("error: {text}"))
}

fn failure(error: ActiveFailure) -> Failure {
    match error {
        ActiveFailure::Description(_) | ActiveFailure::Name { .. } | ActiveFailure::File { .. } => {
            input(&one_line(&error.to_string()))
        }
        // The text contains the system's reason already.
        error => Failure::Other(anyhow::Error::msg(one_line(&error.to_string()))),
    }
}

/// The name of a protocol with routers.
fn with_routers(name: &str) -> Result<String, Failure> {
    let is_one = Protocol::named(name).is_some_and(|protocol| protocol.requirements().has_routers());
    if is_one {
        Ok(name.to_owned())
    } else {
        Err(input(&format!("`{name}` has no routers: use amca or nca")))
    }
}

/// Sends files in order until all receivers have them.
pub(crate) fn send(arguments: &Send) -> Result<(), Failure> {
    let Some(serve) = arguments.serving.serve else { return Err(input("--reliable needs --serve")) };
    let PacketSize::Fixed(packet) = arguments.packet else {
        return Err(input("--reliable needs a size of packets in bytes: relays may be anywhere"));
    };
    let options = ActiveSendOptions {
        paths: arguments.paths.clone(),
        serve,
        session: SessionKey { group: arguments.group, source: None },
        protocol: with_routers(arguments.control.as_deref().unwrap_or(DEFAULT))?,
        options: arguments.options.clone(),
        packet,
        children: arguments.serving.max_children,
        gather: std(arguments.serving.gather),
    };
    let stop = stop_flag()?;
    let bar = line(arguments.quiet, Some(1));
    let outcome =
        transport::send(&options, &stop, &mut |event| show(&bar, arguments.quiet, "sending", event));
    bar.finish_and_clear();
    let done = outcome.map_err(failure)?;
    Ok(print(&format!(
        "sent {} bytes in {}, and {} again\n",
        done.bytes,
        counted(done.counters.data as usize, "packet"),
        done.counters.repairs
    ))?)
}

/// Receives files in order until all are here.
pub(crate) fn receive(arguments: &Receive) -> Result<(), Failure> {
    let session = match (&arguments.named, arguments.group) {
        (_, Some(group)) => SessionKey { group, source: None },
        (Some(named), None) => key(named)?,
        (None, None) => return Err(input("--reliable needs the session's group")),
    };
    let Some(into) = arguments.into.clone() else { return Err(input("--reliable needs --into")) };
    let options = ActiveReceiveOptions {
        session,
        parents: addresses(&arguments.relays.relays)?,
        into,
        replace: arguments.replace,
        patience: std(arguments.patience),
    };
    let stop = stop_flag()?;
    let bar = line(arguments.quiet, None);
    let outcome =
        transport::receive(&options, &stop, &mut |event| show(&bar, arguments.quiet, "receiving", event));
    bar.finish_and_clear();
    let done = outcome.map_err(failure)?;
    let repairs = counted(done.counters.repairs as usize, "repair");
    Ok(print(&format!("received {} bytes, made {repairs} for others\n", done.bytes))?)
}

/// Takes part in a session until interrupted.
pub(crate) fn relay(arguments: &Relay) -> Result<(), Failure> {
    let protocol = arguments.protocol.as_deref().unwrap_or(DEFAULT);
    let [session] = arguments.sessions.as_slice() else {
        return Err(input("--protocol needs one session, such as 239.1.2.0:5500"));
    };
    let options = ActiveRelayOptions {
        session: SessionKey { source: None, ..key(session)? },
        protocol: with_routers(protocol)?,
        listen: arguments.listen,
        parents: addresses(&arguments.parents)?,
        children: arguments.max_children,
        alternatives: Alternatives::new(addresses(&arguments.alternatives)?),
    };
    let stop = stop_flag()?;
    let bar = line(arguments.quiet, None);
    let served = Served::default();
    serve_metrics(arguments, &served)?;
    let outcome = transport::relay(&options, &stop, &mut |event| match event {
        ActiveEvent::Status(status) => relay_status::serve(status, &served),
        event => show(&bar, arguments.quiet, "relay", event),
    });
    bar.finish_and_clear();
    match outcome {
        // A relay has no other end.
        Ok(_) | Err(ActiveFailure::Interrupted) => Ok(()),
        Err(error) => Err(failure(error)),
    }
}

fn show(bar: &ProgressBar, quiet: bool, what: &str, event: &ActiveEvent) {
    match event {
        ActiveEvent::Ready(at) if !quiet && what != "receiving" => say(bar, &format!("{what} at {at}")),
        ActiveEvent::Ready(_) | ActiveEvent::Status(_) => {}
        ActiveEvent::Progress(progress) => {
            if let Some(of) = progress.of {
                bar.set_length(of.max(1));
                bar.set_position(progress.bytes);
            }
            bar.set_message(message(progress));
        }
        ActiveEvent::Parent(News::Served(at)) if !quiet => say(bar, &format!("packets from {at}")),
        ActiveEvent::Parent(News::Served(_)) => {}
        ActiveEvent::Parent(News::Silent(at)) => say(bar, &format!("warning: {at} does not answer")),
        ActiveEvent::Parent(News::Lost(at)) => say(bar, &format!("warning: {at} is gone")),
        ActiveEvent::Parent(News::Refused(at, reason)) => refused(bar, *at, &reason.to_string()),
    }
}

fn refused(bar: &ProgressBar, at: SocketAddr, reason: &str) {
    say(bar, &format!("note: {at} does not serve: {reason}"));
}

fn say(bar: &ProgressBar, text: &str) {
    bar.suspend(|| complain(text));
}

fn message(progress: &ActiveProgress) -> String {
    let rate = progress.rate_bps.map_or(String::new(), |bps| format!("{}, ", rounded(bps)));
    let children = counted(progress.children, "child").replace("childs", "children");
    let counters = &progress.counters;
    format!("{rate}{children}, {} repairs, {} packets in", counters.repairs, counters.received)
}
