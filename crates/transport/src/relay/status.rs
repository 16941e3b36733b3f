//! What a relay does, for its operator.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::{Rate, Time};
use layercast_delivery::active::source::NodeCounters;
use layercast_delivery::relay::child::LinkReport;
use layercast_delivery::relay::parent::{Parent, ParentCounters};
use layercast_delivery::relay::session::SessionKey;
use rustix::time::{ClockId, clock_gettime};

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
    /// The link on which it sends on by multicast.
    pub link: Option<LinkStatus>,
    /// Its router, if it takes part.
    pub router: Option<RouterStatus>,
    /// Its children.
    pub children: Vec<ChildStatus>,
}

/// The link on which a relay sends on by multicast.
#[derive(Clone, Debug)]
pub struct LinkStatus {
    /// The interface.
    pub interface: String,
    /// How many hosts hold something, as far as they are tracked.
    pub hosts: usize,
    /// The routers that query in place of the relay, of each version of IP.
    pub other_queriers: Vec<IpAddr>,
    /// Reports that were read.
    pub reports: u64,
    /// Subscriptions that are held without their host, for want of room.
    pub untracked: u64,
}

/// The router of a relay that takes part.
#[derive(Clone, Debug)]
pub struct RouterStatus {
    /// The name of its protocol.
    pub protocol: String,
    /// Whether there is a session in which it takes part.
    pub is_taking_part: bool,
    /// What it has done.
    pub counters: NodeCounters,
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
    /// Its address; none for the link.
    pub address: Option<SocketAddr>,
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

/// The sessions that children want, and the children. What is above is not known here.
pub(crate) fn served(parent: &Parent, now: Time) -> (Vec<SessionStatus>, Vec<ChildStatus>) {
    let of = |place: usize, key: SessionKey| {
        let channels = parent.children().filter(|child| child.session == place);
        let channels: Vec<usize> = channels.map(|child| child.held.count()).collect();
        SessionStatus {
            place,
            key,
            parent: None,
            parent_port: None,
            children: channels.len(),
            channels: channels.into_iter().max().unwrap_or(0),
        }
    };
    let children = parent.children().map(|child| ChildStatus {
        address: child.address,
        session: child.session,
        channels: child.held.count(),
        for_s: now.since(child.since).as_secs_f64(),
        packets: child.packets,
        bytes: child.bytes,
        dropped: child.dropped,
        missing: child.missing,
    });
    (parent.sessions().map(|(place, key)| of(place, key)).collect(), children.collect())
}

/// The processor time of this process.
pub(crate) fn cpu_s() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}
