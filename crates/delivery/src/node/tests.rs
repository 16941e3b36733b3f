//! A source and a receiver over a wire of memory, in steps of a millisecond.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::contract::{Ecn, JoinError};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_protocols::registry::{Protocol, Registry};

use super::{Content, LevelDemand, SessionOutput, SessionReceiver, Source};
use crate::accept::Incoming;
use crate::object::{FEC_NO_CODE, FEC_RAPTORQ, TOI_TABLE};
use crate::packet::Fdt;
use crate::security::any_session::AnySession;
use crate::security::keys::GroupKey;
use crate::security::protection::ProtectError;
use crate::security::sequence::{SEQUENCE_MAX, Sequence};
use crate::sender::PacketPayload;
use crate::session::Session;

const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

/// Tables in the base layer, symbols in all others.
struct Bytes;

impl Content for Bytes {
    type Error = ProtectError;

    fn next(&mut self, channel: Channel, _: Time, room: &mut [u8]) -> Result<PacketPayload, ProtectError> {
        let length = 100.min(room.len());
        let load = match channel {
            Channel(0) => PacketPayload {
                toi: TOI_TABLE,
                codepoint: FEC_NO_CODE,
                fdt: Some(Fdt::new(1)),
                ..PacketPayload::default()
            },
            _ => PacketPayload { toi: 1, codepoint: FEC_RAPTORQ, ..PacketPayload::default() },
        };
        Ok(PacketPayload { length, ..load })
    }
}

/// A protocol; of `fixed` all layers are held.
fn protocol(name: &str, layers: u16) -> Protocol {
    let mut protocol = Protocol::named(name).expect("a protocol");
    protocol.deploy();
    if name == "fixed" {
        let level = (layers - 1).to_string();
        protocol.set("level", RawValue::from_text(&level)).expect("a level");
    }
    protocol
}

fn session(protocol: &Protocol, layers: u16) -> Session {
    let layers = LayerTable::doubling(Rate::from_kbps(200.0), layers).expect("layers");
    let packet = Size::from_bytes(500);
    let plan = SessionPlan { layers: layers.clone(), packet_size: packet };
    let needs = protocol.requirements();
    let agreed = needs.agreed().iter().filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?)));
    Session {
        tsi: 1,
        protocol: protocol.name().to_owned(),
        source: SOURCE,
        group: "239.1.2.0:5500".parse().expect("a group"),
        feedback: SocketAddr::new(SOURCE, 9000),
        packet,
        channels: needs.channels(&plan),
        agreed: agreed.collect(),
        group_key: None,
        salt: None,
        stream: None,
        layers,
    }
}

fn receiver_at(number: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 100 + number)), 5000)
}

struct Wire {
    source: Source<Registry>,
    receiver: SessionReceiver<Registry>,
    room: Vec<u8>,
    now: Time,
    joined: Vec<Channel>,
    /// Of each packet that was sent its channel.
    sent: Vec<Channel>,
    accepted: usize,
    /// What the receiver said.
    said: Vec<Vec<u8>>,
}

impl Wire {
    fn new(
        name: &str,
        layers: u16,
        prepare: impl FnOnce(&mut Source<Registry>, &mut SessionReceiver<Registry>),
    ) -> Wire {
        let protocol = protocol(name, layers);
        let source = Source::new(&protocol, session(&protocol, layers), Stream::new(1, "source"));
        let mut source = source.expect("a session");
        let mut receiver = SessionReceiver::new(&protocol, source.session().clone(), 2);
        prepare(&mut source, &mut receiver);
        source.start(Time::ZERO);
        receiver.start(Time::ZERO);
        let room = vec![0; source.room()];
        let mut wire = Wire {
            source,
            receiver,
            room,
            now: Time::ZERO,
            joined: Vec::new(),
            sent: Vec::new(),
            accepted: 0,
            said: Vec::new(),
        };
        wire.carry_out();
        wire
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.receiver.poll() {
            match output {
                SessionOutput::Join(channel) => self.joined.push(channel),
                SessionOutput::Leave(channel) => self.joined.retain(|joined| *joined != channel),
                SessionOutput::Report(message) | SessionOutput::Send(message) => {
                    self.said.push(message.bytes().to_vec())
                }
            }
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += Duration::from_ms(1);
            self.source.handle_timer(self.now, &mut Bytes);
            self.send();
            self.receiver.handle_timer(self.now);
            self.carry_out();
            for message in std::mem::take(&mut self.said) {
                self.hear(receiver_at(0), &message);
            }
        }
    }

