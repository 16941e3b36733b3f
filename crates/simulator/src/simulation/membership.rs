//! Trees and edge routers of a simulation, and what happens to memberships over time.

use layercast_protocol::contract::{Input, JoinError};
use layercast_protocol::stream::Stream;
use layercast_protocol::units::Time;

use super::{Agent, ReceiverConfig, ReceiverId, Route, Session, SessionConfig, Simulation};
use crate::edge::{EdgeConfig, EdgeRouter};
use crate::event::Event;
use crate::multicast::{Shape, Tree};
use crate::network::{NetworkError, NodeId};

impl Simulation {
    /// Puts an edge router between the network and the receivers at a node, for all sessions added
    /// after it. A second one at the same node takes the place of the first.
    pub fn set_edge(&mut self, node: NodeId, config: EdgeConfig) {
        let edges = &mut self.core.edges;
        let number = *self.edges.entry(node).or_insert(edges.len() as u32) as usize;
        match edges.get_mut(number) {
            Some(known) => known.config = config,
            None => edges.push(EdgeRouter { config, groups: 0 }),
        }
    }

    /// Lets a receiver's host crash: it hears and says nothing from then on. The edge at its node
    /// notices after its membership interval; where there is none, nobody ever does.
    pub fn crash_receiver(&mut self, id: ReceiverId, at: Time) {
        let key = self.core.events.key_at(at);
        self.core.events.push(key, Event::Crash(id.0));
    }

    /// The tree of the next session, and the number in it of each receiver, as given.
    pub(super) fn plant(
        &self,
        config: &SessionConfig,
        data_route: u32,
    ) -> Result<(Tree, Vec<u32>), NetworkError> {
        let receivers: Vec<NodeId> = config.receivers.iter().map(|receiver| receiver.node).collect();
        let (shape, origins) = Shape::new(&self.network, config.source_node, &receivers)?;
        let mut tree = Tree::new(shape, usize::from(config.channels), data_route);
        tree.open_edges(&self.edges, &origins.nodes);
        let is_drawn =
            |config: &ReceiverConfig| config.join_latency.is_drawn() || config.leave_latency.is_drawn();
        if tree.has_edges() || config.receivers.iter().any(is_drawn) {
            let name = |node: NodeId| format!("membership/{}/{}", config.name, self.network.node_name(node));
            tree.set_streams(origins.nodes.iter().map(|&node| Stream::new(self.seed, &name(node))).collect());
        }
        Ok((tree, origins.receivers))
    }

    /// A host is gone: nothing wakes its endpoint again, and its memberships are left as they are.
    pub(super) fn crash_agent(&mut self, agent: u32) {
        if let Agent::Receiver(receiver) = &mut self.agents[agent as usize] {
            receiver.crashed = true;
            self.sessions[receiver.session as usize].tree.crash(&mut self.core, receiver.receiver);
            self.core.set_timer(agent, None);
        }
    }

    /// A scheduled change of membership comes into force.
    pub(super) fn serve_membership(&mut self, route: u32, slot: u32) {
        if let Route::Membership { session } = self.routes[route as usize] {
            let Session { tree, receivers, .. } = &mut self.sessions[session as usize];
            if let Some(refusal) = tree.serve_later(&mut self.core, slot) {
                let agent = receivers[refusal.receiver as usize];
                self.tell(agent, Input::JoinFailed(refusal.channel, JoinError::Limit));
            }
        }
    }
}
