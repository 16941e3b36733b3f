//! A tree of links that lose, delay, reorder and duplicate packets, with a source at its root, receivers at its
//! leaves, and active or plain routers between. It checks the invariants of DyRAM at every step.

use std::collections::BTreeMap;

use layercast_core::contract::{
    Action, Arrival, ChildLink, Ecn, Endpoint, Header as _, Host, Input, Origin, Payload, Peer, Send, Target,
    TraceEvent, drive,
};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Seq, Size, Time};
use layercast_protocols::amca::{Body, Header, Options, Receiver, Router, Source};

/// The link from a node's parent to it, and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) loss_down: f64,
    pub(crate) loss_up: f64,
    pub(crate) doubled: f64,
}

/// A change of a node at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A router takes part from now on, without any state, whether it did before or not.
    Activate,
    /// A router no longer takes part.
    Deactivate,
    /// A receiver leaves.
    Leave,
}

/// A packet and the application's data in it.
#[derive(Clone, Copy)]
struct Packet {
    header: Header,
    size: Size,
    piece: Option<u64>,
}

#[derive(Clone, Copy)]
enum Direction {
    Up { from: usize },
    Down,
    To { from: usize, to: usize },
}

/// A packet that arrives at a node; with the child that it comes from, if it comes up.
struct Hop {
    node: usize,
    child: Option<usize>,
    way: Direction,
    packet: Packet,
}

enum Agent {
    Source(Box<Source>),
    Router(Box<Router>),
    Receiver(Box<Receiver>),
    Plain,
}

struct Node {
    parent: Option<usize>,
    children: Vec<usize>,
    link: Link,
    agent: Agent,
    deadline: Option<Time>,
    /// The store of the application's data.
    store: BTreeMap<u64, u64>,
    delivered: Vec<u64>,
    has_left: bool,
    /// Which links have requested which packet, of a router.
    asked: BTreeMap<u64, u64>,
    /// The number after the newest packet that it has received, of a router.
    newest_end: Option<u64>,
    /// Until when no further NACK for a packet may go up, of a router.
    quiet_until: BTreeMap<u64, Time>,
}

/// A host that only collects, in order.
#[derive(Default)]
struct Collected(Vec<Action<Header>>);

impl Host<Header> for Collected {
    fn send(&mut self, send: Send<Header>) {
        self.0.push(Action::Send(send));
    }
    fn join(&mut self, _: Channel) {}
    fn leave(&mut self, _: Channel) {}
    fn deliver(&mut self, through: Seq) {
        self.0.push(Action::Deliver(through));
    }
    fn release(&mut self, through: Seq) {
        self.0.push(Action::Release(through));
    }
    fn trace(&mut self, note: TraceEvent) {
        self.0.push(Action::Trace(note));
    }
}

/// The network and all endpoints.
pub(crate) struct Network {
    options: Options,
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), Hop>,
    changes: Vec<(Time, usize, Change)>,
    order: u64,
    pub(crate) now: Time,
    stream: Stream,
    incarnation: u64,
    /// How many pieces the application has.
    pieces: u64,
    produced: u64,
    is_finishing: bool,
    /// Packets that came to an endpoint.
    pub(crate) handled: u64,
    pub(crate) notes: Vec<TraceEvent>,
    pub(crate) largest_state: usize,
}

/// The application's piece of this number.
pub(crate) fn piece(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
}

fn plan() -> SessionPlan {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 1).unwrap();
    SessionPlan { layers, packet_size: Size::from_bytes(1024) }
}

