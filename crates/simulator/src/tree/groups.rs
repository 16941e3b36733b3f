//! The hosts at a node and the edge router between them and the tree.
//!
//! For each channel the edge does not forward, forwards, or checks for remaining members. It counts a host
//! as a member from the first report that it receives until it receives the leave, or nothing for the group
//! membership interval. A host that wants a channel and is not known to the edge has a report scheduled, so
//! that the edge eventually forwards what its hosts want.
//!
//! General queries are not simulated one by one: they matter only to hosts whose reports were lost, and
//! those answer the next one. Reports, leaves and queries between hosts and edge take no time. "Group" is
//! the term of IGMP for a channel.

use std::collections::BTreeMap;

use layercast_core::units::{Channel, Duration, Time};

use super::pending::PendingChange;
use super::{Membership, Tree};
use crate::edge::LeaveRule;
use crate::engine::Engine;
use crate::network::NodeId;

/// The state of a channel at an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    None,
    Forwarding,
    /// It still forwards, and sends this many more queries.
    Checking {
        queries: u32,
    },
}

/// The state of one channel at one edge.
#[derive(Clone, Copy, Debug, Default)]
struct GroupState {
    state: State,
    /// How many hosts want it.
    wanting: u32,
    /// The number of hosts that the edge counts as members.
    known: u32,
}

/// All hosts that have an edge.
#[derive(Debug, Default)]
pub(super) struct EdgeGroups {
    /// By tree node: the number of its edge, and its index in `states`; empty if there is no edge.
    of_node: Vec<Option<(u32, u32)>>,
    /// By edge index and channel.
    states: Vec<GroupState>,
    /// By receiver and channel: whether the edge counts it as a member.
    known: Vec<bool>,
}

impl EdgeGroups {
    /// Whether there is any edge.
    pub(super) fn any(&self) -> bool {
        !self.of_node.is_empty()
    }
}

/// One channel at one node with an edge: an index, not the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeGroup {
    node: u32,
    channel: Channel,
    /// The edge; `index` points into [`EdgeGroups::states`].
    edge: u32,
    index: usize,
}

