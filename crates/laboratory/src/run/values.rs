//! Values that the measurement and the probes read alike.

use layercast_core::family::Family;
use layercast_core::units::RateEstimate;
use layercast_simulator::{FlowCounters, Simulation};

use super::world::{WorldFlow, WorldFlowId};

/// The counters of a flow up to now.
pub(super) fn counters<F: Family>(simulation: &Simulation<F>, flow: &WorldFlow) -> FlowCounters {
    match flow.id {
        WorldFlowId::Receiver(id) => simulation.receiver_counters(id),
        WorldFlowId::Tcp(id) => simulation.tcp_counters(id),
        WorldFlowId::Udp(id) => simulation.udp_counters(id),
        WorldFlowId::Outside => flow.outside().map_or(FlowCounters::default(), |known| known.counters),
    }
}

/// In kbit/s; NaN if unknown.
pub(super) fn kbps_or_nan(rate: RateEstimate) -> f64 {
    rate.known().map_or(f64::NAN, |rate| rate.as_kbps())
}
