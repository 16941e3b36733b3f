//! A session over a tree of relays in memory, each with a router of its protocol. Packets cross the links as values, or as bytes
//! with their payload.

use std::collections::BTreeMap;

use layercast_core::contract::{
    Arrival, ChildLink, Ecn, Endpoint, Header as _, Host, Input, Origin, Payload, Peer, Send, Target,
    TraceEvent, drive,
};
use layercast_core::family::AnyProtocol as _;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Seq, Size, Time};
use layercast_protocols::registry::{Header, Protocol, Receiver, Router, Source};
use layercast_protocols::{amca, nca};

/// The number of the session in packets of NCA; those of AMCA have their own.
const SESSION: u32 = 7;

/// A link from a node's parent to it, and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) delay: Duration,
    /// The share of packets that are lost, down and up.
    pub(crate) loss: (f64, f64),
}

/// A packet and its piece of the application's data.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet {
    header: Header,
    size: Size,
    piece: Option<u64>,
}

/// A packet as it crosses a link.
#[derive(Clone, Debug)]
enum Crossing {
    Value(Packet),
    Bytes(Vec<u8>, Size),
}

impl Crossing {
    fn of(packet: Packet, on_wire: bool) -> Crossing {
        if !on_wire {
            return Crossing::Value(packet);
        }
        let mut bytes = Vec::new();
        let payload = packet.piece.map(u64::to_be_bytes);
        let payload = payload.as_ref().map(<[u8; 8]>::as_slice).unwrap_or_default();
        match packet.header {
            Header::Amca(header) => header.encode(payload, &mut bytes).unwrap(),
            Header::Nca(header) => header.encode(SESSION, payload, &mut bytes).unwrap(),
            other => panic!("{other:?} is not of a protocol with routers"),
        }
        Crossing::Bytes(bytes, packet.size)
    }

    fn packet(self, of: &Header) -> Packet {
        match self {
            Crossing::Value(packet) => packet,
            Crossing::Bytes(bytes, size) => {
                let (header, payload) = match of {
                    Header::Amca(_) => {
                        let (header, payload) = amca::Header::decode(&bytes).unwrap();
                        (Header::Amca(header), payload)
                    }
                    _ => {
                        let (session, header, payload) = nca::Header::decode(&bytes).unwrap();
                        assert_eq!(session, SESSION);
                        (Header::Nca(header), payload)
                    }
                };
                let piece = payload.try_into().ok().map(u64::from_be_bytes);
                Packet { header, size, piece }
            }
        }
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug)]
enum Path {
    /// Up to the next node with an endpoint, from this one.
    Up(usize),
    /// Down the channel.
    Down,
    /// Down from a node to another.
    To(usize, usize),
}

/// A packet that arrives at a node, with the child that it comes from if it comes up.
struct Hop {
    node: usize,
    child: Option<usize>,
    path: Path,
    kind: Header,
    crossing: Crossing,
}

enum Agent {
    Source(Box<Source>),
    Router(Box<Router>),
    Receiver(Box<Receiver>),
    /// A relay without a router.
    Plain,
}

struct Node {
    parent: Option<usize>,
    children: Vec<usize>,
    link: Link,
    agent: Agent,
    deadline: Option<Time>,
    store: BTreeMap<u64, u64>,
    delivered: Vec<u64>,
    /// Every input and action with its time.
    log: Vec<String>,
    repairs: u64,
}

/// What an endpoint asks for, in order.
enum Asked {
    Send(Send<Header>),
    Deliver(Seq),
    Release(Seq),
    Trace(TraceEvent),
}

#[derive(Default)]
struct Collected(Vec<Asked>);

impl Host<Header> for Collected {
    fn send(&mut self, send: Send<Header>) {
        self.0.push(Asked::Send(send));
    }
    fn join(&mut self, _: Channel) {}
    fn leave(&mut self, _: Channel) {}
    fn deliver(&mut self, through: Seq) {
        self.0.push(Asked::Deliver(through));
    }
    fn release(&mut self, through: Seq) {
        self.0.push(Asked::Release(through));
    }
    fn trace(&mut self, note: TraceEvent) {
        self.0.push(Asked::Trace(note));
    }
}

/// The tree.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), Hop>,
    order: u64,
    now: Time,
    random: Stream,
    on_wire: bool,
    /// How many pieces the application has left; none after the end.
    left: Option<u64>,
    produced: u64,
}

/// The application's piece of this number.
fn piece(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
}

fn data_seq(header: &Header) -> Option<u64> {
    let seq = match header {
        Header::Amca(header) => header.data_seq()?,
        Header::Nca(nca::Header::Data(data) | nca::Header::Repair(data)) => data.seq,
        _ => return None,
    };
    Some(u64::from(seq.0))
}