impl Network {
    /// A tree in which node 0 is the source and node i hangs below `parents[i - 1]` by `links[i - 1]`. Nodes
    /// without children are receivers; others are active if `active` says so.
    pub(crate) fn new(
        options: &Options,
        parents: &[usize],
        links: &[Link],
        active: &[bool],
        pieces: u64,
        seed: u64,
    ) -> Network {
        let idle = Link {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss_down: 0.0,
            loss_up: 0.0,
            doubled: 0.0,
        };
        let node = |parent, link| Node {
            parent,
            children: Vec::new(),
            link,
            agent: Agent::Plain,
            deadline: None,
            store: BTreeMap::new(),
            delivered: Vec::new(),
            has_left: false,
            asked: BTreeMap::new(),
            newest_end: None,
            quiet_until: BTreeMap::new(),
        };
        let mut nodes = vec![node(None, idle)];
        for (index, (&parent, &link)) in parents.iter().zip(links).enumerate() {
            nodes.push(node(Some(parent), link));
            nodes[parent].children.push(index + 1);
        }
        let mut network = Network {
            options: options.clone(),
            nodes,
            events: BTreeMap::new(),
            changes: Vec::new(),
            order: 0,
            now: Time::from_ns(1),
            stream: Stream::new(seed, "network"),
            incarnation: seed,
            pieces,
            produced: 0,
            is_finishing: false,
            handled: 0,
            notes: Vec::new(),
            largest_state: 0,
        };
        for index in 1..network.nodes.len() {
            if network.nodes[index].children.is_empty() {
                let stream = Stream::new(seed, &format!("receiver/{index}"));
                let receiver = Receiver::new(options, plan(), stream);
                network.nodes[index].agent = Agent::Receiver(Box::new(receiver));
            } else if active[index - 1] {
                network.activate(index);
            }
        }
        let source = Source::new(options, plan(), Stream::new(seed, "source"));
        network.nodes[0].agent = Agent::Source(Box::new(source));
        for index in 0..network.nodes.len() {
            network.give(index, Input::Start, None);
        }
        network
    }

    /// Schedules a change.
    pub(crate) fn plan(&mut self, at: Time, node: usize, change: Change) {
        self.changes.push((at, node, change));
        self.changes.sort_by_key(|&(at, node, _)| (std::cmp::Reverse(at), node));
    }

    pub(crate) fn receivers(&self) -> Vec<usize> {
        (1..self.nodes.len()).filter(|&index| matches!(self.nodes[index].agent, Agent::Receiver(_))).collect()
    }

    pub(crate) fn routers(&self) -> Vec<usize> {
        (1..self.nodes.len()).filter(|&index| !self.nodes[index].children.is_empty()).collect()
    }

    pub(crate) fn source(&self) -> &Source {
        match &self.nodes[0].agent {
            Agent::Source(source) => source,
            _ => panic!("node 0 is the source"),
        }
    }

    /// The pieces that a receiver has delivered to its application.
    pub(crate) fn delivered(&self, index: usize) -> &[u64] {
        &self.nodes[index].delivered
    }

    pub(crate) fn has_left(&self, index: usize) -> bool {
        self.nodes[index].has_left
    }

    fn activate(&mut self, index: usize) {
        self.incarnation += 1;
        let stream = Stream::new(self.incarnation, &format!("router/{index}"));
        self.nodes[index].agent = Agent::Router(Box::new(Router::new(&self.options, plan(), stream)));
        self.nodes[index].asked.clear();
        self.nodes[index].newest_end = None;
        self.nodes[index].quiet_until.clear();
    }

    /// Runs until the source is done, or that time. Returns whether it is done.
    pub(crate) fn run(&mut self, end: Time) -> bool {
        loop {
            if self.produced == self.pieces && self.nodes[0].deadline.is_none() {
                return true;
            }
            let event = self.events.keys().next().map(|&(at, _)| (at, usize::MAX));
            let change = self.changes.last().map(|&(at, ..)| (at, usize::MAX - 1));
            let timers = self.nodes.iter().enumerate();
            let timer = timers.filter_map(|(index, node)| Some((node.deadline?, index))).min();
            let Some((at, what)) = [event, change, timer].into_iter().flatten().min_by_key(|&(at, _)| at)
            else {
                return false;
            };
            if at > end {
                return false;
            }
            self.now = at;
            match what {
                usize::MAX => {
                    if let Some((_, hop)) = self.events.pop_first() {
                        self.arrive(hop);
                    }
                }
                index if index == usize::MAX - 1 => {
                    if let Some((_, node, change)) = self.changes.pop() {
                        self.change(node, change);
                    }
                }
                index => self.give(index, Input::Timer, None),
            }
        }
    }

    fn change(&mut self, index: usize, change: Change) {
        match change {
            Change::Activate => {
                self.activate(index);
                self.give(index, Input::Start, None);
            }
            Change::Deactivate => {
                self.nodes[index].agent = Agent::Plain;
                self.nodes[index].deadline = None;
            }
            Change::Leave => {
                self.give(index, Input::Stop, None);
                self.nodes[index].has_left = true;
            }
        }
    }

