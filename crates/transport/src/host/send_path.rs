//! The send path of a source's host: packets are built, batched and sent.

use std::io;
use std::net::SocketAddr;

use layercast_core::contract::{Ecn, Header as _, Host, Payload, Send, Target, TraceEvent};
use layercast_core::family::AnyHeader as _;
use layercast_core::units::{Channel, Duration, Time};
use layercast_core::{Always as _, cannot_be};
use layercast_protocols::registry::Header;

use super::Clock;
use super::branch::Branching;
use super::outbox::{BATCH, Outbox};
use super::socket::PacketSocket;
use crate::error::Error;
use layercast_delivery::packet::{MAX_HEADER, REFUSAL_BYTES, Refusal, Repr};
use layercast_delivery::reporting::Collector;
use layercast_delivery::reporting::demand::Demands;
use layercast_delivery::security::feedback::{FeedbackMac, TAG_BYTES};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{AUTH_BYTES, Outgoing, Scheme};
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::sender::Load;
use layercast_delivery::session::Session;

/// How long a due packet waits for others of the same wake-up. Encoding a repair symbol takes tens of
/// microseconds, so without a limit the first of a large batch would be late.
const LONGEST_DELAY: Duration = Duration::from_us(200);

/// How long a source that has sent packets tries on when the network takes none.
pub const OUTAGE_MAX: Duration = Duration::from_secs(60);

/// The supplier of a source's payload.
pub trait Supply {
    /// Writes the next payload for a channel to `room`.
    ///
    /// # Errors
    /// Why there is no payload; this ends the session.
    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, Error>;

    /// Writes a part of the table of objects for the base channel soon, out of turn: its header has news for receivers.
    fn announce_soon(&mut self) {}
}

/// What a source's host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounters {
    /// Packets sent.
    pub packets: u64,
    /// Their bytes with all headers.
    pub bytes: u64,
    /// System calls that sent them.
    pub send_calls: u64,
    /// Packets that the kernel refused, for lack of buffer space or while the network was down.
    pub refused: u64,
    /// Reports accepted.
    pub reports: u64,
    /// Reception reports of this session, if receivers are polled.
    pub reception_reports: u64,
    /// Messages of receivers that say which level they hold, if they are asked.
    pub demands: u64,
    /// Completions accepted, copies included.
    pub completions: u64,
    /// Feedback that was invalid or of another session.
    pub bad_feedback: u64,
    /// Messages without the tag of the group key.
    pub forged_feedback: u64,
    /// Reports of receivers beyond those that the protocol serves.
    pub turned_away: u64,
}

/// A source's socket, its outbox and its counters.
#[derive(Debug)]
pub(super) struct SendPath {
    pub(super) socket: PacketSocket,
    pub(super) session: Session,
    pub(super) clock: Clock,
    outbox: Outbox,
    /// When the first packet in the outbox was built.
    since: Time,
    /// Whether packets with a payload have all the size of the session.
    fills: bool,
    /// None if packets are not authenticated.
    pub(super) protection: Option<Outgoing>,
    /// None if feedback is not authenticated.
    pub(super) feedback_mac: Option<FeedbackMac>,
    /// None if receivers are not polled.
    pub(super) collector: Option<Collector>,
    /// None if all levels are always sent.
    pub(super) demands: Option<Demands>,
    /// Whether packets of other channels than the base are dropped.
    pub(super) base_alone: bool,
    /// How many packets of the base were built.
    pub(super) of_base: u64,
    /// How many packets the kernel had no space for.
    pub(super) overflows: u64,
    /// The second path of all packets, if there is one.
    pub(super) branching: Option<Branching>,
    /// Whether routers may mark packets.
    pub(super) ecn: Ecn,
    /// Channels whose packets the kernel refused for lack of buffer space.
    pub(super) refused: Vec<Channel>,
    /// Since when the network takes no packets, and the system's reason.
    pub(super) outage: Option<(Time, io::Error)>,
    /// What ends the session.
    pub(super) failure: Option<Error>,
    pub(super) counters: SourceCounters,
}

