//! Whole sessions over trees of lossy links, without sockets.

mod hardships;
mod keys;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use layercast_core::contract::Ecn;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::registry::{Protocol, Registry};
use layercast_testkit::cases;
use sha2::{Digest as _, Sha256};

use super::Wire;
use super::downlinks::{CHILDREN_MAX, DownOptions};
use super::relay::RelayNode;
use super::source::{Chunks, NodeCounters, SourceNode};
use super::uplink::UpOptions;
use crate::accept::Incoming;
use crate::catalogue::{Item, TableSettings};
use crate::disk::Attributes;
use crate::in_order::InOrder;
use crate::memory::{MemoryDisk, MemoryObjects};
use crate::node::{Datagram, Failure, Output, Parents, Receiver, ReceiverSettings, Single};
use crate::object::Content;
use crate::protocols::deployed;
use crate::reception::{DiskError, Reception, ReceptionSettings};
use crate::relay::message::Alternatives;
use crate::relay::session::SessionKey;
use crate::search::Known;
use crate::security::protection::ProtectError;
use crate::sender::{PacketPayload, Sender};
use crate::session::Session;

const DELAY: Duration = Duration::from_ms(5);
/// What each direction of a link carries, in bit/s, unless a test says otherwise.
const BPS: f64 = 8e6;
/// How long a packet may wait for a link.
const QUEUE: Duration = Duration::from_ms(50);

fn address(node: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, node as u8)), 5600)
}

fn key() -> SessionKey {
    SessionKey { group: "239.255.73.1:5500".parse().expect("a group"), source: None }
}

fn random(node: usize, use_of: u8) -> [u8; 32] {
    let mut bytes = [use_of; 32];
    bytes[0] = node as u8;
    bytes
}

fn up(parent: usize) -> UpOptions {
    UpOptions { session: key(), parents: vec![address(parent)], within: Duration::from_ms(10) }
}

fn down() -> DownOptions {
    DownOptions {
        session: key(),
        children: CHILDREN_MAX,
        alternatives: Alternatives::default(),
        keep_alive: Duration::from_ms(500),
    }
}

fn session(protocol: &Protocol) -> Session {
    let agreed = protocol.requirements().agreed().iter();
    Session {
        tsi: 77,
        protocol: protocol.name().to_owned(),
        source: address(0).ip(),
        group: key().group,
        feedback: address(0),
        packet: Size::from_bytes(1000),
        layers: LayerTable::between(Rate::from_mbps(1.0), Rate::from_mbps(1.0)).expect("a layer"),
        channels: 1,
        agreed: agreed.filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?))).collect(),
        group_key: None,
        salt: None,
        stream: None,
    }
}

/// The content of a file of this length, the n-th of a session.
fn content(index: usize, length: usize) -> Vec<u8> {
    let mut stream = Stream::new(9 + index as u64, "content");
    (0..length).map(|_| stream.bits() as u8).collect()
}

/// Files in memory.
struct Memory {
    sender: Sender,
    objects: MemoryObjects,
    order: InOrder,
}

impl Memory {
    fn new(lengths: &[usize], session: &Session) -> Memory {
        let items = lengths.iter().enumerate().map(|(index, &length)| Item {
            path: format!("folder/{index}"),
            file: Some((length as u64, Some(Sha256::digest(content(index, length)).into()))),
            tag: None,
            leaves: Arc::default(),
            parts: None,
            members: Arc::default(),
            attributes: Attributes::default(),
        });
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: false,
            session: session.to_string(),
            signer: None,
        };
        let mut sender = Sender::new(settings, 1);
        let items: Vec<Item> = items.collect();
        let change = sender.change(&items, &[], true, &|_| Vec::new()).expect("files");
        let mut objects = MemoryObjects::default();
        for (&toi, &place) in change.added.iter().zip(&change.items) {
            let object = sender.catalogue().object(toi).expect("it was added");
            let Content::File { coding, .. } = object.content else { continue };
            objects.add(toi, coding, content(place, lengths[place]));
        }
        Memory { order: sender.in_order(), sender, objects }
    }
}

