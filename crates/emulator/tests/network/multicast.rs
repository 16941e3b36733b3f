//! Joins and leaves of real sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use layercast_core::units::{Duration as Span, Rate, Time};
use layercast_emulator::{Emulation, Host, ReceiverPlan, SessionPlan};
use layercast_simulator::{Network, ReceiverId};
use socket2::SockRef;

use crate::lab::{emulation, run_for, run_while, slow_link};

const JOIN: Span = Span::from_ms(200);
const LEAVE: Span = Span::from_ms(300);
const PORT: u16 = 5500;

/// A source and two receivers behind a router, with links of 20 ms, and a session with this group. The second
/// receiver does nothing.
fn star(group: IpAddr) -> Option<(Emulation, Vec<Host>, Vec<ReceiverId>)> {
    let mut network = Network::new();
    let nodes = ["source", "one", "other", "router"].map(|name| network.add_node(name));
    for node in &nodes[..3] {
        let link = slow_link(Rate::from_mbps(100.0), 20);
        network.add_link(*node, nodes[3], link.clone(), link).unwrap();
    }
    let (mut emulation, hosts) =
        emulation(network, &[(nodes[0], "source"), (nodes[1], "one"), (nodes[2], "other")])?;
    let receivers = hosts[1..].iter().map(|host| ReceiverPlan {
        host: host.id(),
        join_latency: JOIN.into(),
        leave_latency: LEAVE.into(),
    });
    let plan = SessionPlan {
        name: "session".to_owned(),
        source: hosts[0].id(),
        groups: vec![group],
        receivers: receivers.collect(),
        start: Time::ZERO,
        stop: None,
    };
    let ids = emulation.add_session(plan).unwrap();
    Some((emulation, hosts, ids))
}

fn interface(host: &Host) -> u32 {
    host.run(|| nix::net::if_::if_nametoindex(host.interface()).unwrap()).unwrap()
}

/// A source sends a packet every 2 ms, a receiver joins, waits for a packet, and leaves.
fn join_and_leave(group: IpAddr, is_source_specific: bool) {
    let Some((mut emulation, hosts, ids)) = star(group) else { return };
    let to = SocketAddr::new(group, PORT);
    let any = if group.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let source = hosts[0].run(|| UdpSocket::bind(any).unwrap()).unwrap();
    SockRef::from(&source).set_multicast_ttl_v4(8).unwrap();
    if group.is_ipv6() {
        SockRef::from(&source).set_multicast_hops_v6(8).unwrap();
    }
    let sink = hosts[1].run(|| UdpSocket::bind(to).unwrap()).unwrap();
    sink.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (socket, index) = (SockRef::from(&sink), interface(&hosts[1]));
    let change = |joins: bool| match (group, is_source_specific) {
        (IpAddr::V4(group), true) if joins => {
            socket.join_ssm_v4(&hosts[0].ipv4(), &group, &hosts[1].ipv4()).unwrap();
        }
        (IpAddr::V4(group), true) => {
            socket.leave_ssm_v4(&hosts[0].ipv4(), &group, &hosts[1].ipv4()).unwrap();
        }
        (IpAddr::V4(group), false) if joins => {
            socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED).unwrap()
        }
        (IpAddr::V4(group), false) => socket.leave_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED).unwrap(),
        (IpAddr::V6(group), _) if joins => socket.join_multicast_v6(&group, index).unwrap(),
        (IpAddr::V6(group), _) => socket.leave_multicast_v6(&group, index).unwrap(),
    };
    let done = AtomicBool::new(false);
    let (took, late, later) = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                source.send_to(&[1; 100], to).unwrap();
                thread::sleep(Duration::from_millis(2));
            }
        });
        run_for(&mut emulation, Span::from_ms(100));
        let took = run_while(&mut emulation, || {
            let start = Instant::now();
            change(true);
            sink.recv(&mut [0; 200]).unwrap();
            start.elapsed()
        });
        run_for(&mut emulation, Span::from_ms(100));
        change(false);
        wait_for_leave(&mut emulation, ids[0]);
        // Leave latency, and once there and back.
        run_for(&mut emulation, Span::from_ms(800));
        let late = emulation.simulation().receiver_counters(ids[0]).late_bytes;
        run_for(&mut emulation, Span::from_ms(300));
        let later = emulation.simulation().receiver_counters(ids[0]).late_bytes;
        done.store(true, Ordering::Relaxed);
        (took, late, later)
    });
    // The join's latency, the graft's way up to the source, and a packet's way down.
    assert!(took >= Duration::from_millis(280), "{took:?}");
    let packet = if group.is_ipv4() { 128 } else { 148 };
    assert!(late >= 30 * packet, "{late} bytes are few for 300 ms after the leave");
    assert_eq!(late, later, "the branch was pruned");
    let simulation = emulation.simulation();
    let asked = simulation.memberships(ids[0]);
    assert_eq!((asked.joins, asked.leaves), (1, 1));
    assert!(simulation.receiver_counters(ids[0]).received_packets >= 10);
    assert_eq!(simulation.memberships(ids[1]).joins, 0);
    assert_eq!(simulation.receiver_counters(ids[1]), Default::default());
}

