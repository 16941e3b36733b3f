//! The settings of a gateway.

use std::net::SocketAddr;

use layercast_core::units::Duration;

use crate::membership::Reporting;

/// How a gateway finds its relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayAddress {
    /// The relay's own address and port.
    Given(SocketAddr),
    /// By Relay Discovery at this address, which may be anycast (section 5.2.2.1).
    Discover(SocketAddr),
}

/// The settings of a gateway. The times are the recommendations of sections 5.2.3.4.3 and 5.2.3.5.3 by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatewaySettings {
    /// The relay.
    pub relay: RelayAddress,
    /// The protocol of reports.
    pub reporting: Reporting,
    /// The first wait for an answer.
    pub initial_timeout: Duration,
    /// The longest wait for an answer.
    pub maximum_timeout: Duration,
    /// How often a request is repeated before a relay that was discovered is given up.
    pub request_retries: u32,
    /// After which time without Multicast Data a request is sent early.
    pub silence: Duration,
}

impl GatewaySettings {
    /// The settings for a relay.
    pub fn new(relay: RelayAddress, reporting: Reporting) -> GatewaySettings {
        GatewaySettings {
            relay,
            reporting,
            initial_timeout: Duration::from_secs(1),
            maximum_timeout: Duration::from_secs(120),
            request_retries: 4,
            silence: Duration::from_secs(3),
        }
    }
}