impl Chunks for Memory {
    type Error = ProtectError;

    fn count(&self) -> u64 {
        self.order.chunks()
    }

    fn chunk(&mut self, number: u64, room: &mut [u8]) -> Result<PacketPayload, ProtectError> {
        let pick = self.order.pick(number).expect("a chunk that there is");
        let loaded: Result<PacketPayload, Infallible> = self.sender.load(pick, room, &mut self.objects);
        Ok(loaded.unwrap_or_else(|error| match error {}))
    }
}

/// A receiver, and how it ended.
struct Taking {
    node: Receiver<Registry, Reception<MemoryDisk>>,
    ended: Option<Result<(), Failure<DiskError>>>,
    notices: Vec<&'static str>,
}

impl Taking {
    fn new(parent: usize, node: usize, now: Time, change: &dyn Fn(&mut ReceiverSettings)) -> Taking {
        let parents = Parents { addresses: vec![address(parent)], secret: random(node, 4) };
        let mut settings = ReceiverSettings::new(Known::Group(key().group, None));
        settings.parents = Some(parents);
        settings.patience = Duration::from_secs(300);
        change(&mut settings);
        let reception = Reception::trusting(
            MemoryDisk::default(),
            ReceptionSettings { replace: false, mirror: false },
            settings.keys.clone(),
        );
        let mut node = Receiver::new(settings, reception);
        node.start(now);
        Taking { node, ended: None, notices: Vec::new() }
    }

    fn counters(&self) -> NodeCounters {
        self.node.member().map(|member| *member.counters()).unwrap_or_default()
    }

    fn receive(&mut self, now: Time, from: SocketAddr, (ecn, bytes): &Sealed, sent: &mut Sent) {
        let incoming = Incoming { from, channel: None, is_cut: false };
        self.node.handle(&mut Single(Datagram { at: now, incoming, ecn: *ecn }, &mut bytes.clone()));
        self.tick(now, sent);
    }

    fn tick(&mut self, now: Time, sent: &mut Sent) {
        self.node.handle_timer(now);
        while let Some(output) = self.node.poll() {
            match output {
                Output::Unicast { to, ecn, bytes } => sent.0.push((to, (ecn, bytes))),
                Output::Ended(ended) => self.ended = Some(ended),
                Output::Notice(notice) => self.notices.push(notice.name()),
                _ => {}
            }
        }
    }
}

enum Node {
    Source(Box<SourceNode>, Box<Memory>),
    Relay(Box<RelayNode>),
    Receiver(Box<Taking>),
}

#[derive(Default)]
struct Sent(Vec<(SocketAddr, Sealed)>);

impl Wire for Sent {
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool {
        self.0.push((to, (ecn, [head, body].concat())));
        true
    }
}

/// Its ECN field and its bytes.
type Sealed = (Ecn, Vec<u8>);

struct Net {
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), (usize, usize, Sealed)>,
    busy: BTreeMap<(usize, usize), Time>,
    order: u64,
    now: Time,
    loss: f64,
    /// From how long a queue on packets are marked, if they may be.
    marks_from: Option<Duration>,
    /// What each direction of a link carries, in bit/s, and how long a packet may wait for it.
    bps: f64,
    queue: Duration,
    /// For how long packets waited for links in all.
    waited: Duration,
    stream: Stream,
    /// Nodes that do nothing any more.
    gone: Vec<usize>,
    /// Whether a changed copy of a datagram follows it now and then.
    changed: Option<Stream>,
}

impl Net {
    /// Node 0 is the source; the parent of node i is `parents[i - 1]`. Nodes without children are receivers.
    fn new(protocol: &str, parents: &[usize], lengths: &[usize], loss: f64) -> Net {
        let protocol: Protocol = deployed(protocol).expect("a protocol");
        Net::of(session(&protocol), &protocol, parents, lengths, loss, &|_, _| {}, |_| {})
    }

