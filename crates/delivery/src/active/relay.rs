//! The host of a router on a relay.

use std::net::SocketAddr;

use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, Arrival, ChildSet, Ecn, Header as _, Input, Origin, Payload, Send, Target, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Size, Time};
use layercast_protocols::active::{belongs, data_seq, decode, encode, routers_store};
use layercast_protocols::registry::{self, Header, Protocol};

use super::Wire;
use super::downlinks::{DownOptions, Downlinks, Up};
use super::frame::{DESCRIPTION, END, PACKETS, is_from_parent};
use super::source::{Collected, NodeCounters, ecn_of};
use super::store::Store;
use super::uplink::{Down, UpOptions, Uplink};
use crate::protocols::of_session;
use crate::relay::child::ParentEvent;

/// The most packets that a router's host keeps, for protocols whose routers repair.
const STORE_MAX: u64 = 4096;

/// The router of the session that the parent serves now.
#[derive(Debug)]
struct Taking {
    protocol: Protocol,
    router: registry::Router,
    store: Option<Store>,
    deadline: Option<Time>,
}

/// A relay that takes part.
#[derive(Debug)]
pub struct RelayNode {
    up: Uplink,
    down: Downlinks,
    taking: Option<Taking>,
    /// The name of the protocol.
    wanted: String,
    /// How often a router began.
    lives: u64,
    seed: u64,
    counters: NodeCounters,
    actions: Collected,
    packet: Vec<u8>,
}

impl RelayNode {
    /// A relay without a parent and without children, which takes part in sessions of the protocol of this name. `random` are two times bytes that nobody else knows.
    pub fn new(
        protocol: &str,
        up: &UpOptions,
        down: &DownOptions,
        now: Time,
        random: [[u8; 32]; 2],
    ) -> RelayNode {
        let [above, below] = random;
        let seed = above.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        RelayNode {
            up: Uplink::new(up, now, above),
            down: Downlinks::new(down, below),
            taking: None,
            wanted: protocol.to_owned(),
            lives: 0,
            seed,
            counters: NodeCounters::default(),
            actions: Collected::default(),
            packet: Vec::new(),
        }
    }

    /// Takes a datagram, of the parent or of a child, which came with this ECN field.
    pub fn receive(&mut self, now: Time, from: SocketAddr, ecn: Ecn, bytes: &[u8], wire: &mut dyn Wire) {
        if is_from_parent(bytes) {
            match self.up.receive(now, from, bytes) {
                Some(Down::Packet(packet, hops)) => self.on_packet_down(now, packet, ecn, hops, wire),
                Some(Down::Described) => self.begin(now, wire),
                Some(Down::Ended) => {
                    self.down.send_all(END, 0, &[], wire);
                    self.taking = None;
                    self.up.forget();
                }
                None => {}
            }
        } else if let Some(up) = self.down.receive(now, from, bytes, wire) {
            self.on_packet_up(now, &up, wire);
        }
        self.tick(now, wire);
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Time, wire: &mut dyn Wire) {
        self.down.poll(now);
        self.up.hold(now, self.down.holders() > 0);
        self.up.poll(now, wire);
        if let Some(depth) = self.up.depth() {
            self.down.set_depth(depth.saturating_add(1));
        }
        if self.taking.as_ref().and_then(|taking| taking.deadline).is_some_and(|at| at <= now) {
            self.give(now, Input::Timer, &[], wire);
        }
    }

    /// When [`RelayNode::tick`] has something to do.
    pub fn deadline(&self) -> Option<Time> {
        let own = self.taking.as_ref().and_then(|taking| taking.deadline);
        own.into_iter().chain(self.up.deadline()).chain(self.down.deadline()).min()
    }

    /// Its link to the parent.
    pub fn up(&self) -> &Uplink {
        &self.up
    }

    /// Something that an operator should know.
    pub fn take_news(&mut self) -> Option<ParentEvent> {
        self.up.take_news()
    }

    /// Whether its router takes part in a session now.
    pub fn is_taking_part(&self) -> bool {
        self.taking.is_some()
    }

    /// Its links to children.
    pub fn down(&self) -> &Downlinks {
        &self.down
    }

    /// What it has done.
    pub fn counters(&self) -> &NodeCounters {
        &self.counters
    }

    /// Leaves the parent, and sends all children elsewhere.
    pub fn close(&mut self, wire: &mut dyn Wire) {
        self.down.close(wire);
        self.up.close(wire);
    }

