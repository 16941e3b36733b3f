//! Packets of our own: sent and received here, sent to another host, or waited for.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, Socket, Type};

use super::Finding;
use crate::host::{Interface, open_group, open_source};
use crate::random_seed;
use layercast_core::Always as _;

/// What the test packets begin with. It is no packet of the transport, which counts it as one of another format.
const MARK: &[u8; 16] = b"layercast-doctor";
/// How long one's own packet may take.
const OWN: Duration = Duration::from_secs(1);
/// Test packets to another host: how many, and how far apart.
const COUNT: u32 = 50;
const EVERY: Duration = Duration::from_millis(200);
/// The time to live of packets to another host: as `send` has it.
const TTL: u8 = 16;
/// IGMP's protocol number and the types of queries (RFC 3376, section 4; RFC 3810, section 5.1).
const IGMP: i32 = 2;
const IGMP_QUERY: u8 = 0x11;
const MLD_QUERY: u8 = 130;

/// Joins the group on the loopback and on the interface, and receives one's own packet.
pub(super) fn own_packet(interface: &Interface, group: SocketAddr) -> Vec<Finding> {
    let loopback =
        group.is_ipv4().then(|| Interface::find(Some(&Ipv4Addr::LOCALHOST.to_string()), group).ok());
    let loopback = loopback.flatten().filter(|loopback| loopback.name != interface.name);
    let mut findings = Vec::new();
    if let Some(loopback) = loopback
        && let Err(error) = exchange(&loopback, group)
    {
        findings.push(Finding::note(
            format!("a packet to {} on {} is not received here: {error}", group.ip(), loopback.name),
            "only sessions within this host need it; look for firewall rules",
        ));
    }
    findings.push(match exchange(interface, group) {
        Ok(()) => Finding::fine(format!("a packet to {} on {} is received here", group.ip(), interface.name)),
        Err(error) => Finding::wrong(
            format!("a packet to {} on {} is not received here: {error}", group.ip(), interface.name),
            "this host cannot send to or join the group there: look for firewall rules and rights of the container",
        ),
    });
    findings
}

/// Sends a packet that does not leave the host, and receives it; to another port than that of the session, so that its
/// receivers do not see it, unless a firewall takes that port alone.
fn exchange(interface: &Interface, group: SocketAddr) -> Result<(), String> {
    let free =
        UdpSocket::bind(SocketAddr::new(crate::host::unspecified(group), 0)).and_then(|one| one.local_addr());
    let mut other = group;
    other.set_port(free.map_err(|error| error.to_string())?.port());
    exchange_at(interface, other).or_else(|_| exchange_at(interface, group))
}

fn exchange_at(interface: &Interface, group: SocketAddr) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let member = open_group(interface, group, None).map_err(|error| said(&error))?;
    let source = open_source(interface, group, 0, 0).map_err(|error| said(&error))?;
    let packet = [&MARK[..], &random_seed().to_be_bytes()].concat();
    source.as_udp().send_to(&packet, group).map_err(|error| said(&error))?;
    let begin = Instant::now();
    let mut room = [0; 64];
    while begin.elapsed() < OWN {
        wait(&member, OWN.saturating_sub(begin.elapsed()));
        if let Ok((length, _)) = member.as_udp().recv_from(&mut room)
            && room.get(..length) == Some(&packet)
        {
            return Ok(());
        }
    }
    Err(format!("nothing came within {} s", OWN.as_secs()))
}

fn wait(socket: &impl AsFd, most: Duration) -> bool {
    let mut waits = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    ppoll(&mut waits, Some(TimeSpec::from(most)), None).unwrap_or(0) > 0
}

/// Sends test packets to the group.
pub(super) fn send(interface: &Interface, group: SocketAddr, stop: &AtomicBool) -> Finding {
    let sent = open_source(interface, group, 0, TTL).map_err(|error| error.to_string()).and_then(|socket| {
        for _ in 0..COUNT {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            socket.as_udp().send_to(MARK, group).map_err(|error| error.to_string())?;
            std::thread::sleep(EVERY);
        }
        Ok(())
    });
    match sent {
        Ok(()) => Finding::fine(format!(
            "{COUNT} test packets were sent to {group} from {}: `layercast doctor --listen TIME` at a receiver counts them",
            interface.address
        )),
        Err(error) => Finding::wrong(
            format!("test packets to {group} cannot be sent: {error}"),
            "look for a route, firewall rules for output, and the state of the interface",
        ),
    }
}

/// What arrived.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arrived {
    tests: u64,
    others: u64,
    /// The first senders.
    from: Vec<IpAddr>,
}

impl Arrived {
    fn add(&mut self, packet: &[u8], from: IpAddr) {
        if packet.starts_with(MARK) {
            self.tests += 1;
        } else {
            self.others += 1;
        }
        if self.from.len() < 4 && !self.from.contains(&from) {
            self.from.push(from);
        }
    }
}