#[test]
fn a_socket_joins_and_leaves_a_group() {
    join_and_leave([239, 1, 2, 3].into(), false);
}

#[test]
fn a_socket_joins_and_leaves_a_group_of_one_source() {
    join_and_leave([232, 1, 2, 3].into(), true);
}

#[test]
fn a_socket_joins_and_leaves_a_group_of_ipv6() {
    join_and_leave("ff0e::1:2".parse().unwrap(), false);
}

/// A socket that wants a group of another source gets nothing.
#[test]
fn a_join_of_another_source_joins_nothing() {
    let group = Ipv4Addr::new(232, 1, 2, 3);
    let Some((mut emulation, hosts, ids)) = star(group.into()) else { return };
    let sink = hosts[1].run(|| UdpSocket::bind((group, PORT)).unwrap()).unwrap();
    SockRef::from(&sink).join_ssm_v4(&hosts[2].ipv4(), &group, &hosts[1].ipv4()).unwrap();
    run_for(&mut emulation, Span::from_ms(50));
    assert_eq!(emulation.simulation().memberships(ids[0]).joins, 0);
    // That kernel reports both sources when a second socket wants the right one.
    let other = hosts[1].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    SockRef::from(&other).join_ssm_v4(&hosts[0].ipv4(), &group, &hosts[1].ipv4()).unwrap();
    run_for(&mut emulation, Span::from_ms(50));
    assert_eq!(emulation.simulation().memberships(ids[0]).joins, 1);
}

/// A program that knows nothing of sessions sends to a group of its own, and others join it.
#[test]
fn a_group_of_no_session_is_carried_too() {
    let Some((mut emulation, hosts, _)) = star([239, 1, 2, 3].into()) else { return };
    let group = Ipv4Addr::new(239, 9, 9, 9);
    let sink = hosts[1].run(|| UdpSocket::bind((group, PORT)).unwrap()).unwrap();
    sink.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED).unwrap();
    sink.set_nonblocking(true).unwrap();
    // Any host may send to it.
    for sender in [&hosts[2], &hosts[0]] {
        let socket = sender.run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
        socket.set_multicast_ttl_v4(2).unwrap();
        for _ in 0..100 {
            socket.send_to(&[sender.id().0 as u8], (group, PORT)).unwrap();
            run_for(&mut emulation, Span::from_ms(2));
        }
        run_for(&mut emulation, Span::from_ms(100));
        let (mut bytes, mut count) = ([0; 10], 0);
        while let Ok((length, from)) = sink.recv_from(&mut bytes) {
            assert_eq!((length, from.ip()), (1, IpAddr::from(sender.ipv4())));
            count += 1;
        }
        // Those before the graft has come are lost.
        assert!((1..100).contains(&count), "{count}");
    }
}

/// The kernel reports a leave within a second or so (RFC 3810, section 9.11).
fn wait_for_leave(emulation: &mut Emulation, receiver: ReceiverId) {
    for _ in 0..1000 {
        if emulation.simulation().memberships(receiver).leaves > 0 {
            return;
        }
        run_for(emulation, Span::from_ms(10));
    }
}

/// IPv6 from one source: the standard library has no such join, so a small program asks the kernel for it.
#[test]
fn a_socket_joins_a_group_of_one_source_of_ipv6() {
    const PROGRAM: &str = r#"
import socket, struct, sys, time
group, source, device = sys.argv[1:]
sink = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
sink.bind((group, 5500))
sink.settimeout(10)
address = lambda text: struct.pack("=HHI", socket.AF_INET6, 0, 0) + socket.inet_pton(socket.AF_INET6, text) + bytes(104)
request = struct.pack("=II", socket.if_nametoindex(device), 0) + address(group) + address(source)
sink.setsockopt(41, 46, request)
sink.recv(2000)
sink.setsockopt(41, 47, request)
"#;
    if Command::new("python3").arg("-V").output().is_err() {
        return layercast_testkit::skip::skip(layercast_testkit::skip::Missing::Netns, "there is no python3");
    }
    let group = "ff3e::1:2".parse::<Ipv6Addr>().unwrap();
    let Some((mut emulation, hosts, ids)) = star(group.into()) else { return };
    let source = hosts[0].run(|| UdpSocket::bind("[::]:0").unwrap()).unwrap();
    SockRef::from(&source).set_multicast_hops_v6(8).unwrap();
    let mut command = Command::new("python3");
    command.args(["-c", PROGRAM, &group.to_string(), &hosts[0].ipv6().to_string(), hosts[1].interface()]);
    let mut program = hosts[1].spawn(command).unwrap();
    let ended = loop {
        source.send_to(&[1; 100], (group, PORT)).unwrap();
        run_for(&mut emulation, Span::from_ms(5));
        if let Some(ended) = program.try_wait().unwrap() {
            break ended;
        }
    };
    assert!(ended.success());
    wait_for_leave(&mut emulation, ids[0]);
    let asked = emulation.simulation().memberships(ids[0]);
    assert_eq!((asked.joins, asked.leaves), (1, 1));
}
