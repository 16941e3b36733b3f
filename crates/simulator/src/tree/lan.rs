//! The hosts at a node and the edge router between them and the tree.
//!
//! For each channel the edge forwards nothing, forwards, or checks whether anybody is left. It
//! believes in a host from the first report that it hears until it hears the leave, or nothing for
//! the group membership interval. A host that wants a channel and is not believed in has a report to
//! come, so that in the end the edge forwards what its hosts want.
//!
//! General queries are not simulated one by one: they matter only to hosts whose reports were lost,
//! and those answer the next one. Reports, leaves and queries between hosts and edge take no time.

use std::collections::BTreeMap;

use layercast_core::units::{Channel, Duration, Time};

use super::later::Later;
use super::{Membership, Tree};
use crate::edge::LeaveRule;
use crate::engine::Engine;
use crate::network::NodeId;

/// What an edge does with a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    None,
    Forwarding,
    /// It still forwards, and asks this often more who wants the channel.
    Checking {
        queries: u32,
    },
}

/// One channel at one edge.
#[derive(Clone, Copy, Debug, Default)]
struct Lan {
    state: State,
    /// How many hosts want it.
    wanting: u32,
    /// How many hosts the edge believes in.
    believed: u32,
}

/// All hosts that have an edge.
#[derive(Debug, Default)]
pub(super) struct Lans {
    /// By tree node: the number of its edge, and its place in `lans`; empty if there is no edge.
    of_node: Vec<Option<(u32, u32)>>,
    /// By place and channel.
    lans: Vec<Lan>,
    /// By receiver and channel: whether the edge believes in it.
    believed: Vec<bool>,
}

impl Lans {
    /// Whether there is any edge.
    pub(super) fn any(&self) -> bool {
        !self.of_node.is_empty()
    }
}

/// One channel at one node with an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    node: u32,
    channel: Channel,
    /// The edge, and the place in [`Lans::lans`].
    edge: u32,
    lan: usize,
}

