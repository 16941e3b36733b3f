//! Routers that take part in a session: where they are, and how long they live.

use layercast_core::contract::{Arrival, ChildLink, Ecn, Input, Origin, Peer, drive};
use layercast_core::family::Family;
use layercast_core::units::{Size, Time};

use super::{Agent, Simulation};
use crate::host::RouterHost;
use crate::network::{LinkId, NetworkError, NodeId};
use crate::packet::{Body, PacketCopy};
use crate::tree::{MOST_CHILD_LINKS, Shape, Tree};

/// A node at which a router of a session's protocol is active during its lives. Otherwise the node is
/// passive and forwards as all others.
#[derive(Debug)]
pub struct RouterConfig<F: Family> {
    /// The node: of the session's tree, with neither its source nor a receiver.
    pub node: NodeId,
    /// Its lives, in order of time, none before the end of the one before. A router that loses its state
    /// has two, one after the other.
    pub lives: Vec<RouterLife<F>>,
}

/// One life of a router.
#[derive(Debug)]
pub struct RouterLife<F: Family> {
    /// A new endpoint.
    pub router: F::Router,
    /// When it starts.
    pub start: Time,
    /// When it fails silently with all its state, if before the end.
    pub stop: Option<Time>,
}

/// The state of a router.
#[derive(Debug)]
pub(super) struct RouterAgent<F: Family> {
    session: u32,
    /// Its number among the routers of its session.
    number: u32,
    works: bool,
    /// The present life and those that follow, the next one last.
    lives: Vec<F::Router>,
}

impl<F: Family> Simulation<F> {
    /// The nodes at which routers of a session from `source` to these nodes may be, in the order of its tree.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn router_nodes(&self, source: NodeId, receivers: &[NodeId]) -> Result<Vec<NodeId>, NetworkError> {
        let (shape, origins) = Shape::new(&self.network, &self.routing, source, receivers)?;
        Ok(shape.router_nodes().map(|node| origins.nodes[node as usize]).collect())
    }

    /// Puts routers into a tree with these `nodes`. Returns their lives in the order of the tree.
    pub(super) fn set_routers(
        &self,
        tree: &mut Tree,
        nodes: &[NodeId],
        routers: Vec<RouterConfig<F>>,
    ) -> Result<Vec<Vec<RouterLife<F>>>, NetworkError> {
        let name = |node: NodeId| self.network.node_name(node).to_owned();
        let mut placed = Vec::with_capacity(routers.len());
        for RouterConfig { node, lives } in routers {
            let tree_node = tree.router_nodes().find(|&tree_node| nodes[tree_node as usize] == node);
            placed.push((tree_node.ok_or_else(|| NetworkError::RouterPlace { node: name(node) })?, lives));
        }
        placed.sort_by_key(|&(tree_node, _)| tree_node);
        if let Some(twice) = placed.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(NetworkError::RouterPlace { node: name(nodes[twice[0].0 as usize]) });
        }
        for tree_node in std::iter::once(0).chain(placed.iter().map(|&(tree_node, _)| tree_node)) {
            let links = tree.child_links(tree_node);
            if links > MOST_CHILD_LINKS {
                let node = name(nodes[tree_node as usize]);
                return Err(NetworkError::ChildLinks { node, links, most: MOST_CHILD_LINKS });
            }
        }
        tree.set_routers(placed.iter().map(|&(tree_node, _)| tree_node).collect());
        Ok(placed.into_iter().map(|(_, lives)| lives).collect())
    }

    pub(super) fn add_router(&mut self, session: u32, number: u32, lives: Vec<RouterLife<F>>) {
        let agent = self.agents.len() as u32;
        for life in &lives {
            self.schedule_life(agent, life.start, life.stop);
        }
        let lives = lives.into_iter().rev().map(|life| life.router).collect();
        self.add_agent(Agent::Router(Box::new(RouterAgent { session, number, works: false, lives })));
    }

    /// A router begins its next life, or fails.
    pub(super) fn set_working(&mut self, agent: u32, works: bool) {
        let Agent::Router(router) = &mut self.agents[agent as usize] else { return };
        if !works {
            router.lives.pop();
        }
        router.works = works;
        self.sessions[router.session as usize].tree.set_working(router.number, works);
        if works {
            self.drive_router(agent, Input::Start);
        } else {
            self.engine.set_timer(agent, None);
        }
    }

    /// Passes one input to a router and carries out its actions. A router that is not active receives
    /// nothing.
    pub(super) fn drive_router(&mut self, agent: u32, input: Input<F::Header>) {
        let Agent::Router(router) = &mut self.agents[agent as usize] else { return };
        let session = &self.sessions[router.session as usize];
        let peer = session.received.len() as u32 + router.number;
        let Some(node) = session.tree.router_node(peer).filter(|_| router.works) else { return };
        let Some(endpoint) = router.lives.last_mut() else { return };
        let engine = &mut self.engine;
        let now = engine.now();
        let mut host = RouterHost { engine, tree: &session.tree, node, peer: Peer(peer), ecn: session.ecn };
        let deadline = drive(endpoint, now, input, &mut host);
        self.engine.set_timer(agent, deadline);
    }

    /// The agent of the active router at a node of a session's tree.
    #[inline]
    pub(super) fn router_agent(&self, session: u32, node: u32) -> Option<u32> {
        let session = &self.sessions[session as usize];
        session.tree.router_at(node).map(|number| session.first_router + number)
    }

    /// A packet on its path up has arrived at a node.
    pub(super) fn serve_up(&mut self, session: u32, link: LinkId, mut copy: PacketCopy) {
        let node = copy.position;
        let known = &self.sessions[session as usize];
        let agent = if node == 0 { Some(known.source) } else { self.router_agent(session, node) };
        let Some(agent) = agent else {
            let (next, above) = known.tree.up_from(node);
            copy.position = above;
            return self.engine.offer(next, copy);
        };
        if known.tree.has_routers() {
            let child = known.tree.child_link(node, link);
            self.deliver_child(agent, child, copy);
        } else {
            self.deliver(agent, copy);
        }
    }

    /// A packet has come up to a router, or to a source whose session has routers.
    fn deliver_child(&mut self, agent: u32, link: Option<ChildLink>, copy: PacketCopy) {
        let body = *self.engine.slab.body(copy.packet);
        self.engine.slab.release(copy.packet);
        if let (Body::Unicast { from, header }, Some(link)) = (body, link) {
            let size = Size::from_bytes(copy.size_bytes);
            let origin = Origin::Child(link, from);
            // Unicast packets of sessions are not ECN-capable.
            self.drive_endpoint(agent, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
        }
    }
}