    /// The same with a session as described, receivers of such settings, and a source that is changed.
    fn of(
        session: Session,
        protocol: &Protocol,
        parents: &[usize],
        lengths: &[usize],
        loss: f64,
        receivers: &dyn Fn(usize, &mut ReceiverSettings),
        source_is: impl FnOnce(&mut SourceNode),
    ) -> Net {
        let now = Time::from_ns(1_000_000);
        let memory = Memory::new(lengths, &session);
        let mut source = SourceNode::new(protocol, session, &down(), GATHER, random(0, 1)).expect("a source");
        source_is(&mut source);
        let mut nodes = vec![Node::Source(Box::new(source), Box::new(memory))];
        for (index, &parent) in parents.iter().enumerate() {
            let node = index + 1;
            nodes.push(if parents.contains(&node) {
                let random = [random(node, 2), random(node, 3)];
                Node::Relay(Box::new(RelayNode::new(protocol.name(), &up(parent), &down(), now, random)))
            } else {
                let change = |settings: &mut ReceiverSettings| receivers(node, settings);
                Node::Receiver(Box::new(Taking::new(parent, node, now, &change)))
            });
        }
        let stream = Stream::new(3, "losses");
        let (events, busy) = (BTreeMap::new(), BTreeMap::new());
        let gone = Vec::new();
        let (marks_from, bps, queue) = (None, BPS, QUEUE);
        Net {
            nodes,
            events,
            busy,
            order: 0,
            now,
            loss,
            marks_from,
            bps,
            queue,
            waited: Duration::ZERO,
            stream,
            gone,
            changed: None,
        }
    }

    fn deadline(&self, node: usize) -> Option<Time> {
        if self.gone.contains(&node) {
            return None;
        }
        match &self.nodes[node] {
            Node::Source(source, _) => source.deadline(),
            Node::Relay(relay) => relay.deadline(),
            Node::Receiver(taking) => taking.node.deadline(),
        }
    }

    /// Runs until the source is done; whether it is by then.
    fn run(&mut self, seconds: u64) -> bool {
        let end = self.now + Duration::from_secs(seconds);
        loop {
            if let Node::Source(source, _) = &self.nodes[0]
                && source.is_done()
            {
                return true;
            }
            let timers = (0..self.nodes.len()).filter_map(|node| Some((self.deadline(node)?, node)));
            let event = self.events.keys().next().map(|&(at, _)| (at, usize::MAX));
            let Some((at, what)) = timers.chain(event).min().filter(|&(at, _)| at < end) else {
                return false;
            };
            self.now = self.now.max(at);
            let mut sent = Sent::default();
            let node = if what == usize::MAX {
                let Some((_, (from, to, datagram))) = self.events.pop_first() else { return false };
                self.receive(from, to, &datagram, &mut sent);
                to
            } else {
                self.tick(what, &mut sent);
                what
            };
            for (to, datagram) in sent.0 {
                self.cross(node, to, datagram);
            }
        }
    }

    fn cross(&mut self, from: usize, to: SocketAddr, (mut ecn, bytes): Sealed) {
        let Some(to) = (0..self.nodes.len()).find(|&node| address(node) == to) else { return };
        let busy = self.busy.entry((from, to)).or_insert(self.now);
        let begins = (*busy).max(self.now);
        if self.stream.chance(self.loss) || begins > self.now + self.queue {
            return;
        }
        if ecn == Ecn::Capable && self.marks_from.is_some_and(|from| begins > self.now + from) {
            ecn = Ecn::Marked;
        }
        self.waited += begins.since(self.now);
        *busy = begins + Duration::from_secs_f64((bytes.len() + 28) as f64 * 8.0 / self.bps);
        let arrives = *busy + DELAY;
        self.order += 1;
        if let Some(stream) = &mut self.changed
            && stream.chance(0.2)
        {
            let mut copy = bytes.clone();
            copy.truncate((stream.uniform() * 1.2 * copy.len() as f64) as usize + 1);
            for _ in 0..3 {
                let place = (stream.uniform() * copy.len() as f64) as usize;
                if let Some(byte) = copy.get_mut(place) {
                    *byte = stream.bits() as u8;
                }
            }
            self.events.insert((arrives, self.order), (from, to, (ecn, copy)));
            self.order += 1;
        }
        self.events.insert((arrives, self.order), (from, to, (ecn, bytes)));
    }

