//! Relays over each other, with one receiver, on a network without delay.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::relay::child::ParentEvent;
use crate::relay::message::{Alternatives, DATA_HEAD_MAX, Reason};
use crate::relay::parent::Limits;
use crate::relay::session::Allowed;

const SOURCE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 5501);
const BASE: Channel = Channel(0);

fn key() -> SessionKey {
    SessionKey { group: SocketAddr::new(Ipv4Addr::new(239, 1, 2, 0).into(), 5500), source: None }
}

/// Where a relay listens, and where its sockets towards relays above are; the receiver's are those of relay 100.
fn at(relay: u8, is_above: bool) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, 0, relay).into(), if is_above { 7000 } else { 5600 })
}

fn relay(number: u8, above: Above, highest: Option<Rate>) -> Relay {
    let settings = RelaySettings {
        allowed: Allowed { sessions: vec![key()], prefixes: Vec::new() },
        alternatives: Alternatives::default(),
        limits: Limits::default(),
        highest,
        above,
    };
    Relay::new(settings, Time::ZERO, [number; 32])
}

fn receiver(relays: &[SocketAddr], secret: u8) -> Child {
    let mut child = Child::new(key(), relays, Time::ZERO, Duration::ZERO, [secret; 32]);
    child.join(Time::ZERO, BASE);
    child
}

/// Where a datagram comes from and goes to, and it.
type Passing = (SocketAddr, SocketAddr, Vec<u8>);

struct Network {
    now: Time,
    relays: BTreeMap<u8, Relay>,
    receiver: Child,
    passing: VecDeque<Passing>,
    /// Heads of the packets that the receiver got.
    came: Vec<Data>,
    /// What relays wanted that is not for the network.
    said: Vec<(u8, RelayOutput)>,
}

impl Network {
    fn new(relays: impl IntoIterator<Item = (u8, Above)>, parents: &[SocketAddr]) -> Network {
        let relays = relays.into_iter().map(|(number, above)| (number, relay(number, above, None)));
        Network {
            now: Time::ZERO,
            relays: relays.collect(),
            receiver: receiver(parents, 100),
            passing: VecDeque::new(),
            came: Vec::new(),
            said: Vec::new(),
        }
    }

    fn take_outputs(&mut self) {
        for (&number, relay) in &mut self.relays {
            while let Some(output) = relay.poll() {
                match output {
                    RelayOutput::ToChild(to, message) => {
                        self.passing.push_back((at(number, false), to, message.bytes().to_vec()));
                    }
                    RelayOutput::ToRelay(_, to, message) => {
                        self.passing.push_back((at(number, true), to, message.bytes().to_vec()));
                    }
                    other => self.said.push((number, other)),
                }
            }
        }
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.receiver.poll(self.now, &mut room) {
            self.passing.push_back((at(100, true), to, room[..length].to_vec()));
        }
    }

    /// A packet of the source comes to a relay, which has it sent on.
    fn forward(&mut self, number: u8, channel: Channel, source: SocketAddr, packet: &[u8]) {
        let relay = self.relays.get_mut(&number).expect("a relay");
        let Some(mut copies) = relay.copies(0, channel, source) else { return };
        let mut room = [0; DATA_HEAD_MAX];
        let length = copies.head.write(&mut room);
        let bytes = [&room[..length], packet].concat();
        while let Some(holder) = relay.next_holder(&mut copies) {
            let sent = u64::from(relay.may_send(self.now, bytes.len()));
            relay.sent(holder, 1, sent, sent * bytes.len() as u64);
            if let Some(to) = holder.address.filter(|_| sent > 0) {
                self.passing.push_back((at(number, false), to, bytes.clone()));
            }
        }
    }

    fn arrive(&mut self, (from, to, bytes): Passing) {
        if to == at(100, true) {
            if !Data::is_data(&bytes) {
                self.receiver.message(self.now, from, &bytes);
            } else if let Some((data, _)) = self.receiver.packet(self.now, from, &bytes) {
                self.came.push(data);
            }
            return;
        }
        let found = self.relays.keys().copied().find(|&number| at(number, false).ip() == to.ip());
        let Some(number) = found else { return };
        let relay = self.relays.get_mut(&number).expect("a relay");
        if to == at(number, false) {
            relay.handle(self.now, from, &bytes);
        } else if let Some((data, length)) = relay.handle_above(self.now, 0, from, &bytes) {
            let source = SocketAddr::new(data.source, 0);
            self.forward(number, data.channel, source, &bytes[length..]);
        }
    }

    fn settle(&mut self) {
        self.take_outputs();
        while let Some(passing) = self.passing.pop_front() {
            self.arrive(passing);
            self.take_outputs();
        }
    }

    fn run(&mut self, lasts: Duration) {
        let end = self.now + lasts;
        while self.now < end {
            self.now += Duration::from_ms(10);
            let now = self.now;
            for relay in self.relays.values_mut() {
                relay.handle_timer(now);
                assert!(relay.deadline().is_none_or(|due| due > now), "{:?}", relay.deadline());
            }
            self.settle();
        }
    }

    fn report(&mut self, to: SocketAddr) {
        let mut room = [0; MESSAGE_MAX];
        let (relay, length) = self.receiver.feedback(to, b"report", &mut room).expect("a parent");
        self.passing.push_back((at(100, true), relay, room[..length].to_vec()));
        self.settle();
    }

