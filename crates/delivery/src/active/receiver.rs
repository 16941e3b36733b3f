//! The host of a receiver.

use std::net::SocketAddr;

use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, Arrival, Ecn, Input, Origin, Payload, Send, Target, TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Level, Seq, Size, Time};
use layercast_protocols::active::{belongs, data_seq, decode, encode};
use layercast_protocols::registry::{self, Header, Protocol};

use super::Wire;
use super::frame::PACKETS;
use super::reel::{Files, ReelError, Unreel};
use super::source::{Collected, NodeCounters};
use super::store::Store;
use super::uplink::{Down, UpOptions, Uplink};

/// The most pieces that are kept, whatever the protocol would like.
const STORE_MAX: u64 = 100_000;

/// Why a receiver cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The files.
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// The first pieces are no longer repeated.
    #[error("this receiver came too late: the beginning is no longer repeated")]
    Late,
    /// The endpoint has left.
    #[error("the receiver left the session: too much was lost, or nothing came any more")]
    Left,
    /// The session ended before.
    #[error("the session ended before everything had come")]
    Ended,
}

struct Session {
    protocol: Protocol,
    endpoint: registry::Receiver,
    store: Store,
    deadline: Option<Time>,
    /// The next piece to be delivered.
    next: u64,
    has_left: bool,
}

/// A receiver.
pub struct ReceiverNode {
    up: Uplink,
    session: Option<Session>,
    unreel: Unreel,
    seed: u64,
    has_ended: bool,
    counters: NodeCounters,
    actions: Collected,
    packet: Vec<u8>,
}

impl ReceiverNode {
    /// A receiver that seeks its parent. `random` are bytes that nobody else knows.
    pub fn new(up: &UpOptions, now: Time, random: [u8; 32]) -> ReceiverNode {
        let seed = random.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        ReceiverNode {
            up: Uplink::new(up, now, random),
            session: None,
            unreel: Unreel::default(),
            seed,
            has_ended: false,
            counters: NodeCounters::default(),
            actions: Collected::default(),
            packet: Vec::new(),
        }
    }

    /// Takes a datagram of the parent, which came with this ECN field.
    ///
    /// # Errors
    /// Why this receiver cannot go on.
    pub fn receive(
        &mut self,
        now: Time,
        (from, ecn): (SocketAddr, Ecn),
        bytes: &[u8],
        files: &mut dyn Files,
        wire: &mut dyn Wire,
    ) -> Result<(), ReceiveError> {
        match self.up.receive(now, from, bytes) {
            Some(Down::Packet(packet, _)) => self.on_packet(now, (packet, ecn), files, wire)?,
            Some(Down::Described) => self.begin(now, files, wire)?,
            Some(Down::Ended) if self.session.is_some() => {
                self.has_ended = true;
                if !self.is_complete() {
                    return Err(ReceiveError::Ended);
                }
            }
            Some(Down::Ended) | None => {}
        }
        self.tick(now, files, wire)
    }

    /// Does what is due.
    ///
    /// # Errors
    /// As [`ReceiverNode::receive`].
    pub fn tick(
        &mut self,
        now: Time,
        files: &mut dyn Files,
        wire: &mut dyn Wire,
    ) -> Result<(), ReceiveError> {
        self.up.poll(now, wire);
        if self.session.as_ref().and_then(|session| session.deadline).is_some_and(|at| at <= now) {
            self.give(now, Input::Timer, &[], files, wire)?;
        }
        Ok(())
    }