impl Tree {
    /// Puts edges between the tree and its hosts. `edges` are the numbers of the edges in the engine,
    /// `nodes` the network's nodes of the tree.
    pub(crate) fn open_edges(&mut self, edges: &BTreeMap<NodeId, u32>, nodes: &[NodeId]) {
        let mut places = 0;
        let of_node: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(tree_node, &node)| {
                let edge = *edges.get(&node).filter(|_| !self.receivers_at(tree_node as u32).is_empty())?;
                places += 1;
                Some((edge, places - 1))
            })
            .collect();
        if places > 0 {
            self.lans = Lans {
                of_node,
                lans: vec![Lan::default(); places as usize * self.channels],
                believed: vec![false; self.members.len()],
            };
        }
    }

    /// Whether hosts of this tree have an edge.
    pub(crate) fn has_edges(&self) -> bool {
        self.lans.any()
    }

    /// The place of a receiver's channel at its edge, if there is one.
    pub(super) fn spot_of(&self, receiver: u32, channel: Channel) -> Option<Spot> {
        if self.lans.any() {
            self.spot_at(self.shape.receiver_nodes[receiver as usize], channel)
        } else {
            None
        }
    }

    fn spot_at(&self, node: u32, channel: Channel) -> Option<Spot> {
        let (edge, place) = (*self.lans.of_node.get(node as usize)?)?;
        Some(Spot { node, channel, edge, lan: place as usize * self.channels + channel.index() })
    }

    /// A host's join has come into force: it listens, and reports that.
    pub(super) fn host_joins<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, receiver: u32) {
        self.lans.lans[spot.lan].wanting += 1;
        if self.lans.lans[spot.lan].wanting == 1 {
            self.clear_late(spot.node, spot.channel);
        }
        let forwards = self.lans.lans[spot.lan].state != State::None;
        let slot = self.member_slot(receiver, spot.channel);
        self.members[slot] = if forwards { Membership::Held } else { Membership::Waiting };
        // An edge that believes in it from before will go on so, as it answers general queries again.
        self.agenda.cancel(Later::Forget { receiver, channel: spot.channel });
        let repeats = engine.edges[spot.edge as usize].config.robustness.max(1) - 1;
        self.report(engine, spot, receiver, repeats);
    }

    /// A host leaves and says so.
    pub(super) fn host_leaves<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        spot: Spot,
        receiver: u32,
        latency: Duration,
    ) {
        let leave_loss = engine.edges[spot.edge as usize].config.leave_loss;
        if self.chance(spot, leave_loss) {
            return self.host_falls_silent(engine, spot, receiver);
        }
        self.stop_wanting(spot, receiver);
        let slot = self.member_slot(receiver, spot.channel);
        if std::mem::take(&mut self.lans.believed[slot]) {
            self.lans.lans[spot.lan].believed -= 1;
        }
        let Lan { state, believed, .. } = self.lans.lans[spot.lan];
        if state == State::Forwarding {
            match engine.edges[spot.edge as usize].config.leave {
                LeaveRule::Check { count, tracking, .. } if !(tracking && believed > 0) => {
                    self.lans.lans[spot.lan].state = State::Checking { queries: count.max(1) };
                    self.check(engine, spot);
                }
                LeaveRule::Latency if believed == 0 => self.close_after(engine, spot, latency),
                LeaveRule::Fast { processing } if believed == 0 => self.close_after(engine, spot, processing),
                _ => {}
            }
        }
    }

    /// A host is gone, and its edge does not hear of it.
    pub(super) fn host_falls_silent<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, receiver: u32) {
        self.stop_wanting(spot, receiver);
        if self.lans.believed[self.member_slot(receiver, spot.channel)] {
            let interval = engine.edges[spot.edge as usize].config.membership_interval();
            self.schedule(engine, Later::Forget { receiver, channel: spot.channel }, interval);
        }
    }

    /// A change at an edge comes into force.
    pub(super) fn serve_edge<H: Copy>(&mut self, engine: &mut Engine<H>, later: Later) {
        match later {
            Later::Report { receiver, channel, repeats } => {
                if let Some(spot) = self.spot_of(receiver, channel) {
                    self.report(engine, spot, receiver, repeats);
                }
            }
            Later::Answer { receiver, channel } => {
                if let Some(spot) = self.spot_of(receiver, channel) {
                    self.hear(engine, spot, receiver);
                }
            }
            Later::Check { node, channel } => {
                if let Some(spot) = self.spot_at(node, channel) {
                    self.check(engine, spot);
                }
            }
            Later::Forget { receiver, channel } => {
                if let Some(spot) = self.spot_of(receiver, channel) {
                    let slot = self.member_slot(receiver, channel);
                    self.lans.believed[slot] = false;
                    self.lans.lans[spot.lan].believed -= 1;
                    let Lan { state, believed, .. } = self.lans.lans[spot.lan];
                    if state == State::Forwarding && believed == 0 {
                        self.close(engine, spot);
                    }
                }
            }
            Later::Join { .. } | Later::Expire { .. } | Later::Resend { .. } | Later::Refuse { .. } => {}
        }
    }

    /// A host does not want a channel any more.
    fn stop_wanting(&mut self, spot: Spot, receiver: u32) {
        let lan = &mut self.lans.lans[spot.lan];
        lan.wanting -= 1;
        let own = u32::from(lan.state != State::None);
        let is_last = lan.wanting == 0 && self.holders[self.slot(spot.node, spot.channel)] == own;
        self.mark_gone(receiver, spot.channel, is_last);
        self.agenda.cancel_any(Later::any_report(receiver, spot.channel));
        self.agenda.cancel(Later::Answer { receiver, channel: spot.channel });
    }

    /// A host reports its membership. If the report is lost and the edge does not believe in it, it
    /// reports again.
    fn report<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, receiver: u32, repeats: u32) {
        let config = engine.edges[spot.edge as usize].config;
        if !self.chance(spot, config.report_loss) {
            self.hear(engine, spot, receiver);
        } else if !self.lans.believed[self.member_slot(receiver, spot.channel)] {
            if repeats > 0 {
                let again = Later::Report { receiver, channel: spot.channel, repeats: repeats - 1 };
                self.schedule(engine, again, config.report_repeat);
            } else {
                self.await_general_query(engine, spot, receiver);
            }
        }
    }

    /// A host will report when the next general query comes. Edges send them at the multiples of
    /// their interval.
    fn await_general_query<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, receiver: u32) {
        let config = engine.edges[spot.edge as usize].config;
        let (now, interval) = (engine.now().as_ns(), config.query_interval.as_ns().max(1));
        let next = Time::from_ns((now / interval + 1).saturating_mul(interval));
        let wait = next.since(engine.now()) + self.uniform(spot, config.query_response);
        self.schedule(engine, Later::Report { receiver, channel: spot.channel, repeats: 0 }, wait);
    }

    /// An edge hears that a host wants a channel.
    fn hear<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, receiver: u32) {
        let channel = spot.channel;
        self.agenda.cancel_any(Later::any_report(receiver, channel));
        let state = self.lans.lans[spot.lan].state;
        if state == State::None && engine.edges[spot.edge as usize].is_full() {
            self.stop_wanting(spot, receiver);
            self.schedule(engine, Later::Refuse { receiver, channel }, Duration::ZERO);
            return;
        }
        let slot = self.member_slot(receiver, channel);
        if !std::mem::replace(&mut self.lans.believed[slot], true) {
            self.lans.lans[spot.lan].believed += 1;
        }
        self.lans.lans[spot.lan].state = State::Forwarding;
        match state {
            State::None => {
                engine.edges[spot.edge as usize].groups += 1;
                self.turn(spot, Membership::Waiting, Membership::Held);
                self.add_holder(engine, spot.node, channel);
            }
            State::Checking { .. } => self.agenda.cancel(Later::Check { node: spot.node, channel }),
            State::Forwarding => {}
        }
    }

    /// A step of a check: another query, or the end.
    fn check<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot) {
        let config = engine.edges[spot.edge as usize].config;
        let (State::Checking { queries: queries @ 1.. }, LeaveRule::Check { interval, .. }) =
            (self.lans.lans[spot.lan].state, config.leave)
        else {
            return self.close(engine, spot);
        };
        self.lans.lans[spot.lan].state = State::Checking { queries: queries - 1 };
        let mut first: Option<(Duration, u32)> = None;
        for receiver in self.receivers_at(spot.node) {
            if self.wants(receiver, spot.channel) {
                let delay = self.uniform(spot, interval);
                let lost = self.chance(spot, config.report_loss);
                if !lost && first.is_none_or(|(earliest, _)| delay < earliest) {
                    first = Some((delay, receiver));
                }
            }
        }
        if let Some((delay, receiver)) = first {
            self.schedule(engine, Later::Answer { receiver, channel: spot.channel }, delay);
        }
        self.schedule(engine, Later::Check { node: spot.node, channel: spot.channel }, interval);
    }

    fn close_after<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot, wait: Duration) {
        if wait.is_zero() {
            return self.close(engine, spot);
        }
        self.lans.lans[spot.lan].state = State::Checking { queries: 0 };
        self.schedule(engine, Later::Check { node: spot.node, channel: spot.channel }, wait);
    }

    /// An edge forwards a channel no longer and believes in nobody. Hosts that want it all the same
    /// say so at the next general query, unless they have a report to come anyway.
    fn close<H: Copy>(&mut self, engine: &mut Engine<H>, spot: Spot) {
        let (node, channel) = (spot.node, spot.channel);
        let lan = &mut self.lans.lans[spot.lan];
        (lan.state, lan.believed) = (State::None, 0);
        engine.edges[spot.edge as usize].groups -= 1;
        self.turn(spot, Membership::Held, Membership::Waiting);
        for receiver in self.receivers_at(node) {
            let slot = self.member_slot(receiver, channel);
            if std::mem::take(&mut self.lans.believed[slot]) {
                self.agenda.cancel(Later::Forget { receiver, channel });
            }
            let waits = self.members[slot] == Membership::Waiting;
            if waits && self.agenda.find(Later::any_report(receiver, channel)).is_none() {
                self.await_general_query(engine, spot, receiver);
            }
        }
        self.remove_holder(engine, node, channel, Duration::ZERO);
    }

    /// Turns the memberships of one kind at a node into another.
    fn turn(&mut self, spot: Spot, from: Membership, to: Membership) {
        for receiver in self.receivers_at(spot.node) {
            let slot = self.member_slot(receiver, spot.channel);
            if self.members[slot] == from {
                self.members[slot] = to;
            }
        }
    }

    fn chance(&mut self, spot: Spot, probability: f64) -> bool {
        self.streams.get_mut(spot.node as usize).is_some_and(|stream| stream.chance(probability))
    }

    fn uniform(&mut self, spot: Spot, bound: Duration) -> Duration {
        self.streams
            .get_mut(spot.node as usize)
            .map_or(Duration::ZERO, |stream| stream.uniform_duration(bound))
    }
}
