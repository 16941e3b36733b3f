//! Multicast addresses of sessions, IPv4 and IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether a session may use this group: multicast, and not for one link or host only. IPv4 groups for one link belong to
/// routing protocols (RFC 5771, section 4); of IPv6 scopes 0 and 15 are reserved (RFC 7346, section 2).
pub fn is_usable_group(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.is_multicast() && group.octets()[..3] != [224, 0, 0],
        IpAddr::V6(group) => group.is_multicast() && (3..15).contains(&scope(group)),
    }
}

/// Whether the group is for source-specific multicast, which cannot be joined without a source (RFC 4607,
/// section 1): 232.0.0.0/8 and ff3x::/32.
pub(crate) fn is_source_specific(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.octets()[0] == 232,
        IpAddr::V6(group) => group.segments()[0] & 0xfff0 == 0xff30 && group.segments()[1] == 0,
    }
}

/// The scope of an IPv6 multicast address (RFC 4291, section 2.7).
pub(crate) fn scope(group: Ipv6Addr) -> u8 {
    group.octets()[1] & 0x0f
}

/// Whether the address is that of one host.
pub(crate) fn is_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_multicast() && !address.is_unspecified() && !is_broadcast
}

/// The address `count` higher, if there is one.
pub(crate) fn higher(address: IpAddr, count: u16) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            u32::from(address).checked_add(count.into()).map(|bits| Ipv4Addr::from(bits).into())
        }
        IpAddr::V6(address) => {
            u128::from(address).checked_add(count.into()).map(|bits| Ipv6Addr::from(bits).into())
        }
    }
}

/// The address `count` lower, if there is one.
pub(crate) fn lower(address: IpAddr, count: u16) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            u32::from(address).checked_sub(count.into()).map(|bits| Ipv4Addr::from(bits).into())
        }
        IpAddr::V6(address) => {
            u128::from(address).checked_sub(count.into()).map(|bits| Ipv6Addr::from(bits).into())
        }
    }
}
