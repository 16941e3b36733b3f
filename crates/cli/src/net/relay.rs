//! `layercast relay`.

mod arguments;
pub(crate) mod configured;
mod modes;
pub(crate) mod status;
pub(crate) mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use layercast_transport::active;
use layercast_transport::event::{Event, Progress};
use layercast_transport::relay as transport;

use crate::failure::Failure;
use crate::net::failure::failure;
use crate::net::metrics::Served;
use crate::net::terminal::{line, stop_flag};
use crate::net::view::rounded;
use crate::output::{complain, counted, print};
use configured::{Forwarding, RelayConfig, Routing};

pub(crate) use arguments::{Relay, RelayCommand};
pub(crate) use modes::RELAY;

/// Relays sessions until it is interrupted.
pub(crate) fn relay(config: &RelayConfig) -> Result<(), Failure> {
    let (parent, metrics, quiet, attended) = match config {
        RelayConfig::Forwarding(Forwarding { options, metrics, quiet, attended }) => {
            (options.parents.first(), metrics, quiet, attended)
        }
        RelayConfig::Routing(Routing { options, metrics, quiet }) => {
            (options.parents.first(), metrics, quiet, &false)
        }
    };
    let stop = stop_flag()?;
    if *attended {
        stop_with_input(Arc::clone(&stop))?;
    }
    let served = Served::default();
    status::serve_metrics(*metrics, &served)?;
    let is_quiet = *quiet || *attended;
    let bar = line(is_quiet, None);
    let mut last = String::new();
    let mut on_event = |event: &Event| match event {
        Event::Listening { .. } if *attended => {
            // If nothing reads it, this program ends with its input.
            let line = serde_json::to_string(event).unwrap_or_default();
            let _ = print(&format!("{line}\n"));
        }
        Event::Listening { address: at } => {
            let above = match parent {
                Some(parent) => format!("packets from {parent}"),
                None => "packets by multicast".to_owned(),
            };
            if !is_quiet {
                let line = format!("relay at {at}, {above}");
                bar.suspend(|| complain(&line));
            }
        }
        Event::Progress(Progress::Relay(status)) => {
            bar.set_message(format!(
                "{}, {} to them, {} packets dropped",
                counted(status.node.children.len(), "child").replace("childs", "children"),
                rounded(status.node.rate.as_bps()),
                status.node.dropped,
            ));
            status::serve(status, &served);
        }
        Event::Channel(change) => tracing::debug!(?change, "channel"),
        Event::Notice(notice) if *attended && !notice.is_warning() => {}
        Event::Notice(notice) => {
            let text = format!("{}: {notice}", if notice.is_warning() { "warning" } else { "note" });
            if text != last {
                bar.suspend(|| complain(&text));
            }
            last = text;
        }
        _ => {}
    };
    let outcome = match config {
        RelayConfig::Forwarding(forwarding) => transport::relay(&forwarding.options, &stop, &mut on_event),
        RelayConfig::Routing(routing) => active::relay(&routing.options, &stop, &mut on_event),
    };
    bar.finish_and_clear();
    let done = outcome.map_err(failure)?;
    if *attended {
        return Ok(());
    }
    Ok(print(&format!(
        "{} packets to {} in all, {} dropped\n",
        done.node.packets,
        counted(done.node.counters.welcomed as usize, "child").replace("childs", "children"),
        done.node.dropped
    ))?)
}

/// Stops the relay at the end of standard input.
fn stop_with_input(stop: Arc<AtomicBool>) -> Result<(), Failure> {
    let wait = move || {
        // Its end, or an error, is the end of whatever started this program.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
    };
    let thread = std::thread::Builder::new().name("input".to_owned());
    thread.spawn(wait).context("a thread cannot be started")?;
    Ok(())
}
