//! Joins and leaves, and the grafts and prunes that carry them up the tree.
//!
//! A graft or prune is a packet. The router above acknowledges it, as PIM does for grafts (RFC 3973,
//! section 4.4), and the node sends it again when no acknowledgement comes. Acknowledgements are not
//! simulated: the simulation reports a lost message to the tree, which costs nothing while none is lost.

use layercast_core::units::{Channel, Duration};

use super::pending::PendingChange;
use super::{Forwarding, Latency, MEMBERSHIP_SIZE, Membership, Tree};
use crate::engine::Engine;
use crate::packet::{Body, EcnField, MembershipChange, MembershipMessage};

/// After what time a lost message is sent again: the graft retry period of RFC 3973, section 4.8.
const RESEND_AFTER: Duration = Duration::from_secs(3);

/// A join that an edge refused because it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) receiver: u32,
    pub(crate) channel: Channel,
}

impl Tree {
    /// A receiver joins a channel; the join reaches its node after `latency`.
    pub(crate) fn join<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        receiver: u32,
        channel: Channel,
        latency: Latency,
    ) {
        let join = PendingChange::Join { receiver, channel };
        if channel.index() >= self.channels || self.wants(receiver, channel) || self.agenda.is_pending(join) {
            return;
        }
        let latency = self.draw(receiver, latency);
        if latency.is_zero() {
            self.add_member(engine, receiver, channel);
        } else {
            self.schedule(engine, join, latency);
        }
    }

    /// A receiver leaves a channel; it is forwarded for `latency` longer, unless there is an edge
    /// that has a rule of its own.
    pub(crate) fn leave<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        receiver: u32,
        channel: Channel,
        latency: Latency,
    ) {
        if channel.index() >= self.channels {
            return;
        }
        self.agenda.cancel(PendingChange::Join { receiver, channel });
        self.agenda.cancel(PendingChange::Refuse { receiver, channel });
        if !self.wants(receiver, channel) {
            return;
        }
        let latency = self.draw(receiver, latency);
        if let Some(group) = self.group_of(receiver, channel) {
            return self.host_leaves(engine, group, receiver, latency);
        }
        let node = self.shape.receiver_nodes[receiver as usize];
        self.remove_subscriber(engine, node, channel, latency);
        self.mark_left(receiver, channel, self.subscribers[self.slot(node, channel)] == 0);
    }

    /// A receiver becomes silent in all channels without leaving them. Where no edge is modelled the
    /// failure is never noticed, and its channels are still forwarded.
    pub(crate) fn crash<H: Copy>(&mut self, engine: &mut Engine<H>, receiver: u32) {
        for index in 0..self.channels {
            let channel = Channel(index as u16);
            self.agenda.cancel(PendingChange::Join { receiver, channel });
            self.agenda.cancel(PendingChange::Refuse { receiver, channel });
            if !self.wants(receiver, channel) {
                continue;
            }
            if let Some(group) = self.group_of(receiver, channel) {
                self.host_falls_silent(engine, group, receiver);
            } else {
                let node = self.shape.receiver_nodes[receiver as usize];
                self.mark_left(receiver, channel, self.subscribers[self.slot(node, channel)] == 1);
            }
        }
    }

    /// A scheduled change takes effect. The caller passes on a refusal.
    pub(crate) fn apply_pending<H: Copy>(&mut self, engine: &mut Engine<H>, slot: u32) -> Option<Refusal> {
        match self.agenda.take_due(slot)? {
            PendingChange::Join { receiver, channel } => self.add_member(engine, receiver, channel),
            PendingChange::Expire { node, channel } => self.stop_forwarding(engine, node, channel),
            PendingChange::Resend { node, channel, after } => {
                let wanted = self.subscribers[self.slot(node, channel)] > 0;
                let change = if wanted { MembershipChange::Graft } else { MembershipChange::Prune { after } };
                self.send_to_parent(engine, node, channel, change);
            }
            PendingChange::Refuse { receiver, channel } => return Some(Refusal { receiver, channel }),
            other => self.serve_edge(engine, other),
        }
        None
    }

    /// A membership message from tree node `message.edge` reaches the router above it.
    pub(crate) fn serve_message<H: Copy>(&mut self, engine: &mut Engine<H>, message: MembershipMessage) {
        let (node, channel) = (message.edge, message.channel);
        let slot = self.slot(node, channel);
        match message.change {
            MembershipChange::Graft => {
                self.agenda.cancel(PendingChange::Expire { node, channel });
                let before = std::mem::replace(&mut self.forwarding[slot], Forwarding::On);
                if before == Forwarding::Off {
                    self.add_subscriber(engine, self.shape.parents[node as usize], channel);
                }
            }
            MembershipChange::Prune { after } if self.forwarding[slot] == Forwarding::On => {
                self.forwarding[slot] = Forwarding::Leaving;
                if after.is_zero() {
                    self.stop_forwarding(engine, node, channel);
                } else {
                    self.schedule(engine, PendingChange::Expire { node, channel }, after);
                }
            }
            MembershipChange::Prune { .. } => {}
        }
    }

    /// A membership message was lost on its way up. It is sent again, with the state of that time.
    pub(crate) fn message_lost<H: Copy>(&mut self, engine: &mut Engine<H>, message: MembershipMessage) {
        let (node, channel) = (message.edge, message.channel);
        let after = match message.change {
            MembershipChange::Graft => Duration::ZERO,
            MembershipChange::Prune { after } => after,
        };
        self.agenda.cancel_any(PendingChange::any_resend(node, channel));
        self.schedule(engine, PendingChange::Resend { node, channel, after }, RESEND_AFTER);
    }

    /// Whether a receiver has joined the channel, and the join has got as far as its node.
    pub(super) fn wants(&self, receiver: u32, channel: Channel) -> bool {
        matches!(self.membership(receiver, channel), Membership::Joined | Membership::Waiting)
    }

    fn draw(&mut self, receiver: u32, latency: Latency) -> Duration {
        let node = self.shape.receiver_nodes[receiver as usize];
        latency.draw(self.streams.get_mut(node as usize))
    }

    fn add_member<H: Copy>(&mut self, engine: &mut Engine<H>, receiver: u32, channel: Channel) {
        if let Some(group) = self.group_of(receiver, channel) {
            return self.host_joins(engine, group, receiver);
        }
        let slot = self.member_slot(receiver, channel);
        self.members[slot] = Membership::Joined;
        self.add_subscriber(engine, self.shape.receiver_nodes[receiver as usize], channel);
    }

    /// A receiver has left the channel. Packets that still arrive are late if no other host there wants it.
    pub(super) fn mark_left(&mut self, receiver: u32, channel: Channel, is_last: bool) {
        let slot = self.member_slot(receiver, channel);
        self.members[slot] = if is_last { Membership::Left } else { Membership::None };
    }

    /// A receiver at a node or below wants the channel: its packets are no longer late there.
    pub(super) fn clear_late(&mut self, node: u32, channel: Channel) {
        for receiver in self.receivers_at(node) {
            let slot = self.member_slot(receiver, channel);
            if self.members[slot] == Membership::Left {
                self.members[slot] = Membership::None;
            }
        }
    }

    pub(super) fn add_subscriber<H: Copy>(&mut self, engine: &mut Engine<H>, node: u32, channel: Channel) {
        let slot = self.slot(node, channel);
        self.subscribers[slot] += 1;
        let is_first = self.subscribers[slot] == 1;
        // An edge keeps the channel for some time after its last host has left.
        if is_first || self.groups.any() {
            self.clear_late(node, channel);
        }
        if is_first {
            self.send_to_parent(engine, node, channel, MembershipChange::Graft);
        }
    }

    pub(super) fn remove_subscriber<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        node: u32,
        channel: Channel,
        latency: Duration,
    ) {
        let slot = self.slot(node, channel);
        self.subscribers[slot] -= 1;
        if self.subscribers[slot] == 0 {
            self.send_to_parent(engine, node, channel, MembershipChange::Prune { after: latency });
        }
    }

    /// The wait is at the last hop only: routers above prune at once.
    fn stop_forwarding<H: Copy>(&mut self, engine: &mut Engine<H>, node: u32, channel: Channel) {
        let slot = self.slot(node, channel);
        self.forwarding[slot] = Forwarding::Off;
        self.remove_subscriber(engine, self.shape.parents[node as usize], channel, Duration::ZERO);
    }

    fn send_to_parent<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        node: u32,
        channel: Channel,
        change: MembershipChange,
    ) {
        if node != 0 {
            self.agenda.cancel_any(PendingChange::any_resend(node, channel));
            let up = self.shape.links_in[node as usize].reverse();
            let body = Body::Membership(MembershipMessage { edge: node, channel, change });
            engine.send(body, MEMBERSHIP_SIZE, EcnField::NotCapable, up, self.routes.membership, node);
        }
    }

    pub(super) fn schedule<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        change: PendingChange,
        after: Duration,
    ) {
        self.agenda.schedule(engine, self.routes.membership, change, after);
    }
}
