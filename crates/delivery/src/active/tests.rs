//! Whole sessions over trees of lossy links, without sockets.

mod hardships;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::Ecn;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size, Time};
use layercast_testkit::cases;
use sha2::{Digest as _, Sha256};

use super::Wire;
use super::description::Description;
use super::downlinks::{CHILDREN_MAX, DownOptions};
use super::receiver::{ReceiveError, ReceiverNode};
use super::reel::{Contents, FileHead, Files, Reel, Unreel};
use super::relay::RelayNode;
use super::source::SourceNode;
use super::uplink::UpOptions;
use crate::relay::message::Alternatives;
use crate::relay::session::SessionKey;

const DELAY: Duration = Duration::from_ms(5);
/// What each direction of a link carries, in bit/s, unless a test says otherwise.
const BPS: f64 = 8e6;
/// How long a packet may wait for a link.
const QUEUE: Duration = Duration::from_ms(50);

fn address(node: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, node as u8)), 5600)
}

fn session() -> SessionKey {
    SessionKey { group: "239.255.73.1:5500".parse().expect("a group"), source: None }
}

fn random(node: usize, use_of: u8) -> [u8; 32] {
    let mut bytes = [use_of; 32];
    bytes[0] = node as u8;
    bytes
}

fn up(parent: usize) -> UpOptions {
    UpOptions { session: session(), parents: vec![address(parent)], within: Duration::from_ms(10) }
}

fn down() -> DownOptions {
    DownOptions {
        session: session(),
        children: CHILDREN_MAX,
        alternatives: Alternatives::default(),
        keep_alive: Duration::from_ms(500),
    }
}

/// Files in memory.
#[derive(Default)]
struct Memory {
    files: Vec<(FileHead, Vec<u8>)>,
    ended: usize,
}

impl Contents for Memory {
    fn read(&mut self, file: usize, offset: u64, room: &mut [u8]) -> io::Result<()> {
        let content = &self.files[file].1[offset as usize..];
        room.copy_from_slice(&content[..room.len()]);
        Ok(())
    }
}

impl Files for Memory {
    fn begin(&mut self, head: &FileHead) -> io::Result<()> {
        self.files.push((head.clone(), Vec::new()));
        Ok(())
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.files.last_mut().expect("a file").1.extend(bytes);
        Ok(())
    }
    fn end(&mut self, _head: &FileHead) -> io::Result<()> {
        self.ended += 1;
        Ok(())
    }
}

fn files(lengths: &[usize]) -> Memory {
    let mut stream = Stream::new(9, "content");
    let file = |(index, &length): (usize, &usize)| {
        let content: Vec<u8> = (0..length).map(|_| stream.bits() as u8).collect();
        let hash = Sha256::digest(&content).into();
        (FileHead { path: format!("folder/{index}"), length: length as u64, hash }, content)
    };
    Memory { files: lengths.iter().enumerate().map(file).collect(), ended: 0 }
}

enum Node {
    Source(Box<SourceNode>, Memory),
    Relay(Box<RelayNode>),
    Receiver(Box<ReceiverNode>, Memory, Option<ReceiveError>),
}

#[derive(Default)]
struct Sent(Vec<(SocketAddr, Datagram)>);

impl Wire for Sent {
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool {
        self.0.push((to, (ecn, [head, body].concat())));
        true
    }
}

/// Its ECN field and its bytes.
type Datagram = (Ecn, Vec<u8>);

struct Net {
    nodes: Vec<Node>,
    events: BTreeMap<(Time, u64), (usize, usize, Datagram)>,
    busy: BTreeMap<(usize, usize), Time>,
    order: u64,
    now: Time,
    loss: f64,
    /// From how long a queue on packets are marked, if they may be.
    marks_from: Option<Duration>,
    /// What each direction of a link carries, in bit/s.
    bps: f64,
    stream: Stream,
    /// Nodes that do nothing any more.
    gone: Vec<usize>,
    /// Whether a changed copy of a datagram follows it now and then.
    changed: Option<Stream>,
}

