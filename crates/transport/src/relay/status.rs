//! What a relay does, for its operator.

use std::net::SocketAddr;

use layercast_core::units::Rate;
use layercast_delivery::relay::child::LinkReport;
use layercast_delivery::relay::parent::ParentCounters;
use layercast_delivery::relay::session::SessionKey;

/// What a relay does now.
#[derive(Clone, Debug)]
pub struct RelayStatus {
    /// Where it listens.
    pub listen: Option<SocketAddr>,
    /// How many relays there are from here up to the source or to multicast.
    pub depth: u8,
    /// What it sends to children now.
    pub rate: Rate,
    /// Packets sent to children, each counted for itself.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets that were not sent, since the queue was full or the rate too high.
    pub dropped: u64,
    /// System calls that sent them.
    pub send_calls: u64,
    /// The processor time of this process, in seconds.
    pub cpu_s: f64,
    /// What it has done.
    pub counters: ParentCounters,
    /// The sessions that some child wants.
    pub sessions: Vec<SessionStatus>,
    /// Its children.
    pub children: Vec<ChildStatus>,
}

/// A session of a relay.
#[derive(Clone, Debug)]
pub struct SessionStatus {
    /// The number by which its children name it.
    pub place: usize,
    /// The session.
    pub key: SessionKey,
    /// The relay above; none if packets come by multicast or from the source itself.
    pub parent: Option<LinkReport>,
    /// The port of this host from which the relay above is asked.
    pub parent_port: Option<u16>,
    /// How many children want it.
    pub children: usize,
    /// How many channels the child with the most holds.
    pub channels: usize,
}

/// A child of a relay.
#[derive(Clone, Debug)]
pub struct ChildStatus {
    /// Its address.
    pub address: SocketAddr,
    /// The place of its session.
    pub session: usize,
    /// How many channels it holds.
    pub channels: usize,
    /// For how many seconds it has been here.
    pub for_s: f64,
    /// Packets sent to it.
    pub packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets that were not sent to it.
    pub dropped: u64,
    /// Packets that it had not received when it last said how many it had: lost, or on their path.
    pub missing: u32,
}
