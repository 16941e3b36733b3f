//! Sessions that come through relays: what is counted for whom.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use layercast_core::units::{Channel, Duration as Span, Rate, Time};
use layercast_emulator::{HopPlan, Host, ReceiverPlan, Report, SessionPlan};
use layercast_simulator::{Latency, Network};
use nix::sys::socket::{setsockopt, sockopt};

use crate::lab::{emulation, run_for, run_while, slow_link};

const PORT: u16 = 5600;
/// What stands before a packet here: a letter and its channel.
const HEAD: usize = 2;
const LENGTH: usize = 1000;

fn read(bytes: &[u8]) -> Option<(Channel, usize)> {
    match bytes {
        [b'D', channel, ..] => Some((Channel(u16::from(*channel)), HEAD)),
        _ => None,
    }
}

fn packet(kind: u8, channel: u8) -> [u8; HEAD + LENGTH] {
    let mut bytes = [0; HEAD + LENGTH];
    bytes[..HEAD].copy_from_slice(&[kind, channel]);
    bytes
}

fn socket(host: &Host) -> UdpSocket {
    let socket = host.run(|| UdpSocket::bind(("0.0.0.0", PORT)).unwrap()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    // A reader that a busy machine lets wait loses nothing.
    setsockopt(&socket, sockopt::RcvBufForce, &(1 << 20)).unwrap();
    socket
}

fn at(host: &Host) -> SocketAddr {
    SocketAddr::new(host.ipv4().into(), PORT)
}

/// How many packets of each channel come until none does.
fn received(socket: &UdpSocket) -> [u64; 2] {
    let (mut counts, mut room) = ([0; 2], [0; 2000]);
    while let Ok(length) = socket.recv(&mut room) {
        if let Some((channel, _)) = read(&room[..length]) {
            counts[channel.index()] += 1;
        }
    }
    counts
}

#[test]
fn packets_through_relays_count_for_the_receivers_below() {
    let mut network = Network::new();
    let nodes = ["source", "relay", "receiver"].map(|name| network.add_node(name));
    for ends in nodes.windows(2) {
        let link = slow_link(Rate::from_mbps(10.0), 20);
        network.add_link(ends[0], ends[1], link.clone(), link).unwrap();
    }
    let places = [(nodes[0], "source"), (nodes[1], "relay"), (nodes[2], "receiver")];
    let Some((mut emulation, hosts)) = emulation(network, &places) else { return };
    let [source, relay, receiver] = &hosts[..] else { panic!("three hosts") };
    let plan = SessionPlan {
        name: "session".to_owned(),
        source: source.id(),
        groups: ["239.1.1.1", "239.1.1.2"].map(|group| group.parse().unwrap()).to_vec(),
        receivers: vec![ReceiverPlan {
            host: receiver.id(),
            join_latency: Latency::NONE,
            leave_latency: Latency::NONE,
        }],
        start: Time::ZERO,
        stop: None,
    };
    let id = emulation.add_session(plan).unwrap()[0];
    let hop = |from: &Host, to: &Host, end| HopPlan {
        from: from.id(),
        to: to.id(),
        port: PORT,
        below: vec![id],
        end,
    };
    emulation.add_hops(vec![hop(source, relay, None), hop(relay, receiver, Some(id))], read).unwrap();
    emulation.reports().send(Report::Join(id, Channel(0))).unwrap();
    run_for(&mut emulation, Span::from_ms(20));

    // The queue between source and relay holds 100 packets. Every third is of a channel that nobody holds.
    let (above, between, below) = (socket(source), socket(relay), socket(receiver));
    let at_relay = run_while(&mut emulation, || {
        for number in 0..300 {
            above.send_to(&packet(b'D', u8::from(number % 3 == 0)), at(relay)).unwrap();
        }
        received(&between)
    });
    let counters = emulation.simulation().receiver_counters(id);
    assert!(at_relay[0] >= 60 && at_relay[0] < 200, "{at_relay:?}");
    assert_eq!((counters.lost_packets, counters.received_packets), (200 - at_relay[0], 0));

    let at_receiver = run_while(&mut emulation, || {
        for (kind, channel, count) in [(b'D', 0, 10), (b'D', 1, 5), (b'X', 0, 3)] {
            for _ in 0..count {
                between.send_to(&packet(kind, channel), at(receiver)).unwrap();
            }
        }
        received(&below)
    });
    assert_eq!(at_receiver, [10, 5]);
    let counters = emulation.simulation().receiver_counters(id);
    let size = 28 + LENGTH as u64;
    assert_eq!((counters.received_packets, counters.received_bytes), (10, 10 * size));
    assert_eq!(counters.late_bytes, 5 * size, "a channel that it does not hold");
    assert_eq!(counters.lost_packets, 200 - at_relay[0]);
    let asked = emulation.simulation().memberships(id);
    assert_eq!((asked.joins, asked.leaves), (1, 0));
}