    /// A packet is sent over the link between a node and its parent.
    fn cross(&mut self, below: usize, is_up: bool, way: Direction, packet: Packet) {
        let link = self.nodes[below].link;
        let loss = if is_up { link.loss_up } else { link.loss_down };
        let copies = if self.stream.chance(link.doubled) { 2 } else { 1 };
        for _ in 0..copies {
            let wait = link.delay + self.stream.uniform_duration(link.jitter);
            if self.stream.chance(loss) {
                continue;
            }
            let Some(parent) = self.nodes[below].parent else { return };
            let (node, child) = if is_up { (parent, Some(below)) } else { (below, None) };
            self.order += 1;
            self.events.insert((self.now + wait, self.order), Hop { node, child, way, packet });
        }
    }

    fn cross_down_all(&mut self, index: usize, links: u64, packet: Packet) {
        for place in 0..self.nodes[index].children.len() {
            if links & 1 << place != 0 {
                self.cross(self.nodes[index].children[place], false, Direction::Down, packet);
            }
        }
    }

    fn toward(&self, index: usize, to: usize) -> Option<usize> {
        let mut below = to;
        while self.nodes[below].parent? != index {
            below = self.nodes[below].parent?;
        }
        Some(below)
    }

    fn arrive(&mut self, hop: Hop) {
        let Hop { node: index, child, way, packet } = hop;
        let is_plain = matches!(self.nodes[index].agent, Agent::Plain);
        let origin = match way {
            Direction::Up { .. } if is_plain => return self.cross(index, true, way, packet),
            Direction::Up { from } => {
                let place = self.nodes[index].children.iter().position(|&other| Some(other) == child);
                let Some(place) = place else { return };
                if let Body::Nack(nack) = packet.header.body {
                    *self.nodes[index].asked.entry(u64::from(nack.seq.0)).or_default() |= 1 << place;
                }
                Origin::Child(ChildLink(place as u16), Peer(from as u32))
            }
            Direction::To { from, to } if to == index => Origin::Peer(Peer(from as u32)),
            Direction::To { to, .. } => {
                return if let Some(next) = self.toward(index, to) {
                    self.cross(next, false, way, packet)
                };
            }
            Direction::Down => {
                if is_plain || !packet.header.is_held_by_routers() {
                    self.cross_down_all(index, u64::MAX, packet);
                }
                Origin::Channel(Channel(0))
            }
        };
        if is_plain {
            return;
        }
        if let (Some(piece), Some(seq)) = (packet.piece, packet.header.data_seq())
            && matches!(self.nodes[index].agent, Agent::Receiver(_))
        {
            self.nodes[index].store.insert(u64::from(seq.0), piece);
        }
        self.on_gap(index, &packet.header);
        self.handled += 1;
        let Packet { header, size, .. } = packet;
        let arrival = Arrival { origin, size, ecn: Ecn::NotCapable, header };
        self.give(index, Input::Packet(arrival), packet.piece);
    }

    /// Packets that a router itself has lost count as requested by all below.
    fn on_gap(&mut self, index: usize, header: &Header) {
        let Body::Data(data) = header.body else { return };
        let (node, seq) = (&mut self.nodes[index], u64::from(data.seq.0));
        if !matches!(node.agent, Agent::Router(_)) {
            return;
        }
        let end = node.newest_end.unwrap_or(seq);
        if !data.is_repair {
            (end..seq).for_each(|lost| {
                node.asked.insert(lost, u64::MAX);
            });
        }
        if !data.is_repair || (node.newest_end.is_some() && seq == end) {
            node.newest_end = Some(end.max(seq + 1));
        }
    }

    fn give(&mut self, index: usize, input: Input<Header>, arrived: Option<u64>) {
        let now = self.now;
        let mut host = Collected::default();
        let node = &mut self.nodes[index];
        node.deadline = match &mut node.agent {
            Agent::Source(source) => drive(source.as_mut(), now, input, &mut host),
            Agent::Router(router) => drive(router.as_mut(), now, input, &mut host),
            Agent::Receiver(receiver) => drive(receiver.as_mut(), now, input, &mut host),
            Agent::Plain => None,
        };
        assert!(node.deadline.is_none_or(|at| at > now), "node {index} would spin");
        let state = match &node.agent {
            Agent::Source(source) => source.state_size(),
            Agent::Router(router) => router.state_size(),
            Agent::Receiver(receiver) => receiver.state_size(),
            Agent::Plain => 0,
        };
        self.largest_state = self.largest_state.max(state);
        for action in host.0 {
            match action {
                Action::Send(send) => self.send(index, send, arrived),
                Action::Deliver(through) => self.deliver(index, through),
                Action::Release(through) => self.release(index, through),
                Action::Trace(note) => self.notes.push(note),
                Action::Join(_) | Action::Leave(_) => {}
            }
        }
        if self.produced == self.pieces && !std::mem::replace(&mut self.is_finishing, true) {
            self.give(0, Input::Finish, None);
        }
    }