impl Net {
    /// Node 0 is the source; the parent of node i is `parents[i - 1]`. Nodes without children are receivers.
    fn new(protocol: &str, parents: &[usize], content: Memory, loss: f64) -> Net {
        let now = Time::from_ns(1_000_000);
        let description = Description {
            session: 77,
            protocol: protocol.to_owned(),
            packet: Size::from_bytes(1000),
            options: Vec::new(),
        };
        let heads: Vec<FileHead> = content.files.iter().map(|(head, _)| head.clone()).collect();
        let reel = Reel::new(&heads, description.piece());
        let source = SourceNode::new(description, reel, &down(), GATHER, random(0, 1));
        let mut nodes = vec![Node::Source(Box::new(source.expect("a source")), content)];
        for (index, &parent) in parents.iter().enumerate() {
            let node = index + 1;
            nodes.push(if parents.contains(&node) {
                let random = [random(node, 2), random(node, 3)];
                Node::Relay(Box::new(RelayNode::new(protocol, &up(parent), &down(), now, random)))
            } else {
                let receiver = ReceiverNode::new(&up(parent), now, random(node, 4));
                Node::Receiver(Box::new(receiver), Memory::default(), None)
            });
        }
        let stream = Stream::new(3, "losses");
        let (events, busy) = (BTreeMap::new(), BTreeMap::new());
        let gone = Vec::new();
        let (marks_from, bps) = (None, BPS);
        Net { nodes, events, busy, order: 0, now, loss, marks_from, bps, stream, gone, changed: None }
    }

