//! Automatic Multicast Tunneling (AMT, RFC 7450) as state machines: no socket, no clock, no thread.
//!
//! A gateway (here: a receiver) without native multicast asks a relay for groups by membership reports inside of UDP, and gets
//! their packets inside of UDP. Bottom-up: [`ip`] (IP datagrams inside of messages) · [`query`] and [`report`] (IGMPv3 and MLDv2)
//! · [`message`] (the seven messages) · [`data`] (multicast packets inside of UDP, ECN) · [`subscriptions`] (what a gateway
//! reports) · [`gateway`] · [`relay`].
//!
//! Both machines take the time as an argument and queue what is to be sent. They answer nothing that is malformed, and what
//! they keep is bounded by their settings.

pub mod data;
pub mod gateway;
pub mod ip;
pub(crate) mod memberships;
pub mod message;
pub mod query;
pub mod relay;
pub mod report;
pub mod secret;
pub mod subscriptions;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The UDP port of relays (RFC 7450, section 7.2).
pub const PORT: u16 = 2268;

/// The address at which any public relay may be found by anycast (RFC 7450, sections 4.1.5.2 and 7.1): the prefix with the
/// low octet 1.
pub fn discovery_address(is_v4: bool) -> IpAddr {
    if is_v4 {
        Ipv4Addr::new(192, 52, 193, 1).into()
    } else {
        Ipv6Addr::new(0x2001, 3, 0, 0, 0, 0, 0, 1).into()
    }
}

/// The protocol by which memberships are reported: the P flag of a request (RFC 7450, section 5.1.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reporting {
    /// IGMPv3 (RFC 3376), for IPv4 groups.
    Igmp,
    /// MLDv2 (RFC 3810), for IPv6 groups.
    Mld,
}

impl Reporting {
    /// The protocol that reports memberships of a group.
    pub fn of(group: IpAddr) -> Reporting {
        if group.is_ipv4() { Reporting::Igmp } else { Reporting::Mld }
    }
}
