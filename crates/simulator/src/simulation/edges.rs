//! Trees and edge routers of a simulation, and scheduled changes of membership.

use layercast_core::contract::{Input, JoinError};
use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::Time;

use super::session::ReceiverPlan;
use super::{Agent, ReceiverId, Route, Simulation};
use crate::edge::{EdgeConfig, EdgeRouter};
use crate::event::Event;
use crate::network::{NetworkError, NodeId};
use crate::tree::{Origins, Routes, Shape, Tree};

impl<F: Family> Simulation<F> {
    /// Puts an edge router between the network and the receivers at a node, for all sessions added
    /// after it. A second one at the same node takes the place of the first.
    pub fn set_edge(&mut self, node: NodeId, config: EdgeConfig) {
        let edges = &mut self.engine.edges;
        let number = *self.edges.entry(node).or_insert(edges.len() as u32) as usize;
        match edges.get_mut(number) {
            Some(known) => known.config = config,
            None => edges.push(EdgeRouter { config, groups: 0 }),
        }
    }

    /// Lets a receiver's host crash: it receives and sends nothing from then on. The edge at its node
    /// notices after its membership interval; without an edge the crash is never noticed.
    pub fn crash_receiver(&mut self, id: ReceiverId, at: Time) {
        let key = self.engine.events.key_at(at);
        self.engine
            .events
            .push(key, Event::Crash(self.sessions[id.session as usize].first_agent + id.receiver));
    }

    /// Builds the tree of the session with these routes. Also returns the origins of its parts: the
    /// receivers, as given, and the nodes.
    pub(super) fn build_tree(
        &self,
        session: &str,
        source: NodeId,
        plans: &[ReceiverPlan],
        channels: u16,
        routes: Routes,
    ) -> Result<(Tree, Origins), NetworkError> {
        let receivers: Vec<NodeId> = plans.iter().map(|plan| plan.node).collect();
        let (shape, origins) = Shape::new(&self.network, &self.routing, source, &receivers)?;
        let mut tree = Tree::new(shape, usize::from(channels), routes);
        tree.open_edges(&self.edges, &origins.nodes);
        if tree.has_edges() || plans.iter().any(|plan| plan.latencies.are_drawn()) {
            let name = |node: NodeId| format!("membership/{session}/{}", self.network.node_name(node));
            tree.set_streams(origins.nodes.iter().map(|&node| Stream::new(self.seed, &name(node))).collect());
        }
        Ok((tree, origins))
    }

    /// A host has crashed: nothing wakes its endpoint again, and its memberships stay as they are.
    pub(super) fn crash_agent(&mut self, agent: u32) {
        if let Agent::Receiver { session, receiver } = self.agents[agent as usize] {
            let session = &mut self.sessions[session as usize];
            session.crash(receiver);
            session.tree.crash(&mut self.engine, receiver);
            self.engine.set_timer(agent, None);
        }
    }

    /// A scheduled change of membership takes effect.
    pub(super) fn serve_membership(&mut self, route: u32, slot: u32) {
        if let Route::Membership { session } = self.routes[route as usize] {
            let tree = &mut self.sessions[session as usize].tree;
            if let Some(refusal) = tree.apply_pending(&mut self.engine, slot) {
                let failed = Input::JoinFailed(refusal.channel, JoinError::Limit);
                self.drive_receiver(session, refusal.receiver, failed);
            }
        }
    }
}
