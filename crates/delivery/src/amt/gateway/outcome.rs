//! What a gateway sends, passes on and counts.

use std::net::SocketAddr;

use crate::amt::data::Inner;

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its destination.
    pub to: SocketAddr,
    /// The payload of UDP.
    pub bytes: Vec<u8>,
}

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived<'a> {
    /// A multicast packet of a group and source that are wanted.
    Packet(Inner<'a>),
    /// A control message that was accepted.
    Control,
    /// Something that is ignored, and counted.
    Nothing,
}

/// What became of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounters {
    /// Multicast packets that were passed on.
    pub packets: u64,
    /// Messages from an address other than the relay's.
    pub foreign: u64,
    /// Messages, queries and multicast packets that are malformed.
    pub malformed: u64,
    /// Messages that nobody waits for, with another nonce, or of a kind that gateways do not take.
    pub unexpected: u64,
    /// Multicast packets whose group or source is not wanted.
    pub unwanted: u64,
    /// Multicast packets that are fragments.
    pub fragments: u64,
    /// Handshakes that were completed.
    pub handshakes: u64,
    /// How often a relay refused: the L flag.
    pub refusals: u64,
    /// How often a relay was given up.
    pub lost_relays: u64,
    /// How often the address of this gateway, as the relay sees it, has changed.
    pub address_changes: u64,
}