impl Tree {
    /// Node 0 is the source, node i hangs below `parents[i - 1]` by `links[i - 1]`. Nodes without children are receivers, others
    /// relays, with a router except those in `plain`.
    pub(crate) fn new(
        protocol: &Protocol,
        plan: &SessionPlan,
        (parents, links): (&[usize], &[Link]),
        plain: &[usize],
        (pieces, on_wire): (u64, bool),
    ) -> Tree {
        let none = Link { delay: Duration::ZERO, loss: (0.0, 0.0) };
        let node = |parent, link| Node {
            parent,
            children: Vec::new(),
            link,
            agent: Agent::Plain,
            deadline: None,
            store: BTreeMap::new(),
            delivered: Vec::new(),
            log: Vec::new(),
            repairs: 0,
        };
        let mut nodes = vec![node(None, none)];
        for (index, (&parent, &link)) in parents.iter().zip(links).enumerate() {
            nodes.push(node(Some(parent), link));
            nodes[parent].children.push(index + 1);
        }
        nodes[0].agent = Agent::Source(Box::new(protocol.source(plan.clone(), Stream::new(3, "source"))));
        for (index, node) in nodes.iter_mut().enumerate().skip(1) {
            let stream = Stream::new(3, &format!("node/{index}"));
            node.agent = match (node.children.is_empty(), plain.contains(&index)) {
                (true, _) => Agent::Receiver(Box::new(protocol.receiver(plan.clone(), stream))),
                (false, true) => Agent::Plain,
                (false, false) => {
                    Agent::Router(Box::new(protocol.router(plan.clone(), stream).expect("a router")))
                }
            };
        }
        let mut tree = Tree {
            nodes,
            events: BTreeMap::new(),
            order: 0,
            now: Time::from_ns(5_000),
            random: Stream::new(9, "links"),
            on_wire,
            left: Some(pieces),
            produced: 0,
        };
        for index in (0..tree.nodes.len()).rev() {
            tree.give(index, Input::Start, None);
        }
        tree
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, length: Duration) {
        let end = self.now + length;
        loop {
            let event = self.events.keys().next().map(|&(at, _)| (at, usize::MAX));
            let timers = self.nodes.iter().enumerate();
            let timer = timers.filter_map(|(index, node)| Some((node.deadline?, index))).min();
            let Some((at, what)) = event.into_iter().chain(timer).min_by_key(|&(at, _)| at) else { return };
            if at > end {
                return;
            }
            self.now = at;
            if what != usize::MAX {
                self.give(what, Input::Timer, None);
            } else if let Some((_, hop)) = self.events.pop_first() {
                self.arrive(hop);
            }
        }
    }

    /// What each node did, each event with its time.
    pub(crate) fn logs(&self) -> Vec<&[String]> {
        self.nodes.iter().map(|node| node.log.as_slice()).collect()
    }

    /// How many of the application's pieces each receiver has delivered, all of them right and in order.
    pub(crate) fn delivered(&self) -> Vec<u64> {
        let receivers = self.nodes.iter().filter(|node| matches!(node.agent, Agent::Receiver(_)));
        receivers
            .map(|node| {
                assert!(node.delivered.iter().enumerate().all(|(number, &one)| one == piece(number as u64)));
                node.delivered.len() as u64
            })
            .collect()
    }

    /// How many repairs routers have sent.
    pub(crate) fn repairs_of_routers(&self) -> u64 {
        self.nodes.iter().filter(|node| matches!(node.agent, Agent::Router(_))).map(|node| node.repairs).sum()
    }

    /// A packet is sent over the link between a node and its parent.
    fn cross(&mut self, below: usize, is_up: bool, path: Path, packet: Packet) {
        let link = self.nodes[below].link;
        let loss = if is_up { link.loss.1 } else { link.loss.0 };
        if self.random.chance(loss) {
            return;
        }
        let Some(parent) = self.nodes[below].parent else { return };
        let (node, child) = if is_up { (parent, Some(below)) } else { (below, None) };
        self.order += 1;
        let crossing = Crossing::of(packet, self.on_wire);
        let hop = Hop { node, child, path, kind: packet.header, crossing };
        self.events.insert((self.now + link.delay, self.order), hop);
    }

    fn cross_down(&mut self, index: usize, links: u64, packet: Packet) {
        for place in 0..self.nodes[index].children.len() {
            if links & 1 << place != 0 {
                self.cross(self.nodes[index].children[place], false, Path::Down, packet);
            }
        }
    }

