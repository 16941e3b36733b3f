//! `layercast relay`.

pub(crate) mod arguments;
pub(crate) mod configured;
pub(crate) mod modes;
pub(crate) mod status;
pub(crate) mod tree;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use layercast_transport::active;
use layercast_transport::relay::{self as transport, RelayEvent};

use crate::commands::{Failure, counted};
use crate::net::metrics::{self, Served};
use crate::net::transfer::{line, stop_flag};
use crate::net::transport_failure::failure;
use crate::net::view::rounded;
use crate::output::{complain, print};
use configured::{Forwarding, RelayConfig, Routing};

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
    serve_metrics(*metrics, &served)?;
    let is_quiet = *quiet || *attended;
    let bar = line(is_quiet, None);
    let mut last = String::new();
    let mut say = |event: &RelayEvent<'_>| match event {
        RelayEvent::Ready(_) if *attended => {
            // If nothing reads it, this program ends with its input.
            let _ = print("{\"event\":\"ready\"}\n");
        }
        RelayEvent::Ready(at) => {
            let above = match parent {
                Some(parent) => format!("packets from {parent}"),
                None => "packets by multicast".to_owned(),
            };
            if !is_quiet {
                let line = format!("relay at {at}, {above}");
                bar.suspend(|| complain(&line));
            }
        }
        RelayEvent::Progress(status) => {
            bar.set_message(format!(
                "{}, {} to them, {} packets dropped",
                counted(status.children.len(), "child").replace("childs", "children"),
                rounded(status.rate.as_bps()),
                status.dropped,
            ));
            status::serve(status, &served);
        }
        RelayEvent::Channel(change) => tracing::debug!(?change, "channel"),
        RelayEvent::Notice(notice) if *attended && !notice.is_warning() => {}
        RelayEvent::Notice(notice) => {
            let text = format!("{}: {notice}", if notice.is_warning() { "warning" } else { "note" });
            if text != last {
                bar.suspend(|| complain(&text));
            }
            last = text;
        }
    };
    let outcome = match config {
        RelayConfig::Forwarding(forwarding) => transport::relay(&forwarding.options, &stop, &mut say),
        RelayConfig::Routing(routing) => active::relay(&routing.options, &stop, &mut say),
    };
    bar.finish_and_clear();
    let status = outcome.map_err(failure)?;
    if *attended {
        return Ok(());
    }
    Ok(print(&format!(
        "{} packets to {} in all, {} dropped\n",
        status.packets,
        counted(status.counters.welcomed as usize, "child").replace("childs", "children"),
        status.dropped
    ))?)
}

/// Serves what is asked for by `--metrics`.
pub(crate) fn serve_metrics(at: Option<SocketAddr>, served: &Served) -> Result<(), Failure> {
    let Some(at) = at else { return Ok(()) };
    let at =
        metrics::serve(at, served.clone()).map_err(|error| anyhow::anyhow!("--metrics {at}: {error}"))?;
    complain(&format!("note: metrics at http://{at}/metrics"));
    Ok(())
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