    fn heads(&mut self) -> Vec<(u8, IpAddr)> {
        std::mem::take(&mut self.came).iter().map(|data| (data.hops, data.source)).collect()
    }
}

#[test]
fn packets_go_down_a_chain_of_relays_and_messages_up_to_the_source() {
    let chain = [(1, Above::Source), (2, vec![at(1, false)].into()), (3, vec![at(2, false)].into())];
    let mut network = Network::new(chain, &[at(3, false)]);
    network.run(Duration::from_secs(2));
    network.forward(1, BASE, SOURCE, b"packet");
    network.settle();
    assert_eq!(network.heads(), [(2, SOURCE.ip())]);
    let depths: Vec<u8> = network.relays.values().map(|relay| relay.state(network.now).depth).collect();
    assert_eq!(depths, [0, 1, 2]);
    network.report(SOURCE);
    let heard = RelayOutput::Heard(at(2, true), RelayMessage::of(b"report"));
    assert_eq!(network.said.last(), Some(&(1, heard)));
    let state = network.relays[&2].state(network.now);
    assert_eq!((state.packets, state.dropped, state.children.len()), (1, 0, 1));
    assert_eq!(state.sessions[0].parent.map(|link| link.parent), Some(at(1, false)));
}

#[test]
fn when_a_relay_is_gone_those_below_it_are_served_by_the_next() {
    let above = vec![at(2, false), at(1, false)];
    let chain = [(1, Above::Source), (2, vec![at(1, false)].into()), (3, above.into())];
    let mut network = Network::new(chain, &[at(3, false), at(1, false)]);
    network.run(Duration::from_secs(2));
    network.relays.remove(&2);
    network.run(Duration::from_secs(4));
    network.forward(1, BASE, SOURCE, b"packet");
    network.settle();
    assert_eq!(network.heads(), [(1, SOURCE.ip())]);
    assert_eq!(network.relays[&3].state(network.now).depth, 1);
    network.relays.remove(&3);
    network.run(Duration::from_secs(4));
    network.forward(1, BASE, SOURCE, b"packet");
    network.settle();
    assert_eq!(network.heads(), [(0, SOURCE.ip())]);
}

#[test]
fn channels_are_joined_by_multicast_and_messages_go_to_sources_that_are_known() {
    let mut network = Network::new([(1, Above::Multicast)], &[at(1, false)]);
    network.run(Duration::from_secs(1));
    let changes = |network: &mut Network| -> Vec<(Channel, bool)> {
        let said = std::mem::take(&mut network.said).into_iter();
        said.filter_map(|(_, output)| match output {
            RelayOutput::Channel(change) => Some((change.channel, change.is_join)),
            _ => None,
        })
        .collect()
    };
    assert_eq!(changes(&mut network), [(BASE, true)]);
    network.report(SOURCE);
    assert!(network.said.is_empty(), "nothing is known of that source");
    network.forward(1, BASE, SOURCE, b"packet");
    network.forward(1, Channel(1), SOURCE, b"nobody holds it");
    network.settle();
    assert_eq!(network.heads(), [(1, SOURCE.ip())]);
    network.report(SocketAddr::new(SOURCE.ip(), 0));
    let sent = RelayOutput::ToSource(SOURCE, RelayMessage::of(b"report"));
    assert_eq!(std::mem::take(&mut network.said), [(1, sent)]);
    let mut room = [0; MESSAGE_MAX];
    let (to, length) = network.receiver.close(&mut room).expect("a goodbye");
    network.passing.push_back((at(100, true), to, room[..length].to_vec()));
    network.settle();
    assert_eq!(network.said.last(), Some(&(1, RelayOutput::Close(0))));
    assert_eq!(changes(&mut network), [(BASE, false)]);
}

#[test]
fn a_relay_that_ends_leaves_the_one_above_and_sends_its_children_away() {
    let chain = [(1, Above::Source), (2, vec![at(1, false)].into())];
    let mut network = Network::new(chain, &[at(2, false), at(1, false)]);
    network.run(Duration::from_secs(1));
    network.relays.get_mut(&2).expect("a relay").close();
    network.settle();
    // The relay has left, and the receiver is there at once.
    let children = network.relays[&1].state(network.now).children;
    assert_eq!(children.iter().map(|child| child.address).collect::<Vec<_>>(), [Some(at(100, true))]);
    assert_eq!(network.receiver.link().map(|link| link.parent), Some(at(1, false)));
}

#[test]
fn beyond_the_highest_rate_packets_are_left_out_and_nobody_is_let_in() {
    let mut network = Network::new([(1, Above::Source)], &[at(1, false)]);
    network.relays.insert(1, relay(1, Above::Source, Some(Rate::from_mbps(0.8))));
    network.run(Duration::from_secs(1));
    for _ in 0..200 {
        // 8 Mbit/s.
        (0..10).for_each(|_| network.forward(1, BASE, SOURCE, &[0; 988]));
        network.run(Duration::from_ms(10));
    }
    let state = network.relays[&1].state(network.now);
    assert!((0.7e6..=0.85e6).contains(&state.rate.as_bps()), "{state:?}");
    assert!((180..=280).contains(&state.packets) && state.packets + state.dropped == 2000, "{state:?}");
    assert_eq!(state.children[0].dropped, state.dropped);
    network.receiver = receiver(&[at(1, false)], 101);
    network.run(Duration::from_ms(100));
    let refused = ParentEvent::Refused(at(1, false), Reason::Rate);
    assert_eq!(network.receiver.take_news(), Some(refused));
}
