//! Congestion marks on packets of real kernels.

use std::io::{IoSliceMut, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use layercast_core::units::{Duration as Span, Rate};
use layercast_simulator::{CoDelConfig, LinkId, LossModel, QueueConfig};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use socket2::SockRef;

use crate::lab::{line, run_for, run_while, slow_link};

/// Packets that may be marked are marked and not lost; others are lost.
#[test]
fn a_mark_reaches_a_socket() {
    let mut link = slow_link(Rate::from_mbps(100.0), 5);
    (link.loss, link.loss_marks) = (LossModel::Bernoulli(0.5), true);
    let Some((mut emulation, hosts)) = line(link, 2) else { return };
    let to = SocketAddr::new(hosts[1].ipv4().into(), 9);
    let sink = hosts[1].run(|| UdpSocket::bind(to).unwrap()).unwrap();
    setsockopt(&sink, sockopt::IpRecvTos, &true).unwrap();
    sink.set_nonblocking(true).unwrap();
    let sender = hosts[0].run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    for tos in [2, 0] {
        SockRef::from(&sender).set_tos_v4(tos).unwrap();
        for _ in 0..100 {
            sender.send_to(&[1; 100], to).unwrap();
        }
        run_for(&mut emulation, Span::from_ms(100));
        let mut seen = [0; 4];
        let mut bytes = [0; 200];
        loop {
            let mut into = [IoSliceMut::new(&mut bytes)];
            let mut room = nix::cmsg_space!(u8, i32);
            let received =
                recvmsg::<SockaddrIn>(sink.as_raw_fd(), &mut into, Some(&mut room), MsgFlags::empty());
            let Ok(received) = received else { break };
            for message in received.cmsgs().unwrap() {
                if let ControlMessageOwned::Ipv4Tos(tos) = message {
                    seen[usize::from(tos & 3)] += 1;
                }
            }
        }
        if tos == 2 {
            // Each of two links marks every other one.
            assert_eq!(seen[2] + seen[3], 100, "nothing that can be marked is lost");
            assert!((50..100).contains(&seen[3]), "{seen:?}");
        } else {
            assert!((1..60).contains(&seen[0]), "{seen:?}");
            assert_eq!(seen[1..], [0; 3]);
        }
    }
}

/// A kernel's TCP that uses ECN sees the marks of a managed queue.
#[test]
fn a_kernel_counts_marks_on_its_connection() {
    const BYTES: usize = 1_000_000;
    let mut link = slow_link(Rate::from_mbps(8.0), 5);
    link.queue = QueueConfig::CoDel(CoDelConfig { ecn: true, ..CoDelConfig::default() });
    let Some((mut emulation, hosts)) = line(link, 1) else { return };
    for host in &hosts {
        host.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap()).unwrap();
    }
    let to = SocketAddr::new(hosts[1].ipv4().into(), 5001);
    let listener = hosts[1].run(|| TcpListener::bind(to).unwrap()).unwrap();
    let received = run_while(&mut emulation, || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = hosts[0].run(|| TcpStream::connect(to).unwrap()).unwrap();
                sender.write_all(&vec![7; BYTES]).unwrap();
            });
            let (mut sink, _) = listener.accept().unwrap();
            sink.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let mut all = Vec::new();
            sink.read_to_end(&mut all).unwrap();
            all.len()
        })
    });
    assert_eq!(received, BYTES);
    let marks = emulation.simulation().link_counters(LinkId(0)).marks;
    let statistics =
        hosts[1].run(|| std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap()).unwrap();
    let counted = counter(&statistics, "IpExt:", "InCEPkts").unwrap();
    assert!(marks > 0);
    assert_eq!(counted, marks);
}

/// A counter of the kernel, by the line that names it.
fn counter(statistics: &str, table: &str, name: &str) -> Option<u64> {
    let mut lines = statistics.lines().filter(|line| line.starts_with(table));
    let place = lines.next()?.split(' ').position(|word| word == name)?;
    lines.next()?.split(' ').nth(place)?.parse().ok()
}
