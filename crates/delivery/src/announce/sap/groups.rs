//! Where announcements are sent (RFC 2974, section 3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::scope;

/// The port of announcements.
pub const PORT: u16 = 9875;

/// Sessions of global scope.
const GLOBAL: Ipv4Addr = Ipv4Addr::new(224, 2, 127, 254);
/// The highest address of the organisation-local scope 239.192.0.0/14 (RFC 2365, section 6.2).
const ORGANISATION: Ipv4Addr = Ipv4Addr::new(239, 195, 255, 255);
/// The highest address of the local scope 239.255.0.0/16 (RFC 2365, section 6.1).
const LOCAL: Ipv4Addr = Ipv4Addr::new(239, 255, 255, 255);

/// The group for an IPv6 scope.
const fn for_scope(scope: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xff00 | scope as u16, 0, 0, 0, 0, 0, 2, 0x7ffe)
}

/// The groups that a listener joins: those of every scope that sessions commonly have (RFC 7346, section 2, for IPv6:
/// link, admin, site, organisation, global). A host without IPv6, or without IPv4, joins the others.
pub const LISTEN: [IpAddr; 8] = [
    IpAddr::V4(GLOBAL),
    IpAddr::V4(ORGANISATION),
    IpAddr::V4(LOCAL),
    IpAddr::V6(for_scope(2)),
    IpAddr::V6(for_scope(4)),
    IpAddr::V6(for_scope(5)),
    IpAddr::V6(for_scope(8)),
    IpAddr::V6(for_scope(14)),
];

/// The group on which a session is announced: the highest address of its scope for IPv4, `ff0X::2:7ffe` for IPv6.
///
/// RFC 2365 leaves 239.0.0.0 to 239.191.255.255 for the organisation-local scope to grow into (section 6.2.1), and the
/// local scope grows down from 239.255.0.0; those addresses are announced where the scopes themselves are. A network
/// with other zones gives the group by hand.
pub fn announcement_group(session: IpAddr) -> IpAddr {
    match session {
        IpAddr::V4(group) => match group.octets() {
            [239, 252..=255, ..] => LOCAL.into(),
            [239, ..] => ORGANISATION.into(),
            _ => GLOBAL.into(),
        },
        IpAddr::V6(group) => for_scope(scope(group)).into(),
    }
}

/// Whether a session is announced within a local scope alone. Others are announced on request only, as the whole internet
/// would hear them.
pub fn is_local(session: IpAddr) -> bool {
    !is_global(announcement_group(session))
}

/// Whether the group of announcements is that of the whole internet.
pub fn is_global(group: IpAddr) -> bool {
    group == GLOBAL || group == for_scope(14)
}