    fn hear(&mut self, from: SocketAddr, bytes: &[u8]) {
        let incoming = Incoming { from, channel: None, is_cut: false };
        self.source.handle(self.now, incoming, Ecn::NotCapable, bytes);
        self.send();
    }

    fn send(&mut self) {
        while let Some(packet) = self.source.poll(self.now, &mut self.room, &mut Bytes).expect("payload") {
            let Some(channel) = packet.channel else {
                assert!(self.receiver.is_refusal(&self.room[packet.place]));
                continue;
            };
            self.source.sent(packet.place.len());
            self.sent.push(channel);
            if self.joined.contains(&channel) {
                let mut bytes = self.room[packet.place].to_vec();
                let incoming =
                    Incoming { from: self.source.session().feedback, channel: Some(channel), is_cut: false };
                let accepted = self.receiver.handle(self.now, incoming, Ecn::Capable, &mut bytes);
                self.accepted += usize::from(accepted.is_some());
                self.carry_out();
            }
        }
    }

    /// How many channels packets were sent on in the next second.
    fn channels(&mut self) -> usize {
        self.sent.clear();
        self.run(Duration::from_secs(1));
        self.sent.sort_unstable();
        self.sent.dedup();
        self.sent.len()
    }
}

#[test]
fn packets_are_taken_with_the_key_of_the_session_alone() {
    let key = |number: u8| GroupKey::from_seed(&[number; 32]);
    for (of_receiver, fits) in [(key(1), true), (key(2), false)] {
        let mut wire = Wire::new("elm", 3, |source, receiver| {
            let mut numbers = Sequence::after(0);
            numbers.grant(SEQUENCE_MAX);
            source.protect(&key(1), numbers);
            receiver.protect(&mut AnySession::new(of_receiver.clone(), None));
        });
        wire.run(Duration::from_secs(5));
        let counters = *wire.receiver.protection().expect("it checks");
        assert_eq!(wire.accepted > 100, fits, "{counters:?}");
        assert_eq!(counters.forged() > 100, !fits, "{counters:?}");
        assert_eq!(wire.source.counters().reports > 0, fits, "what it says has a tag of the same key");
        let before = wire.source.counters().forged_feedback;
        wire.hear(receiver_at(0), &[1, 2, 3]);
        assert_eq!(wire.source.counters().forged_feedback, before + 1);
    }
}

/// A forged packet of another session must not make a receiver leave its own, which is silent for a while.
#[test]
fn only_an_authentic_session_may_take_the_place_of_a_silent_one() {
    let key = |number: u8| GroupKey::from_seed(&[number; 32]);
    for (of_other, may_be_followed) in [(key(1), true), (key(2), false)] {
        let mut wire =
            Wire::new("elm", 3, |_, receiver| receiver.protect(&mut AnySession::new(key(1), None)));
        let protocol = protocol("elm", 3);
        // Its source draws another number.
        let other = Source::new(&protocol, session(&protocol, 3), Stream::new(9, "source"));
        wire.source = other.expect("a session");
        let mut numbers = Sequence::after(0);
        numbers.grant(SEQUENCE_MAX);
        wire.source.protect(&of_other, numbers);
        wire.source.start(wire.now);
        // While its own session may go on, it does not look.
        wire.run(Duration::from_ms(900));
        assert!(
            wire.receiver.take_foreign_sender().is_some_and(|foreign_sender| !foreign_sender.may_be_followed)
        );
        wire.run(Duration::from_secs(1));
        let foreign_sender = wire.receiver.take_foreign_sender().expect("packets came");
        assert_eq!((foreign_sender.from, foreign_sender.may_be_followed), (SOURCE, may_be_followed));
        assert_eq!(wire.receiver.counters().authentic_others > 0, may_be_followed);
    }
}

