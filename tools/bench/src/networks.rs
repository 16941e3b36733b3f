//! The networks of the benchmarks.

use anyhow::{Context, Result};
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::option::RawValue;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::registry::Protocol;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, EcnField, Latency, LinkConfig, LossModel, LossPlace, Network, NetworkError, NodeId, QueueConfig,
    QueueLimit, ReceiverConfig, ReceiverId, SessionConfig, TcpConfig,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

fn link(rate: Rate, delay_ms: u64, queue: QueueConfig) -> LinkConfig {
    let delay = Duration::from_ms(delay_ms);
    LinkConfig {
        rate,
        delay,
        queue,
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    }
}

/// Long SACK connections over one bottleneck of 40 ms with a queue of one bandwidth-delay product,
/// access links of 1 Gbit/s and 5 ms. The same as `validation/dumbbell.tcl` for ns-2.
pub(crate) fn dumbbell(connections: u32, mbps: f64) -> Result<Simulation> {
    let bottleneck = Rate::from_mbps(mbps);
    let queue = QueueConfig::drop_tail(QueueLimit::Bytes((bottleneck.as_bytes_per_s() * 0.1) as u64));
    let access = link(Rate::from_mbps(1000.0), 5, QueueConfig::default());
    let shared = link(bottleneck, 40, queue);
    let mut network = Network::new();
    let (left, right) = (network.add_node("left"), network.add_node("right"));
    network.add_link(left, right, shared.clone(), shared)?;
    let mut ends = Vec::new();
    for number in 0..connections {
        let (from, to) = (network.add_node(format!("s{number}")), network.add_node(format!("d{number}")));
        network.add_link(from, left, access.clone(), access.clone())?;
        network.add_link(right, to, access.clone(), access.clone())?;
        ends.push((from, to));
    }
    let mut simulation = Simulation::new(network, 1);
    let mut starts = Stream::new(1, "starts");
    for (number, (from, to)) in ends.into_iter().enumerate() {
        let mut options = TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2);
        options.window = 10_000;
        let start = Time::ZERO + starts.uniform_duration(Duration::from_secs(5));
        simulation.add_tcp(TcpConfig {
            from,
            to,
            options,
            demand: Demand::Endless,
            start,
            stop: None,
            name: format!("tcp-{number}"),
        })?;
    }
    Ok(simulation)
}

const FAN_OUT: u32 = 10;
/// Four layers of doubling rate; together 1 Mbit/s.
const LAYERS_KBPS: [f64; 4] = [125.0, 250.0, 500.0, 1000.0];

/// A session whose receivers subscribe to all layers, at the leaves of a balanced tree.
pub(crate) fn tree(leaves: u32, per_leaf: u32) -> Result<(Simulation, Vec<ReceiverId>)> {
    let mut network = Network::new();
    let source_node = network.add_node("source");
    let leaf_nodes = balanced_tree(&mut network, source_node, leaves)?;
    let mut protocol = Protocol::named("fixed").context("the registry has no protocol `fixed`")?;
    protocol.set("level", RawValue::Integer(LAYERS_KBPS.len() as i64 - 1))?;
    let layers = LayerTable::from_cumulative(LAYERS_KBPS.map(Rate::from_kbps).to_vec())?;
    let session = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let receiver = |node| ReceiverConfig {
        node,
        receiver: protocol.receiver(session.clone(), Stream::new(1, "receiver")),
        start: Time::ZERO,
        stop: None,
        join_latency: Latency::NONE,
        leave_latency: Latency::NONE,
    };
    let nodes = leaf_nodes.iter().flat_map(|&node| (0..per_leaf).map(move |_| node));
    let config = SessionConfig {
        source_node,
        source: protocol.source(session.clone(), Stream::new(1, "source")),
        channels: LAYERS_KBPS.len() as u16,
        ecn: EcnField::NotCapable,
        observes_late_packets: protocol.requirements().observes_late_packets(),
        name: "session".to_owned(),
        start: Time::ZERO,
        stop: None,
        receivers: nodes.map(receiver).collect(),
        packets: None,
        routers: None,
    };
    let mut simulation = Simulation::new(network, 1);
    let receivers = simulation.add_session(config)?;
    Ok((simulation, receivers))
}

/// Nodes below `root`, level by level, until `leaves` of them are at the bottom.
fn balanced_tree(network: &mut Network, root: NodeId, leaves: u32) -> Result<Vec<NodeId>, NetworkError> {
    let link = link(Rate::from_mbps(100.0), 10, QueueConfig::default());
    let mut level = vec![root];
    for depth in 1.. {
        if level.len() as u32 >= leaves {
            break;
        }
        let wanted = (level.len() as u32 * FAN_OUT).min(leaves);
        let mut below = Vec::with_capacity(wanted as usize);
        for number in 0..wanted {
            let node = network.add_node(format!("{depth}.{number}"));
            network.add_link(level[(number / FAN_OUT) as usize], node, link.clone(), link.clone())?;
            below.push(node);
        }
        level = below;
    }
    Ok(level)
}
