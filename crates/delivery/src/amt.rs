//! Automatic Multicast Tunneling (AMT, RFC 7450) as state machines: no socket, no clock, no thread.
//!
//! A gateway (here: a receiver) without native multicast asks a relay for groups by membership reports inside of UDP, and gets
//! their packets inside of UDP. Bottom-up: [`message`] (the seven messages) · [`data`] (multicast packets inside of UDP, ECN) ·
//! [`gateway`] · [`relay`]. Queries and reports are those of [`membership`](crate::membership).
//!
//! Both machines take the time as an argument and queue what is to be sent. They answer nothing that is malformed, and what
//! they keep is bounded by their settings.

pub mod data;
pub mod gateway;
pub mod message;
pub mod relay;
pub mod secret;

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
