//! A session's multicast tree: which nodes and receivers subscribe to which channel.
//!
//! This file has the forwarding state: over which links a channel is forwarded and which receivers get it.
//! `membership` changes it; `groups` connects the hosts at a node with the tree where an edge router is
//! modelled.

mod groups;
mod latency;
mod membership;
mod pending;
mod routers;
mod shape;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Size};

use self::groups::EdgeGroups;
pub(crate) use self::latency::Latencies;
pub use self::latency::Latency;
use self::pending::Agenda;
use self::routers::ActiveNodes;
pub(crate) use self::routers::{CHILDREN_CHANNEL, MOST_CHILD_LINKS};
pub(crate) use self::shape::{Origins, Shape};
use crate::engine::Engine;
use crate::event::ArrivalRun;
use crate::network::LinkId;
use crate::packet::PacketCopy;

/// Size of a graft or prune on the wire.
pub(crate) const MEMBERSHIP_SIZE: Size = Size::from_bytes(64);

/// Whether a channel is forwarded over the link into a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forwarding {
    Off,
    On,
    /// A prune has arrived; the router forwards for some time more.
    Leaving,
}

/// The relation of a receiver to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    None,
    /// It wants the channel, but the edge at its node does not know and does not forward.
    Waiting,
    Joined,
    /// It has left, and no receiver at its node or below has wanted the channel since.
    Left,
}

/// The numbers of a session's routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routes {
    /// Of data: position is the tree node that a copy is travelling to.
    pub(crate) data: u32,
    /// Of membership messages: position is the tree node that sent them.
    pub(crate) membership: u32,
    /// To the source: position is the tree node that a copy is travelling to.
    pub(crate) up: u32,
    /// To one receiver or router: position is its number, those of routers following those of receivers.
    pub(crate) down: u32,
}

/// The tree of one session.
#[derive(Debug)]
pub(crate) struct Tree {
    routes: Routes,
    channels: usize,
    shape: Shape,
    /// By node and channel.
    forwarding: Vec<Forwarding>,
    /// By node and channel: children forwarded to, and local members; where there is an edge, the
    /// local members count as one while the edge forwards to them.
    subscribers: Vec<u32>,
    /// By receiver (in tree order) and channel.
    members: Vec<Membership>,
    agenda: Agenda,
    /// By node; empty if nothing is drawn.
    streams: Vec<Stream>,
    groups: EdgeGroups,
    /// None if the session has no routers.
    active: Option<Box<ActiveNodes>>,
}

impl Tree {
    /// The tree of a session with this many channels.
    pub(crate) fn new(shape: Shape, channels: usize, routes: Routes) -> Tree {
        let (nodes, receivers) = (shape.node_count(), shape.receiver_nodes.len());
        Tree {
            routes,
            channels,
            forwarding: vec![Forwarding::Off; nodes * channels],
            subscribers: vec![0; nodes * channels],
            members: vec![Membership::None; receivers * channels],
            agenda: Agenda::default(),
            streams: Vec::new(),
            groups: EdgeGroups::default(),
            active: None,
            shape,
        }
    }

    /// Gives each node a random stream.
    pub(crate) fn set_streams(&mut self, streams: Vec<Stream>) {
        self.streams = streams;
    }

    /// Whether anyone below or at the source wants the channel.
    pub(crate) fn is_wanted(&self, channel: Channel) -> bool {
        channel.index() < self.channels && self.subscribers[channel.index()] > 0
    }

    /// The receivers at a tree node, by number in tree order.
    pub(crate) fn receivers_at(&self, node: u32) -> std::ops::Range<u32> {
        self.shape.receivers_at(node)
    }

    /// The first hop of a packet from a tree node to the source: the link and the node above.
    pub(crate) fn up_from(&self, node: u32) -> (LinkId, u32) {
        self.shape.up_from(node)
    }

    /// The node of a receiver.
    pub(crate) fn node_of(&self, receiver: u32) -> u32 {
        self.shape.receiver_nodes[receiver as usize]
    }

    /// Whether a link is on the path from the source to a receiver.
    pub(crate) fn is_on_path(&self, link: LinkId, receiver: u32) -> bool {
        self.path_to_source(receiver).any(|up| up.reverse() == link)
    }

    /// The links from a receiver up to the source.
    pub(crate) fn path_to_source(&self, receiver: u32) -> impl Iterator<Item = LinkId> + '_ {
        let mut node = self.node_of(receiver);
        std::iter::from_fn(move || {
            let (up, above) = (node != 0).then(|| self.shape.up_from(node))?;
            node = above;
            Some(up)
        })
    }

    /// The next link of a packet for one member that has arrived over the link `from`, or is at the source.
    /// None if it has reached the member. Members are the receivers and, after them, the routers.
    pub(crate) fn down_towards(&self, member: u32, from: Option<LinkId>) -> Option<LinkId> {
        let node = match self.shape.receiver_nodes.get(member as usize) {
            Some(&node) => node,
            None => self.router_node(member)?,
        };
        self.shape.down_towards(node, from)
    }

    /// The numbers of the routes.
    pub(crate) fn routes(&self) -> Routes {
        self.routes
    }

    /// Whether a receiver is a member of the channel now.
    pub(crate) fn is_member(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Joined
    }

    /// Whether the channel still arrives only because this receiver was the last member.
    pub(crate) fn is_late(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Left
    }

    /// Sends one copy over each subscribed child link of `node`. The caller keeps its own copy.
    #[inline]
    pub(crate) fn forward<H: Copy>(
        &self,
        engine: &mut Engine<H>,
        node: u32,
        channel: Channel,
        copy: PacketCopy,
    ) {
        let children = self.shape.children_of(node);
        if children.is_empty() {
            return;
        }
        let mut arrivals = ArrivalRun::new();
        for child in children {
            if self.forwarding[self.slot(child, channel)] != Forwarding::Off {
                self.send_copy(engine, child, copy, &mut arrivals);
            }
        }
        arrivals.enter(&mut engine.events);
    }

    /// Sends a copy over the link into `child`.
    #[inline]
    fn send_copy<H: Copy>(
        &self,
        engine: &mut Engine<H>,
        child: u32,
        copy: PacketCopy,
        arrivals: &mut ArrivalRun,
    ) {
        engine.slab.add_copy(copy.packet);
        let copy = PacketCopy { route: self.routes.data, position: child, ..copy };
        let link = self.shape.links_in[child as usize];
        if let Some(arrival) = engine.accept(link, copy) {
            arrivals.add(&mut engine.events, link.0, arrival);
        }
    }

    /// Calls `lost` for each receiver that would have received a copy dropped before `node`.
    pub(crate) fn for_each_member_below(&self, node: u32, channel: Channel, lost: &mut impl FnMut(u32)) {
        for receiver in self.receivers_at(node) {
            if self.is_member(receiver, channel) {
                lost(receiver);
            }
        }
        for child in self.shape.children_of(node) {
            if self.forwarding[self.slot(child, channel)] != Forwarding::Off {
                self.for_each_member_below(child, channel, lost);
            }
        }
    }

    fn membership(&self, receiver: u32, channel: Channel) -> Membership {
        self.members[self.member_slot(receiver, channel)]
    }

    fn member_slot(&self, receiver: u32, channel: Channel) -> usize {
        receiver as usize * self.channels + channel.index()
    }

    fn slot(&self, node: u32, channel: Channel) -> usize {
        node as usize * self.channels + channel.index()
    }
}

#[cfg(test)]
mod tests;
