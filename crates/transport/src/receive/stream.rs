//! Receiving live data: each layer that is held to an output of its own.

mod outputs;

use std::sync::atomic::AtomicBool;

use layercast_core::family::Family;
use layercast_delivery::live::Live;
use layercast_delivery::node::{Failure, Output, ReceiveError, SessionReceiver};
use layercast_delivery::search::Known;
use layercast_protocols::registry::Registry;

use super::{ReceiveOptions, run};
use crate::error::Error;
use crate::event::{End, Event};
pub use crate::event::{StreamLayerReceived, StreamReceiveProgress};
use crate::file_limit::raise_file_limit;
use crate::receiver::{self, ReceiverHost};
use outputs::Outputs;
pub use outputs::{StreamOutput, StreamOutputs};

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

impl StreamEnded {
    /// Its name for programs, which does not change.
    pub fn name(self) -> &'static str {
        match self {
            StreamEnded::Session => "session_ended",
            StreamEnded::Time => "time",
            StreamEnded::Interrupted => "interrupted",
            StreamEnded::Outputs => "outputs",
        }
    }
}

/// The live data that was received.
#[derive(Clone, Debug)]
pub struct StreamReceived {
    /// Why it ended.
    pub ended: StreamEnded,
    /// The progress at the end.
    pub progress: StreamReceiveProgress,
}

impl From<&StreamReceived> for End {
    fn from(received: &StreamReceived) -> End {
        let StreamReceived { ended, progress } = received;
        End { reason: ended.name(), progress: Some(progress.clone().into()), ..End::default() }
    }
}

/// Receives live data until the session ends, the time is over, or a stop is requested. `on_event` gets the events.
///
/// # Errors
/// Why it could not start or ended early.
pub fn receive(
    options: &ReceiveOptions,
    to: StreamOutputs,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<StreamReceived, Error> {
    receive_of::<Registry>(options, to, stop, on_event)
}

/// The same for the protocols of a family.
///
/// # Errors
/// As [`receive`].
pub fn receive_of<F: Family>(
    options: &ReceiveOptions,
    to: StreamOutputs,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<StreamReceived, Error> {
    if matches!(options.known, Known::Flute(_)) {
        return Err(Error::NotOfFlute { what: "--stream" });
    }
    raise_file_limit();
    let live = Live::new(Outputs::new(to, options.settings.replace));
    let mut host = StreamHost::<F>::new(options.node()?, options.paths(), live);
    let ended = run(&mut host, stop, &mut |host, event| say_event(host, event, on_event))?;
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
    on_event(&Event::Progress(progress.clone().into()));
    host.node.sink.outputs.finish();
    Ok(StreamReceived { ended, progress })
}

type StreamHost<F> = ReceiverHost<Live<Outputs>, F>;

fn say_event<F: Family>(
    host: &mut StreamHost<F>,
    event: Option<receiver::Event<Live<Outputs>>>,
    on_event: &mut dyn FnMut(&Event),
) {
    match event {
        Some(Output::Tick) => {
            for notice in host.node.sink.outputs.notices() {
                on_event(&Event::Notice(notice));
            }
            on_event(&Event::Progress(progress(host).into()));
        }
        Some(event) => super::say_event(host, &event, on_event),
        None => {
            let gaps = host.node.sink.drain_gaps();
            gaps.for_each(|(layer, gap)| on_event(&Event::Gap { layer, gap }));
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