impl SendPath {
    pub(super) fn new(socket: PacketSocket, session: Session) -> SendPath {
        SendPath {
            socket,
            // A payload is built after space for the longest header, in addition to that of the packet.
            outbox: Outbox::new(session.packet.as_bytes() as usize + MAX_HEADER),
            session,
            clock: Clock::default(),
            since: Time::ZERO,
            fills: false,
            protection: None,
            feedback_mac: None,
            collector: None,
            demands: None,
            base_alone: false,
            of_base: 0,
            overflows: 0,
            branching: None,
            ecn: Ecn::Capable,
            refused: Vec::with_capacity(BATCH),
            outage: None,
            failure: None,
            counters: SourceCounters::default(),
        }
    }

    /// Authenticates packets from now on, and encrypts them if the session has a salt. Called before the first packet.
    pub(super) fn protect(&mut self, key: &GroupKey, numbers: Sequence) {
        let scheme = Scheme::of(key, self.session.salt, self.session.tsi);
        self.protection = Some(Outgoing::new(scheme, numbers));
        self.feedback_mac = Some(FeedbackMac::new(key, self.session.tsi));
        self.outbox = Outbox::new(self.session.packet.as_bytes() as usize + MAX_HEADER + AUTH_BYTES);
    }

    /// Says to a receiver that the session has as many as its protocol serves.
    pub(super) fn refuse(&self, to: SocketAddr) {
        let mut room = [0; REFUSAL_BYTES + TAG_BYTES];
        let refusal = Refusal { tsi: self.session.tsi }.to_bytes();
        let protected = self.feedback_mac.as_ref().and_then(|mac| mac.protect(&refusal, &mut room));
        if let Err(error) = self.socket.as_udp().send_to(protected.unwrap_or(&refusal), to) {
            tracing::debug!(%error, %to, "a refusal was not sent");
        }
    }

    /// Lets packets with a payload all have the size of the session. Called before the first packet.
    pub(super) fn fill(&mut self) {
        self.fills = true;
    }

    /// Sends the batch.
    pub(super) fn flush(&mut self) {
        let (counters, refused, failure) = (&mut self.counters, &mut self.refused, &mut self.failure);
        let (outage, overflows, clock) = (&mut self.outage, &mut self.overflows, &self.clock);
        let headers = u64::from(self.session.ip_udp_bytes());
        let calls =
            self.outbox.flush(
                self.socket.as_udp(),
                self.branching.as_mut(),
                |channel, to, sent| match sent {
                    Ok(length) => {
                        counters.packets += 1;
                        counters.bytes += length as u64 + headers;
                        *outage = None;
                    }
                    // A network that never took a packet is a mistake, not an outage.
                    Err(error) if is_outage(&error) && counters.packets > 0 => {
                        counters.refused += 1;
                        refused.push(channel);
                        let now = clock.now();
                        let since = outage.as_ref().map_or(now, |(since, _)| *since);
                        if now.since(since) >= OUTAGE_MAX {
                            let after = std::time::Duration::from_nanos(now.since(since).as_ns());
                            failure.get_or_insert_with(|| Error::UplinkDown {
                                group: to,
                                after,
                                reason: error.to_string(),
                            });
                        }
                        *outage = Some((since, error));
                    }
                    Err(error) if is_passing(&error) => {
                        counters.refused += 1;
                        *overflows += 1;
                        refused.push(channel);
                    }
                    Err(error) => {
                        failure.get_or_insert_with(|| Error::socket(format!("send to {to}"), to, error));
                    }
                },
            );
        counters.send_calls += calls;
    }
}

/// The host of a source's endpoint. Packets due at the same time are batched: the caller flushes the send
/// path when the endpoint has no more actions.
pub(super) struct SendingHost<'a, S> {
    pub(super) send_path: &'a mut SendPath,
    pub(super) supply: &'a mut S,
}

