//! A session's multicast tree and who holds which channel where.

use std::collections::BTreeMap;

use layercast_protocol::units::{Channel, Size, Span, Time};

use crate::core::Core;
use crate::event::Event;
use crate::network::{LinkId, Network, NetworkError, NodeId};
use crate::packet::{Body, EcnField, MembershipChange, MembershipMessage, Parcel};

/// Size of a graft or prune on the wire.
pub(crate) const MEMBERSHIP_SIZE: Size = Size::from_bytes(64);

/// A node of the tree. Children of a node stand together, in ascending order of their links.
#[derive(Clone, Debug)]
struct TreeNode {
    /// The link from the parent; meaningless at the root.
    link_in: LinkId,
    parent: u32,
    first_child: u32,
    child_count: u32,
    first_receiver: u32,
    receiver_count: u32,
}

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
    Held,
    /// It has left, and nobody at its node or below has wanted the channel since.
    Left,
}

/// A change of membership that comes into force later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Later {
    /// A receiver's join reaches its node.
    Join { receiver: u32, channel: Channel },
    /// The router above a node stops forwarding to it.
    Expire { node: u32, channel: Channel },
}

/// The tree of one session.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Route of data parcels: position is the tree node they are on their way to.
    data_route: u32,
    /// Route of membership messages: position is the tree node that sent them.
    membership_route: u32,
    channels: usize,
    nodes: Vec<TreeNode>,
    /// By node and channel.
    forwarding: Vec<Forwarding>,
    /// By node and channel: children forwarded to, and local members.
    holders: Vec<u32>,
    /// By receiver (in tree order) and channel.
    members: Vec<Membership>,
    /// By receiver in tree order.
    receiver_nodes: Vec<u32>,
    /// Changes to come: the slot that the event names, and by what it does, to take it back.
    later: Vec<Option<Later>>,
    later_free: Vec<u32>,
    later_slots: BTreeMap<Later, u32>,
}

impl Tree {
    /// The tree of shortest paths from `source` to the nodes of `receivers`. The second value maps
    /// each receiver, as given, to its number in tree order.
    pub(crate) fn new(
        network: &Network,
        source: NodeId,
        receivers: &[NodeId],
        channels: usize,
        data_route: u32,
        membership_route: u32,
    ) -> Result<(Tree, Vec<u32>), NetworkError> {
        let paths = network.shortest_paths(source);
        let mut needed = vec![false; network.node_count()];
        for &receiver in receivers {
            for link in network.path(&paths, receiver)? {
                needed[network.links()[link.0 as usize].to.0 as usize] = true;
            }
        }
        let mut children = vec![Vec::new(); network.node_count()];
        for (node, link) in paths.reached_by.iter().enumerate() {
            if let Some(link) = link.filter(|_| needed[node]) {
                let parent = network.links()[link.reverse().0 as usize].to;
                children[parent.0 as usize].push((link, NodeId(node as u32)));
            }
        }
        let mut at_node = vec![Vec::new(); network.node_count()];
        for (number, &receiver) in receivers.iter().enumerate() {
            at_node[receiver.0 as usize].push(number as u32);
        }
        let mut nodes = vec![TreeNode {
            link_in: LinkId(0),
            parent: 0,
            first_child: 0,
            child_count: 0,
            first_receiver: 0,
            receiver_count: 0,
        }];
        let mut network_nodes = vec![source];
        let mut receiver_nodes = Vec::with_capacity(receivers.len());
        let mut order = vec![0; receivers.len()];
        let mut next = 0;
        while let Some(&node) = network_nodes.get(next) {
            let below = &mut children[node.0 as usize];
            below.sort_unstable();
            nodes[next].first_child = network_nodes.len() as u32;
            nodes[next].child_count = below.len() as u32;
            nodes[next].first_receiver = receiver_nodes.len() as u32;
            nodes[next].receiver_count = at_node[node.0 as usize].len() as u32;
            for &number in &at_node[node.0 as usize] {
                order[number as usize] = receiver_nodes.len() as u32;
                receiver_nodes.push(next as u32);
            }
            for &(link, child) in below.iter() {
                nodes.push(TreeNode { link_in: link, parent: next as u32, ..nodes[0].clone() });
                network_nodes.push(child);
            }
            next += 1;
        }
        let tree = Tree {
            data_route,
            membership_route,
            channels,
            forwarding: vec![Forwarding::Off; nodes.len() * channels],
            holders: vec![0; nodes.len() * channels],
            members: vec![Membership::None; receivers.len() * channels],
            nodes,
            receiver_nodes,
            later: Vec::new(),
            later_free: Vec::new(),
            later_slots: BTreeMap::new(),
        };
        Ok((tree, order))
    }

    /// Whether anyone below or at the source wants the channel.
    pub(crate) fn is_wanted(&self, channel: Channel) -> bool {
        channel.index() < self.channels && self.holders[channel.index()] > 0
    }

    /// The receivers at a tree node, by number in tree order.
    pub(crate) fn receivers_at(&self, node: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[node as usize];
        node.first_receiver..node.first_receiver + node.receiver_count
    }

    /// Whether a receiver holds the channel now.
    pub(crate) fn is_member(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Held
    }

    /// Whether what still comes on the channel comes because this receiver had it last.
    pub(crate) fn is_late(&self, receiver: u32, channel: Channel) -> bool {
        self.membership(receiver, channel) == Membership::Left
    }

    fn membership(&self, receiver: u32, channel: Channel) -> Membership {
        self.members[receiver as usize * self.channels + channel.index()]
    }

