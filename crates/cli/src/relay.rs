//! `layercast relay`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::relay::message::Alternatives;
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_transport::receive::Known;
use layercast_transport::relay::{self as transport, RelayEvent, RelayOptions, ServeOptions};

use crate::commands::{Failure, counted};
use crate::finding;
use crate::metrics::{self, Served};
use crate::output::{complain, print};
use crate::relay_arguments::{Relay, RelayCommand};
use crate::relaying::addresses;
use crate::transfer::{line, stop_flag};
use crate::transport_failure::failure;
use crate::view::rounded;
use crate::{relay_status, relay_tree};

/// Relays sessions until it is interrupted, or shows what a relay does.
pub(crate) fn relay(arguments: &Relay) -> Result<(), Failure> {
    if let Some(RelayCommand::Status(status)) = &arguments.command {
        return relay_tree::show(status);
    }
    let options = options(arguments)?;
    let stop = stop_flag()?;
    if arguments.attended {
        stop_with_input(Arc::clone(&stop))?;
    }
    let served = Served::default();
    serve_metrics(arguments, &served)?;
    let is_quiet = arguments.quiet || arguments.attended;
    let bar = line(is_quiet, None);
    let mut last = String::new();
    let outcome = transport::relay(&options, &stop, &mut |event| match event {
        RelayEvent::Ready(_) if arguments.attended => {
            // If nothing reads it, this program ends with its input.
            let _ = print("{\"event\":\"ready\"}\n");
        }
        RelayEvent::Ready(at) => {
            let above = match options.parents.first() {
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
            relay_status::serve(status, &served);
        }
        RelayEvent::Channel(change) => tracing::debug!(?change, "channel"),
        RelayEvent::Notice(notice) if arguments.attended && !notice.is_warning() => {}
        RelayEvent::Notice(notice) => {
            let text = format!("{}: {notice}", if notice.is_warning() { "warning" } else { "note" });
            if text != last {
                bar.suspend(|| complain(&text));
            }
            last = text;
        }
    });
    bar.finish_and_clear();
    let status = outcome.map_err(failure)?;
    if arguments.attended {
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
pub(crate) fn serve_metrics(arguments: &Relay, served: &Served) -> Result<(), Failure> {
    let Some(at) = arguments.metrics else { return Ok(()) };
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

fn options(arguments: &Relay) -> Result<RelayOptions, Failure> {
    let sessions: Result<Vec<SessionKey>, Failure> =
        arguments.sessions.iter().map(|session| key(session)).collect();
    let sessions = sessions?;
    if let Some(key) = sessions.iter().find(|key| !key.is_valid()) {
        let group = key.group;
        return Err(Failure::Input(format!("error: {group} is no multicast group that a session may use")));
    }
    if arguments.local.is_some() && sessions.is_empty() {
        let text =
            "error: --local: hosts report groups without ports, so name the sessions; --allow is not enough";
        return Err(Failure::Input(text.to_owned()));
    }
    let allowed = Allowed { sessions, prefixes: arguments.allow.clone() };
    let (children, per_address) = (arguments.max_children, arguments.max_per_address);
    let limits = Limits { children, per_address, ..Limits::default() };
    Ok(RelayOptions {
        serve: ServeOptions {
            listen: arguments.listen,
            allowed,
            alternatives: Alternatives::new(addresses(&arguments.alternatives)?),
            limits,
            highest: arguments.max_rate,
        },
        parents: addresses(&arguments.parents)?,
        interface: arguments.interface.clone(),
        local: arguments.local.clone(),
    })
}

/// A session by its URL, its description or its group.
pub(crate) fn key(named: &str) -> Result<SessionKey, Failure> {
    let wrong = |error: String| Failure::Input(format!("error: {named}: {error}"));
    if named.contains("://") {
        let url: SessionUrl = named.parse().map_err(|error| wrong(format!("{error}")))?;
        return Ok(SessionKey { group: SocketAddr::new(url.group, url.port), source: url.source });
    }
    if let Ok(group) = crate::transfer_arguments::group(named) {
        return Ok(SessionKey { group, source: None });
    }
    match finding::described(std::path::Path::new(named), &[])?.0 {
        Known::Session(session) => Ok(SessionKey { group: session.group, source: Some(session.source) }),
        known => Ok(SessionKey { group: known.group(), source: known.source() }),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        relay: Relay,
    }

    #[test]
    fn both_limits_on_children_are_those_of_the_arguments() {
        let line = ["relay", "239.1.2.0", "--max-children", "7", "--max-per-address", "3"];
        let Ok(options) = options(&Line::parse_from(line).relay) else { panic!("the arguments are right") };
        let limits = options.serve.limits;
        assert_eq!((limits.children, limits.per_address), (7, 3));
    }
}
