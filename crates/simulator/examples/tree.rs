//! How fast multicast is: one source of 1 Mbit/s, a balanced tree of fan-out 10.
//!
//! `cargo run --release -p layercast-simulator --example tree -- [LEAVES] [RECEIVERS A LEAF] [SECONDS]`
//!
//! With one receiver a leaf it tells packet hops per CPU second, with many the deliveries.

use std::error::Error;

use cpu_time::ProcessTime;
use layercast_protocol::layers::LayerTable;
use layercast_protocol::option::RawValue;
use layercast_protocol::registry::Protocol;
use layercast_protocol::session::SessionPlan;
use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Rate, Size, Span, Time};
use layercast_simulator::{
    LinkConfig, LossModel, LossPlace, Network, NodeId, QueueConfig, ReceiverConfig, SessionConfig, Simulation,
};

const FAN_OUT: u32 = 10;
/// Four layers of doubling rate; together 1 Mbit/s.
const LAYERS: [f64; 4] = [125.0, 250.0, 500.0, 1000.0];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u32| arguments.next().map_or(Ok(default), |text| text.parse::<u32>());
    let (leaves, per_leaf, seconds) = (number(1000)?, number(1)?, number(10)?);

    let begun = ProcessTime::now();
    let mut network = Network::new();
    let source_node = network.add_node("source");
    let leaf_nodes = balanced_tree(&mut network, source_node, leaves)?;
    let mut protocol = Protocol::named("fixed").ok_or("the registry has no fixed protocol")?;
    protocol.set("level", RawValue::Integer(LAYERS.len() as i64 - 1))?;
    let layers = LayerTable::from_cumulative(LAYERS.map(Rate::from_kbps).to_vec())?;
    let session = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let receiver = |node| ReceiverConfig {
        node,
        receiver: protocol.receiver(session.clone(), Stream::new(1, "receiver")),
        start: Time::ZERO,
        stop: None,
        join_latency: Span::ZERO,
        leave_latency: Span::ZERO,
    };
    let receivers =
        leaf_nodes.iter().flat_map(|&node| (0..per_leaf).map(move |_| node)).map(receiver).collect();
    let count = leaves * per_leaf;
    let mut simulation = Simulation::new(network, 1);
    let ids = simulation.add_session(SessionConfig {
        source_node,
        source: protocol.source(session.clone(), Stream::new(1, "source")),
        channels: LAYERS.len() as u16,
        start: Time::ZERO,
        stop: None,
        receivers,
    })?;
    let set_up_s = begun.elapsed().as_secs_f64();

    let begun = ProcessTime::now();
    simulation.run_until(Time::from_secs_f64(f64::from(seconds)));
    let cpu_s = begun.elapsed().as_secs_f64();
    let hops = simulation.engine_counters().packet_hops;
    let deliveries: u64 = ids.iter().map(|&id| simulation.receiver_counters(id).received_packets).sum();
    let peak = peak_memory_bytes();
    println!(
        "{leaves} leaves, {count} receivers, {seconds} s: set-up {set_up_s:.3} s, {cpu_s:.3} s CPU, \
         {:.2} million packet hops and {:.2} million deliveries per CPU second ({hops}, {deliveries}), \
         {:.0} bytes a receiver",
        hops as f64 / cpu_s / 1e6,
        deliveries as f64 / cpu_s / 1e6,
        peak.unwrap_or(f64::NAN) / f64::from(count),
    );
    Ok(())
}

/// Nodes below `root`, level by level, until `leaves` of them are at the bottom.
fn balanced_tree(network: &mut Network, root: NodeId, leaves: u32) -> Result<Vec<NodeId>, Box<dyn Error>> {
    let link = LinkConfig {
        rate: Rate::from_mbps(100.0),
        delay: Span::from_ms(10),
        queue: QueueConfig::default(),
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
    };
    let mut level = vec![root];
    while (level.len() as u32) < leaves {
        let wanted = (level.len() as u32 * FAN_OUT).min(leaves);
        let mut below = Vec::with_capacity(wanted as usize);
        for number in 0..wanted {
            let parent = level[(number / FAN_OUT) as usize];
            let node = network.add_node(format!("{}.{number}", below.len()));
            network.add_link(parent, node, link.clone(), link.clone())?;
            below.push(node);
        }
        level = below;
    }
    Ok(level)
}

/// The largest resident memory of this process so far, where the system tells.
fn peak_memory_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}