    fn deadline(&self, node: usize) -> Option<Time> {
        if self.gone.contains(&node) {
            return None;
        }
        match &self.nodes[node] {
            Node::Source(source, _) => source.deadline(),
            Node::Relay(relay) => relay.deadline(),
            Node::Receiver(receiver, _, None) => receiver.deadline(),
            Node::Receiver(..) => None,
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

    fn cross(&mut self, from: usize, to: SocketAddr, (mut ecn, bytes): Datagram) {
        let Some(to) = (0..self.nodes.len()).find(|&node| address(node) == to) else { return };
        let busy = self.busy.entry((from, to)).or_insert(self.now);
        let begins = (*busy).max(self.now);
        if self.stream.chance(self.loss) || begins > self.now + QUEUE {
            return;
        }
        if ecn == Ecn::Capable && self.marks_from.is_some_and(|from| begins > self.now + from) {
            ecn = Ecn::Marked;
        }
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

    fn receive(&mut self, from: usize, to: usize, (ecn, bytes): &Datagram, sent: &mut Sent) {
        if self.gone.contains(&to) {
            return;
        }
        let (now, from) = (self.now, address(from));
        match &mut self.nodes[to] {
            Node::Source(source, content) => {
                source.receive(now, from, bytes, content, sent).expect("memory is read");
            }
            Node::Relay(relay) => relay.receive(now, (from, *ecn), bytes, sent),
            Node::Receiver(receiver, memory, error) => {
                *error = receiver.receive(now, (from, *ecn), bytes, memory, sent).err();
            }
        }
    }

    fn tick(&mut self, node: usize, sent: &mut Sent) {
        match &mut self.nodes[node] {
            Node::Source(source, content) => source.tick(self.now, content, sent).expect("memory is read"),
            Node::Relay(relay) => relay.tick(self.now, sent),
            Node::Receiver(receiver, memory, error) => {
                *error = receiver.tick(self.now, memory, sent).err();
            }
        }
    }

    /// Whether each receiver has exactly these files.
    fn assert_complete(&self, lengths: &[usize]) {
        let expected = files(lengths);
        for (node, one) in self.nodes.iter().enumerate() {
            if let Node::Receiver(receiver, memory, error) = one {
                assert!(receiver.is_complete(), "node {node}: {:?}, {error:?}", receiver.progress());
                assert!(memory.files == expected.files && memory.ended == lengths.len(), "node {node}");
            }
        }
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
            let mut net = Net::new(protocol, &TREE, files(&LENGTHS), loss);
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
            let mut net = Net::new(protocol, &[0, 1, 1, 2, 2], files(&LENGTHS), 0.03);
            net.stream = Stream::new(seed, "losses");
            assert!(net.run(600), "{protocol}, seed {seed}: the source is not done at {}", net.now);
            net.assert_complete(&LENGTHS);
        }
    }
}

#[test]
fn receivers_repair_what_others_miss() {
    let mut net = Net::new("amca", &TREE, files(&LENGTHS), 0.03);
    assert!(net.run(600), "not done at {}", net.now);
    net.assert_complete(&LENGTHS);
    let repairs = |node: &Node| match node {
        Node::Receiver(receiver, ..) => receiver.counters().repairs,
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
fn marks_pass_relays_and_slow_the_source_down() {
    let run = |protocol: &str, marks_from: Option<Duration>| {
        let lengths = [500_000];
        let mut net = Net::new(protocol, &TREE, files(&lengths), 0.0);
        net.marks_from = marks_from;
        net.bps = 400e3;
        assert!(net.run(600), "not done at {}", net.now);
        net.assert_complete(&lengths);
        let marked = |node: &Node| match node {
            Node::Source(..) => 0,
            Node::Relay(relay) => relay.counters().marked,
            Node::Receiver(receiver, ..) => receiver.counters().marked,
        };
        let marked: Vec<u64> = net.nodes.iter().map(marked).collect();
        (net.now, marked)
    };
    let (without, none) = run("amca", None);
    assert!(none.iter().all(|&marked| marked == 0), "{none:?}");
    let (with, marked) = run("amca", Some(Duration::from_ms(10)));
    assert!(with > without, "{with} {without}");
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
    let mut net = Net::new("amca", &parents, files(&[2000]), 0.0);
    net.run(8);
    let Node::Source(source, _) = &net.nodes[0] else { panic!("node 0 is the source") };
    assert_eq!(source.links().count(), CHILDREN_MAX);
    let counters = source.links().parent().counters();
    assert!(counters.refused >= 2, "{counters:?}");
}

#[test]
fn what_no_child_sent_is_not_taken_for_a_packet() {
    let mut net = Net::new("amca", &TREE, files(&LENGTHS), 0.0);
    net.run(3);
    let Node::Source(source, content) = &mut net.nodes[0] else { panic!("node 0 is the source") };
    let before = *source.counters();
    let mut sent = Sent::default();
    for child in 0..1000u64 {
        let packet = [&super::frame::up_head(child)[..], &[0x13; 40]].concat();
        source.receive(net.now, address(99), &packet, content, &mut sent).expect("memory is read");
    }
    let after = source.counters();
    assert_eq!((before.received, before.malformed), (after.received, after.malformed));
    // An answer that the child is unknown is no longer than what it answers.
    assert!(sent.0.iter().filter(|(to, _)| *to == address(99)).all(|(_, (_, bytes))| bytes.len() <= 52));
    assert!(net.run(600));
    net.assert_complete(&LENGTHS);
}

#[test]
fn a_sequence_is_read_whatever_the_length_of_its_pieces() {
    for piece in [1, 3, 46, 47, 1000, 1_000_000] {
        let mut content = files(&[5, 0, 1000, 1]);
        let heads: Vec<FileHead> = content.files.iter().map(|(head, _)| head.clone()).collect();
        let reel = Reel::new(&heads, piece);
        let (mut unreel, mut memory, mut bytes) = (Unreel::default(), Memory::default(), Vec::new());
        for number in 0..reel.pieces() {
            assert!(!unreel.is_complete());
            reel.read(number, &mut content, &mut bytes).expect("memory is read");
            assert!(bytes.len() == piece || number + 1 == reel.pieces());
            unreel.push(&bytes, &mut memory).expect("a sequence");
        }
        assert!(unreel.is_complete() && memory.files == content.files && memory.ended == 4);
    }
}

#[test]
fn a_wrong_sequence_is_refused() {
    let mut content = files(&[100]);
    let head = content.files[0].0.clone();
    let read = |heads: &[FileHead], content: &mut Memory| {
        let reel = Reel::new(heads, 4096);
        let (mut bytes, mut memory) = (Vec::new(), Memory::default());
        reel.read(0, content, &mut bytes).expect("memory is read");
        Unreel::default().push(&bytes, &mut memory).expect_err("it is wrong").to_string()
    };
    let outside = FileHead { path: "../a".to_owned(), ..head.clone() };
    assert_eq!(read(&[outside], &mut content), "the path `../a` is not safe");
    let other = FileHead { hash: [0; 32], ..head };
    assert!(read(&[other], &mut content).contains("does not have its hash"));
    let mut memory = Memory::default();
    assert!(Unreel::default().push(b"whatever", &mut memory).is_err());
}

mod parsers {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_sequence_is_read_or_refused(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..6), is_file in any::<bool>()) {
            let (mut unreel, mut memory) = (Unreel::default(), Memory::default());
            let _ = unreel.push(if is_file { b"LCF1\0\x04" } else { b"" }, &mut memory);
            for piece in &pieces {
                if unreel.push(piece, &mut memory).is_err() {
                    break;
                }
            }
        }

        #[test]
        fn descriptions_come_back(session in any::<u32>(), packet in 256u32..=9000, every in 1u32..1000, is_amca in any::<bool>()) {
            let options = if is_amca { vec![("report_every".to_owned(), every.to_string())] } else { Vec::new() };
            let protocol = if is_amca { "amca" } else { "nca" }.to_owned();
            let description = Description { session, protocol, packet: Size::from_bytes(packet), options };
            prop_assert_eq!(description.to_string().parse(), Ok(description));
        }

        #[test]
        fn any_text_is_a_description_or_not(text in ".{0,200}") {
            let _ = text.parse::<Description>();
        }
    }
}