    /// The child of a node on the path to another.
    fn towards(&self, index: usize, to: usize) -> Option<usize> {
        let mut below = to;
        while self.nodes[below].parent? != index {
            below = self.nodes[below].parent?;
        }
        Some(below)
    }

    fn arrive(&mut self, hop: Hop) {
        let Hop { node: index, child, path, kind, crossing } = hop;
        let packet = crossing.packet(&kind);
        let is_plain = matches!(self.nodes[index].agent, Agent::Plain);
        let origin = match path {
            Path::Up(_) if is_plain => return self.cross(index, true, path, packet),
            Path::Up(from) => {
                let place = self.nodes[index].children.iter().position(|&other| Some(other) == child);
                let Some(place) = place else { return };
                Origin::Child(ChildLink(place as u16), Peer(from as u32))
            }
            Path::To(from, to) if to == index => Origin::Peer(Peer(from as u32)),
            Path::To(_, to) => {
                if let Some(next) = self.towards(index, to) {
                    self.cross(next, false, path, packet);
                }
                return;
            }
            Path::Down => {
                // Data is forwarded first, then the router gets a copy.
                if is_plain || !packet.header.is_held_by_routers() {
                    self.cross_down(index, u64::MAX, packet);
                }
                Origin::Channel(Channel(0))
            }
        };
        if is_plain {
            return;
        }
        let node = &mut self.nodes[index];
        if let (Some(piece), Some(seq)) = (packet.piece, data_seq(&packet.header)) {
            node.store.insert(seq, piece);
        }
        let Packet { header, size, piece } = packet;
        self.give(index, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }), piece);
    }

    fn give(&mut self, index: usize, input: Input<Header>, arrived: Option<u64>) {
        let now = self.now;
        let mut host = Collected::default();
        let node = &mut self.nodes[index];
        node.log.push(format!("{now} {input:?}"));
        node.deadline = match &mut node.agent {
            Agent::Source(source) => drive(source.as_mut(), now, input, &mut host),
            Agent::Router(router) => drive(router.as_mut(), now, input, &mut host),
            Agent::Receiver(receiver) => drive(receiver.as_mut(), now, input, &mut host),
            Agent::Plain => None,
        };
        let estimates = match &node.agent {
            Agent::Source(source) => source.estimates(now),
            Agent::Router(router) => router.estimates(now),
            Agent::Receiver(receiver) => receiver.estimates(now),
            Agent::Plain => return,
        };
        node.log.push(format!("{estimates:?} until {:?}", node.deadline));
        for asked in host.0 {
            let node = &mut self.nodes[index];
            match asked {
                Asked::Send(send) => {
                    node.log.push(format!("{send:?}"));
                    node.repairs += u64::from(send.header.is_repair());
                    self.send(index, &send, arrived);
                }
                Asked::Deliver(through) => {
                    node.log.push(format!("{through:?}"));
                    for seq in node.delivered.len() as u64..=through.0 {
                        let piece = *node.store.get(&seq).expect("a piece that is delivered is there");
                        node.delivered.push(piece);
                    }
                }
                Asked::Release(through) => {
                    node.log.push(format!("release {through:?}"));
                    node.store = node.store.split_off(&(through.0 + 1));
                }
                Asked::Trace(note) => node.log.push(format!("{note:?}")),
            }
        }
        if self.left == Some(0) {
            self.left = None;
            self.give(0, Input::Finish, None);
        }
    }

    fn send(&mut self, index: usize, send: &Send<Header>, arrived: Option<u64>) {
        for number in 0..send.count {
            let header = if number == 0 { send.header } else { send.header.nth(number) };
            let content = match send.payload {
                Payload::None => None,
                Payload::Next => {
                    let one = self.produced;
                    self.produced += 1;
                    self.left = self.left.map(|left| left.saturating_sub(1));
                    self.nodes[0].store.insert(one, piece(one));
                    Some(piece(one))
                }
                Payload::Stored(seq) => {
                    Some(*self.nodes[index].store.get(&seq.0).expect("a stored piece is there"))
                }
                Payload::Arrived => arrived,
            };
            let packet = Packet { header, size: send.size, piece: content };
            match send.target {
                Target::Channel(_) => self.cross_down(index, u64::MAX, packet),
                Target::Children(links) => self.cross_down(index, links.0, packet),
                Target::Source => self.cross(index, true, Path::Up(index), packet),
                Target::Peer(Peer(to)) => {
                    let to = to as usize;
                    if let Some(next) = self.towards(index, to) {
                        self.cross(next, false, Path::To(index, to), packet);
                    }
                }
            }
        }
    }
}
