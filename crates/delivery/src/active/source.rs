//! The host of a source.

use std::net::SocketAddr;

use layercast_core::contract::{
    Action, Arrival, ChildSet, Ecn, Endpoint as _, Estimates, Host, Input, Origin, Payload, Send, Target,
    TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::lct::{Cci, Extension, LctFields};
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Seq, Size, Time};
use layercast_core::{Always as _, cannot_be};
use layercast_protocols::active::{decode, encode};
use layercast_protocols::registry::{self, Header, Protocol};
use serde::Serialize;

use super::Wire;
use super::downlinks::{DownOptions, Downlinks};
use super::frame::{DESCRIPTION, END, PACKETS};
use crate::framing::{Length, frame};
use crate::packet::MAX_HEADER;
use crate::security::protection::{AUTH_BYTES, Outgoing, ProtectError};
use crate::sender::PacketPayload;
use crate::session::{Session, SessionError};

/// How often the end of the session is said, and how far apart.
const ENDS: u32 = 5;
const END_EVERY: Duration = Duration::from_ms(200);

/// The ECN field of data of a protocol: ECN-capable if its receivers count marks.
pub(super) fn ecn_of(protocol: &Protocol) -> Ecn {
    if protocol.requirements().character().ecn { Ecn::Capable } else { Ecn::NotCapable }
}

/// What a source sends in order, by numbers that do not change.
pub trait Chunks {
    /// Why a chunk is missing, which ends the session.
    type Error: From<ProtectError>;

    /// How many there are.
    fn count(&self) -> u64;

    /// Writes the payload of a chunk to `room`: an empty one if the chunk has become needless.
    ///
    /// # Errors
    /// Why it is missing.
    fn chunk(&mut self, number: u64, room: &mut [u8]) -> Result<PacketPayload, Self::Error>;
}

/// The LCT fields of a chunk: its number, by which receivers check that it is in its place.
pub(super) fn fields(number: u64) -> LctFields {
    LctFields {
        cci: Cci::Short((number as u32).to_be_bytes()),
        session: None,
        end_of_session: false,
        extension: Extension::NONE,
    }
}

/// Only collects what an endpoint asks for.
#[derive(Debug, Default)]
pub(super) struct Collected(pub(super) Vec<Action<Header>>);

impl Host<Header> for Collected {
    fn send(&mut self, send: Send<Header>) {
        self.0.push(Action::Send(send));
    }
    fn join(&mut self, channel: Channel) {
        self.0.push(Action::Join(channel));
    }
    fn leave(&mut self, channel: Channel) {
        self.0.push(Action::Leave(channel));
    }
    fn deliver(&mut self, through: Seq) {
        self.0.push(Action::Deliver(through));
    }
    fn release(&mut self, through: Seq) {
        self.0.push(Action::Release(through));
    }
    fn trace(&mut self, event: TraceEvent) {
        self.0.push(Action::Trace(event));
    }
}

/// Counts of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeCounters {
    /// Packets of the protocol that came.
    pub received: u64,
    /// Packets with data that were sent first, or forwarded.
    pub data: u64,
    /// Repairs that were sent or passed on.
    pub repairs: u64,
    /// Packets that could not be read, or were of another protocol.
    pub malformed: u64,
    /// Packets that came with a congestion mark.
    pub marked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody holds the channel; or the first child has come, and others are awaited until then.
    Gathering(Option<Time>),
    Sending,
    /// All have all; how often that was said, and when next.
    Ending(u32, Time),
    Ended,
}

/// A source with its children.
#[derive(Debug)]
pub struct SourceNode {
    endpoint: registry::Source,
    links: Downlinks,
    session: Session,
    /// The ECN field of data.
    ecn: Ecn,
    protection: Option<Outgoing>,
    next: u64,
    stage: Stage,
    gather: Duration,
    deadline: Option<Time>,
    counters: NodeCounters,
    actions: Collected,
    packet: Vec<u8>,
    /// Where chunks are written.
    room: Vec<u8>,
}

impl SourceNode {
    /// A source of a session that starts `gather` after the first child holds the channel. `random` are bytes that nobody else
    /// knows.
    ///
    /// # Errors
    /// If the description is invalid.
    pub fn new(
        protocol: &Protocol,
        session: Session,
        down: &DownOptions,
        gather: Duration,
        random: [u8; 32],
    ) -> Result<SourceNode, SessionError> {
        session.check()?;
        Ok(SourceNode {
            endpoint: protocol.source(session.plan(), Stream::new(session.tsi.into(), "source")),
            links: Downlinks::new(down, random),
            ecn: ecn_of(protocol),
            protection: None,
            next: 0,
            stage: Stage::Gathering(None),
            gather,
            deadline: None,
            counters: NodeCounters::default(),
            actions: Collected::default(),
            packet: Vec::new(),
            room: vec![0; MAX_HEADER + session.packet.as_bytes() as usize + AUTH_BYTES],
            session,
        })
    }

    /// Authenticates chunks by a group key, and encrypts them if the session has a salt. Called before the start.
    pub fn protect(&mut self, protection: Outgoing) {
        self.protection = Some(protection);
    }

