//! A server and tunnels on the loopback interface.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration as StdDuration, Instant};

use layercast_core::units::Duration;

use super::*;
use crate::host::Tunnel;
use crate::relay::{FeedbackPath, RelayTunnel};

const SOURCE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 5501);

fn key() -> SessionKey {
    SessionKey { group: "239.1.2.0:5500".parse().expect("a group"), source: None }
}

fn server(listen: &str, highest: Option<Rate>) -> (Server, SocketAddr) {
    let options = ServeOptions {
        listen: listen.parse().expect("an address"),
        allowed: Allowed { sessions: vec![key()], prefixes: Vec::new() },
        alternatives: Alternatives::default(),
        limits: Limits::default(),
        highest,
    };
    let server = Server::open(&options, Above::Multicast).expect("a socket");
    let at = server.address().expect("its address");
    (server, at)
}

/// Lets both sides do what they have to until it is so.
fn until(
    server: &mut Server,
    tunnels: &mut [RelayTunnel],
    inbox: &mut Inbox,
    mut is_so: impl FnMut(&mut Server, &mut [RelayTunnel], &Inbox) -> bool,
) {
    let (begin, clock) = (Instant::now(), Clock::default());
    loop {
        server.read(&mut |_| {});
        server.poll(&mut |_| {});
        for index in 0..tunnels.len() {
            inbox.clear();
            inbox.drain(tunnels[index].socket(), None, &clock).expect("packets");
            tunnels[index].work(inbox);
            if is_so(server, tunnels, inbox) {
                return;
            }
        }
        assert!(begin.elapsed() < StdDuration::from_secs(10), "it takes too long");
        std::thread::sleep(StdDuration::from_millis(1));
    }
}

fn tunnel(to: SocketAddr, channel: u16) -> RelayTunnel {
    let mut tunnel = RelayTunnel::open(key(), &[to], Duration::ZERO, FeedbackPath::Relay).expect("a socket");
    tunnel.join(Channel(channel), key().group).expect("a join");
    tunnel
}

#[test]
fn packets_of_held_channels_arrive_whole_with_their_marks() {
    for (listen, name) in [("127.0.0.1:0", "127.0.0.1"), ("[::]:0", "127.0.0.1"), ("[::]:0", "::1")] {
        let (mut server, at) = server(listen, None);
        let at = SocketAddr::new(name.parse().expect("an address"), at.port());
        let mut tunnels = [tunnel(at, 3), tunnel(at, 4)];
        let mut inbox = Inbox::new(2000);
        until(&mut server, &mut tunnels, &mut inbox, |_, tunnels, _| {
            tunnels.iter().all(|tunnel| tunnel.link().is_some_and(|link| link.is_settled))
        });
        assert_eq!(server.status().node.children.len(), 2);
        // More than a run, of several lengths; an empty packet is one too.
        let lengths: Vec<usize> =
            (0..150).map(|n| if n % 40 == 39 { n } else { 1200 }).chain([0, 5]).collect();
        for ecn in [Ecn::Marked, Ecn::Capable, Ecn::NotCapable] {
            let bytes: Vec<Vec<u8>> =
                lengths.iter().enumerate().map(|(n, length)| vec![n as u8; *length]).collect();
            server.forward(0, Channel(3), SOURCE, bytes.iter().map(Vec::as_slice), ecn);
            let mut came = Vec::new();
            until(&mut server, &mut tunnels, &mut inbox, |_, _, inbox| {
                for index in 0..inbox.len() {
                    let (datagram, bytes) = inbox.get(index).expect("a packet");
                    assert_eq!((datagram.channel, datagram.from.ip()), (Some(Channel(3)), SOURCE.ip()));
                    assert_eq!((datagram.ecn, datagram.cut), (ecn, false), "{listen} {name}");
                    came.push(bytes.to_vec());
                }
                came.len() >= bytes.len()
            });
            assert_eq!(came, bytes);
        }
        assert_eq!((tunnels[0].hops(), tunnels[1].hops()), (1, 0));
        let status = server.status();
        assert_eq!((status.node.packets, status.node.dropped), (3 * lengths.len() as u64, 0));
        assert!(status.send_calls * 3 < status.node.packets, "{status:?}");
    }
}

#[test]
fn beyond_the_highest_rate_packets_are_dropped_and_nobody_is_let_in() {
    let (mut server, at) = server("127.0.0.1:0", Some(Rate::from_mbps(8.0)));
    let mut tunnels = vec![tunnel(at, 0)];
    let mut inbox = Inbox::new(2000);
    let settled = |tunnel: &RelayTunnel| tunnel.link().is_some_and(|link| link.is_settled);
    until(&mut server, &mut tunnels, &mut inbox, |_, tunnels, _| settled(&tunnels[0]));
    let (begin, packet) = (Instant::now(), [7; 1000]);
    while begin.elapsed() < StdDuration::from_millis(2500) {
        // 80 Mbit/s.
        server.forward(0, Channel(0), SOURCE, [packet.as_slice(); 10], Ecn::Capable);
        server.read(&mut |_| {});
        server.poll(&mut |_| {});
        inbox.clear();
        inbox.drain(tunnels[0].socket(), None, &Clock::default()).expect("packets");
        tunnels[0].work(&mut inbox);
        std::thread::sleep(StdDuration::from_millis(1));
    }
    let status = server.status();
    let rate = status.node.bytes as f64 * 8.0 / begin.elapsed().as_secs_f64();
    assert!((4e6..=9.5e6).contains(&rate), "{rate} {status:?}");
    assert!(
        status.node.dropped > status.node.packets && status.node.children[0].dropped == status.node.dropped
    );
    let mut late = [tunnel(at, 0)];
    until(&mut server, &mut late, &mut inbox, |server, _, _| server.status().node.counters.refused > 0);
}
