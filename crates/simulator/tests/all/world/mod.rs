//! Small worlds for the tests of the engine.

// Each test file uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::registry::Protocol;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, EcnField, LinkConfig, LinkId, LossModel, LossPlace, Network, NodeId, QueueConfig, QueueLimit,
    ReceiverConfig, ReceiverId, SessionConfig, TcpConfig,
};

type RouterConfig = layercast_simulator::RouterConfig<layercast_protocols::registry::Registry>;
type RouterLife = layercast_simulator::RouterLife<layercast_protocols::registry::Registry>;
type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

pub(crate) fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// A link without losses and with an endless queue.
pub(crate) fn link(mbps: f64, delay_ms: f64) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_mbps(mbps),
        delay: Duration::from_secs_f64(delay_ms / 1e3),
        queue: QueueConfig::default(),
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    }
}

/// A network from its links, `A-B`, in order. The nodes are numbered as they are mentioned.
pub(crate) struct Plan {
    pub(crate) network: Network,
    names: Vec<String>,
    links: Vec<(String, LinkId)>,
}

impl Plan {
    pub(crate) fn new(links: &[(&str, LinkConfig, LinkConfig)]) -> Plan {
        let mut plan = Plan { network: Network::new(), names: Vec::new(), links: Vec::new() };
        for (name, forward, backward) in links {
            let (from, to) = name.split_once('-').unwrap();
            let (from, to) = (plan.node_or_new(from), plan.node_or_new(to));
            let id = plan.network.add_link(from, to, forward.clone(), backward.clone()).unwrap();
            plan.links.push(((*name).to_owned(), id));
        }
        plan
    }

    fn node_or_new(&mut self, name: &str) -> NodeId {
        let known = self.names.iter().position(|known| known == name);
        known.map(|index| NodeId(index as u32)).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.network.add_node(name)
        })
    }

    pub(crate) fn node(&self, name: &str) -> NodeId {
        NodeId(self.names.iter().position(|known| known == name).unwrap() as u32)
    }

    /// The direction `A-B` of a link that was given as `A-B`; its reverse carries what goes up.
    pub(crate) fn link(&self, name: &str) -> LinkId {
        self.links.iter().find(|(known, _)| known == name).unwrap().1
    }

    pub(crate) fn simulation(&self) -> Simulation {
        Simulation::new(self.network.clone(), 1)
    }
}

/// The plan of a session with these cumulative rates in kbit/s and packets of 1000 bytes.
pub(crate) fn session_plan(cumulative_kbps: &[f64]) -> SessionPlan {
    let rates = cumulative_kbps.iter().map(|&kbps| Rate::from_kbps(kbps));
    let layers = LayerTable::from_cumulative(rates).unwrap();
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

/// A receiver that holds a fixed level while it lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) node: &'static str,
    pub(crate) level: i64,
    pub(crate) start_s: f64,
    pub(crate) stop_s: f64,
    pub(crate) join_ms: u64,
    pub(crate) leave_ms: u64,
}

pub(crate) const ALWAYS: f64 = 1e6;

/// Holds the base layer all the time, with latencies of zero.
pub(crate) fn member(node: &'static str) -> Member {
    Member { node, level: 0, start_s: 0.0, stop_s: ALWAYS, join_ms: 0, leave_ms: 0 }
}

/// Adds a session of the fixed protocol whose source starts at once.
pub(crate) fn add_fixed(
    simulation: &mut Simulation,
    plan: &Plan,
    cumulative_kbps: &[f64],
    members: &[Member],
) -> Vec<ReceiverId> {
    add_fixed_with(simulation, plan, cumulative_kbps, members, false)
}

/// The same, with data that may be marked if `ecn` says so.
pub(crate) fn add_fixed_with(
    simulation: &mut Simulation,
    plan: &Plan,
    cumulative_kbps: &[f64],
    members: &[Member],
    ecn: bool,
) -> Vec<ReceiverId> {
    let session = session_plan(cumulative_kbps);
    let fixed = |level: i64| {
        let mut protocol = Protocol::named("fixed").unwrap();
        protocol.set("level", RawValue::Integer(level)).unwrap();
        protocol
    };
    let receivers = members.iter().map(|member| ReceiverConfig {
        node: plan.node(member.node),
        receiver: fixed(member.level).receiver(session.clone(), Stream::new(1, "receiver")),
        start: at(member.start_s),
        stop: Some(at(member.stop_s)),
        join_latency: Duration::from_ms(member.join_ms).into(),
        leave_latency: Duration::from_ms(member.leave_ms).into(),
    });
    let config = SessionConfig {
        source_node: plan.node("S"),
        source: fixed(0).source(session.clone(), Stream::new(1, "source")),
        channels: cumulative_kbps.len() as u16,
        ecn: if ecn { EcnField::Classic } else { EcnField::NotCapable },
        observes_late_packets: false,
        name: "fixed".to_owned(),
        start: Time::ZERO,
        stop: None,
        receivers: receivers.collect(),
        packets: None,
        routers: None,
    };
    simulation.add_session(config).unwrap()
}

