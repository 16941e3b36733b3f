//! A source on real sockets stays under its rate in any five seconds, by the kernel's times of its packets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as StdDuration;

use crate::lo::works_here;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Level, Rate, Size, Time};
use layercast_delivery::node::Content;
use layercast_delivery::object::FEC_RAPTORQ;
use layercast_delivery::sender::PacketPayload;
use layercast_delivery::session::Session;
use layercast_protocols::registry::Protocol;
use layercast_transport::Error;
use layercast_transport::host::{Clock, Inbox, Interface, SourceHost, open_group};

/// How long the source sends.
const LENGTH: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(5);
const CHANNELS: u16 = 3;
const PACKET: u32 = 1000;
/// The headers of IPv4 and UDP.
const IP_UDP: usize = 28;
/// How much of a delay a source makes up for.
const CATCHES_UP: Duration = Duration::from_ms(100);

/// Symbols that fill their packets.
struct Full;

impl Content for Full {
    type Error = Error;

    fn next(&mut self, _: Channel, _: Time, room: &mut [u8]) -> Result<PacketPayload, Error> {
        let length = 900.min(room.len());
        room[..length].fill(1);
        Ok(PacketPayload { toi: 1, codepoint: FEC_RAPTORQ, length, ..PacketPayload::default() })
    }
}

/// Symbols that take longer than there is time for them.
struct Slow;

impl Content for Slow {
    type Error = Error;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<PacketPayload, Error> {
        thread::sleep(StdDuration::from_millis(5));
        Full.next(channel, now, room)
    }
}

fn session(group: Ipv4Addr) -> Session {
    Session {
        salt: None,
        tsi: 1,
        protocol: "elm".to_owned(),
        source: Ipv4Addr::LOCALHOST.into(),
        group: SocketAddr::new(IpAddr::V4(group), 5500),
        feedback: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9),
        packet: Size::from_bytes(PACKET),
        layers: LayerTable::doubling(Rate::from_kbps(800.0), CHANNELS).unwrap(),
        channels: CHANNELS,
        agreed: Vec::new(),
        group_key: None,
        stream: None,
    }
}

/// The most packets in any window; one with the most begins with a packet.
fn most(times: &[Time]) -> usize {
    let mut first = 0;
    let in_window = |(last, &at): (usize, &Time)| {
        while at.since(times[first]) >= WINDOW {
            first += 1;
        }
        last + 1 - first
    };
    times.iter().enumerate().map(in_window).max().unwrap_or(0)
}

#[test]
fn a_source_stays_under_its_rate_in_any_five_seconds() {
    if !works_here() {
        return;
    }
    let session = session(Ipv4Addr::new(239, 255, 76, 0));
    let interface = Interface::find(Some("127.0.0.1"), session.group).unwrap();
    let sockets: Vec<_> = (0..CHANNELS)
        .map(|channel| open_group(&interface, session.address(Channel(channel)).unwrap(), None).unwrap())
        .collect();
    let protocol = Protocol::named("elm").unwrap();
    let is_over = AtomicBool::new(false);
    let clock = Clock::default();
    let mut seen: Vec<(Time, u16, usize)> = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut host = SourceHost::new(&interface, &protocol, session.clone(), 0, 1, 1).unwrap();
            host.start(&mut Full).unwrap();
            let until = host.clock().now() + LENGTH;
            while host.clock().now() < until {
                host.step(until, &mut Full).unwrap();
            }
            thread::sleep(StdDuration::from_millis(100));
            is_over.store(true, Ordering::Relaxed);
        });
        let mut inbox = Inbox::new(PACKET as usize);
        while !is_over.load(Ordering::Relaxed) {
            for (channel, socket) in (0..CHANNELS).zip(&sockets) {
                inbox.clear();
                inbox.drain(socket, Some(Channel(channel)), &clock).unwrap();
                for index in 0..inbox.len() {
                    let (datagram, bytes) = inbox.get(index).unwrap();
                    seen.push((datagram.at, channel, bytes.len() + IP_UDP));
                }
            }
            thread::sleep(StdDuration::from_millis(2));
        }
    });
    seen.sort_unstable();
    let whole = session.layers.top_rate().as_bps() / 8.0 / f64::from(PACKET) * LENGTH.as_secs_f64();
    // A busy machine may let it send less, and nothing here would be tested.
    assert!(seen.len() as f64 > whole / 2.0, "{} of {whole} packets", seen.len());
    assert!(seen.iter().all(|&(_, _, size)| size <= PACKET as usize));
    for channel in 0..CHANNELS {
        let times: Vec<Time> = seen.iter().filter(|&&(_, of, _)| of <= channel).map(|&(at, ..)| at).collect();
        let rate = session.layers.rate_of(Level::from_count(channel + 1)).as_bps() / 8.0 / f64::from(PACKET);
        let allowed = rate * (WINDOW + CATCHES_UP).as_secs_f64() + f64::from(channel + 1);
        let most = most(&times);
        eprintln!(
            "layers up to {channel}: {most} packets in a window, {:.0} by the rate",
            rate * WINDOW.as_secs_f64()
        );
        // One more of each layer, as a window may begin with one, and what a delayed source makes up for.
        assert!(most as f64 <= allowed, "layers up to {channel}: {most} packets, {allowed} allowed");
    }
}

#[test]
fn a_source_knows_that_it_does_not_keep_its_rates() {
    if !works_here() {
        return;
    }
    let session = session(Ipv4Addr::new(239, 255, 77, 0));
    let interface = Interface::find(Some("127.0.0.1"), session.group).unwrap();
    let protocol = Protocol::named("elm").unwrap();
    let mut host = SourceHost::new(&interface, &protocol, session, 0, 1, 1).unwrap();
    host.start(&mut Slow).unwrap();
    assert_eq!(host.node.take_lateness(), Duration::ZERO);
    // 400 packets a second that take 5 ms each.
    let until = host.clock().now() + Duration::from_secs(2);
    while host.clock().now() < until {
        host.step(until, &mut Slow).unwrap();
    }
    let late = host.node.take_lateness();
    assert!(late >= Duration::from_ms(20), "{late:?}");
}
