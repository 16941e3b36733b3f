//! A session with headers as values, as in the simulator, and the same session with every header encoded to
//! bytes and decoded again, as on the wire: both must behave identically, event by event.

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
use layercast_protocols::active;
use layercast_protocols::registry::{Header, NAMES, Protocol};
use layercast_testkit::{Pair, Path};

/// An endpoint that receives headers as bytes if `on_wire`, else as values.
struct Recoded<E> {
    endpoint: E,
    on_wire: bool,
    received: u64,
}

/// A data header through a whole packet, and a report through its own encoding.
fn through_bytes(origin: Origin, header: Header) -> Header {
    if matches!(header, Header::Amca(_) | Header::Nca(_)) {
        // Protocols with routers have packets of their own.
        let mut bytes = Vec::new();
        active::encode(&header, &[], &mut bytes).unwrap();
        return active::decode(&bytes).unwrap().0;
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
    // Those with routers: below.
    for name in NAMES.iter().filter(|name| !Protocol::named(name).unwrap().requirements().has_routers()) {
        let (values, heard, reports) = minute(name, false);
        assert_eq!(minute(name, true), (values, heard, reports), "{name}");
        assert!(heard > 1000, "{name}: {heard} packets");
        let has_feedback = Protocol::named(name).unwrap().wire_numbers().report.is_some();
        // RLM's receivers announce nothing but their experiments: a few in a minute.
        assert_eq!(reports >= 5, has_feedback, "{name}: {reports} reports");
    }
}

#[test]
fn protocols_with_routers_do_the_same_with_values_and_with_bytes() {
    for name in NAMES.iter().filter(|name| Protocol::named(name).unwrap().requirements().has_routers()) {
        let values = tree::run(name, false);
        assert!(
            values.delivered.iter().all(|&chunks| chunks >= tree::PIECES),
            "{name}: {:?}",
            values.delivered
        );
        assert!(values.repairs > 20, "{name}: {} repairs", values.repairs);
        assert!(values.from_routers > 0, "{name}: nothing went down from a router");
        let bytes = tree::run(name, true);
        for (index, (value, byte)) in values.log.iter().zip(&bytes.log).enumerate() {
            assert_eq!(value, byte, "{name}, event {index}");
        }
        assert_eq!(values, bytes, "{name}");
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
