//! Receiving live data: each layer that is held to an output of its own.

mod outputs;

use std::sync::atomic::AtomicBool;
use std::time::Duration as StdDuration;

use layercast_core::contract::{Cause, Estimates};
use layercast_core::family::Family;
use layercast_core::units::Level;
use layercast_delivery::live::Live;
use layercast_delivery::node::{Failure, Output, ReceiveError, SessionReceiver};
use layercast_delivery::search::Known;
use layercast_delivery::security::protection::ProtectionCounters;
use layercast_delivery::stream::{Gap, LayerCounters};
use layercast_protocols::registry::Registry;

use super::{ReceiveEvent, ReceiveOptions, run};
use crate::error::Error;
use crate::file_limit::raise_file_limit;
use crate::host::ReceiverCounters;
use crate::receiver::{Event, ReceiverHost};
use outputs::Outputs;
pub use outputs::{StreamOutput, StreamOutputs};

/// What became of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLayerReceived {
    /// Its units.
    pub counters: LayerCounters,
    /// Units that were delivered in time, and that the output did not take: a pipe without a reader, or with a slow one.
    pub unwritten: u64,
}

/// The progress of a reception of live data.
#[derive(Clone, Debug)]
pub struct StreamReceiveProgress {
    /// Time since the start.
    pub elapsed: StdDuration,
    /// The receiver's estimates.
    pub estimates: Estimates,
    /// The share of packets that were lost over the last seconds; none before the first packet.
    pub packets_lost: Option<f64>,
    /// The last change of level, and its cause.
    pub last_change: Option<(Level, Cause)>,
    /// The counters of the host.
    pub counters: ReceiverCounters,
    /// Packets that were checked for authenticity; zeros without a group key.
    pub protection: ProtectionCounters,
    /// Each layer of the session, from the base up.
    pub layers: Vec<StreamLayerReceived>,
}

/// What a reception of live data says while it runs.
#[derive(Debug)]
pub enum StreamReceiveEvent<'a> {
    /// What any reception says: the session, decisions, notices.
    Host(&'a ReceiveEvent<'a>),
    /// Units are missing in a layer before one that was delivered.
    Gap(u16, Gap),
    /// Twice a second.
    Progress(&'a StreamReceiveProgress),
}

/// Why a reception of live data ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnded {
    /// The source has ended the session.
    Session,
    /// The time is over.
    Time,
    /// A stop was requested.
    Interrupted,
    /// The readers of all outputs are gone.
    Outputs,
}

/// Receives live data until the session ends, the time is over, or a stop is requested. `say` gets the events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn receive(
    options: &ReceiveOptions,
    to: &StreamOutputs,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
) -> Result<(StreamEnded, StreamReceiveProgress), Error> {
    receive_of::<Registry>(options, to, stop, say)
}

/// The same for the protocols of a family.
///
/// # Errors
/// As [`receive`].
pub fn receive_of<F: Family>(
    options: &ReceiveOptions,
    to: &StreamOutputs,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
) -> Result<(StreamEnded, StreamReceiveProgress), Error> {
    if matches!(options.known, Known::Flute(_)) {
        return Err(Error::NotOfFlute { what: "--stream" });
    }
    raise_file_limit();
    let live = Live::new(Outputs::new(to.clone(), options.settings.replace));
    let mut host = StreamHost::<F>::new(options.node()?, options.paths(), live);
    let ended = run(&mut host, stop, &mut |host, event| say_event(host, event, say))?;
    let live = &host.node.sink;
    let ended = match ended {
        Ok(()) if live.session_is_over() => StreamEnded::Session,
        Ok(()) => StreamEnded::Outputs,
        // What came before is of use all the same.
        Err(Failure::Session(ReceiveError::TimeOver { .. })) if live.has_begun() => StreamEnded::Time,
        Err(Failure::Session(ReceiveError::Interrupted)) if live.has_begun() => StreamEnded::Interrupted,
        Err(Failure::Session(error)) => return Err(error.into()),
        Err(Failure::Sink(error)) => return Err(error),
    };
    let progress = progress(&host);
    say(&StreamReceiveEvent::Progress(&progress));
    host.node.sink.outputs.finish();
    Ok((ended, progress))
}

type StreamHost<F> = ReceiverHost<Live<Outputs>, F>;

fn say_event<F: Family>(
    host: &mut StreamHost<F>,
    event: Option<Event<Live<Outputs>>>,
    say: &mut dyn FnMut(&StreamReceiveEvent<'_>),
) {
    let mut host_say = |event: &ReceiveEvent<'_>| say(&StreamReceiveEvent::Host(event));
    match event {
        Some(Output::Look) => {
            for notice in host.node.sink.outputs.notices() {
                host_say(&ReceiveEvent::Notice(&notice));
            }
            say(&StreamReceiveEvent::Progress(&progress(host)));
        }
        Some(event) => super::say_event(host, &event, &mut host_say),
        None => {
            let gaps = host.node.sink.drain_gaps();
            gaps.for_each(|(layer, gap)| say(&StreamReceiveEvent::Gap(layer, gap)));
        }
    }
}

fn progress<F: Family>(host: &StreamHost<F>) -> StreamReceiveProgress {
    let (session, live) = (host.node.session(), &host.node.sink);
    let layers = live.counters().zip(live.outputs.unwritten());
    StreamReceiveProgress {
        elapsed: host.elapsed(),
        estimates: host.node.estimates(),
        packets_lost: host.node.recent_packets(host.clock().now()).map(|recent| recent.lost()),
        last_change: session.and_then(SessionReceiver::last_change),
        counters: host.counters(),
        protection: host.node.protection().copied().unwrap_or_default(),
        layers: layers.map(|(counters, unwritten)| StreamLayerReceived { counters, unwritten }).collect(),
    }
}
