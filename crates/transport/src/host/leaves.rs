//! How long packets of a group still arrive after it was left.
//!
//! The kernel discards packets of groups of which no socket on the interface is a member before UDP sees them, so a
//! socket that stays bound to a left group gets nothing, whatever `IP_MULTICAST_ALL` says. What the link still carries
//! is seen by a packet socket (`AF_PACKET`), which needs CAP_NET_RAW; without it nothing is measured. A filter in the
//! kernel passes the headers of the left group's packets only.
//!
//! It cannot tell a leave from other reasons: a layer that ends by itself right after the leave looks like a fast
//! leave, and packets for another member behind the same port of the switch, or for another program on this host, like
//! a leave without effect. A leave after which no packet came is counted, but has no latency.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::{Duration as StdDuration, UNIX_EPOCH};

use layercast_core::Always as _;
use layercast_core::units::{Channel, Duration, Time};
use nix::libc;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SetSockOpt, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use serde::Serialize;
use socket2::{SockFilter, Socket};

use super::capture::{self, AddMembership, INTERFACE, LOAD_BYTE, LOAD_HALF, LOAD_WORD, program};
use super::{Clock, Interface};
use crate::fields::milliseconds;

/// The most leaves that are watched at once, and the least time from one to the next: what bounds the cost.
const WATCHES: usize = 4;
const APART: Duration = Duration::from_ms(500);
/// How often arrivals are read.
const TICK: Duration = Duration::from_ms(10);
/// A group without packets for so long is quiet: longer than the gaps between the packets of a slow layer.
const QUIET: Duration = Duration::from_secs(2);
/// A leave after which packets arrive for so long has no effect. RFC 3376, section 8, has 2 s by default.
const ENDLESS: Duration = Duration::from_secs(10);
/// The part of a packet that is kept.
const HEAD: u32 = 48;
/// The most packets that are read at once.
const READS: usize = 512;

/// What was seen of leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeaveCounters {
    /// Leaves that were watched to their end.
    #[serde(rename = "leaves_watched")]
    pub watched: u64,
    /// How long after the last of them with such packets the last packet came.
    #[serde(rename = "leave_ms", serialize_with = "milliseconds", skip_serializing_if = "Option::is_none")]
    pub last: Option<Duration>,
    /// The longest of these times.
    #[serde(
        rename = "leave_longest_ms",
        serialize_with = "milliseconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub longest: Option<Duration>,
    /// Leaves after which packets came for ten seconds and more.
    #[serde(rename = "leaves_endless")]
    pub endless: u64,
}

/// The leaves that are watched.
#[derive(Debug)]
pub(crate) struct Leaves {
    clock: Clock,
    watches: Vec<Watch>,
    next: Time,
    next_tick: Time,
    /// There is no permission, or no such socket.
    is_denied: bool,
    counters: LeaveCounters,
}

/// A group after it was left.
#[derive(Debug)]
struct Watch {
    channel: Channel,
    socket: Socket,
    left: Time,
    last: Option<Time>,
}

impl Leaves {
    pub(crate) fn new(clock: Clock) -> Leaves {
        Leaves {
            clock,
            watches: Vec::with_capacity(WATCHES),
            next: Time::ZERO,
            next_tick: Time::ZERO,
            is_denied: false,
            counters: LeaveCounters::default(),
        }
    }

    pub(crate) fn counters(&self) -> LeaveCounters {
        self.counters
    }

    /// A group was left.
    pub(crate) fn left(
        &mut self,
        channel: Channel,
        interface: &Interface,
        group: SocketAddr,
        source: IpAddr,
    ) {
        let now = self.clock.now();
        if self.is_denied || now < self.next || self.watches.len() >= WATCHES {
            return;
        }
        self.next = now + APART;
        match open(interface, group, source) {
            Ok(socket) => self.watches.push(Watch { channel, socket, left: now, last: None }),
            Err(error) => {
                tracing::debug!(%error, "how long leaves take is not measured");
                self.is_denied = true;
            }
        }
    }

    /// A group is joined again: what arrives from now on is wanted.
    pub(crate) fn joined(&mut self, channel: Channel) {
        self.watches.retain(|watch| watch.channel != channel);
    }