/// A simulation of one such session.
pub(crate) fn fixed_session(
    plan: &Plan,
    cumulative_kbps: &[f64],
    members: &[Member],
) -> (Simulation, Vec<ReceiverId>) {
    let mut simulation = plan.simulation();
    let ids = add_fixed(&mut simulation, plan, cumulative_kbps, members);
    (simulation, ids)
}

/// A TCP of the year 2004 that starts at once and never stops.
pub(crate) fn tcp(plan: &Plan, variant: TcpVariant, from: &str, to: &str, name: &str) -> TcpConfig {
    TcpConfig {
        from: plan.node(from),
        to: plan.node(to),
        options: TcpOptions::new(variant, TcpProfile::Ns2Year2004),
        demand: Demand::Endless,
        start: Time::ZERO,
        stop: None,
        name: name.to_owned(),
    }
}

/// Seven layers that double from 128 kbit/s, as in the thesis.
pub(crate) const DOUBLING: [f64; 7] = [128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0];

/// Adds a session of any protocol with its default options from node S. `receivers` have a node and a start.
pub(crate) fn add_session(
    simulation: &mut Simulation,
    plan: &Plan,
    protocol: &Protocol,
    seed: u64,
    receivers: &[(&str, f64)],
) -> Vec<ReceiverId> {
    add_session_from("S", simulation, plan, protocol, seed, receivers)
}

/// The same from another node.
pub(crate) fn add_session_from(
    source: &str,
    simulation: &mut Simulation,
    plan: &Plan,
    protocol: &Protocol,
    seed: u64,
    receivers: &[(&str, f64)],
) -> Vec<ReceiverId> {
    let session = session_plan(&DOUBLING);
    let stream = |part: &str| Stream::new(seed, &format!("{}/{part}", protocol.name()));
    let receiver = |(index, &(node, start_s)): (usize, &(&str, f64))| ReceiverConfig {
        node: plan.node(node),
        receiver: protocol.receiver(session.clone(), stream(&format!("{index}"))),
        start: at(start_s),
        stop: None,
        join_latency: Duration::from_ms(20).into(),
        leave_latency: Duration::from_ms(200).into(),
    };
    let config = SessionConfig {
        source_node: plan.node(source),
        source: protocol.source(session.clone(), stream("source")),
        channels: DOUBLING.len() as u16,
        ecn: EcnField::NotCapable,
        observes_late_packets: protocol.requirements().observes_late_packets(),
        name: protocol.name().to_owned(),
        start: Time::ZERO,
        stop: None,
        receivers: receivers.iter().enumerate().map(receiver).collect(),
        packets: None,
        routers: routers(source, simulation, plan, protocol, seed, receivers),
    };
    simulation.add_session(config).unwrap()
}

/// A router at every node that can have one, if routers of the protocol take part.
pub(crate) fn routers(
    source: &str,
    simulation: &Simulation,
    plan: &Plan,
    protocol: &Protocol,
    seed: u64,
    receivers: &[(&str, f64)],
) -> Option<Vec<RouterConfig>> {
    let nodes: Vec<NodeId> = receivers.iter().map(|&(node, _)| plan.node(node)).collect();
    let places = simulation.router_nodes(plan.node(source), &nodes).unwrap();
    let routers = places.into_iter().map(|node| {
        let stream = Stream::new(seed, &format!("{}/router@{}", protocol.name(), node.0));
        let router = protocol.router(session_plan(&DOUBLING), stream)?;
        Some(RouterConfig { node, lives: vec![RouterLife { router, start: Time::ZERO, stop: None }] })
    });
    protocol.requirements().has_routers().then(|| routers.flatten().collect())
}

/// A tree with a bottleneck of `mbps`, and two receivers' nodes behind lossy links.
pub(crate) fn bottleneck(mbps: f64) -> Plan {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(40));
    let lossy = |loss| LinkConfig { loss: LossModel::Bernoulli(loss), ..link(100.0, 10.0) };
    Plan::new(&[
        ("S-G", LinkConfig { queue, ..link(mbps, 10.0) }, link(mbps, 10.0)),
        ("G-R", lossy(0.01), link(100.0, 10.0)),
        ("G-Q", lossy(0.003), link(100.0, 10.0)),
    ])
}
