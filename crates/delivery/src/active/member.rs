//! A receiver of a session whose routers take part: the link to its parent, its endpoint, and the chunks that it keeps.

use std::net::SocketAddr;

use layercast_core::contract::{
    Action, Arrival, Ecn, Endpoint as _, Estimates, Input, Origin, Payload, Send, Target, TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Level, Seq, Size, Time};
use layercast_core::{Always as _, cannot_be};
use layercast_protocols::active::{belongs, data_seq, decode, encode};
use layercast_protocols::registry::{self, Header, Protocol};

use super::Wire;
use super::frame::PACKETS;
use super::source::{Collected, NodeCounters, fields};
use super::store::Store;
use super::uplink::{Down, UpOptions, Uplink};
use crate::packet::View;
use crate::part::{FlutePacket, Part};
use crate::protocols::{ProtocolError, of_session};
use crate::security::keys::GroupKey;
use crate::security::protection::{Incoming, ProtectionCounters};
use crate::session::Session;

/// The most chunks that are kept, whatever the protocol would like.
const STORE_MAX: u64 = 100_000;

/// A chunk whose turn has come.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// What it is a part of.
    pub part: Part,
    start: usize,
    length: usize,
}

/// The session that the parent serves.
#[derive(Debug)]
struct Taking {
    session: Session,
    protocol: Protocol,
    endpoint: registry::Receiver,
    /// The chunks as they came.
    store: Store,
    protection: Option<Incoming>,
    deadline: Option<Time>,
    /// The next chunk to be delivered.
    next: u64,
    /// How many chunks had passed, and are not repeated.
    lacking: u64,
    has_left: bool,
}

/// A receiver.
#[derive(Debug)]
pub struct Member {
    up: Uplink,
    taking: Option<Taking>,
    has_ended: bool,
    seed: u64,
    counters: NodeCounters,
    actions: Collected,
    packet: Vec<u8>,
    /// Chunks whose turn has come, and their bytes.
    ready: Vec<Ready>,
    room: Vec<u8>,
}

impl Member {
    /// A receiver that seeks its parent. `random` are bytes that nobody else knows.
    pub fn new(up: &UpOptions, now: Time, random: [u8; 32]) -> Member {
        let seed = random.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        Member {
            up: Uplink::new(up, now, random),
            taking: None,
            has_ended: false,
            seed,
            counters: NodeCounters::default(),
            actions: Collected::default(),
            packet: Vec::new(),
            ready: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Takes a datagram of the parent, which came with this ECN field. A session that the parent describes for the first time
    /// is returned: [`Member::begin`] takes part in it.
    pub fn receive(
        &mut self,
        now: Time,
        from: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
        wire: &mut dyn Wire,
    ) -> Option<Session> {
        let mut described = None;
        match self.up.receive(now, from, bytes) {
            Some(Down::Packet(packet, _)) => self.on_packet(now, packet, ecn, wire),
            // Another session of the same name is not this one.
            Some(Down::Described) if self.taking.is_some() => self.has_ended = true,
            Some(Down::Described) => described = self.up.description().cloned(),
            Some(Down::Ended) => self.has_ended |= self.taking.is_some(),
            None => {}
        }
        self.handle_timer(now, wire);
        described
    }

    /// Takes part in a session, with a receiver's own options of its protocol.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn begin(
        &mut self,
        now: Time,
        session: Session,
        key: Option<&GroupKey>,
        options: &[(String, String)],
        wire: &mut dyn Wire,
    ) -> Result<(), ProtocolError> {
        let protocol: Protocol = of_session(&session, options)?;
        let endpoint = protocol.receiver(session.plan(), Stream::new(self.seed, "receiver"));
        let most = match &protocol {
            Protocol::Amca(options) => u64::from(options.buffer_packets),
            _ => STORE_MAX,
        };
        self.taking = Some(Taking {
            protection: key.map(|key| Incoming::of(key, session.salt, session.tsi)),
            session,
            protocol,
            endpoint,
            store: Store::new(most.min(STORE_MAX)),
            deadline: None,
            next: 0,
            lacking: 0,
            has_left: false,
        });
        self.give(now, Input::Start, &[], wire);
        Ok(())
    }

    /// Does what is due.
    pub fn handle_timer(&mut self, now: Time, wire: &mut dyn Wire) {
        self.up.poll(now, wire);
        if self.taking.as_ref().and_then(|taking| taking.deadline).is_some_and(|at| at <= now) {
            self.give(now, Input::Timer, &[], wire);
        }
    }

    /// When [`Member::handle_timer`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let own = self.taking.as_ref().and_then(|taking| taking.deadline);
        own.into_iter().chain(self.up.deadline()).min()
    }

    /// The session in which it takes part.
    pub fn session(&self) -> Option<&Session> {
        self.taking.as_ref().map(|taking| &taking.session)
    }

    /// The chunks whose turn has come, in order.
    pub fn ready(&self) -> &[Ready] {
        &self.ready
    }

    /// The bytes of such a chunk after its header.
    pub fn bytes(&self, chunk: &Ready) -> &[u8] {
        self.room.get(chunk.start..chunk.start + chunk.length).always("it is where it was put")
    }

    /// They were taken.
    pub fn clear_ready(&mut self) {
        self.ready.clear();
        self.room.clear();
    }

    /// Whether the source has said that all receivers have everything, or has begun another session: until then this one may
    /// repair what others miss.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the endpoint has left: too much was lost, or nothing came any more.
    pub fn has_left(&self) -> bool {
        self.taking.as_ref().is_some_and(|taking| taking.has_left)
    }