impl Tree {
    /// Installs edges between the tree and its hosts. `edges` are the numbers of the edges in the engine,
    /// `nodes` the network's nodes of the tree.
    pub(crate) fn open_edges(&mut self, edges: &BTreeMap<NodeId, u32>, nodes: &[NodeId]) {
        let mut count = 0;
        let of_node: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(tree_node, &node)| {
                let edge = *edges.get(&node).filter(|_| !self.receivers_at(tree_node as u32).is_empty())?;
                count += 1;
                Some((edge, count - 1))
            })
            .collect();
        if count > 0 {
            self.groups = EdgeGroups {
                of_node,
                states: vec![GroupState::default(); count as usize * self.channels],
                known: vec![false; self.members.len()],
            };
        }
    }

    /// Whether hosts of this tree have an edge.
    pub(crate) fn has_edges(&self) -> bool {
        self.groups.any()
    }

    /// The group of a receiver's channel at its edge, if there is one.
    pub(super) fn group_of(&self, receiver: u32, channel: Channel) -> Option<EdgeGroup> {
        if self.groups.any() {
            self.group_at(self.shape.receiver_nodes[receiver as usize], channel)
        } else {
            None
        }
    }

    fn group_at(&self, node: u32, channel: Channel) -> Option<EdgeGroup> {
        let (edge, edge_index) = (*self.groups.of_node.get(node as usize)?)?;
        Some(EdgeGroup { node, channel, edge, index: edge_index as usize * self.channels + channel.index() })
    }

    /// A host's join takes effect: it subscribes and sends a report.
    pub(super) fn host_joins<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup, receiver: u32) {
        self.groups.states[group.index].wanting += 1;
        if self.groups.states[group.index].wanting == 1 {
            self.clear_late(group.node, group.channel);
        }
        let forwards = self.groups.states[group.index].state != State::None;
        let slot = self.member_slot(receiver, group.channel);
        self.members[slot] = if forwards { Membership::Joined } else { Membership::Waiting };
        // An edge that still counts it as a member keeps it, since it answers general queries again.
        self.agenda.cancel(PendingChange::Forget { receiver, channel: group.channel });
        let repeats = engine.edges[group.edge as usize].config.robustness.max(1) - 1;
        self.report(engine, group, receiver, repeats);
    }

    /// A host leaves and sends a leave message.
    pub(super) fn host_leaves<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        group: EdgeGroup,
        receiver: u32,
        latency: Duration,
    ) {
        let leave_loss = engine.edges[group.edge as usize].config.leave_loss;
        if self.chance(group, leave_loss) {
            return self.host_falls_silent(engine, group, receiver);
        }
        self.stop_wanting(group, receiver);
        let slot = self.member_slot(receiver, group.channel);
        if std::mem::take(&mut self.groups.known[slot]) {
            self.groups.states[group.index].known -= 1;
        }
        let GroupState { state, known, .. } = self.groups.states[group.index];
        if state == State::Forwarding {
            match engine.edges[group.edge as usize].config.leave {
                LeaveRule::Check { count, tracking, .. } if !(tracking && known > 0) => {
                    self.groups.states[group.index].state = State::Checking { queries: count.max(1) };
                    self.check(engine, group);
                }
                LeaveRule::Latency if known == 0 => self.close_after(engine, group, latency),
                LeaveRule::Fast { processing } if known == 0 => self.close_after(engine, group, processing),
                _ => {}
            }
        }
    }

    /// A host leaves without its edge receiving a message.
    pub(super) fn host_falls_silent<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        group: EdgeGroup,
        receiver: u32,
    ) {
        self.stop_wanting(group, receiver);
        if self.groups.known[self.member_slot(receiver, group.channel)] {
            let interval = engine.edges[group.edge as usize].config.membership_interval();
            self.schedule(engine, PendingChange::Forget { receiver, channel: group.channel }, interval);
        }
    }

    /// A pending change at an edge takes effect.
    pub(super) fn serve_edge<H: Copy>(&mut self, engine: &mut Engine<H>, change: PendingChange) {
        match change {
            PendingChange::Report { receiver, channel, repeats } => {
                if let Some(group) = self.group_of(receiver, channel) {
                    self.report(engine, group, receiver, repeats);
                }
            }
            PendingChange::Answer { receiver, channel } => {
                if let Some(group) = self.group_of(receiver, channel) {
                    self.accept_report(engine, group, receiver);
                }
            }
            PendingChange::Check { node, channel } => {
                if let Some(group) = self.group_at(node, channel) {
                    self.check(engine, group);
                }
            }
            PendingChange::Forget { receiver, channel } => {
                if let Some(group) = self.group_of(receiver, channel) {
                    let slot = self.member_slot(receiver, channel);
                    self.groups.known[slot] = false;
                    self.groups.states[group.index].known -= 1;
                    let GroupState { state, known, .. } = self.groups.states[group.index];
                    if state == State::Forwarding && known == 0 {
                        self.close(engine, group);
                    }
                }
            }
            PendingChange::Join { .. }
            | PendingChange::Expire { .. }
            | PendingChange::Resend { .. }
            | PendingChange::Refuse { .. } => {}
        }
    }

    /// A host no longer wants a channel.
    fn stop_wanting(&mut self, group: EdgeGroup, receiver: u32) {
        let entry = &mut self.groups.states[group.index];
        entry.wanting -= 1;
        let own = u32::from(entry.state != State::None);
        let is_last = entry.wanting == 0 && self.subscribers[self.slot(group.node, group.channel)] == own;
        self.mark_left(receiver, group.channel, is_last);
        self.agenda.cancel_any(PendingChange::any_report(receiver, group.channel));
        self.agenda.cancel(PendingChange::Answer { receiver, channel: group.channel });
    }

    /// A host reports its membership. If the report is lost and the edge does not count it as a member, it
    /// reports again.
    fn report<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup, receiver: u32, repeats: u32) {
        let config = engine.edges[group.edge as usize].config;
        if !self.chance(group, config.report_loss) {
            self.accept_report(engine, group, receiver);
        } else if !self.groups.known[self.member_slot(receiver, group.channel)] {
            if repeats > 0 {
                let again = PendingChange::Report { receiver, channel: group.channel, repeats: repeats - 1 };
                self.schedule(engine, again, config.report_repeat);
            } else {
                self.await_general_query(engine, group, receiver);
            }
        }
    }

    /// A host will report when the next general query comes. Edges send them at the multiples of
    /// their interval.
    fn await_general_query<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup, receiver: u32) {
        let config = engine.edges[group.edge as usize].config;
        let (now, interval) = (engine.now().as_ns(), config.query_interval.as_ns().max(1));
        let next = Time::from_ns((now / interval + 1).saturating_mul(interval));
        let wait = next.since(engine.now()) + self.uniform(group, config.query_response);
        self.schedule(engine, PendingChange::Report { receiver, channel: group.channel, repeats: 0 }, wait);
    }

    /// An edge receives a report that a host wants a channel.
    fn accept_report<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup, receiver: u32) {
        let channel = group.channel;
        self.agenda.cancel_any(PendingChange::any_report(receiver, channel));
        let state = self.groups.states[group.index].state;
        if state == State::None && engine.edges[group.edge as usize].is_full() {
            self.stop_wanting(group, receiver);
            self.schedule(engine, PendingChange::Refuse { receiver, channel }, Duration::ZERO);
            return;
        }
        let slot = self.member_slot(receiver, channel);
        if !std::mem::replace(&mut self.groups.known[slot], true) {
            self.groups.states[group.index].known += 1;
        }
        self.groups.states[group.index].state = State::Forwarding;
        match state {
            State::None => {
                engine.edges[group.edge as usize].groups += 1;
                self.convert_memberships(group, Membership::Waiting, Membership::Joined);
                self.add_subscriber(engine, group.node, channel);
            }
            State::Checking { .. } => self.agenda.cancel(PendingChange::Check { node: group.node, channel }),
            State::Forwarding => {}
        }
    }

    /// A step of a check: another query, or the end.
    fn check<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup) {
        let config = engine.edges[group.edge as usize].config;
        let (State::Checking { queries: queries @ 1.. }, LeaveRule::Check { interval, .. }) =
            (self.groups.states[group.index].state, config.leave)
        else {
            return self.close(engine, group);
        };
        self.groups.states[group.index].state = State::Checking { queries: queries - 1 };
        let mut first: Option<(Duration, u32)> = None;
        for receiver in self.receivers_at(group.node) {
            if self.wants(receiver, group.channel) {
                let delay = self.uniform(group, interval);
                let lost = self.chance(group, config.report_loss);
                if !lost && first.is_none_or(|(earliest, _)| delay < earliest) {
                    first = Some((delay, receiver));
                }
            }
        }
        if let Some((delay, receiver)) = first {
            self.schedule(engine, PendingChange::Answer { receiver, channel: group.channel }, delay);
        }
        self.schedule(engine, PendingChange::Check { node: group.node, channel: group.channel }, interval);
    }

    fn close_after<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup, wait: Duration) {
        if wait.is_zero() {
            return self.close(engine, group);
        }
        self.groups.states[group.index].state = State::Checking { queries: 0 };
        self.schedule(engine, PendingChange::Check { node: group.node, channel: group.channel }, wait);
    }

    /// An edge stops forwarding a channel and removes all its hosts. Hosts that still want it report at the
    /// next general query, unless a report is already scheduled.
    fn close<H: Copy>(&mut self, engine: &mut Engine<H>, group: EdgeGroup) {
        let (node, channel) = (group.node, group.channel);
        let entry = &mut self.groups.states[group.index];
        (entry.state, entry.known) = (State::None, 0);
        engine.edges[group.edge as usize].groups -= 1;
        self.convert_memberships(group, Membership::Joined, Membership::Waiting);
        for receiver in self.receivers_at(node) {
            let slot = self.member_slot(receiver, channel);
            if std::mem::take(&mut self.groups.known[slot]) {
                self.agenda.cancel(PendingChange::Forget { receiver, channel });
            }
            let waits = self.members[slot] == Membership::Waiting;
            if waits && self.agenda.find(PendingChange::any_report(receiver, channel)).is_none() {
                self.await_general_query(engine, group, receiver);
            }
        }
        self.remove_subscriber(engine, node, channel, Duration::ZERO);
    }

    /// Changes all memberships of one kind at a node into another.
    fn convert_memberships(&mut self, group: EdgeGroup, from: Membership, to: Membership) {
        for receiver in self.receivers_at(group.node) {
            let slot = self.member_slot(receiver, group.channel);
            if self.members[slot] == from {
                self.members[slot] = to;
            }
        }
    }

    fn chance(&mut self, group: EdgeGroup, probability: f64) -> bool {
        self.streams.get_mut(group.node as usize).is_some_and(|stream| stream.chance(probability))
    }

    fn uniform(&mut self, group: EdgeGroup, bound: Duration) -> Duration {
        self.streams
            .get_mut(group.node as usize)
            .map_or(Duration::ZERO, |stream| stream.uniform_duration(bound))
    }
}