    /// The session description.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Takes a datagram.
    ///
    /// # Errors
    /// Why a chunk is missing.
    pub fn receive<P: Chunks>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        chunks: &mut P,
        wire: &mut dyn Wire,
    ) -> Result<(), P::Error> {
        let Some(up) = self.links.receive(now, from, bytes, wire) else {
            return self.tick(now, chunks, wire);
        };
        if up.packet.is_empty() {
            let text = self.session.to_string();
            self.links.send_to(up.peer, DESCRIPTION, 0, text.as_bytes(), wire);
            return Ok(());
        }
        let Ok((header, _)) = decode(up.packet) else {
            self.counters.malformed += 1;
            return Ok(());
        };
        if self.stage != Stage::Sending {
            return Ok(());
        }
        self.counters.received += 1;
        let size = Size::from_bytes(up.packet.len() as u32);
        let origin = Origin::Child(up.link, up.peer);
        self.give(now, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }), chunks, wire)
    }

    /// Does what is due.
    ///
    /// # Errors
    /// Why a chunk is missing.
    pub fn tick<P: Chunks>(
        &mut self,
        now: Time,
        chunks: &mut P,
        wire: &mut dyn Wire,
    ) -> Result<(), P::Error> {
        self.links.poll(now);
        match self.stage {
            Stage::Gathering(None) if self.links.holders() > 0 => {
                self.stage = Stage::Gathering(Some(now + self.gather));
            }
            Stage::Gathering(Some(until)) if now >= until => {
                self.stage = Stage::Sending;
                self.give(now, Input::Start, chunks, wire)?;
            }
            Stage::Sending if self.deadline.is_some_and(|at| at <= now) => {
                self.give(now, Input::Timer, chunks, wire)?;
            }
            Stage::Ending(ENDS, _) => self.stage = Stage::Ended,
            Stage::Ending(said, at) if now >= at => {
                self.links.send_all(END, 0, &[], wire);
                self.stage = Stage::Ending(said + 1, now + END_EVERY);
            }
            _ => {}
        }
        Ok(())
    }

    /// When [`SourceNode::tick`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let own = match self.stage {
            Stage::Gathering(at) => at,
            Stage::Sending => self.deadline,
            Stage::Ending(_, at) => Some(at),
            Stage::Ended => None,
        };
        own.into_iter().chain(self.links.deadline()).min()
    }

    /// Whether all children have everything, and that was said.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// How many chunks were sent first.
    pub fn reached(&self) -> u64 {
        self.next
    }

    /// The estimates of the endpoint.
    pub fn estimates(&self, now: Time) -> Estimates {
        self.endpoint.estimates(now)
    }

    /// Its links.
    pub fn links(&self) -> &Downlinks {
        &self.links
    }

    /// What it has done.
    pub fn counters(&self) -> &NodeCounters {
        &self.counters
    }

    /// Ends at once.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.links.close(wire);
        self.stage = Stage::Ended;
    }

    fn give<P: Chunks>(
        &mut self,
        now: Time,
        input: Input<Header>,
        chunks: &mut P,
        wire: &mut dyn Wire,
    ) -> Result<(), P::Error> {
        self.deadline = drive(&mut self.endpoint, now, input, &mut self.actions);
        self.act(chunks, wire)?;
        if self.next >= chunks.count() && !matches!(input, Input::Finish) {
            // Given more than once it changes nothing.
            self.deadline = drive(&mut self.endpoint, now, Input::Finish, &mut self.actions);
            self.act(chunks, wire)?;
            if self.deadline.is_none() {
                self.stage = Stage::Ending(0, now);
            }
        }
        Ok(())
    }

    fn act<P: Chunks>(&mut self, chunks: &mut P, wire: &mut dyn Wire) -> Result<(), P::Error> {
        let mut actions = core::mem::take(&mut self.actions.0);
        let mut outcome = Ok(());
        for action in actions.drain(..) {
            // What is released is in the files still.
            if let Action::Send(send) = action
                && outcome.is_ok()
            {
                outcome = self.send(&send, chunks, wire);
            }
        }
        self.actions.0 = actions;
        outcome
    }

    fn send<P: Chunks>(
        &mut self,
        send: &Send<Header>,
        chunks: &mut P,
        wire: &mut dyn Wire,
    ) -> Result<(), P::Error> {
        let number = match send.payload {
            // A window may allow packets beyond the end before `Input::Finish`: they are empty.
            Payload::Next => {
                self.next += 1;
                Some(self.next - 1)
            }
            Payload::Stored(Seq(number)) => Some(number),
            Payload::None | Payload::Arrived => None,
        };
        let mut place = 0..0;
        if let Some(number) = number {
            self.counters.data += u64::from(send.payload == Payload::Next);
            self.counters.repairs += u64::from(send.payload != Payload::Next);
            let room = self.room.get_mut(MAX_HEADER..).always("it was made longer than a header");
            let load =
                if number < chunks.count() { chunks.chunk(number, room)? } else { PacketPayload::default() };
            let repr = load.repr(fields(number), self.session.tsi);
            place = frame(&mut self.room, &repr, Length::Payload(load.length), self.protection.as_mut())?;
        }
        let chunk = self.room.get(place).always("a packet is in its room");
        self.packet.clear();
        if encode(&send.header, chunk, &mut self.packet).is_err() {
            cannot_be::<()>("what a source sends has a form, and a chunk fits a packet");
            return Ok(());
        }
        match send.target {
            Target::Channel(_) => self.links.send(ChildSet(u64::MAX), 0, &self.packet, self.ecn, wire),
            Target::Children(links) => self.links.send(links, 0, &self.packet, self.ecn, wire),
            Target::Peer(peer) => self.links.send_to(peer, PACKETS, 0, &self.packet, wire),
            Target::Source => {}
        }
        Ok(())
    }
}