    fn receive(&mut self, from: usize, to: usize, datagram: &Sealed, sent: &mut Sent) {
        if self.gone.contains(&to) {
            return;
        }
        let (now, from) = (self.now, address(from));
        match &mut self.nodes[to] {
            Node::Source(source, content) => {
                source.receive(now, from, &datagram.1, &mut **content, sent).expect("memory is read");
            }
            Node::Relay(relay) => relay.receive(now, from, datagram.0, &datagram.1, sent),
            Node::Receiver(taking) => taking.receive(now, from, datagram, sent),
        }
    }

    fn tick(&mut self, node: usize, sent: &mut Sent) {
        match &mut self.nodes[node] {
            Node::Source(source, content) => {
                source.tick(self.now, &mut **content, sent).expect("memory is read");
            }
            Node::Relay(relay) => relay.tick(self.now, sent),
            Node::Receiver(taking) => taking.tick(self.now, sent),
        }
    }

    /// Each receiver has exactly these files.
    fn assert_complete(&self, lengths: &[usize]) {
        for (node, one) in self.nodes.iter().enumerate() {
            if let Node::Receiver(taking) = one {
                taking.assert_complete(node, lengths);
            }
        }
    }
}

impl Taking {
    fn assert_complete(&self, node: usize, lengths: &[usize]) {
        let reception = &self.node.sink;
        assert!(reception.is_complete(), "node {node}: {:?}, {:?}", reception.progress(), self.ended);
        assert!(!matches!(self.ended, Some(Err(_))), "node {node}: {:?}", self.ended);
        // What was counted can be read of one that is over, too.
        assert!(self.node.counters().accept.packets > 0, "node {node}: {:?}", self.node.counters());
        let expected: BTreeMap<String, Vec<u8>> = lengths
            .iter()
            .enumerate()
            .map(|(index, &length)| (format!("folder/{index}"), content(index, length)))
            .collect();
        let files = reception.disk().files().filter(|(path, _)| !path.starts_with('.'));
        let files: BTreeMap<String, Vec<u8>> = files.map(|(path, bytes)| (path.to_owned(), bytes)).collect();
        assert!(files == expected, "node {node}: {:?}", files.keys().collect::<Vec<_>>());
    }
}

/// How long the source waits for children after the first: their first reports may be lost, and those that nobody knows are not
/// waited for later.
const GATHER: Duration = Duration::from_ms(1500);

const LENGTHS: [usize; 4] = [150_000, 0, 1, 90_001];

/// S with the relay 1 and the receiver 2; below 1 the receiver 3 and the relay 4; below 4 the receivers 5 and 6.
const TREE: [usize; 6] = [0, 0, 1, 1, 4, 4];

#[test]
fn files_come_in_order_over_a_tree_of_relays_that_loses_packets() {
    for protocol in ["amca", "nca"] {
        for loss in [0.0, 0.03] {
            let mut net = Net::new(protocol, &TREE, &LENGTHS, loss);
            assert!(net.run(600), "{protocol} with losses of {loss}: the source is not done at {}", net.now);
            net.assert_complete(&LENGTHS);
        }
    }
}

/// The source ends when all have everything: patterns of losses in which it knows all receivers before it releases the beginning.
#[test]
fn the_source_does_not_end_before_all_have_everything() {
    for protocol in ["amca", "nca"] {
        for seed in 0..u64::from(cases(150)) {
            let mut net = Net::new(protocol, &[0, 1, 1, 2, 2], &LENGTHS, 0.03);
            net.stream = Stream::new(seed, "losses");
            assert!(net.run(600), "{protocol}, seed {seed}: the source is not done at {}", net.now);
            net.assert_complete(&LENGTHS);
        }
    }
}

