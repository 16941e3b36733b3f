//! A session with headers as values, as in the simulator, and the same session with every header encoded to
//! bytes and decoded again, as on the wire: both must behave identically, event by event.

#![allow(clippy::unwrap_used)]

mod tree;

use std::collections::HashMap;

use layercast_core::contract::{
    Action, Endpoint, Estimates, Header as _, Host, Input, Origin, Send, Target, TraceEvent, drive,
};
use layercast_core::family::AnyHeader as _;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::packet::{MAX_HEADER, Repr, View};
use layercast_protocols::amca;
use layercast_protocols::registry::{Header, NAMES, Protocol};
use layercast_testkit::{Pair, Path};

use tree::{Link, Tree};

/// An endpoint that receives headers as bytes if `on_wire`, else as values.
struct Recoded<E> {
    endpoint: E,
    on_wire: bool,
    received: u64,
}

/// A data header through a whole packet, and a report through its own encoding.
fn through_bytes(origin: Origin, header: Header) -> Header {
    if let Header::Amca(header) = header {
        // It has its own encoding.
        let mut bytes = Vec::new();
        header.encode(&[], &mut bytes).unwrap();
        return Header::Amca(amca::Header::decode(&bytes).unwrap().0);
    }
    match origin {
        Origin::Channel(_) => {
            let fields = header.to_lct().unwrap();
            let tsi = fields.session.unwrap_or(7);
            let repr = Repr {
                fields,
                tsi,
                toi: 1,
                close_object: false,
                codepoint: 6,
                fdt: None,
                is_compressed: false,
                fti: None,
                poll: None,
                known_level: None,
            };
            let mut room = [0; MAX_HEADER];
            let length = repr.write(&mut room);
            let packet = [&room[..length], &[0; 4]].concat();
            Header::from_lct(&Repr::read(&View::new(&packet).unwrap()).unwrap().fields).unwrap()
        }
        Origin::Peer(_) | Origin::Child(..) => {
            let mut room = [0; MAX_REPORT];
            let length = header.encode_report(&mut room).unwrap();
            Header::decode_report(&room[..length]).unwrap()
        }
    }
}

impl<E: Endpoint<Header = Header>> Endpoint for Recoded<E> {
    type Header = Header;

    fn handle(&mut self, now: Time, mut input: Input<Header>) {
        if let Input::Packet(arrival) = &mut input {
            self.received += 1;
            if self.on_wire {
                arrival.header = through_bytes(arrival.origin, arrival.header);
            }
        }
        self.endpoint.handle(now, input);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.endpoint.poll_action()
    }

    fn deadline(&self) -> Option<Time> {
        self.endpoint.deadline()
    }

    fn estimates(&self, now: Time) -> Estimates {
        self.endpoint.estimates(now)
    }
}

/// What two receivers of a session did in a minute, on paths of 3 % loss and of 600 kbit/s, and how many
/// packets they and the source received.
fn minute(name: &str, on_wire: bool) -> (Vec<String>, u64, u64) {
    let protocol = Protocol::named(name).unwrap();
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 6).unwrap();
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let receiver = |seed| {
        let endpoint = protocol.receiver(plan.clone(), Stream::new(seed, "receiver"));
        Recoded { endpoint, on_wire, received: 0 }
    };
    let lossy = Path { loss: 0.03, ..Path::default() };
    let narrow = Path { rate: Some(Rate::from_kbps(600.0)), ..Path::default() };
    let source =
        Recoded { endpoint: protocol.source(plan.clone(), Stream::new(3, "source")), on_wire, received: 0 };
    let mut pair =
        Pair::new(source, vec![(receiver(1), lossy), (receiver(2), narrow)], Time::from_ns(5_000), 9);
    pair.run(Duration::from_secs(60));
    let log = (0..2)
        .map(|index| format!("{:?} {:?}", pair.record(index), pair.receiver(index).estimates(pair.now())))
        .collect();
    let received = (0..2).map(|index| pair.receiver(index).received).sum();
    (log, received, pair.source().received)
}

#[test]
fn every_protocol_does_the_same_with_values_and_with_bytes() {
    // Those with routers are in the test below.
    for name in NAMES.iter().filter(|name| !Protocol::named(name).unwrap().requirements().has_routers()) {
        let (values, heard, reports) = minute(name, false);
        assert_eq!(minute(name, true), (values, heard, reports), "{name}");
        assert!(heard > 1000, "{name}: {heard} packets");
        let has_feedback = Protocol::named(name).unwrap().wire_numbers().report.is_some();
        // RLM's receivers announce nothing but their experiments: a few in a minute.
        assert_eq!(reports >= 5, has_feedback, "{name}: {reports} reports");
    }
}

