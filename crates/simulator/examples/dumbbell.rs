//! How fast the engine is: TCP connections over one bottleneck, in packet hops per CPU second.
//!
//! `cargo run --release -p layercast-simulator --example dumbbell -- [CONNECTIONS] [MBIT/S] [SECONDS]`

use std::error::Error;

use cpu_time::ProcessTime;
use layercast_protocol::stream::Stream;
use layercast_protocol::units::{Rate, Span, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, LinkConfig, LossModel, LossPlace, Network, QueueConfig, QueueLimit, Simulation, TcpConfig,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse::<f64>());
    let (connections, mbps, seconds) = (number(100.0)? as u32, number(100.0)?, number(60.0)?);

    let bottleneck = Rate::from_mbps(mbps);
    // One bandwidth-delay product of the 100 ms round trip.
    let queue = QueueConfig::DropTail {
        limit: QueueLimit::Bytes((bottleneck.as_bytes_per_s() * 0.1) as u64),
        ns2_compat: true,
    };
    let link = |rate, delay_ms, queue| LinkConfig {
        rate,
        delay: Span::from_ms(delay_ms),
        queue,
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
    };
    let access = link(Rate::from_mbps(1000.0), 5, QueueConfig::default());
    let shared = link(bottleneck, 40, queue);
    let mut network = Network::new();
    let (left, right) = (network.add_node("left"), network.add_node("right"));
    network.add_link(left, right, shared.clone(), shared)?;
    let mut ends = Vec::new();
    for i in 0..connections {
        let (from, to) = (network.add_node(format!("s{i}")), network.add_node(format!("d{i}")));
        network.add_link(from, left, access.clone(), access.clone())?;
        network.add_link(right, to, access.clone(), access.clone())?;
        ends.push((from, to));
    }
    let mut simulation = Simulation::new(network, 1);
    let mut starts = Stream::new(1, "starts");
    let mut flows = Vec::new();
    for (i, (from, to)) in ends.into_iter().enumerate() {
        let mut options = TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2);
        options.window = 10_000;
        let start = Time::ZERO + starts.uniform_span(Span::from_secs(5));
        flows.push(simulation.add_tcp(TcpConfig {
            from,
            to,
            options,
            demand: Demand::Endless,
            start,
            stop: None,
            name: format!("tcp-{i}"),
        })?);
    }
    let begun = ProcessTime::now();
    simulation.run_until(Time::from_secs_f64(seconds));
    let cpu_s = begun.elapsed().as_secs_f64();
    let engine = simulation.engine_counters();
    let bytes: u64 = flows.iter().map(|&flow| simulation.tcp_counters(flow).received_bytes).sum();
    println!(
        "{connections} connections, {bottleneck}, {seconds} s: {:.2} million packet hops per CPU second \
         ({} hops, {} events, {cpu_s:.3} s CPU; {:.1} Mbit/s received)",
        engine.packet_hops as f64 / cpu_s / 1e6,
        engine.packet_hops,
        engine.events,
        bytes as f64 * 8.0 / seconds / 1e6,
    );
    Ok(())
}
