//! What the reader must know of protocols: their names and options.

use std::any::Any;
use std::fmt;

use layercast_core::family::{AnyProtocol, Family};
use layercast_core::option::{OptionError, OptionSpec, RawValue};
use layercast_core::session::Requirements;
use layercast_simulator::tcp::TcpVariant;

use super::flow_gauges::FlowGauges;

/// What a flow may be: the simulator's TCP variants, and `udp`, a constant rate without feedback.
pub const FLOW_PROTOCOLS: &[&str] = &flow_protocols();

const fn flow_protocols() -> [&'static str; TcpVariant::NAMES.len() + 1] {
    let mut names = [UDP; TcpVariant::NAMES.len() + 1];
    let mut at = 0;
    while at < TcpVariant::NAMES.len() {
        names[at] = TcpVariant::NAMES[at];
        at += 1;
    }
    names
}

/// The flow that is not a TCP.
pub const UDP: &str = "udp";

/// The keys of a flow that `udp` uses.
pub const UDP_KEYS: [&str; 10] =
    ["protocol", "from", "to", "count", "start", "stop", "packet_size", "rate", "on", "off"];

/// The multicast protocols that sessions may name: those of a family.
#[derive(Clone, Debug)]
pub struct Catalogue {
    entries: Vec<ProtocolPlan>,
}

impl Catalogue {
    /// The protocols of a family.
    pub fn of<F: Family>() -> Catalogue {
        let plan = |name: &str| F::Protocol::named(name).map(ProtocolPlan::new);
        Catalogue { entries: F::Protocol::names().into_iter().filter_map(plan).collect() }
    }

    /// The names of all protocols.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries.iter().map(ProtocolPlan::name).collect()
    }

    /// A protocol with its default options; none if there is no such protocol.
    pub fn named(&self, name: &str) -> Option<&ProtocolPlan> {
        self.entries.iter().find(|plan| plan.name() == name)
    }

    /// The names of the protocols for which something holds, as a list of choices.
    pub(super) fn names_where(&self, holds: fn(&dyn Requirements) -> bool) -> String {
        let those = self.entries.iter().filter(|plan| holds(plan.requirements()));
        let named: Vec<String> = those.map(|plan| format!("\"{}\"", plan.name())).collect();
        named.join(", ")
    }

    /// What stands for a protocol that could not be read; the scenario is rejected then.
    pub(super) fn stand_in(&self) -> Option<ProtocolPlan> {
        self.entries.first().cloned()
    }

    /// The gauges of a protocol's endpoints; none if there is no such protocol.
    pub fn gauges(&self, name: &str) -> FlowGauges {
        self.named(name).map_or(FlowGauges::default(), |plan| plan.0.gauges())
    }

    /// The options of a protocol; none if there is no such protocol.
    pub fn options(&self, name: &str) -> Vec<OptionSpec> {
        self.named(name).map_or(Vec::new(), ProtocolPlan::option_specs)
    }
}

/// A protocol of some family with its options, as a session runs it. The laboratory is compiled once for all
/// families: only what simulates knows the type ([`ProtocolPlan::get`]).
pub struct ProtocolPlan(Box<dyn Erased>);

impl ProtocolPlan {
    /// The plan of a protocol.
    pub fn new<P: AnyProtocol>(protocol: P) -> ProtocolPlan {
        ProtocolPlan(Box::new(protocol))
    }

    /// The protocol; none if it is of another family.
    pub fn get<P: AnyProtocol>(&self) -> Option<&P> {
        self.0.as_any().downcast_ref()
    }

    /// The name in scenario files.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The options it has.
    pub fn option_specs(&self) -> Vec<OptionSpec> {
        self.0.option_specs()
    }

    /// Sets an option.
    ///
    /// # Errors
    /// As [`Options::set`](layercast_core::option::Options::set).
    pub fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        self.0.set(name, value)
    }

    /// An option's value as it would be written; none if there is no such option.
    pub fn get_option(&self, name: &str) -> Option<String> {
        self.0.get(name)
    }

    /// Whether its receivers react to congestion marks (ECN), with the options that it has.
    pub fn reacts_to_marks(&self) -> bool {
        self.requirements().character().ecn
    }

    /// What a host must know before it opens a session.
    pub fn requirements(&self) -> &dyn Requirements {
        self.0.requirements()
    }
}

impl Clone for ProtocolPlan {
    fn clone(&self) -> Self {
        self.0.boxed()
    }
}

impl fmt::Debug for ProtocolPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for ProtocolPlan {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

/// [`AnyProtocol`] without its family.
trait Erased: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn option_specs(&self) -> Vec<OptionSpec>;
    fn gauges(&self) -> FlowGauges;
    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError>;
    fn get(&self, name: &str) -> Option<String>;
    fn requirements(&self) -> &dyn Requirements;
    fn boxed(&self) -> ProtocolPlan;
    fn is(&self, other: &dyn Erased) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<P: AnyProtocol> Erased for P {
    fn name(&self) -> &'static str {
        AnyProtocol::name(self)
    }

    fn option_specs(&self) -> Vec<OptionSpec> {
        AnyProtocol::option_specs(self)
    }

    fn gauges(&self) -> FlowGauges {
        FlowGauges { receiver: self.receiver_gauges(), source: self.source_gauges() }
    }

    fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        AnyProtocol::set(self, name, value)
    }

    fn get(&self, name: &str) -> Option<String> {
        AnyProtocol::get(self, name)
    }

    fn requirements(&self) -> &dyn Requirements {
        AnyProtocol::requirements(self)
    }

    fn boxed(&self) -> ProtocolPlan {
        ProtocolPlan::new(self.clone())
    }

    fn is(&self, other: &dyn Erased) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
