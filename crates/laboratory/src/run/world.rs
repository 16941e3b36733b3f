//! A simulation and where its flows and links are.

use layercast_core::family::Family;
use layercast_core::units::Time;
use layercast_simulator::{CallDelays, FlowCounters, LinkId, ReceiverId, Simulation, TcpId, UdpId};

use super::RunError;
use crate::results::Lateness;

/// A simulation with what lets its time pass.
pub trait Running<F: Family> {
    /// The simulation.
    fn simulation(&self) -> &Simulation<F>;

    /// The simulation, to observe it.
    fn simulation_mut(&mut self) -> &mut Simulation<F>;

    /// Lets time pass until `end`; what happens at `end` is included. Flows from outside are up to date then.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn run_until(&mut self, end: Time, flows: &mut [WorldFlow]) -> Result<(), RunError>;

    /// How late it was, if its time is that of a clock.
    fn lateness(&mut self) -> Option<Lateness> {
        None
    }
}

/// In virtual time.
impl<F: Family> Running<F> for Simulation<F> {
    fn simulation(&self) -> &Simulation<F> {
        self
    }

    fn simulation_mut(&mut self) -> &mut Simulation<F> {
        self
    }

    fn run_until(&mut self, end: Time, _flows: &mut [WorldFlow]) -> Result<(), RunError> {
        Simulation::run_until(self, end);
        Ok(())
    }
}

/// A simulation and where its flows and links are.
pub struct World<F: Family> {
    /// The simulation and its time.
    pub running: Box<dyn Running<F>>,
    /// In the order of the experiment's flows.
    pub flows: Vec<WorldFlow>,
    /// In the order of the experiment's links.
    pub links: Vec<LinkId>,
    /// How many channels each session has, in the order of the experiment.
    pub channels: Vec<u16>,
}

impl<F: Family> World<F> {
    pub(super) fn simulation(&self) -> &Simulation<F> {
        self.running.simulation()
    }

    pub(super) fn simulation_mut(&mut self) -> &mut Simulation<F> {
        self.running.simulation_mut()
    }

    /// Lets time pass until `end`.
    pub(super) fn run_until(&mut self, end: Time) -> Result<(), RunError> {
        self.running.run_until(end, &mut self.flows)
    }
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

/// A unicast flow whose packets come from outside. Whatever runs the world keeps it up to date.
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
