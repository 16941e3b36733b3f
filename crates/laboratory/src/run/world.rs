//! A simulation and where its flows and links are.

use layercast_core::family::Family;
use layercast_core::units::Time;
use layercast_simulator::{CallDelays, FlowCounters, LinkId, ReceiverId, Simulation, TcpId, UdpId};

use super::RunError;

/// A simulation and where its flows and links are.
pub struct World<F: Family> {
    /// The simulation.
    pub simulation: Simulation<F>,
    /// In the order of the experiment's flows.
    pub flows: Vec<WorldFlow>,
    /// In the order of the experiment's links.
    pub links: Vec<LinkId>,
    /// How many channels each session has, in the order of the experiment.
    pub channels: Vec<u16>,
}

/// One flow in the simulation, and when it starts.
pub struct WorldFlow {
    /// What it is in the simulation.
    pub id: WorldFlowId,
    /// When it starts.
    pub start: Time,
    /// Whether its session distributes an object.
    pub has_object: bool,
    /// What is known of a unicast flow whose packets come from outside; of no other.
    pub outside: Option<Box<OutsideFlow>>,
}

/// What advances a world up to a time: the events of a simulation, or a clock.
pub type Advance<'a, F> = dyn FnMut(&mut World<F>, Time) -> Result<(), RunError> + 'a;

/// Advances a world in virtual time: all events up to and including `end` are served.
///
/// # Errors
/// Never.
pub(super) fn simulated<F: Family>(world: &mut World<F>, end: Time) -> Result<(), RunError> {
    world.simulation.run_until(end);
    Ok(())
}

/// What a flow is in the simulation.
#[derive(Clone, Copy)]
pub enum WorldFlowId {
    /// A receiver of a session.
    Receiver(ReceiverId),
    /// A simulated TCP connection.
    Tcp(TcpId),
    /// A simulated flow at a constant rate.
    Udp(UdpId),
    /// A unicast flow whose packets come from outside, such as a TCP of the kernel's.
    Outside,
}

/// A unicast flow whose packets come from outside. Whatever advances the world keeps it up to date.
#[derive(Clone, Debug, Default)]
pub struct OutsideFlow {
    /// What was sent, received and lost so far, and the transfers.
    pub counters: FlowCounters,
    /// The links that its data cross.
    pub links: Vec<LinkId>,
    /// The delays of its packets, of a call.
    pub call: Option<CallDelays>,
    /// Its congestion window in packets, of a TCP whose window is known.
    pub cwnd: Option<f64>,
    /// Its slow start threshold in packets, of a TCP that has one and shows it.
    pub ssthresh: Option<f64>,
}

impl WorldFlow {
    /// What is known of the flow from outside; nothing of a flow that is simulated.
    pub(super) fn outside(&self) -> Option<&OutsideFlow> {
        self.outside.as_deref()
    }
}