/// A session over a tree of relays: the source, a relay A, below it a relay B with two receivers and a relay C, and below C a
/// receiver. Packets are lost on most links, in both directions.
fn over_relays(name: &str, plain: &[usize], on_wire: bool) -> Tree {
    let protocol = Protocol::named(name).unwrap();
    let layers = LayerTable::doubling(Rate::from_kbps(1000.0), 1).unwrap();
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let link = |ms: u64, down, up| Link { delay: Duration::from_us(ms * 1000 + 17), loss: (down, up) };
    let parents = [0, 1, 1, 2, 2, 3];
    let links = [
        link(20, 0.0, 0.0),
        link(5, 0.01, 0.005),
        link(9, 0.0, 0.0),
        link(3, 0.015, 0.01),
        link(4, 0.0, 0.0),
        link(30, 0.02, 0.01),
    ];
    let mut tree = Tree::new(&protocol, &plan, (&parents, &links), plain, (PIECES, on_wire));
    // AMCA is slow where much is lost.
    for _ in 0..MINUTES {
        tree.run(Duration::from_secs(60));
        if tree.delivered().iter().all(|&count| count == PIECES) {
            break;
        }
    }
    tree
}

const PIECES: u64 = 600;
const MINUTES: u64 = 60;

/// Relays host the routers of a protocol, and packets cross between them as bytes with their payload: everything that any
/// endpoint is given or does is as with values.
#[test]
fn protocols_with_routers_do_the_same_over_relays() {
    let names = NAMES.iter().filter(|name| Protocol::named(name).unwrap().requirements().has_routers());
    let names: Vec<&str> = names.copied().collect();
    assert_eq!(names, ["nca", "amca"]);
    for name in names {
        // All relays take part; then B does not.
        for plain in [&[][..], &[2]] {
            let (values, bytes) = (over_relays(name, plain, false), over_relays(name, plain, true));
            for (node, (value, byte)) in values.logs().into_iter().zip(bytes.logs()).enumerate() {
                let differs = value.iter().zip(byte).position(|(value, byte)| value != byte);
                assert_eq!(
                    differs.map(|at| (&value[at], &byte[at])),
                    None,
                    "{name}, node {node}: what came first was different"
                );
                assert_eq!(value.len(), byte.len(), "{name}, node {node}");
            }
            assert_eq!(bytes.delivered(), [PIECES; 3], "{name}, without routers at {plain:?}");
            assert!(bytes.repairs_of_routers() > 10, "{name}: {}", bytes.repairs_of_routers());
        }
    }
}

/// The transport counts lost packets by the last 16 bits of the congestion control information.
#[test]
fn every_protocol_numbers_the_packets_of_a_channel() {
    for name in NAMES.iter().filter(|name| !Protocol::named(name).unwrap().requirements().has_routers()) {
        let mut protocol = Protocol::named(name).unwrap();
        // Sources that wait for a receiver announce themselves twice per second.
        protocol.deploy();
        // WEBRC makes its layers itself.
        let count = if *name == "webrc" { 1 } else { 3 };
        let layers = LayerTable::doubling(Rate::from_kbps(256.0), count).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let mut source = protocol.source(plan.clone(), Stream::new(3, "source"));
        let mut newest = HashMap::new();
        let (mut now, mut consecutive) = (Time::ZERO, 0);
        let mut numbers = Numbers(Vec::new());
        let mut deadline = drive(&mut source, now, Input::Start, &mut numbers);
        while let Some(at) = deadline.filter(|&at| at < Time::ZERO + Duration::from_secs(5)) {
            now = at;
            deadline = drive(&mut source, now, Input::Timer, &mut numbers);
        }
        for (channel, number) in numbers.0 {
            if let Some(before) = newest.insert(channel, number) {
                assert_eq!(number, u16::wrapping_add(before, 1), "{name}, channel {channel:?}");
                consecutive += 1;
            }
        }
        assert!(consecutive >= 3, "{name}: {consecutive}");
    }
}

/// The numbers of what a source sends, by channel.
struct Numbers(Vec<(Channel, u16)>);

impl Host<Header> for Numbers {
    fn send(&mut self, send: Send<Header>) {
        let Target::Channel(channel) = send.target else { return };
        for index in 0..send.count {
            let header = if index == 0 { send.header } else { send.header.nth(index) };
            if let Some(fields) = header.to_lct().filter(|_| header.channel().is_some()) {
                self.0.push((channel, fields.cci.number()));
            }
        }
    }

    fn join(&mut self, _channel: Channel) {}

    fn leave(&mut self, _channel: Channel) {}

    fn trace(&mut self, _event: TraceEvent) {}
}