    /// A router begins: the session is known, or is another one.
    fn begin(&mut self, now: Time, wire: &mut dyn Wire) {
        self.taking = None;
        let Some(description) = self.up.description() else { return cannot_be("it has just come") };
        if description.protocol != self.wanted {
            tracing::warn!("the session is one of {}, not of {}", description.protocol, self.wanted);
            return;
        }
        let Ok(protocol) = of_session::<Protocol>(description, &[]) else {
            return cannot_be("a description was checked when it was read");
        };
        self.lives += 1;
        let stream = Stream::new(self.seed ^ self.lives, "router");
        let Some(router) = protocol.router(description.plan(), stream) else {
            return cannot_be("a description is that of a protocol with routers");
        };
        let store = routers_store(&protocol).then(|| Store::sliding(STORE_MAX));
        self.taking = Some(Taking { protocol, router, store, deadline: None });
        self.give(now, Input::Start, &[], wire);
    }

    fn on_packet_down(&mut self, now: Time, packet: &[u8], ecn: Ecn, hops: u8, wire: &mut dyn Wire) {
        let Some((header, payload)) = self.read(packet) else { return };
        let is_data = data_seq(&header).is_some();
        if is_data && !header.is_held_by_routers() {
            // Children first: what the router does with its copy delays nobody.
            self.down.send(ChildSet(u64::MAX), hops + 1, packet, ecn, wire);
            self.counters.data += 1;
        }
        let origin = if is_data { Origin::Channel(PACKETS) } else { Origin::Peer(self.up.peer()) };
        let size = Size::from_bytes(packet.len() as u32);
        self.counters.marked += u64::from(ecn == Ecn::Marked);
        self.on_packet(now, Arrival { origin, size, ecn, header }, payload, wire);
    }

    fn on_packet_up(&mut self, now: Time, up: &Up<'_>, wire: &mut dyn Wire) {
        if up.packet.is_empty() {
            if let Some(description) = self.up.description() {
                let text = description.to_string();
                self.down.send_to(up.peer, DESCRIPTION, 0, text.as_bytes(), wire);
            }
            return;
        }
        let Some((header, payload)) = self.read(up.packet) else { return };
        let (origin, size) = (Origin::Child(up.link, up.peer), Size::from_bytes(up.packet.len() as u32));
        self.on_packet(now, Arrival { origin, size, ecn: Ecn::NotCapable, header }, payload, wire);
    }

    /// A packet of the session's protocol.
    fn read<'p>(&mut self, packet: &'p [u8]) -> Option<(Header, &'p [u8])> {
        let protocol = &self.taking.as_ref()?.protocol;
        let read = decode(packet).ok().filter(|(header, _)| belongs(header, protocol));
        self.counters.malformed += u64::from(read.is_none());
        read
    }

    fn on_packet(&mut self, now: Time, arrival: Arrival<Header>, payload: &[u8], wire: &mut dyn Wire) {
        self.counters.received += 1;
        if let (Some(store), Some(number)) =
            (self.taking.as_mut().and_then(|taking| taking.store.as_mut()), data_seq(&arrival.header))
        {
            store.insert(number, payload);
        }
        self.give(now, Input::Packet(arrival), payload, wire);
    }

    fn give(&mut self, now: Time, input: Input<Header>, arrived: &[u8], wire: &mut dyn Wire) {
        let Some(taking) = &mut self.taking else {
            return cannot_be("packets and deadlines are those of a router");
        };
        taking.deadline = drive(&mut taking.router, now, input, &mut self.actions);
        let mut actions = core::mem::take(&mut self.actions.0);
        for action in actions.drain(..) {
            match action {
                Action::Send(send) => self.send(&send, arrived, wire),
                Action::Release(through) => {
                    if let Some(store) = self.taking.as_mut().and_then(|taking| taking.store.as_mut()) {
                        store.release(through);
                    }
                }
                Action::Join(_) | Action::Leave(_) | Action::Deliver(_) | Action::Trace(_) => {}
            }
        }
        self.actions.0 = actions;
    }

    fn send(&mut self, send: &Send<Header>, arrived: &[u8], wire: &mut dyn Wire) {
        let store = self.taking.as_ref().and_then(|taking| taking.store.as_ref());
        let payload = match send.payload {
            Payload::None | Payload::Next => Some(&[][..]),
            Payload::Arrived => Some(arrived),
            Payload::Stored(number) => store.and_then(|store| store.get(number)),
        };
        self.packet.clear();
        if payload.is_none_or(|payload| encode(&send.header, payload, &mut self.packet).is_err()) {
            return;
        }
        self.counters.repairs += u64::from(data_seq(&send.header).is_some());
        match send.target {
            Target::Source => self.up.send(&self.packet, wire),
            Target::Children(links) => {
                let ecn = self.taking.as_ref().map_or(Ecn::NotCapable, |taking| ecn_of(&taking.protocol));
                self.down.send(links, 0, &self.packet, ecn, wire);
            }
            Target::Peer(peer) => self.down.send_to(peer, PACKETS, 0, &self.packet, wire),
            Target::Channel(_) => {}
        }
    }
}
