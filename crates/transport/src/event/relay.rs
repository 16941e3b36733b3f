//! What a relay does, for its operator.

use std::net::{IpAddr, SocketAddr};

use layercast_delivery::active::source::NodeCounters;
use layercast_delivery::node::RelayState;
use serde::Serialize;

/// What a relay does now.
#[derive(Clone, Debug, Serialize)]
pub struct RelayStatus {
    /// Where it listens.
    pub listen: Option<SocketAddr>,
    /// What its node does.
    #[serde(flatten)]
    pub node: RelayState,
    /// System calls that sent them.
    pub send_calls: u64,
    /// The processor time of this process, in seconds.
    pub cpu_s: f64,
    /// The link on which it sends on by multicast.
    #[serde(rename = "local")]
    pub link: Option<LinkStatus>,
    /// Its router, if it takes part.
    pub router: Option<RouterStatus>,
}

/// The link on which a relay sends on by multicast.
#[derive(Clone, Debug, Serialize)]
pub struct LinkStatus {
    /// The interface.
    pub interface: String,
    /// How many hosts hold something, as far as they are tracked.
    pub hosts: usize,
    /// The routers that query in place of the relay, of each version of IP.
    #[serde(rename = "queriers")]
    pub other_queriers: Vec<IpAddr>,
    /// Reports that were read.
    pub reports: u64,
    /// Subscriptions that are held without their host, for want of room.
    pub untracked: u64,
}

/// The router of a relay that takes part.
#[derive(Clone, Debug, Serialize)]
pub struct RouterStatus {
    /// The name of its protocol.
    pub protocol: String,
    /// Whether there is a session in which it takes part.
    #[serde(rename = "active")]
    pub is_taking_part: bool,
    /// What it has done.
    #[serde(flatten)]
    pub counters: NodeCounters,
}
