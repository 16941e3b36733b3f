//! A tree with its links and events, without endpoints and data.

use std::collections::BTreeMap;

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Time};

use super::super::{Forwarding, Latency, Routes, Shape, Tree};
use crate::edge::{EdgeConfig, EdgeRouter};
use crate::engine::Engine;
use crate::event::{Event, Key};
use crate::link::LinkConfig;
use crate::loss::{LossModel, LossPlace};
use crate::network::{LinkId, Network, NodeId};
use crate::packet::{Body, Dropped};
use crate::queue::QueueConfig;
use crate::routing::Routing;
use crate::tree::membership::Refusal;

pub(super) const C0: Channel = Channel(0);
pub(super) const C1: Channel = Channel(1);
pub(super) const CHANNELS: usize = 2;

pub(super) fn lossless() -> LinkConfig {
    lossy_up(LossModel::None)
}

/// What the links up lose.
pub(super) fn lossy_up(loss: LossModel) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_mbps(100.0),
        delay: Duration::from_ms(10),
        queue: QueueConfig::default(),
        loss,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    }
}

pub(super) struct Bed {
    pub(super) engine: Engine<()>,
    pub(super) tree: Tree,
    names: Vec<&'static str>,
    nodes: Vec<NodeId>,
    pub(super) refused: Vec<Refusal>,
    /// Grafts and prunes that have arrived.
    pub(super) messages_up: u64,
}

/// S - A - R, receivers at some of them, and an edge at R. Only the link from R loses anything.
pub(super) fn bed(edge: Option<EdgeConfig>, receivers: &[&str], up: LinkConfig) -> Bed {
    let edges: Vec<_> = edge.into_iter().map(|edge| ("R", edge)).collect();
    Bed::new(&[("S", "A", lossless()), ("A", "R", up)], &edges, receivers, 1)
}

impl Bed {
    /// A tree from its links, the nodes named as they come, S first.
    pub(super) fn new(
        links: &[(&'static str, &'static str, LinkConfig)],
        edges: &[(&str, EdgeConfig)],
        receivers: &[&str],
        seed: u64,
    ) -> Bed {
        let mut names: Vec<&'static str> = Vec::new();
        let mut network = Network::new();
        let mut node = |name: &'static str, network: &mut Network| {
            let known = names.iter().position(|known| *known == name);
            known.map_or_else(
                || {
                    names.push(name);
                    network.add_node(name)
                },
                |known| NodeId(known as u32),
            )
        };
        for (above, below, up) in links {
            let ends = [node(above, &mut network), node(below, &mut network)];
            network.add_link(ends[0], ends[1], lossless(), up.clone()).unwrap();
        }
        let node = |name: &str| NodeId(names.iter().position(|known| *known == name).unwrap() as u32);
        let mut engine = Engine::<()>::new(network.build_links(seed));
        let mut numbers = BTreeMap::new();
        for (name, config) in edges {
            numbers.insert(node(name), engine.edges.len() as u32);
            engine.edges.push(EdgeRouter { config: *config, groups: 0 });
        }
        let receivers: Vec<NodeId> = receivers.iter().map(|name| node(name)).collect();
        let (shape, origins) = Shape::new(&network, &Routing::new(&network), NodeId(0), &receivers).unwrap();
        let mut tree = Tree::new(shape, CHANNELS, Routes { data: 0, membership: 1, up: 2, down: 3 });
        tree.open_edges(&numbers, &origins.nodes);
        let name = |node: &NodeId| format!("membership/0/{}", network.node_name(*node));
        tree.set_streams(origins.nodes.iter().map(|node| Stream::new(seed, &name(node))).collect());
        Bed { engine, tree, names, nodes: origins.nodes, refused: Vec::new(), messages_up: 0 }
    }

    /// Serves one event up to `end`; whether there was one.
    fn step(&mut self, end: Time) -> bool {
        let Some((key, event)) = self.engine.events.pop(end) else { return false };
        self.engine.current = key;
        match event {
            Event::Free(link) => self.engine.transmitter_free(LinkId(link)),
            Event::Arrival(link) => {
                let (copy, next) = self.engine.pop_arrival(link).unwrap();
                if let Some(next) = next {
                    self.engine.events.push(next, Event::Arrival(link));
                }
                let &Body::Membership(message) = self.engine.slab.body(copy.packet) else { panic!() };
                self.messages_up += 1;
                self.tree.serve_message(&mut self.engine, message);
                self.engine.slab.release(copy.packet);
            }
            Event::Membership { slot, .. } => {
                self.refused.extend(self.tree.apply_pending(&mut self.engine, slot));
            }
            other => panic!("{other:?}"),
        }
        self.lose();
        true
    }

    fn lose(&mut self) {
        while let Some(Dropped(copy)) = self.engine.dropped.pop() {
            let &Body::Membership(message) = self.engine.slab.body(copy.packet) else { panic!() };
            self.tree.message_lost(&mut self.engine, message);
            self.engine.slab.release(copy.packet);
        }
    }

    /// Serves all events up to `end_s`.
    pub(super) fn run(&mut self, end_s: f64) {
        let end = Time::from_secs_f64(end_s);
        while self.step(end) {}
        self.engine.current = Key { time: end, order: self.engine.events.next_order() };
    }

    /// When a condition first holds, in seconds, if it does by `end_s`.
    pub(super) fn until(&mut self, end_s: f64, holds: impl Fn(&Bed) -> bool) -> Option<f64> {
        while !holds(self) {
            if !self.step(Time::from_secs_f64(end_s)) {
                return None;
            }
        }
        Some(self.engine.now().as_secs_f64())
    }

    pub(super) fn join(&mut self, receiver: u32, latency: Latency) {
        self.join_channel(receiver, 0, latency);
    }

    pub(super) fn leave(&mut self, receiver: u32, latency: Latency) {
        self.leave_channel(receiver, 0, latency);
    }

    pub(super) fn join_channel(&mut self, receiver: u32, channel: u16, latency: Latency) {
        self.tree.join(&mut self.engine, receiver, Channel(channel), latency);
        self.lose();
    }

    pub(super) fn leave_channel(&mut self, receiver: u32, channel: u16, latency: Latency) {
        self.tree.leave(&mut self.engine, receiver, Channel(channel), latency);
        self.lose();
    }

    pub(super) fn crash(&mut self, receiver: u32) {
        self.tree.crash(&mut self.engine, receiver);
        self.lose();
    }

    /// Whether the first channel is forwarded over the link into a node.
    pub(super) fn forwards(&self, name: &str) -> bool {
        let node = NodeId(self.names.iter().position(|known| *known == name).unwrap() as u32);
        let in_tree = self.nodes.iter().position(|known| *known == node).unwrap();
        self.tree.forwarding[self.tree.slot(in_tree as u32, C0)] != Forwarding::Off
    }
}