    /// How many chunks had passed when it came, and are not repeated.
    pub fn lacking(&self) -> u64 {
        self.taking.as_ref().map_or(0, |taking| taking.lacking)
    }

    /// What it has done.
    pub fn counters(&self) -> &NodeCounters {
        &self.counters
    }

    /// Chunks that were checked for authenticity; none if they are not.
    pub fn protection(&self) -> Option<&ProtectionCounters> {
        self.taking.as_ref()?.protection.as_ref().map(Incoming::counters)
    }

    /// The estimates of the endpoint.
    pub fn estimates(&self, now: Time) -> Estimates {
        self.taking.as_ref().map(|taking| taking.endpoint.estimates(now)).unwrap_or_default()
    }

    /// Its link to the parent.
    pub fn up(&mut self) -> &mut Uplink {
        &mut self.up
    }

    /// How many chunks are kept.
    pub fn kept(&self) -> usize {
        self.taking.as_ref().map_or(0, |taking| taking.store.len())
    }

    /// Leaves.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.up.close(wire);
    }

    fn on_packet(&mut self, now: Time, packet: &[u8], ecn: Ecn, wire: &mut dyn Wire) {
        let Some(taking) = &mut self.taking else { return };
        let Some((header, chunk)) =
            decode(packet).ok().filter(|(header, _)| belongs(header, &taking.protocol))
        else {
            self.counters.malformed += 1;
            return;
        };
        let number = data_seq(&header);
        if let Some(number) = number {
            // What is not authentic is as good as lost: the chunk is repaired.
            if !taking.is_piece(number.0, chunk, &mut self.packet) {
                self.counters.malformed += 1;
                return;
            }
            taking.store.insert(number, chunk);
        }
        self.counters.received += 1;
        self.counters.marked += u64::from(ecn == Ecn::Marked);
        let origin = if number.is_some() { Origin::Channel(PACKETS) } else { Origin::Peer(self.up.peer()) };
        let size = Size::from_bytes(packet.len() as u32);
        self.give(now, Input::Packet(Arrival { origin, size, ecn, header }), chunk, wire);
    }

    fn give(&mut self, now: Time, input: Input<Header>, arrived: &[u8], wire: &mut dyn Wire) {
        let Some(taking) = &mut self.taking else {
            return cannot_be("an endpoint is that of a session");
        };
        taking.deadline = drive(&mut taking.endpoint, now, input, &mut self.actions);
        let mut actions = core::mem::take(&mut self.actions.0);
        for action in actions.drain(..) {
            match action {
                Action::Send(send) => self.send(&send, arrived, wire),
                Action::Join(_) => self.up.hold(now, true),
                Action::Leave(_) => self.up.hold(now, false),
                Action::Deliver(through) => self.deliver(through),
                Action::Release(through) => {
                    if let Some(taking) = &mut self.taking {
                        taking.store.release(through);
                    }
                }
                Action::Trace(TraceEvent::LevelChanged { to: Level::NONE, .. }) => {
                    if let Some(taking) = &mut self.taking {
                        taking.has_left = true;
                    }
                }
                Action::Trace(_) => {}
            }
        }
        self.actions.0 = actions;
    }

    fn deliver(&mut self, through: Seq) {
        let Some(taking) = &mut self.taking else { return cannot_be("actions are those of a session") };
        let mut next = taking.next;
        for (number, chunk) in taking.store.range(taking.next, through) {
            taking.lacking += number - next;
            next = number + 1;
            let start = self.room.len();
            self.room.extend_from_slice(chunk);
            let Some(room) = self.room.get_mut(start..) else { break };
            if let Some(protection) = &mut taking.protection
                && protection.open(room).is_err()
            {
                cannot_be::<()>("a chunk was checked when it came");
                self.room.truncate(start);
                continue;
            }
            let Ok(view) = View::new(room) else { continue };
            let length = view.payload().len();
            if let Some(part) = FlutePacket::read(&view).ok().and_then(|packet| packet.part) {
                self.ready.push(Ready { part, start: self.room.len() - length, length });
            }
        }
        taking.lacking += through.0.saturating_add(1).saturating_sub(next);
        taking.next = taking.next.max(through.0.saturating_add(1));
        // Only AMCA's receivers repair, and release what nobody needs any more.
        if !matches!(taking.protocol, Protocol::Amca(_)) {
            taking.store.release(through);
        }
    }

    fn send(&mut self, send: &Send<Header>, arrived: &[u8], wire: &mut dyn Wire) {
        let Some(taking) = &self.taking else { return cannot_be("actions are those of a session") };
        let payload = match send.payload {
            Payload::None | Payload::Next => Some(&[][..]),
            Payload::Arrived => Some(arrived),
            Payload::Stored(number) => taking.store.get(number),
        };
        self.packet.clear();
        if send.target != Target::Source
            || payload.is_none_or(|payload| encode(&send.header, payload, &mut self.packet).is_err())
        {
            return;
        }
        self.counters.repairs += u64::from(data_seq(&send.header).is_some());
        self.up.send(&self.packet, wire);
    }
}

impl Taking {
    /// Whether a chunk is one of the session, and in its place.
    fn is_piece(&mut self, number: u32, chunk: &[u8], room: &mut Vec<u8>) -> bool {
        room.clear();
        room.extend_from_slice(chunk);
        let is_authentic =
            self.protection.as_mut().is_none_or(|protection| protection.accept_repeated(room).is_ok());
        is_authentic
            && View::new(room).is_ok_and(|view| {
                view.tsi() == Some(self.session.tsi.into()) && view.cci() == fields(number.into()).cci.bytes()
            })
    }
}
