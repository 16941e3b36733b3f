//! Source-specific joins of IPv6 (RFC 3678, section 5.1.2; RFC 3810).
//!
//! `socket2` has them for IPv4 only. `nix` makes a safe call of any option whose value is a plain struct, so the struct
//! of the RFC is all that is here.

use std::net::Ipv6Addr;
use std::os::fd::AsFd;

use nix::libc;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SetStruct;

/// `struct sockaddr_storage` (RFC 3493, section 3.10) with an IPv6 address.
#[derive(Clone, Copy)]
#[repr(C)]
struct Address {
    in6: libc::sockaddr_in6,
    rest: [u8; 128 - size_of::<libc::sockaddr_in6>()],
    /// As aligned as a pointer.
    align: [usize; 0],
}

/// `struct group_source_req` (RFC 3678, section 5.1). The interface is followed by padding to the alignment of
/// [`Address`].
#[derive(Clone, Copy)]
#[repr(C)]
struct GroupSource {
    interface: u32,
    group: Address,
    source: Address,
}

const _: () = assert!(size_of::<GroupSource>() == size_of::<libc::group_source_req>());

/// `MCAST_JOIN_SOURCE_GROUP` of IPv6.
#[derive(Clone, Copy)]
struct JoinSource;

nix::setsockopt_impl!(
    JoinSource,
    libc::IPPROTO_IPV6,
    libc::MCAST_JOIN_SOURCE_GROUP,
    GroupSource,
    SetStruct<'_, GroupSource>
);

fn address(address: Ipv6Addr) -> Address {
    let in6 = libc::sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: 0,
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr { s6_addr: address.octets() },
        sin6_scope_id: 0,
    };
    Address { in6, rest: [0; 128 - size_of::<libc::sockaddr_in6>()], align: [] }
}

/// Joins a group on an interface for packets of one source. Closing the socket leaves it.
///
/// # Errors
/// The system's error.
pub(super) fn join_source_v6(
    socket: &impl AsFd,
    group: Ipv6Addr,
    source: Ipv6Addr,
    interface: u32,
) -> nix::Result<()> {
    setsockopt(socket, JoinSource, &GroupSource { interface, group: address(group), source: address(source) })
}
