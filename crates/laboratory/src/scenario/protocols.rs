//! What the reader must know of protocols: their names and options.

use layercast_core::option::{OptionError, OptionSpec, RawValue};
use layercast_core::session::{PlanError, SessionPlan};

use super::plan::OptionValue;
use super::probe::FlowGauges;

/// What a flow may be: the TCP variants, of which `tcp-sack` is the `Sack1` agent of ns-2, and `udp`, a
/// constant rate that nobody answers.
pub const FLOW_PROTOCOLS: &[&str] = &[
    "tcp-tahoe",
    "tcp-reno",
    "tcp-newreno",
    "tcp-sack",
    "tcp-sack-6675",
    "tcp-vegas",
    "tcp-cubic",
    "tcp-bbr",
    UDP,
];

/// The flow that is no TCP.
pub const UDP: &str = "udp";

/// The sets of TCP defaults that a flow may name: ns-2 as of now, and ns-2 before 18 October 2004,
/// whose smallest retransmission timeout was 1 s.
pub const TCP_PROFILES: &[&str] = &["ns2", "ns2-2004"];

/// The multicast protocols that sessions may name. Scenario files are checked against it, so that
/// a wrong option is told before anything runs.
pub trait ProtocolCatalogue {
    /// The names of all protocols.
    fn names(&self) -> Vec<&str>;

    /// The options of a protocol; none if there is no such protocol.
    fn options(&self, protocol: &str) -> Vec<OptionSpec>;

    /// What endpoints of a protocol show by name.
    fn gauges(&self, _protocol: &str) -> FlowGauges {
        FlowGauges::default()
    }

    /// How many receivers a session of a protocol may have; none for any number.
    fn most_receivers(&self, _protocol: &str) -> Option<usize> {
        None
    }

    /// Whether routers take part in a protocol.
    fn has_routers(&self, _protocol: &str) -> bool {
        false
    }

    /// Whether a protocol with these options, which are allowed one by one, can carry a plan.
    ///
    /// # Errors
    /// As [`Requirements::check`](layercast_core::session::Requirements::check).
    fn check_plan(
        &self,
        _protocol: &str,
        _options: &[(String, OptionValue)],
        _plan: &SessionPlan,
    ) -> Result<(), PlanError> {
        Ok(())
    }

    /// Whether a protocol's option may have a value.
    ///
    /// # Errors
    /// As [`Options::set`](layercast_core::option::Options::set).
    fn check(&self, protocol: &str, name: &str, value: RawValue<'_>) -> Result<(), OptionError>;
}
