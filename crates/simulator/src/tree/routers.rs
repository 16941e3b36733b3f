//! The nodes of a tree whose routers take part in its protocol, and their child links.

use layercast_core::contract::{ChildLink, ChildSet};
use layercast_core::units::Channel;

use super::{Forwarding, Shape, Tree};
use crate::engine::Engine;
use crate::event::ArrivalRun;
use crate::network::LinkId;
use crate::packet::PacketCopy;

/// The channel whose members get what a router sends over child links.
pub(crate) const CHILDREN_CHANNEL: Channel = Channel(0);

/// How many child links a router may have: the room of a [`ChildSet`].
pub(crate) const MOST_CHILD_LINKS: u32 = u64::BITS;

/// The nodes at which routers of a session may take part.
#[derive(Debug)]
pub(super) struct ActiveNodes {
    /// By number of the router.
    nodes: Vec<u32>,
    /// By node: the active router there.
    now: Vec<Option<u32>>,
}

impl Shape {
    /// The nodes that may have routers: neither that of the source nor one with receivers, which are hosts.
    pub(crate) fn router_nodes(&self) -> impl Iterator<Item = u32> {
        (1..self.node_count() as u32).filter(|&node| self.receivers_at(node).is_empty())
    }
}

impl Tree {
    /// The nodes at which routers may be.
    pub(crate) fn router_nodes(&self) -> impl Iterator<Item = u32> {
        self.shape.router_nodes()
    }

    /// How many child links a node has.
    pub(crate) fn child_links(&self, node: u32) -> u32 {
        self.shape.children_of(node).len() as u32
    }

    /// Lets routers take part, at these nodes; each begins passive.
    pub(crate) fn set_routers(&mut self, nodes: Vec<u32>) {
        let now = vec![None; self.shape.node_count()];
        self.active = Some(Box::new(ActiveNodes { nodes, now }));
    }

    /// Whether routers take part.
    #[inline]
    pub(crate) fn has_routers(&self) -> bool {
        self.active.is_some()
    }

    /// The node of a router, by its number as a member.
    pub(crate) fn router_node(&self, member: u32) -> Option<u32> {
        let number = (member as usize).checked_sub(self.shape.receiver_nodes.len())?;
        self.active.as_ref()?.nodes.get(number).copied()
    }

    /// The first link from a router's node to a member. None if the member is not below.
    pub(crate) fn down_from(&self, node: u32, member: u32) -> Option<LinkId> {
        let receivers = &self.shape.receiver_nodes;
        let mut at = receivers.get(member as usize).copied().or_else(|| self.router_node(member))?;
        while at != 0 {
            let (link, above) = self.shape.up_from(at);
            if above == node {
                return Some(link.reverse());
            }
            at = above;
        }
        None
    }

    /// The active router at a node, counted from 0.
    #[inline]
    pub(crate) fn router_at(&self, node: u32) -> Option<u32> {
        self.active.as_ref()?.now[node as usize]
    }

    /// A router becomes active, or passive.
    pub(crate) fn set_working(&mut self, router: u32, works: bool) {
        if let Some(active) = &mut self.active {
            let node = active.nodes[router as usize];
            active.now[node as usize] = works.then_some(router);
        }
    }

    /// The child link of `node` over which a packet came up by `link`.
    pub(crate) fn child_link(&self, node: u32, link: LinkId) -> Option<ChildLink> {
        let children = self.shape.children_of(node);
        let links_in = &self.shape.links_in[children.start as usize..children.end as usize];
        // Children are in ascending order of their links.
        let number = links_in.binary_search(&link.reverse()).ok()?;
        u16::try_from(number).ok().map(ChildLink)
    }

    /// Sends one copy over each of these child links of `node` that has subscribers below it. The caller
    /// keeps its own copy.
    pub(crate) fn forward_over<H: Copy>(
        &self,
        engine: &mut Engine<H>,
        node: u32,
        links: ChildSet,
        copy: PacketCopy,
    ) {
        let mut arrivals = ArrivalRun::new();
        for (number, child) in self.shape.children_of(node).enumerate().take(MOST_CHILD_LINKS as usize) {
            let chosen = links.0 >> number & 1 == 1;
            if chosen && self.forwarding[self.slot(child, CHILDREN_CHANNEL)] != Forwarding::Off {
                self.send_copy(engine, child, copy, &mut arrivals);
            }
        }
        arrivals.enter(&mut engine.events);
    }
}
