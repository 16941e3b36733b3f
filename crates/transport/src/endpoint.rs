//! A source or a receiver of a session without a file, which reports what it does: for networks in which the
//! congestion control is studied, such as emulated ones.
//!
//! It runs on the sockets of the transport with payload of no meaning. Time zero is given by the caller; a line of
//! JSON is written for each [`Event`], so that a program that started the process can follow it.

mod event;
mod receiver;
mod source;

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as StdDuration, Instant};

use layercast_core::contract::Endpoint as _;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size, Time};
use layercast_protocols::registry::Protocol;

use crate::error::Error;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::session::{Session, SessionError};

pub use event::{Belief, Bps, Event, Report};

/// How long a wait is at most, so that a stop is seen.
const LONGEST_WAIT: Duration = Duration::from_ms(20);

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The source.
    Source,
    /// A receiver.
    Receiver,
}

/// An endpoint and its session. Times count from the beginning that [`run`] is given.
#[derive(Clone, Debug)]
pub struct EndpointPlan {
    /// Which end it is.
    pub role: Role,
    /// The congestion control with its options.
    pub protocol: Protocol,
    /// The layers.
    pub layers: LayerTable,
    /// The size of data packets with all headers.
    pub packet: Size,
    /// The group and port of the base layer.
    pub group: SocketAddr,
    /// The address of the source.
    pub source: IpAddr,
    /// The port of the source that takes reports.
    pub feedback_port: u16,
    /// The address of this host.
    pub address: IpAddr,
    /// The number of the session, unless the protocol draws it.
    pub number: u32,
    /// The seed of the session: of its source's random numbers.
    pub seed: u64,
    /// The seed of this receiver.
    pub receiver_seed: u64,
    /// Whether data may be marked.
    pub ecn: bool,
    /// Where a source serves relays and receivers by unicast, instead of sending to groups.
    pub serve: Option<SocketAddr>,
    /// The relay, or the source that serves by unicast, from which a receiver has its packets, instead of joining groups.
    pub relay: Option<SocketAddr>,
    /// When it starts.
    pub start: Time,
    /// When it stops, if before it is told to.
    pub stop: Option<Time>,
    /// How often a receiver reports its estimates.
    pub every: Duration,
    /// The packets with data that make a receiver complete, which then stops.
    pub needed: Option<u64>,
}

impl EndpointPlan {
    /// The session as relays know it.
    fn key(&self) -> SessionKey {
        SessionKey { group: self.group, source: None }
    }

    /// The description of the session, checked.
    ///
    /// # Errors
    /// What the transport cannot carry.
    pub fn session(&self) -> Result<Session, Error> {
        let needs = self.protocol.requirements();
        let plan = SessionPlan { layers: self.layers.clone(), packet_size: self.packet };
        let agreed = needs.agreed().iter().filter_map(|name| {
            let value = self.protocol.get(name)?;
            Some(((*name).to_owned(), value))
        });
        let session = Session {
            tsi: self.number,
            protocol: self.protocol.name().to_owned(),
            source: self.source,
            group: self.group,
            feedback: SocketAddr::new(self.source, self.feedback_port),
            packet: self.packet,
            layers: self.layers.clone(),
            channels: needs.channels(&plan),
            agreed: agreed.collect(),
            group_key: None,
            salt: None,
            stream: None,
        };
        session.check().map_err(Error::Session)?;
        if needs.is_reliable() {
            return Err(Error::Session(SessionError::Reliable(self.protocol.name().to_owned())));
        }
        // Some sources draw the number of their session; the same seed gives it to the receivers.
        let source = self.protocol.source(plan, Stream::new(self.seed, "source"));
        Ok(Session { tsi: source.session_number().unwrap_or(self.number), ..session })
    }
}

/// Runs an endpoint until `stop` is set, and writes its events to `out`. When its sockets are open, `wait_for_begin`
/// gives time zero; nothing is sent if there is none.
///
/// # Errors
/// Why it could not start, or cannot go on.
pub fn run(
    plan: &EndpointPlan,
    wait_for_begin: impl FnOnce() -> Option<Instant>,
    stop: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    match plan.role {
        Role::Source => source::run(plan, wait_for_begin, stop, out),
        Role::Receiver => receiver::run(plan, wait_for_begin, stop, out),
    }
}

/// The time of a run.
#[derive(Clone, Copy, Debug)]
struct RunClock {
    begin: Instant,
}

impl RunClock {
    fn now(self) -> Time {
        Time::ZERO + Duration::from(self.begin.elapsed())
    }

    /// Sleeps until a time. Whether it came before a stop.
    fn sleep_until(self, time: Time, stop: &AtomicBool) -> bool {
        while !stop.load(Ordering::Relaxed) {
            let left = time.since(self.now());
            if left == Duration::ZERO {
                return true;
            }
            std::thread::sleep(StdDuration::from(left.min(LONGEST_WAIT)));
        }
        false
    }
}

/// Writes an event as a line.
fn say(out: &mut dyn Write, event: Event, at: Time) -> Result<(), Error> {
    let line = serde_json::to_string(&Report { at_ns: at.as_ns(), event })
        .map_err(|error| Error::Report(error.into()))?;
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(Error::Report)
}
