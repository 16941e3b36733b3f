//! Packets of a link as it carries them, by packet sockets (`AF_PACKET`, packet(7)), which need CAP_NET_RAW.

use std::io::{self, Read as _};

use nix::libc;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use super::Interface;
use layercast_core::Always as _;

/// The kernel's number of the interface, and the kind of a packet, as data of a filter (linux/filter.h).
pub(super) const INTERFACE: u32 = (-0x1000i32 + 8) as u32;
const PACKET_TYPE: u32 = (-0x1000i32 + 4) as u32;

pub(super) const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
pub(super) const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
pub(super) const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;

/// The most packets that a socket can hold before it has its filter.
const EARLY: usize = 4096;

/// The longest packet that is read of IGMP and MLD.
const LONGEST: u32 = 9216;
/// The place of the protocol in a header of IPv4, and of the next header in IPv6.
const PROTOCOL_V4: u32 = 9;
const NEXT_V6: u32 = 6;
/// What follows a header of IPv6.
const AFTER_V6: u32 = 40;

/// `PACKET_ADD_MEMBERSHIP` (packet(7)).
#[derive(Clone, Copy)]
pub(super) struct AddMembership;

nix::setsockopt_impl!(
    AddMembership,
    libc::SOL_PACKET,
    libc::PACKET_ADD_MEMBERSHIP,
    libc::packet_mreq,
    nix::sys::socket::sockopt::SetStruct<'_, libc::packet_mreq>
);

/// A socket for packets of a version of IP that pass a filter; they begin with the IP header.
pub(super) fn open(is_v4: bool, filter: &[SockFilter]) -> io::Result<Socket> {
    let kind = if is_v4 { libc::ETH_P_IP } else { libc::ETH_P_IPV6 };
    let kind = i32::from(u16::try_from(kind).always("it has 16 bits").to_be());
    let socket = Socket::new(Domain::PACKET, Type::DGRAM.nonblocking(), Some(Protocol::from(kind)))?;
    socket.attach_filter(filter)?;
    // Packets of any link that came before the filter was there.
    for _ in 0..EARLY {
        if (&socket).read(&mut [0]).is_err() {
            break;
        }
    }
    Ok(socket)
}

/// A program (BPF) that keeps so many bytes of packets in which each of these is so: what is loaded, from where, and what it must
/// be.
pub(super) fn program(checks: &[(u32, u32, u32)], keep: u32) -> Vec<SockFilter> {
    let code = |code: u32| u16::try_from(code).always("it has 16 bits");
    let jump = code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    let give = code(libc::BPF_RET | libc::BPF_K);
    let count = checks.len();
    let mut program = Vec::with_capacity(2 * count + 2);
    for (place, &(load, at, value)) in checks.iter().enumerate() {
        // Over the checks that are left, and the return of a packet that passes, to the other.
        let to_end = u8::try_from(2 * (count - place - 1) + 1).unwrap_or(u8::MAX);
        program.push(SockFilter::new(code(load), 0, 0, at));
        program.push(SockFilter::new(jump, 0, to_end, value));
    }
    program.push(SockFilter::new(give, 0, 0, keep));
    program.push(SockFilter::new(give, 0, 0, 0));
    program
}

/// A socket for IGMP or MLD that others send on the link of an interface, to whatever group: reports of older versions go to the
/// group itself, of which this host need not be a member.
pub(crate) fn open_memberships(interface: &Interface, is_v4: bool) -> io::Result<Socket> {
    let multicast = u32::from(libc::PACKET_MULTICAST);
    let mut checks = vec![(LOAD_WORD, INTERFACE, interface.index), (LOAD_WORD, PACKET_TYPE, multicast)];
    let number = |protocol: i32| u32::try_from(protocol).always("it is positive");
    if is_v4 {
        checks.push((LOAD_BYTE, PROTOCOL_V4, number(libc::IPPROTO_IGMP)));
    } else {
        // Behind a header with the Router Alert option (RFC 3810, section 5).
        checks.push((LOAD_BYTE, NEXT_V6, number(libc::IPPROTO_HOPOPTS)));
        checks.push((LOAD_BYTE, AFTER_V6, number(libc::IPPROTO_ICMPV6)));
    }
    let socket = open(is_v4, &program(&checks, LONGEST))?;
    let request = libc::packet_mreq {
        mr_ifindex: i32::try_from(interface.index).always("the kernel counts up to 2^31"),
        mr_type: u16::try_from(libc::PACKET_MR_ALLMULTI).always("it has 16 bits"),
        mr_alen: 0,
        mr_address: [0; 8],
    };
    nix::sys::socket::SetSockOpt::set(&AddMembership, &socket, &request)?;
    Ok(socket)
}

/// A socket that sends packets with headers of IP that are given (raw(7)), to groups on the link of an interface, and not to
/// this host.
pub(crate) fn open_raw(interface: &Interface, is_v4: bool) -> io::Result<Socket> {
    let domain = if is_v4 { Domain::IPV4 } else { Domain::IPV6 };
    let socket = Socket::new(domain, Type::RAW.nonblocking(), Some(Protocol::from(libc::IPPROTO_RAW)))?;
    socket.bind_device(Some(interface.name.as_bytes()))?;
    if is_v4 {
        socket.set_multicast_loop_v4(false)?;
    } else {
        socket.set_multicast_if_v6(interface.index)?;
        socket.set_multicast_loop_v6(false)?;
    }
    if let Err(error) = socket.set_send_buffer_size(super::socket::SEND_BUFFER) {
        tracing::debug!(%error, "cannot raise SO_SNDBUF");
    }
    Ok(socket)
}
