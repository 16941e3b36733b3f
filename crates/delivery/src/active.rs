//! Sessions of protocols with active routers over a tree of relays: the hosts of a source, of routers on relays, and of
//! receivers, as state machines.
//!
//! Each hop is a link between a [parent](crate::relay::parent) and a [child](crate::relay::child), which let children in,
//! notice silence and move to another parent. On it go the protocol's own packets. A packet of data that comes from above
//! goes to all children first, and then to the router, with the ECN field that it came with (RFC 3168); repairs go where
//! the router sends them. What comes up goes to the router. So every relay of a tree takes part, and the active node behind
//! a link is the child itself.
//!
//! What is carried are the packets of an ordinary session of files, in order ([`InOrder`](crate::in_order::InOrder)): chunks. Each
//! is signed, authenticated and encrypted from end to end, so that relays need no key to keep and repeat it. The headers of the
//! protocol, which each hop changes, are not authenticated.
//!
//! Bottom-up: [`frame`] (what is on a link) · [`store`] (chunks that are kept for repairs) · [`downlinks`] and [`uplink`] ·
//! [`source`], [`relay`], [`member`].

pub mod downlinks;
pub mod frame;
pub mod member;
pub mod relay;
pub mod source;
pub mod store;
pub mod uplink;

use std::net::SocketAddr;

use layercast_core::contract::Ecn;

/// Where the datagrams of a node go.
pub trait Wire {
    /// Sends a datagram with this ECN field: a head, and what follows it. False if it is lost here.
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool;
}

#[cfg(test)]
mod tests;
