//! Where the routers of a session are, and how long they live.

use layercast_core::family::{AnyProtocol as _, Family};
use layercast_core::session::SessionPlan as Session;
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_simulator::{NetworkError, NodeId, RouterConfig, RouterLife, Simulation};

use crate::scenario::{Scenario, SessionPlan};

/// What the routers of a session are made of.
pub(super) struct Making<'a, F: Family> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a SessionPlan,
    pub(super) protocol: &'a F::Protocol,
    pub(super) session: &'a Session,
    /// The network's nodes, in the order of the scenario's.
    pub(super) nodes: &'a [NodeId],
    /// When the first of the source and the receivers starts, and the routers with it.
    pub(super) start: Time,
    pub(super) seed: u64,
}

impl<F: Family> Making<'_, F> {
    /// The routers; none if the protocol has no routers.
    pub(super) fn routers(
        &self,
        simulation: &Simulation<F>,
    ) -> Result<Option<Vec<RouterConfig<F>>>, NetworkError> {
        if !self.protocol.requirements().has_routers() {
            return Ok(None);
        }
        let active = match &self.plan.routers.active {
            Some(active) => active.clone(),
            None => {
                let receivers: Vec<NodeId> =
                    self.plan.receivers.iter().map(|place| self.nodes[place.node]).collect();
                let places = simulation.router_nodes(self.nodes[self.plan.source], &receivers)?;
                (0..self.nodes.len()).filter(|&node| places.contains(&self.nodes[node])).collect()
            }
        };
        let config = |node: usize| RouterConfig { node: self.nodes[node], lives: self.lives(node) };
        Ok(Some(active.into_iter().map(config).collect()))
    }

    /// One life, or one before a failure and one after it.
    fn lives(&self, node: usize) -> Vec<RouterLife<F>> {
        let failure = self.plan.routers.failure.as_ref();
        let failure =
            failure.filter(|failure| failure.failing.as_ref().is_none_or(|failing| failing.contains(&node)));
        let stop = match (failure, self.plan.stop) {
            (Some(failure), Some(stop)) => Some(failure.at.min(stop)),
            (failure, stop) => failure.map(|failure| failure.at).or(stop),
        };
        let first = self.life(node, 1, self.start, stop);
        let second =
            failure.and_then(|failure| self.life(node, 2, failure.back.max(self.start), self.plan.stop));
        first.into_iter().chain(second).collect()
    }

    /// A life with a random stream of its own; none if it would end before it starts.
    fn life(&self, node: usize, number: u32, start: Time, stop: Option<Time>) -> Option<RouterLife<F>> {
        if stop.is_some_and(|stop| stop <= start) {
            return None;
        }
        let again = if number == 1 { String::new() } else { format!("/{number}") };
        let name = format!("session/{}/router@{}{again}", self.plan.name, self.scenario.nodes[node]);
        let router = self.protocol.router(self.session.clone(), Stream::new(self.seed, &name))?;
        Some(RouterLife { router, start, stop })
    }
}