#[test]
fn receivers_repair_what_others_miss() {
    let mut net = Net::new("amca", &TREE, &LENGTHS, 0.03);
    assert!(net.run(600), "not done at {}", net.now);
    net.assert_complete(&LENGTHS);
    let repairs = |node: &Node| match node {
        Node::Receiver(taking) => taking.counters().repairs,
        _ => 0,
    };
    let repairs: u64 = net.nodes.iter().map(repairs).sum();
    let of_source = match &net.nodes[0] {
        Node::Source(source, _) => source.counters().repairs,
        _ => 0,
    };
    assert!(repairs > 0, "the source made all {of_source} repairs");
}

#[test]
fn marks_pass_relays_and_keep_queues_short() {
    let run = |protocol: &str, marks_from: Option<Duration>| {
        let lengths = [3_000_000];
        let mut net = Net::new(protocol, &TREE, &lengths, 0.0);
        net.marks_from = marks_from;
        (net.bps, net.queue) = (400e3, Duration::from_ms(500));
        assert!(net.run(600), "not done at {}", net.now);
        net.assert_complete(&lengths);
        let marked = |node: &Node| match node {
            Node::Source(..) => 0,
            Node::Relay(relay) => relay.counters().marked,
            Node::Receiver(taking) => taking.counters().marked,
        };
        let marked: Vec<u64> = net.nodes.iter().map(marked).collect();
        (net.waited, marked)
    };
    let (without, none) = run("amca", None);
    assert!(none.iter().all(|&marked| marked == 0), "{none:?}");
    let (with, marked) = run("amca", Some(Duration::from_ms(10)));
    assert!(with.as_secs_f64() < 0.95 * without.as_secs_f64(), "{with} {without}");
    // The link from the source to the first relay marks for all below, but for what is lost on the way.
    let below = [3, 4, 5, 6].map(|node| marked[node]);
    assert!(marked[1] > 5 && below.iter().all(|&node| node + 2 >= marked[1]), "{marked:?}");
    // NCA does not count marks, so its packets are not ECN-capable.
    let (_, of_nca) = run("nca", Some(Duration::from_ms(10)));
    assert!(of_nca.iter().all(|&marked| marked == 0), "{of_nca:?}");
}

#[test]
fn a_node_serves_as_many_children_as_a_set_has_links() {
    let parents = vec![0; CHILDREN_MAX + 2];
    let mut net = Net::new("amca", &parents, &[2000], 0.0);
    net.run(8);
    let Node::Source(source, _) = &net.nodes[0] else { panic!("node 0 is the source") };
    assert_eq!(source.links().count(), CHILDREN_MAX);
    let counters = source.links().parent().counters();
    assert!(counters.refused >= 2, "{counters:?}");
}

#[test]
fn what_no_child_sent_is_not_taken_for_a_packet() {
    let mut net = Net::new("amca", &TREE, &LENGTHS, 0.0);
    net.run(3);
    let Node::Source(source, content) = &mut net.nodes[0] else { panic!("node 0 is the source") };
    let before = *source.counters();
    let mut sent = Sent::default();
    for child in 0..1000u64 {
        let packet = [&super::frame::up_head(child)[..], &[0x13; 40]].concat();
        source.receive(net.now, address(99), &packet, &mut **content, &mut sent).expect("memory is read");
    }
    let after = source.counters();
    assert_eq!((before.received, before.malformed), (after.received, after.malformed));
    // An answer that the child is unknown is no longer than what it answers.
    assert!(sent.0.iter().filter(|(to, _)| *to == address(99)).all(|(_, (_, bytes))| bytes.len() <= 52));
    assert!(net.run(600));
    net.assert_complete(&LENGTHS);
}
