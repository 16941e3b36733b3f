//! Packets due at the same time are sent by one system call, and none waits long for others.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use crate::lo::works_here;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_delivery::node::Content;
use layercast_delivery::object::FEC_RAPTORQ;
use layercast_delivery::sender::PacketPayload;
use layercast_delivery::session::Session;
use layercast_protocols::registry::Protocol;
use layercast_transport::Error;
use layercast_transport::host::{Interface, SourceHost};

/// Payload that takes some time to make.
struct Slow(StdDuration);

impl Content for Slow {
    type Error = Error;

    fn next(&mut self, _: Channel, _: Time, room: &mut [u8]) -> Result<PacketPayload, Error> {
        let begin = Instant::now();
        while begin.elapsed() < self.0 {
            std::hint::spin_loop();
        }
        let length = 100.min(room.len());
        room[..length].fill(1);
        Ok(PacketPayload { toi: 1, codepoint: FEC_RAPTORQ, length, ..PacketPayload::default() })
    }
}

/// A source of three layers with 400 packets per second together, 100, 100 and 200. None where the
/// loopback interface carries no multicast.
fn source(number: u8) -> Option<SourceHost> {
    if !works_here() {
        return None;
    }
    let session = Session {
        tsi: 1,
        protocol: "elm".to_owned(),
        source: Ipv4Addr::LOCALHOST.into(),
        group: SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 255, 74, number)), 5500),
        feedback: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9),
        packet: Size::from_bytes(500),
        layers: LayerTable::doubling(Rate::from_kbps(400.0), 3).unwrap(),
        channels: 3,
        agreed: Vec::new(),
        group_key: None,
        salt: None,
        stream: None,
    };
    let protocol = Protocol::named("elm").unwrap();
    let interface = Interface::find(Some("127.0.0.1"), session.group).unwrap();
    let mut host = SourceHost::new(&interface, &protocol, session, 0, 1, 1).unwrap();
    host.start(&mut Slow(StdDuration::ZERO)).unwrap();
    Some(host)
}

/// Packets, and the calls that sent them.
#[derive(Clone, Copy, Debug)]
struct Sent {
    packets: u64,
    calls: u64,
}

fn sent(host: &SourceHost) -> Sent {
    Sent { packets: host.node.counters().packets, calls: host.send_calls() }
}

fn since(host: &SourceHost, before: Sent) -> Sent {
    let after = sent(host);
    Sent { packets: after.packets - before.packets, calls: after.calls - before.calls }
}

/// What one wake-up sends after the source was delayed. A busy machine may delay it so long that it does
/// not catch up, so it is tried again.
fn late_wake(host: &mut SourceHost, content: &mut Slow) -> Sent {
    for _ in 0..20 {
        let (before, refused) = (sent(host), host.node.counters().refused);
        thread::sleep(StdDuration::from_millis(60));
        let now = host.clock().now();
        host.step(now, content).unwrap();
        assert_eq!(host.node.counters().refused, refused);
        let sent = since(host, before);
        if sent.packets >= 10 {
            return sent;
        }
    }
    panic!("never late by less than a tenth of a second: {:?}", host.node.counters());
}

#[test]
fn what_is_due_at_once_goes_by_one_call() {
    let Some(mut host) = source(0) else { return };
    let late = late_wake(&mut host, &mut Slow(StdDuration::ZERO));
    assert!(late.calls <= late.packets / 4, "{late:?}");
    let before = sent(&host);
    host.stop(&mut Slow(StdDuration::ZERO)).unwrap();
    let end = since(&host, before);
    assert!(end.packets > 1 && end.calls < end.packets, "the end: {end:?}");
}

#[test]
fn a_packet_does_not_wait_for_slow_ones() {
    let Some(mut host) = source(1) else { return };
    let late = late_wake(&mut host, &mut Slow(StdDuration::from_micros(300)));
    assert_eq!(late.calls, late.packets);
}

#[test]
fn nothing_goes_before_it_is_due() {
    // From before it starts: a busy machine may come back to this test only later, and then it catches up.
    let begin = std::time::Instant::now();
    let Some(mut host) = source(2) else { return };
    let until = host.clock().now() + Duration::from_ms(500);
    while host.clock().now() < until {
        host.step(until, &mut Slow(StdDuration::ZERO)).unwrap();
    }
    // The last step of a busy machine takes longer.
    let (packets, took) = (host.node.counters().packets as f64, begin.elapsed().as_secs_f64());
    assert!(packets <= 400.0 * took + 3.0, "{packets} packets in {took} s of 400 packets per second");
}