/// Joins the group and counts what arrives, and listens for queries where that is permitted.
pub(super) fn listen(
    interface: &Interface,
    group: SocketAddr,
    source: Option<IpAddr>,
    time: Duration,
    stop: &AtomicBool,
) -> Vec<Finding> {
    let member = match open_group(interface, group, source) {
        Ok(member) => member,
        Err(error) => return vec![Finding::wrong(error.to_string(), "ip address; then --interface NAME")],
    };
    let queries = open_queries(interface, group);
    let (mut arrived, mut querier) = (Arrived::default(), None);
    let begin = Instant::now();
    let mut room = [0; 2048];
    while begin.elapsed() < time && !stop.load(Ordering::Relaxed) {
        wait(&member, EVERY);
        while let Ok((length, from)) = member.as_udp().recv_from(&mut room) {
            arrived.add(room.get(..length).always("a socket fills no more than the room"), from.ip());
        }
        if let Ok(queries) = &queries {
            querier = next_query(queries, group.is_ipv4()).or(querier);
        }
    }
    vec![
        of_arrived(&arrived, group, begin.elapsed()),
        of_querier(queries.map(|_| querier), group, begin.elapsed()),
    ]
}

fn of_arrived(arrived: &Arrived, group: SocketAddr, time: Duration) -> Finding {
    let seconds = time.as_secs();
    let from: Vec<String> = arrived.from.iter().map(ToString::to_string).collect();
    match (arrived.tests, arrived.others) {
        (0, 0) => Finding::wrong(
            format!("no packet to {group} arrived within {seconds} s"),
            "is the source sending (`layercast doctor --send` there)? Then the network between does not forward the \
             group: routers need PIM, switches that snoop a querier, and the time to live must suffice",
        ),
        (tests, others) => Finding::fine(format!(
            "{tests} test packets and {others} others to {group} arrived within {seconds} s, from {}",
            from.join(", ")
        )),
    }
}

/// What became of listening for queries: where it was permitted, who queried.
fn of_querier(queries: io::Result<Option<IpAddr>>, group: SocketAddr, time: Duration) -> Finding {
    let protocol = if group.is_ipv4() { "IGMP" } else { "MLD" };
    let remedy = "switches that snoop need one: a router with PIM, or a switch as querier. The usual interval is 125 s: listen longer";
    match queries {
        Ok(Some(querier)) => Finding::fine(format!("{querier} is an {protocol} querier")),
        Ok(None) => {
            Finding::note(format!("no {protocol} query was seen within {} s", time.as_secs()), remedy)
        }
        Err(error) => Finding::note(
            format!(
                "whether there is an {protocol} querier cannot be seen: a raw socket is needed ({error})"
            ),
            format!("run this as root, or tcpdump -n {}", if group.is_ipv4() { "igmp" } else { "icmp6" }),
        ),
    }
}

/// A socket for IGMP or ICMPv6 of an interface.
fn open_queries(interface: &Interface, group: SocketAddr) -> io::Result<UdpSocket> {
    let (domain, protocol) =
        if group.is_ipv4() { (Domain::IPV4, Protocol::from(IGMP)) } else { (Domain::IPV6, Protocol::ICMPV6) };
    let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
    socket.set_nonblocking(true)?;
    socket.bind_device(Some(interface.name.as_bytes()))?;
    Ok(socket.into())
}

/// The sender of a query among the packets that wait.
fn next_query(socket: &UdpSocket, is_v4: bool) -> Option<IpAddr> {
    let mut room = [0; 256];
    while let Ok((length, from)) = socket.recv_from(&mut room) {
        if is_query(room.get(..length).always("a socket fills no more than the room"), is_v4) {
            return Some(from.ip());
        }
    }
    None
}

/// Whether a packet of a raw socket is a membership query: with its header in IPv4, without it in IPv6.
fn is_query(packet: &[u8], is_v4: bool) -> bool {
    let (start, query) = match packet.first() {
        Some(first) if is_v4 => (usize::from(first & 15) * 4, IGMP_QUERY),
        _ => (0, MLD_QUERY),
    };
    packet.get(start) == Some(&query)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    fn group() -> SocketAddr {
        "239.1.2.0:5500".parse().expect("an address")
    }

    #[test]
    fn packets_are_counted_by_kind_and_silence_is_wrong() {
        let mut arrived = Arrived::default();
        let second = Duration::from_secs(1);
        assert_eq!(of_arrived(&arrived, group(), second).verdict, Verdict::Wrong);
        let from: IpAddr = "10.0.0.7".parse().expect("an address");
        arrived.add(MARK, from);
        arrived.add(b"another", from);
        let text = of_arrived(&arrived, group(), second).to_string();
        assert!(text.contains("1 test packets and 1 others") && text.ends_with("from 10.0.0.7"), "{text}");
    }

    #[test]
    fn queries_are_kept_apart_from_reports() {
        let mut packet = vec![0; 32];
        packet[0] = 0x46;
        packet[24] = IGMP_QUERY;
        assert!(is_query(&packet, true));
        packet[24] = 0x22;
        assert!(!is_query(&packet, true) && !is_query(&[], true));
        assert!(is_query(&[MLD_QUERY, 0], false) && !is_query(&[143, 0], false));
        let denied = of_querier(Err(io::ErrorKind::PermissionDenied.into()), group(), EVERY);
        assert!(denied.verdict == Verdict::Note && denied.remedy.contains("as root"), "{denied}");
    }
}
