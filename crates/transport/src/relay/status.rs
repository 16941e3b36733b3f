//! What a relay does, for its operator.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::Rate;
use layercast_delivery::active::source::NodeCounters;
use layercast_delivery::node::RelayState;
use layercast_delivery::relay::parent::ParentCounters;
use layercast_delivery::relay::status::{ChildStatus, SessionStatus};
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

impl RelayStatus {
    /// Of a relay that listens here, with the system calls that sent. It has neither a link nor a router.
    pub(super) fn of(state: RelayState, listen: Option<SocketAddr>, send_calls: u64) -> RelayStatus {
        let RelayState { depth, rate, packets, bytes, dropped, counters, sessions, children } = state;
        RelayStatus {
            listen,
            depth,
            rate,
            packets,
            bytes,
            dropped,
            send_calls,
            cpu_s: cpu_s(),
            counters,
            sessions,
            link: None,
            router: None,
            children,
        }
    }
}

/// The processor time of this process.
pub(crate) fn cpu_s() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}