impl<S: Supply> Host<Header> for SendingHost<'_, S> {
    fn send(&mut self, send: Send<Header>) {
        let Target::Channel(channel) = send.target else { return };
        let Some(address) = self.send_path.session.address(channel) else {
            return cannot_be("an endpoint sends on channels of its session");
        };
        for index in 0..send.count {
            if self.send_path.failure.is_some() {
                return;
            }
            let header = if index == 0 { send.header } else { send.header.nth(index) };
            if let Err(error) = self.one(channel, address, header, send.payload) {
                self.send_path.failure = Some(error);
            }
        }
    }

    fn join(&mut self, _channel: Channel) {}

    fn leave(&mut self, _channel: Channel) {}

    fn trace(&mut self, note: TraceEvent) {
        tracing::debug!(?note, "source");
    }
}

impl<S: Supply> SendingHost<'_, S> {
    fn one(
        &mut self,
        channel: Channel,
        to: SocketAddr,
        header: Header,
        payload: Payload,
    ) -> Result<(), Error> {
        let Some(fields) = header.to_lct() else {
            cannot_be::<()>("what is sent on a channel has a form for it");
            return Ok(());
        };
        let send_path = &mut *self.send_path;
        if send_path.base_alone && channel != Channel(0) {
            return Ok(());
        }
        let now = send_path.clock.now();
        if send_path.outbox.is_full()
            || (!send_path.outbox.is_empty() && now.since(send_path.since) > LONGEST_DELAY)
        {
            send_path.flush();
        }
        if send_path.outbox.is_empty() {
            send_path.since = now;
        }
        // The payload is written after space for the longest header, and then the header directly before
        // it.
        let Some((front, back)) = send_path.outbox.room().split_first_chunk_mut::<MAX_HEADER>() else {
            cannot_be::<()>("a full outbox was flushed");
            return Ok(());
        };
        let load = match payload {
            Payload::Next => Some(self.supply.next(channel, now, back)?),
            Payload::None | Payload::Stored(_) | Payload::Arrived => None,
        };
        let Load { fdt, length, .. } = load.unwrap_or_default();
        let asks = fdt.is_some() && channel == Channel(0);
        let poll = send_path.collector.as_mut().filter(|_| asks).map(|collector| collector.poll(now));
        send_path.of_base += u64::from(channel == Channel(0));
        let known_level =
            send_path.demands.as_mut().filter(|_| asks).and_then(|demands| demands.announce(now));
        let repr = Repr { poll, known_level, ..load.unwrap_or_default().repr(fields, send_path.session.tsi) };
        let header_length = repr.write(front);
        let start = MAX_HEADER - header_length;
        let whole = (send_path.session.packet.as_bytes() - send_path.session.ip_udp_bytes()) as usize;
        let length = if send_path.fills && load.is_some() { whole - header_length } else { length };
        front.copy_within(..header_length, start);
        let mut whole = header_length + length;
        if let Some(protection) = &mut send_path.protection {
            let room = send_path.outbox.room().get_mut(start..).always("the header begins in the room");
            whole = protection.protect(room, whole).map_err(Error::Protect)?;
        }
        send_path.outbox.add(channel, to, start, whole);
        Ok(())
    }
}

/// Whether the error is transient: no buffer space.
fn is_passing(error: &io::Error) -> bool {
    use nix::libc::{ECONNREFUSED, ENOBUFS};
    error.kind() == io::ErrorKind::WouldBlock
        || error.kind() == io::ErrorKind::Interrupted
        || matches!(error.raw_os_error(), Some(ENOBUFS | ECONNREFUSED))
}

/// Whether the error may pass when somebody repairs the network: a link that is down, or no route.
fn is_outage(error: &io::Error) -> bool {
    use nix::libc::{EHOSTUNREACH, ENETDOWN, ENETUNREACH};
    matches!(error.raw_os_error(), Some(ENETDOWN | ENETUNREACH | EHOSTUNREACH))
}