#[test]
fn levels_are_sent_while_a_receiver_is_there() {
    let mut wire = Wire::new("fixed", 4, |source, receiver| {
        source.bound(Time::ZERO, true);
        receiver.say_demand(LevelDemand::new(3));
    });
    let joined = std::mem::take(&mut wire.joined);
    assert_eq!(wire.channels(), 1, "nobody is heard");
    wire.joined = joined;
    wire.run(Duration::from_secs(3));
    assert_eq!(wire.channels(), 4);
    assert!(wire.source.counters().demands > 0);
    wire.receiver.stop(wire.now);
    wire.carry_out();
    assert!(wire.said.len() >= 2, "it says twice that it leaves");
    assert!(wire.joined.is_empty());
    wire.run(Duration::from_secs(10));
    assert_eq!(wire.channels(), 1, "the last has left");
    wire.run(Duration::from_secs(40));
    wire.sent.clear();
    wire.run(Duration::from_secs(9));
    assert!((1..=4).contains(&wire.sent.len()), "{} packets in nine seconds to nobody", wire.sent.len());
}

#[test]
fn a_receiver_that_rests_keeps_the_base_and_begins_again() {
    let mut wire = Wire::new("fixed", 3, |_, _| {});
    wire.run(Duration::from_secs(1));
    assert_eq!(wire.joined.len(), 3);
    for _ in 0..2 {
        wire.receiver.set_rest(wire.now, true);
        wire.carry_out();
    }
    assert_eq!(wire.joined, [Channel(0)]);
    let before = wire.accepted;
    wire.run(Duration::from_secs(1));
    assert!(wire.accepted > before, "packets of the base are taken");
    wire.receiver.set_rest(wire.now, false);
    wire.carry_out();
    wire.run(Duration::from_secs(1));
    assert_eq!(wire.joined.len(), 3);
}

#[test]
fn a_join_that_fails_is_none() {
    let mut wire = Wire::new("fixed", 3, |_, receiver| receiver.keep_log());
    wire.run(Duration::from_ms(10));
    let top = *wire.joined.last().expect("it joins");
    let joins = wire.receiver.drain_log().count();
    wire.receiver.join_failed(top, JoinError::Limit);
    wire.carry_out();
    assert!(joins > 0 && wire.receiver.held().all(|channel| channel != top));
    assert_eq!(wire.receiver.counters().failed_joins, 1);
}

#[test]
fn a_second_receiver_of_a_protocol_for_one_is_refused() {
    let mut wire = Wire::new("tfrc", 1, |_, _| {});
    wire.now = Time::ZERO;
    let report = loop {
        wire.now += Duration::from_ms(1);
        wire.source.handle_timer(wire.now, &mut Bytes);
        wire.send();
        wire.receiver.handle_timer(wire.now);
        wire.carry_out();
        if let Some(report) = wire.said.pop() {
            break report;
        }
        assert!(wire.now < Time::ZERO + Duration::from_secs(10), "no report");
    };
    wire.hear(receiver_at(0), &report);
    wire.hear(receiver_at(1), &report);
    wire.hear(receiver_at(2), &report[..report.len() - 1]);
    let counters = wire.source.counters();
    assert_eq!((counters.reports, counters.turned_away, counters.bad_feedback), (1, 1, 1));
    assert_eq!(wire.source.take_turned_away(), Some(receiver_at(1)));
}