    /// When [`ReceiverNode::tick`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let own = self.session.as_ref().and_then(|session| session.deadline);
        own.into_iter().chain(self.up.deadline()).min()
    }

    /// Whether all files are here.
    pub fn is_complete(&self) -> bool {
        self.unreel.is_complete()
    }

    /// Whether the source has said that all receivers have everything: until then this one may repair what others miss.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The files that have come, and how many bytes of all.
    pub fn progress(&self) -> (u64, u64) {
        (self.unreel.files(), self.unreel.bytes())
    }

    /// What it has done.
    pub fn counters(&self) -> &NodeCounters {
        &self.counters
    }

    /// Its link to the parent.
    pub fn up(&mut self) -> &mut Uplink {
        &mut self.up
    }

    /// How many pieces are kept.
    pub fn kept(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.store.len())
    }

    /// Leaves.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.up.close(wire);
    }

    fn begin(&mut self, now: Time, files: &mut dyn Files, wire: &mut dyn Wire) -> Result<(), ReceiveError> {
        let Some(description) = self.up.description() else {
            cannot_be::<()>("it has just come");
            return Ok(());
        };
        let (Ok(protocol), Some(plan)) = (description.protocol(), description.plan()) else {
            cannot_be::<()>("a description was checked when it was read");
            return Ok(());
        };
        if self.session.is_some() {
            // Another session of the same name is not this one.
            return if self.is_complete() { Ok(()) } else { Err(ReceiveError::Ended) };
        }
        let endpoint = protocol.receiver(plan, Stream::new(self.seed, "receiver"));
        let most = match &protocol {
            Protocol::Amca(options) => u64::from(options.buffer_packets),
            _ => STORE_MAX,
        };
        let store = Store::new(most.min(STORE_MAX));
        self.session = Some(Session { protocol, endpoint, store, deadline: None, next: 0, has_left: false });
        self.give(now, Input::Start, &[], files, wire)
    }

    fn on_packet(
        &mut self,
        now: Time,
        (packet, ecn): (&[u8], Ecn),
        files: &mut dyn Files,
        wire: &mut dyn Wire,
    ) -> Result<(), ReceiveError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let Some((header, payload)) =
            decode(packet).ok().filter(|(header, _)| belongs(header, &session.protocol))
        else {
            self.counters.malformed += 1;
            return Ok(());
        };
        self.counters.received += 1;
        self.counters.marked += u64::from(ecn == Ecn::Marked);
        let number = data_seq(&header);
        if let Some(number) = number {
            session.store.insert(number, payload);
        }
        let origin = if number.is_some() { Origin::Channel(PACKETS) } else { Origin::Peer(self.up.peer()) };
        let size = Size::from_bytes(packet.len() as u32);
        self.give(now, Input::Packet(Arrival { origin, size, ecn, header }), payload, files, wire)
    }

    fn give(
        &mut self,
        now: Time,
        input: Input<Header>,
        arrived: &[u8],
        files: &mut dyn Files,
        wire: &mut dyn Wire,
    ) -> Result<(), ReceiveError> {
        let Some(session) = &mut self.session else {
            cannot_be::<()>("an endpoint is that of a session");
            return Ok(());
        };
        session.deadline = drive(&mut session.endpoint, now, input, &mut self.actions);
        let mut actions = core::mem::take(&mut self.actions.0);
        let mut outcome = Ok(());
        for action in actions.drain(..) {
            match action {
                Action::Send(send) => self.send(&send, arrived, wire),
                Action::Join(_) => self.up.hold(now, true),
                Action::Leave(_) => self.up.hold(now, false),
                Action::Deliver(through) if outcome.is_ok() => outcome = self.deliver(through, files),
                Action::Deliver(_) => {}
                Action::Release(through) => {
                    if let Some(session) = &mut self.session {
                        session.store.release(through);
                    }
                }
                Action::Trace(TraceEvent::LevelChanged { to: Level::NONE, .. }) => {
                    if let Some(session) = &mut self.session {
                        session.has_left = true;
                    }
                }
                Action::Trace(_) => {}
            }
        }
        self.actions.0 = actions;
        outcome?;
        let has_left = self.session.as_ref().is_some_and(|session| session.has_left);
        if has_left && !self.is_complete() { Err(ReceiveError::Left) } else { Ok(()) }
    }

    fn deliver(&mut self, through: Seq, files: &mut dyn Files) -> Result<(), ReceiveError> {
        let Some(session) = &mut self.session else {
            cannot_be::<()>("actions are those of a session");
            return Ok(());
        };
        while session.next <= through.0 {
            let piece = session.store.get(Seq(session.next)).ok_or(ReceiveError::Late)?;
            self.unreel.push(piece, files)?;
            session.next += 1;
        }
        // Only AMCA's receivers repair, and release what nobody needs any more.
        if !matches!(session.protocol, Protocol::Amca(_)) {
            session.store.release(through);
        }
        Ok(())
    }

    fn send(&mut self, send: &Send<Header>, arrived: &[u8], wire: &mut dyn Wire) {
        let Some(session) = &self.session else { return cannot_be("actions are those of a session") };
        let payload = match send.payload {
            Payload::None | Payload::Next => Some(&[][..]),
            Payload::Arrived => Some(arrived),
            Payload::Stored(number) => session.store.get(number),
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