    /// Sends one copy over each subscribed child link of `node`. The parcel's own copy stays with
    /// the caller.
    pub(crate) fn forward(&self, core: &mut Core, node: u32, channel: Channel, parcel: Parcel) {
        let at = &self.nodes[node as usize];
        for child in at.first_child..at.first_child + at.child_count {
            if self.forwarding[self.slot(child, channel)] != Forwarding::Off {
                core.slab.add_copy(parcel.packet);
                let copy = Parcel { route: self.data_route, position: child, ..parcel };
                core.offer(self.nodes[child as usize].link_in, copy);
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
        let at = &self.nodes[node as usize];
        for child in at.first_child..at.first_child + at.child_count {
            if self.forwarding[self.slot(child, channel)] != Forwarding::Off {
                self.for_each_member_below(child, channel, lost);
            }
        }
    }

    /// A receiver joins a channel; the join reaches its node after `latency`.
    pub(crate) fn join(&mut self, core: &mut Core, receiver: u32, channel: Channel, latency: Span) {
        if channel.index() >= self.channels || self.is_member(receiver, channel) {
            return;
        }
        if latency.is_zero() {
            self.add_member(core, receiver, channel);
        } else {
            self.schedule(core, Later::Join { receiver, channel }, latency);
        }
    }

    /// A receiver leaves a channel; the router above its node forwards for `latency` longer.
    pub(crate) fn leave(&mut self, core: &mut Core, receiver: u32, channel: Channel, latency: Span) {
        if channel.index() >= self.channels {
            return;
        }
        self.cancel(Later::Join { receiver, channel });
        let slot = receiver as usize * self.channels + channel.index();
        if self.members[slot] == Membership::Held {
            let node = self.receiver_nodes[receiver as usize];
            self.remove_holder(core, node, channel, latency);
            let is_last = self.holders[self.slot(node, channel)] == 0;
            self.members[slot] = if is_last { Membership::Left } else { Membership::None };
        }
    }

    /// A scheduled change comes into force.
    pub(crate) fn serve_later(&mut self, core: &mut Core, slot: u32) {
        let later = self.later[slot as usize].take();
        self.later_free.push(slot);
        if let Some(later) = later {
            self.later_slots.remove(&later);
            match later {
                Later::Join { receiver, channel } => self.add_member(core, receiver, channel),
                Later::Expire { node, channel } => self.stop_forwarding(core, node, channel),
            }
        }
    }

    /// A membership message from tree node `message.edge` reaches the router above it.
    pub(crate) fn serve_message(&mut self, core: &mut Core, message: MembershipMessage) {
        let (node, channel) = (message.edge, message.channel);
        let slot = self.slot(node, channel);
        match message.change {
            MembershipChange::Graft => {
                self.cancel(Later::Expire { node, channel });
                let before = std::mem::replace(&mut self.forwarding[slot], Forwarding::On);
                if before == Forwarding::Off {
                    self.add_holder(core, self.nodes[node as usize].parent, channel);
                }
            }
            MembershipChange::Prune { after } if self.forwarding[slot] == Forwarding::On => {
                self.forwarding[slot] = Forwarding::Leaving;
                if after.is_zero() {
                    self.stop_forwarding(core, node, channel);
                } else {
                    self.schedule(core, Later::Expire { node, channel }, after);
                }
            }
            MembershipChange::Prune { .. } => {}
        }
    }

    fn slot(&self, node: u32, channel: Channel) -> usize {
        node as usize * self.channels + channel.index()
    }

    fn add_member(&mut self, core: &mut Core, receiver: u32, channel: Channel) {
        self.members[receiver as usize * self.channels + channel.index()] = Membership::Held;
        self.add_holder(core, self.receiver_nodes[receiver as usize], channel);
    }

    fn add_holder(&mut self, core: &mut Core, node: u32, channel: Channel) {
        let slot = self.slot(node, channel);
        self.holders[slot] += 1;
        if self.holders[slot] == 1 {
            for receiver in self.receivers_at(node) {
                let membership = &mut self.members[receiver as usize * self.channels + channel.index()];
                if *membership == Membership::Left {
                    *membership = Membership::None;
                }
            }
            self.tell_parent(core, node, channel, MembershipChange::Graft);
        }
    }

    fn remove_holder(&mut self, core: &mut Core, node: u32, channel: Channel, latency: Span) {
        let slot = self.slot(node, channel);
        self.holders[slot] -= 1;
        if self.holders[slot] == 0 {
            self.tell_parent(core, node, channel, MembershipChange::Prune { after: latency });
        }
    }

    /// The wait is at the last hop only: routers above prune at once.
    fn stop_forwarding(&mut self, core: &mut Core, node: u32, channel: Channel) {
        let slot = self.slot(node, channel);
        self.forwarding[slot] = Forwarding::Off;
        self.remove_holder(core, self.nodes[node as usize].parent, channel, Span::ZERO);
    }

    fn tell_parent(&self, core: &mut Core, node: u32, channel: Channel, change: MembershipChange) {
        if node != 0 {
            let up = self.nodes[node as usize].link_in.reverse();
            let body = Body::Membership(MembershipMessage { edge: node, channel, change });
            core.send(body, MEMBERSHIP_SIZE, EcnField::NotCapable, up, self.membership_route, node);
        }
    }

    fn schedule(&mut self, core: &mut Core, later: Later, after: Span) {
        if self.later_slots.contains_key(&later) {
            return;
        }
        let slot = self.later_free.pop().unwrap_or_else(|| {
            self.later.push(None);
            (self.later.len() - 1) as u32
        });
        self.later[slot as usize] = Some(later);
        self.later_slots.insert(later, slot);
        let at: Time = core.now() + after;
        let key = core.events.key_at(at);
        core.events.push(key, Event::Membership { route: self.membership_route, slot });
    }

    fn cancel(&mut self, later: Later) {
        if let Some(slot) = self.later_slots.remove(&later) {
            self.later[slot as usize] = None;
        }
    }
}