    fn deliver(&mut self, index: usize, through: Seq) {
        let node = &mut self.nodes[index];
        for seq in node.delivered.len() as u64..=through.0 {
            let piece = node.store.get(&seq).copied();
            node.delivered
                .push(piece.unwrap_or_else(|| panic!("node {index} delivers {seq}, which it has not")));
        }
    }

    /// Invariant 2: no packet is released that a receiver still in the session lacks.
    fn release(&mut self, index: usize, through: Seq) {
        if index == 0 {
            for receiver in self.receivers() {
                let node = &self.nodes[receiver];
                let has = node.delivered.len() as u64;
                assert!(
                    node.has_left || has > through.0,
                    "{through:?} is released at {}, and node {receiver} has {has}",
                    self.now
                );
            }
        } else {
            assert!(through.0 < self.source().group_below(), "node {index} releases too early");
        }
        let node = &mut self.nodes[index];
        node.store = node.store.split_off(&(through.0 + 1));
    }

    fn send(&mut self, index: usize, send: Send<Header>, arrived: Option<u64>) {
        let (target, header) = (send.target, send.header);
        let content = match send.payload {
            Payload::None => None,
            Payload::Next => {
                let number = self.produced;
                assert_eq!(header.data_seq().map(|seq| u64::from(seq.0)), Some(number));
                self.check_window(number);
                self.produced += 1;
                self.nodes[0].store.insert(number, piece(number));
                Some(piece(number))
            }
            Payload::Stored(seq) => {
                let stored = self.nodes[index].store.get(&seq.0).copied();
                Some(stored.unwrap_or_else(|| panic!("node {index} has not kept {seq:?}")))
            }
            Payload::Arrived => Some(arrived.expect("data is being handled")),
        };
        if matches!(self.nodes[index].agent, Agent::Router(_)) {
            self.check_router(index, &send);
        }
        let packet = Packet { header, size: send.size, piece: content };
        match target {
            Target::Channel(_) => self.cross_down_all(index, u64::MAX, packet),
            Target::Children(links) => self.cross_down_all(index, links.0, packet),
            Target::Source => self.cross(index, true, Direction::Up { from: index }, packet),
            Target::Peer(Peer(to)) => {
                let to = to as usize;
                if let Some(next) = self.toward(index, to) {
                    self.cross(next, false, Direction::To { from: index, to }, packet);
                }
            }
        }
    }

    /// Invariant 3: no packet is sent that a receiver has no room for.
    fn check_window(&self, number: u64) {
        for receiver in self.receivers() {
            let node = &self.nodes[receiver];
            let limit = node.delivered.len() as u64 + u64::from(self.options.buffer_packets);
            assert!(node.has_left || number < limit, "{number} is sent, and node {receiver} has no room");
        }
    }

    /// Invariants 4 and 5: one NACK goes up within a window, and repairs go only to links that requested them.
    fn check_router(&mut self, index: usize, send: &Send<Header>) {
        let node = &mut self.nodes[index];
        let Agent::Router(router) = &node.agent else { return };
        match (send.header.body, send.target) {
            (Body::Nack(nack), Target::Source) => {
                let seq = u64::from(nack.seq.0);
                let window = router.estimates(self.now).rtt.unwrap_or(Duration::from_ms(200));
                let until = node.quiet_until.insert(seq, self.now + window);
                assert!(until.is_none_or(|until| until <= self.now), "node {index} repeats a NACK for {seq}");
            }
            (Body::Data(data), Target::Children(links)) => {
                assert!(data.is_repair);
                let asked = node.asked.get(&u64::from(data.seq.0)).copied().unwrap_or(0);
                assert_eq!(links.0 & !asked, 0, "node {index} repairs {data:?} on a link that did not ask");
            }
            (_, Target::Channel(_)) => panic!("a router does not send to channels"),
            _ => {}
        }
    }
}