    /// Reads what has arrived.
    pub(crate) fn poll(&mut self) {
        if self.watches.is_empty() {
            return;
        }
        let now = self.clock.now();
        if now < self.next_tick {
            return;
        }
        self.next_tick = now + TICK;
        let (clock, counters) = (self.clock, &mut self.counters);
        self.watches.retain_mut(|watch| {
            let newest = newest(&watch.socket, clock);
            watch.last = newest.map(|at| at.max(watch.left)).or(watch.last);
            let latency = watch.last.map(|last| last.since(watch.left));
            if latency.is_some_and(|latency| latency >= ENDLESS) {
                counters.watched += 1;
                counters.endless += 1;
                return false;
            }
            if now.since(watch.last.unwrap_or(watch.left)) < QUIET {
                return true;
            }
            counters.watched += 1;
            counters.last = latency.or(counters.last);
            counters.longest = counters.longest.max(latency);
            false
        });
    }
}

/// When the newest packet that waits arrived.
fn newest(socket: &Socket, clock: Clock) -> Option<Time> {
    let (mut newest, mut bytes) = (None, [0; HEAD as usize]);
    let mut controls = nix::cmsg_space!(TimeSpec);
    for _ in 0..READS {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let Ok(message) = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut controls), flags) else {
            break;
        };
        let stamp = message.cmsgs().into_iter().flatten().find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => UNIX_EPOCH.checked_add(StdDuration::from(time)),
            _ => None,
        });
        newest = newest.max(Some(clock.read().arrival(stamp, clock.now())));
    }
    newest
}

/// A socket for the packets of a group on an interface, member or not.
fn open(interface: &Interface, group: SocketAddr, source: IpAddr) -> io::Result<Socket> {
    let socket = capture::open(group.is_ipv4(), &filter(interface.index, group, source))?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    // The adapter passes the group's packets as before, though the host no longer reports that it is a member.
    let request = libc::packet_mreq {
        mr_ifindex: i32::try_from(interface.index).always("the kernel counts up to 2^31"),
        mr_type: u16::try_from(libc::PACKET_MR_MULTICAST).always("it has 16 bits"),
        mr_alen: 6,
        mr_address: hardware_address(group.ip()),
    };
    if let Err(error) = AddMembership.set(&socket, &request) {
        tracing::debug!(%error, "the adapter may filter groups that were left");
    }
    Ok(socket)
}

/// The Ethernet address of a group (RFC 1112, section 6.4; RFC 2464, section 7).
fn hardware_address(group: IpAddr) -> [u8; 8] {
    match group {
        IpAddr::V4(group) => {
            let [_, b, c, d] = group.octets();
            [0x01, 0x00, 0x5e, b & 0x7f, c, d, 0, 0]
        }
        IpAddr::V6(group) => {
            let [.., a, b, c, d] = group.octets();
            [0x33, 0x33, a, b, c, d, 0, 0]
        }
    }
}

/// A filter (BPF) for UDP packets on an interface to a group and port, from a source; they begin with the IP header.
fn filter(interface: u32, group: SocketAddr, source: IpAddr) -> Vec<SockFilter> {
    // What is loaded, from where, and what it must be.
    let mut checks: Vec<(u32, u32, u32)> = vec![(LOAD_WORD, INTERFACE, interface)];
    let words = |address: Ipv6Addr, at: u32| {
        let bits = address.to_bits();
        [(0, 96), (4, 64), (8, 32), (12, 0)]
            .map(|(place, shift)| (LOAD_WORD, at + place, (bits >> shift) as u32))
    };
    let udp = u32::from(libc::IPPROTO_UDP as u8);
    let port = u32::from(group.port());
    match (group.ip(), source) {
        (IpAddr::V4(to), IpAddr::V4(from)) => {
            checks.extend([
                (LOAD_WORD, 12, from.to_bits()),
                (LOAD_WORD, 16, to.to_bits()),
                (LOAD_BYTE, 9, udp),
            ]);
            // The ports follow the header, which may have options; multicast with options is not ours.
            checks.extend([(LOAD_BYTE, 0, 0x45), (LOAD_HALF, 22, port)]);
        }
        (IpAddr::V6(to), IpAddr::V6(from)) => {
            checks.extend(words(from, 8));
            checks.extend(words(to, 24));
            checks.extend([(LOAD_BYTE, 6, udp), (LOAD_HALF, 42, port)]);
        }
        _ => {}
    }
    program(&checks, HEAD)
}
