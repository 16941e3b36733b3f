//! `--reliable` of `send` and `receive`, and `layercast relay --protocol`: files in order over relays that take part.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use layercast_delivery::relay::child::News;
use layercast_transport::active::{self as transport, ActiveEvent, ActiveFailure, ActiveProgress};

use crate::failure::Failure;
use crate::net::metrics::Served;
use crate::net::receive::configured::ReliableReceive;
use crate::net::relay::configured::Routing;
use crate::net::relay::status;
use crate::net::send::configured::ReliableSend;
use crate::net::terminal::{line, stop_flag};
use crate::net::view::rounded;
use crate::output::{complain, counted, one_line, print};

fn failure(error: ActiveFailure) -> Failure {
    match error {
        ActiveFailure::Description(_) | ActiveFailure::Name { .. } | ActiveFailure::File { .. } => {
            Failure::Input(one_line(&format!("error: {error}")))
        }
        // The text contains the system's reason already.
        error => Failure::Other(anyhow::Error::msg(one_line(&error.to_string()))),
    }
}

/// Sends files in order until all receivers have them.
pub(crate) fn send(ReliableSend { options, quiet }: &ReliableSend) -> Result<(), Failure> {
    let stop = stop_flag()?;
    let bar = line(*quiet, Some(1));
    let outcome = transport::send(options, &stop, &mut |event| show(&bar, *quiet, "sending", event));
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
pub(crate) fn receive(
    ReliableReceive { options, quiet }: &ReliableReceive,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let bar = line(*quiet, None);
    let outcome = transport::receive(options, stop, &mut |event| show(&bar, *quiet, "receiving", event));
    bar.finish_and_clear();
    let done = outcome.map_err(failure)?;
    let repairs = counted(done.counters.repairs as usize, "repair");
    Ok(print(&format!("received {} bytes, made {repairs} for others\n", done.bytes))?)
}

/// Takes part in a session until interrupted.
pub(crate) fn relay(Routing { options, metrics, quiet }: &Routing) -> Result<(), Failure> {
    let stop = stop_flag()?;
    let bar = line(*quiet, None);
    let served = Served::default();
    status::serve_metrics(*metrics, &served)?;
    let outcome = transport::relay(options, &stop, &mut |event| match event {
        ActiveEvent::Status(status) => status::serve(status, &served),
        event => show(&bar, *quiet, "relay", event),
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
