//! A session's multicast tree and who holds which channel where.
//!
//! Here is what packets meet: where a channel is forwarded, who gets it. `membership` changes it,
//! `lan` stands between the hosts at a node and the tree where an edge router is modelled.

mod lan;
mod latency;
mod later;
mod membership;
mod shape;

use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Channel, Size};

use self::lan::Lans;
pub use self::latency::Latency;
use self::later::Agenda;
pub(crate) use self::shape::Shape;
use crate::core::Core;
use crate::packet::Parcel;

/// Size of a graft or prune on the wire.
pub(crate) const MEMBERSHIP_SIZE: Size = Size::from_bytes(64);

/// Whether a channel is forwarded over the link into a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forwarding {
    Off,
    On,
    /// A prune has come; the router still forwards for a while.
    Leaving,
}

/// What a receiver has to do with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    None,
    /// It wants the channel, but the edge at its node does not know that, and forwards nothing.
    Waiting,
    Held,
    /// It has left, and nobody at its node or below has wanted the channel since.
    Left,
}

/// The tree of one session.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Route of data parcels: position is the tree node they are on their way to.
    data_route: u32,
    /// Route of membership messages: position is the tree node that sent them.
    membership_route: u32,
    channels: usize,
    shape: Shape,
    /// By node and channel.
    forwarding: Vec<Forwarding>,
    /// By node and channel: children forwarded to, and local members; where there is an edge, the
    /// local members count as one while the edge forwards to them.
    holders: Vec<u32>,
    /// By receiver (in tree order) and channel.
    members: Vec<Membership>,
    agenda: Agenda,
    /// By node; empty if nothing is drawn.
    streams: Vec<Stream>,
    lans: Lans,
}

impl Tree {
    /// The tree of a session with this many channels. Its membership messages take the route after
    /// that of its data.
    pub(crate) fn new(shape: Shape, channels: usize, data_route: u32) -> Tree {
        let (nodes, receivers) = (shape.nodes.len(), shape.receiver_nodes.len());
        Tree {
            data_route,
            membership_route: data_route + 1,
            channels,
            forwarding: vec![Forwarding::Off; nodes * channels],
            holders: vec![0; nodes * channels],
            members: vec![Membership::None; receivers * channels],
            agenda: Agenda::default(),
            streams: Vec::new(),
            lans: Lans::default(),
            shape,
        }
    }

    /// Gives each node a random stream.
    pub(crate) fn set_streams(&mut self, streams: Vec<Stream>) {
        self.streams = streams;
    }

    /// Whether anyone below or at the source wants the channel.
    pub(crate) fn is_wanted(&self, channel: Channel) -> bool {
        channel.index() < self.channels && self.holders[channel.index()] > 0
    }

    /// The receivers at a tree node, by number in tree order.
    pub(crate) fn receivers_at(&self, node: u32) -> std::ops::Range<u32> {
        self.shape.receivers_at(node)
    }

    /// Whether a receiver holds the channel now.
    pub(crate) fn is_member(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Held
    }

    /// Whether what still comes on the channel comes because this receiver had it last.
    pub(crate) fn is_late(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Left
    }

    /// Sends one copy over each subscribed child link of `node`. The parcel's own copy stays with
    /// the caller.
    pub(crate) fn forward(&self, core: &mut Core, node: u32, channel: Channel, parcel: Parcel) {
        for child in self.shape.children_of(node) {
            if self.forwarding[self.slot(child, channel)] != Forwarding::Off {
                core.slab.add_copy(parcel.packet);
                let copy = Parcel { route: self.data_route, position: child, ..parcel };
                core.offer(self.shape.nodes[child as usize].link_in, copy);
            }
        }
    }

    /// Calls `lost` for each receiver that would have got a parcel dropped on its way to `node`.
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
