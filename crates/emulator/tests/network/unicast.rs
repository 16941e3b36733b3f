//! Delay, rate and loss of links between two kernels.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use layercast_core::units::Rate;
use layercast_emulator::FlowPlan;
use layercast_emulator::packet::protocol;
use layercast_simulator::{LinkId, LossModel};

use crate::lab::{line, run_for, run_while, slow_link};

const PATIENCE: Duration = Duration::from_secs(10);

/// A round trip takes twice the delay of the path, in IPv4 and IPv6.
#[test]
fn a_round_trip_takes_two_delays() {
    let Some((mut emulation, hosts)) = line(slow_link(Rate::from_mbps(100.0), 50), 1) else { return };
    for to in [IpAddr::from(hosts[1].ipv4()), hosts[1].ipv6().into()] {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let server = hosts[1].run(|| UdpSocket::bind(SocketAddr::new(to, 7)).unwrap()).unwrap();
        let client = hosts[0].run(|| UdpSocket::bind(any).unwrap()).unwrap();
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
        }
        let took = run_while(&mut emulation, || {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut buffer = [0; 100];
                    let (length, from) = server.recv_from(&mut buffer).unwrap();
                    server.send_to(&buffer[..length], from).unwrap();
                });
                let start = Instant::now();
                client.send_to(b"hello", SocketAddr::new(to, 7)).unwrap();
                client.recv(&mut [0; 100]).unwrap();
                start.elapsed()
            })
        });
        assert!(took >= Duration::from_millis(100), "{to}: {took:?}");
    }
    assert_eq!(emulation.lateness().deliveries.count(), 4);
}

/// What TCP sends arrives, is counted once, and no faster than the link is.
#[test]
fn a_connection_is_limited_by_its_link_and_counted() {
    const BYTES: usize = 1_000_000;
    let Some((mut emulation, hosts)) = line(slow_link(Rate::from_mbps(10.0), 10), 2) else { return };
    let (from, to) = (hosts[0].id(), hosts[1].id());
    let plan = FlowPlan { from, to, protocol: protocol::TCP, from_port: None, to_port: Some(5001) };
    let flow = emulation.add_flow(plan).unwrap();
    let to = SocketAddr::new(hosts[1].ipv4().into(), 5001);
    let listener = hosts[1].run(|| TcpListener::bind(to).unwrap()).unwrap();
    let (received, took) = run_while(&mut emulation, || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = hosts[0].run(|| TcpStream::connect(to).unwrap()).unwrap();
                sender.write_all(&vec![7; BYTES]).unwrap();
            });
            let (mut sink, _) = listener.accept().unwrap();
            sink.set_read_timeout(Some(PATIENCE)).unwrap();
            let (start, mut all) = (Instant::now(), Vec::new());
            sink.read_to_end(&mut all).unwrap();
            (all.len(), start.elapsed())
        })
    });
    assert_eq!(received, BYTES);
    let mbps = BYTES as f64 * 8.0 / took.as_secs_f64() / 1e6;
    assert!(mbps < 10.0 * 1448.0 / 1500.0 * 1.1, "{mbps} Mbit/s over a link of 10 Mbit/s");
    let counters = emulation.simulation().tcp_counters(flow.as_tcp());
    // Each segment has 52 bytes of headers, and no byte of data counts twice.
    let data = counters.received_bytes - 52 * counters.received_packets;
    assert_eq!(data, BYTES as u64, "{counters:?}");
    assert_eq!(emulation.simulation().tcp_path(flow.as_tcp()).len(), 2);
}

/// An error model loses what it was asked to, and the hosts lose nothing more.
#[test]
fn an_error_model_loses_its_share() {
    const SENT: u64 = 3000;
    let mut link = slow_link(Rate::from_mbps(100.0), 5);
    link.loss = LossModel::Bernoulli(0.1);
    let Some((mut emulation, hosts)) = line(link, 1) else { return };
    let (from, to) = (hosts[0].id(), hosts[1].id());
    let plan = FlowPlan { from, to, protocol: protocol::UDP, from_port: None, to_port: Some(9) };
    let flow = emulation.add_flow(plan).unwrap();
    let to = SocketAddr::new(hosts[1].ipv4().into(), 9);
    let sink = hosts[1].run(|| UdpSocket::bind(to).unwrap()).unwrap();
    let sender = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    sink.set_nonblocking(true).unwrap();
    let mut received = 0;
    for _ in 0..SENT / 100 {
        for _ in 0..100 {
            sender.send_to(&[1; 100], to).unwrap();
        }
        run_for(&mut emulation, layercast_core::units::Duration::from_ms(10));
        while sink.recv(&mut [0; 200]).is_ok() {
            received += 1;
        }
    }
    run_for(&mut emulation, layercast_core::units::Duration::from_ms(50));
    while sink.recv(&mut [0; 200]).is_ok() {
        received += 1;
    }
    let simulation = emulation.simulation();
    let (counters, link) = (simulation.udp_counters(flow.as_udp()), simulation.link_counters(LinkId(0)));
    assert_eq!(counters.sent_packets, SENT);
    assert_eq!((counters.received_packets, counters.lost_packets), (received, SENT - received));
    assert_eq!(link.losses, counters.lost_packets);
    // Six standard deviations of 300.
    assert!(counters.lost_packets.abs_diff(300) < 100, "{}", counters.lost_packets);
}

/// A packet with a small TTL ends at a router, and its receiver sees how many it has passed.
#[test]
fn routers_count_down_the_ttl() {
    let Some((mut emulation, hosts)) = line(slow_link(Rate::from_mbps(100.0), 1), 3) else { return };
    let to = SocketAddr::new(hosts[1].ipv4().into(), 9);
    let sink = hosts[1].run(|| UdpSocket::bind(to).unwrap()).unwrap();
    sink.set_nonblocking(true).unwrap();
    let sender = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    for ttl in [2, 3] {
        sender.set_ttl(ttl).unwrap();
        sender.send_to(&[ttl as u8], to).unwrap();
    }
    let stranger = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    stranger.send_to(&[0], "10.9.9.9:9").unwrap();
    run_for(&mut emulation, layercast_core::units::Duration::from_ms(50));
    let mut received = [0; 10];
    assert_eq!(sink.recv(&mut received).unwrap(), 1);
    assert_eq!(received[0], 3);
    assert!(sink.recv(&mut received).is_err());
    let dropped = emulation.dropped();
    assert_eq!((dropped.expired, dropped.unroutable), (1, 1));
}
