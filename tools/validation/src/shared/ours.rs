//! Our side of a shared bottleneck.

use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_simulator::{
    Demand, LinkConfig, LossModel, LossPlace, Network, NetworkError, QueueConfig, QueueLimit, RedConfig,
    RedWeight, RemConfig, TcpConfig,
};

use super::{Case, Counts, Discipline, Measured, PACKET_BYTES, Plan, WEIGHT};
use crate::tcps;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// No effective limit.
const WINDOW: u32 = 5000;

pub(super) fn measure_ours(plan: &Plan, case: &Case, replication: u64) -> Result<Measured, NetworkError> {
    let link = |bps, delay_ms, queue| LinkConfig {
        rate: Rate::from_bps(bps),
        delay: Duration::from_ms(delay_ms),
        queue,
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let access = link(1e9, 5, QueueConfig::default());
    let forward = link(case.rate_bps(), 40, queue(case));
    let backward = link(case.rate_bps(), 40, QueueConfig::default());
    let mut network = Network::new();
    let (left, right) = (network.add_node("left"), network.add_node("right"));
    let bottleneck = network.add_link(left, right, forward, backward)?;
    let mut ends = Vec::new();
    for flow in 0..case.flows {
        let (from, to) = (network.add_node(format!("S{flow}")), network.add_node(format!("R{flow}")));
        network.add_link(from, left, access.clone(), access.clone())?;
        network.add_link(right, to, access.clone(), access.clone())?;
        ends.push((from, to));
    }
    let mut simulation = Simulation::new(network, replication);
    let mut tcps = Vec::new();
    for (number, ((from, to), start)) in ends.into_iter().zip(case.starts(replication)).enumerate() {
        let (options, start) = (tcps::options(case.tcp, WINDOW), Time::from_secs_f64(start));
        let name = format!("tcp/{number}");
        tcps.push(simulation.add_tcp(TcpConfig {
            from,
            to,
            options,
            demand: Demand::Endless,
            start,
            stop: None,
            name,
        })?);
    }
    let mut counts_at = |seconds| {
        simulation.run_until(Time::from_secs_f64(seconds));
        let link = simulation.link_counters(bottleneck);
        let acknowledged = |&tcp| simulation.tcp_state(tcp).map_or(0.0, |state| state.highest_ack as f64);
        Counts {
            departures: link.packets as f64,
            drops: link.queue_drops as f64,
            waiting: link.queue_packet_ns as f64 / 1e9,
            acknowledged: tcps.iter().map(acknowledged).collect(),
        }
    };
    let (early, late) = (counts_at(plan.from_s), counts_at(plan.until_s));
    let acknowledged = early.acknowledged.iter().zip(&late.acknowledged).map(|(early, late)| late - early);
    let counts = Counts {
        departures: late.departures - early.departures,
        drops: late.drops - early.drops,
        waiting: late.waiting - early.waiting,
        acknowledged: acknowledged.collect(),
    };
    Ok(counts.measured(case, plan.seconds()))
}

/// The queue of the bottleneck, as the script sets it.
fn queue(case: &Case) -> QueueConfig {
    let room = case.room_packets();
    let bytes = QueueLimit::Bytes(u64::from(room) * PACKET_BYTES);
    let (min, max) = case.thresholds();
    match case.discipline {
        Discipline::DropTail => QueueConfig::drop_tail(bytes),
        Discipline::Red => QueueConfig::Red(RedConfig {
            limit: Some(bytes),
            min_threshold: Some(min),
            max_threshold: Some(max),
            weight: RedWeight::Fixed(WEIGHT),
            mean_packet: Size::from_bytes(PACKET_BYTES as u32),
            ..RedConfig::ns2()
        }),
        Discipline::RedAuto => QueueConfig::Red(RedConfig { limit: Some(bytes), ..RedConfig::ns2() }),
        Discipline::Rem => {
            QueueConfig::Rem(RemConfig { limit: QueueLimit::Packets(room), ..RemConfig::default() })
        }
    }
}
