//! A receiver that names the source of an IPv6 session: the kernel reports it for that source alone (MLDv2), and passes
//! it no packet of another one.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use layercast_testkit::{Missing, skip};
use layercast_transport::host::{Interface, open_group};

const GENUINE: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const OTHER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff35, 0, 0, 0, 0, 0, 0x79, 2);

/// A network of its own whose one interface has the addresses of two hosts; 77 where that cannot be made.
const NETWORK: &str = "ip link add v0 type veth peer name v1 || exit 77
ip link set lo up && ip link set v0 up && ip link set v1 up || exit 77
ip -6 address add fd00::1/64 dev v0 nodad && ip -6 address add fd00::2/64 dev v0 nodad || exit 77
exec \"$0\" --ignored --exact source_specific::child --nocapture";

#[test]
fn a_join_of_ipv6_is_for_its_source_alone() {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    let output = command.args(["--net", "sh", "-c", NETWORK]).arg(program).output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) => output,
        other => return skip(Missing::Netns, format!("{other:?}")),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unshare failed") {
        return skip(Missing::Netns, said);
    }
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
}

/// What waits at a socket, after so long as it takes here to pass two packets.
fn received(socket: &UdpSocket, until: &[u8]) -> Vec<u8> {
    let (mut all, limit) = (Vec::new(), Instant::now() + Duration::from_secs(10));
    let mut byte = [0];
    while all.last() != until.last() {
        assert!(Instant::now() < limit, "only {all:?}");
        match socket.recv(&mut byte) {
            Ok(_) => all.extend(byte),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    all
}

#[test]
#[ignore = "started by the other test, in a namespace"]
fn child() {
    let group = SocketAddr::from((GROUP, 5500));
    let interface = Interface::find(Some("v0"), group).unwrap();
    let one = open_group(&interface, group, Some(GENUINE.into())).unwrap();
    let any = open_group(&interface, group, None).unwrap();
    let hex = |address: Ipv6Addr| address.octets().map(|byte| format!("{byte:02x}")).concat();
    let listed = || {
        let filters = fs::read_to_string("/proc/net/mcfilter6").unwrap();
        let rows = filters.lines().skip(1).map(|line| line.split_whitespace().skip(1).map(str::to_owned));
        let rows = rows.map(Iterator::collect::<Vec<String>>);
        rows.filter(|row| row.get(1) == Some(&hex(GROUP))).collect::<Vec<_>>()
    };
    // A busy kernel lists it a little later.
    let limit = Instant::now() + Duration::from_secs(5);
    while listed().is_empty() && Instant::now() < limit {
        thread::sleep(Duration::from_millis(5));
    }
    // Device, group, source, and how many sockets include and exclude the source.
    assert_eq!(listed(), [["v0", &hex(GROUP), &hex(GENUINE), "1", "0"]]);

    // Packets of a host reach its own sockets in their order: after the last one there is none of the others.
    for (from, byte) in [(OTHER, 1u8), (GENUINE, 2), (OTHER, 3), (GENUINE, 4)] {
        let socket = socket2::Socket::from(UdpSocket::bind((from, 0)).unwrap());
        socket.set_multicast_if_v6(interface.index).unwrap();
        socket.send_to(&[byte], &SocketAddrV6::new(GROUP, 5500, 0, 0).into()).unwrap();
    }
    assert_eq!(received(any.as_udp(), &[4]), [1, 2, 3, 4]);
    assert_eq!(received(one.as_udp(), &[4]), [2, 4]);

    // Closing leaves.
    drop(one);
    let filters = fs::read_to_string("/proc/net/mcfilter6").unwrap();
    assert!(!filters.contains(&hex(GENUINE)), "{filters}");
}
