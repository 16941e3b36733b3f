//! The throughput of a single TCP on a path with random loss.

use layercast_core::units::{Duration, Rate, Time};
use layercast_laboratory::results::Statistic;
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    Demand, LinkConfig, LossModel, LossPlace, Network, NetworkError, QueueConfig, TcpConfig,
};
use serde::Serialize;

use crate::compare::{Comparison, statistic};
use crate::ns::{Ns, NsError};
use crate::tcps;
use crate::work::run_all;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// No effective limit.
const WINDOW: u32 = 5000;
/// The round-trip time in seconds.
const ROUND_TRIP_S: f64 = 0.1;
/// The tolerance of a row outside the joint interval.
const TOLERANCE: f64 = 0.05;

/// The plan of the runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) losses: Vec<f64>,
    pub(crate) from_s: f64,
    pub(crate) until_s: f64,
    pub(crate) replications: u64,
}

impl Plan {
    pub(crate) fn full() -> Plan {
        Plan { losses: vec![0.001, 0.003, 0.01, 0.03, 0.1], from_s: 20.0, until_s: 1020.0, replications: 20 }
    }

    pub(crate) fn quick() -> Plan {
        Plan { losses: vec![0.03], from_s: 20.0, until_s: 220.0, replications: 3 }
    }
}

/// A TCP that both have, at a loss rate: packets per round trip.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    #[serde(serialize_with = "crate::raw::tcp")]
    pub(crate) tcp: TcpVariant,
    pub(crate) loss: f64,
    pub(crate) packets_per_round_trip: Comparison,
}

/// A TCP that ns-2 does not have.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Alone {
    #[serde(serialize_with = "crate::raw::tcp")]
    pub(crate) tcp: TcpVariant,
    pub(crate) loss: f64,
    pub(crate) packets_per_round_trip: Statistic,
}

/// All measurements.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<Row>,
    pub(crate) alone: Vec<Alone>,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    tcp: TcpVariant,
    loss: f64,
    /// Unique among all runs, so that no two rows share random numbers.
    number: u64,
}

/// Runs both simulators.
///
/// # Errors
/// Those of ns-2, or of the network, which would be a bug.
pub(crate) fn run(ns: &Ns, plan: Plan) -> anyhow::Result<Outcome> {
    let cases = |tcps: &[TcpVariant]| -> Vec<(TcpVariant, f64)> {
        tcps.iter().flat_map(|&tcp| plan.losses.iter().map(move |&loss| (tcp, loss))).collect()
    };
    let jobs = |cases: &[(TcpVariant, f64)]| -> Vec<Job> {
        let runs = cases.iter().flat_map(|case| (0..plan.replications).map(move |_| case));
        runs.zip(0..).map(|(&(tcp, loss), number)| Job { tcp, loss, number }).collect()
    };
    let (shared, alone) = (cases(&tcps::IN_NS), cases(&tcps::OURS_ALONE));
    let theirs = run_all("random loss, ns-2", &jobs(&shared), |job| measure_ns(ns, &plan, job))?;
    let all = [shared.clone(), alone.clone()].concat();
    let ours = run_all("random loss, layercast", &jobs(&all), |job| measure_ours(&plan, job))?;
    let count = plan.replications as usize;
    let (mut ours, mut theirs) = (ours.chunks_exact(count), theirs.chunks_exact(count));
    let rows = shared.iter().zip(ours.by_ref().zip(theirs.by_ref())).map(|(&(tcp, loss), (ours, ns))| Row {
        tcp,
        loss,
        packets_per_round_trip: Comparison::new(ours.to_vec(), ns.to_vec(), TOLERANCE),
    });
    let rows = rows.collect();
    let alone = alone.iter().zip(ours).map(|(&(tcp, loss), ours)| Alone {
        tcp,
        loss,
        packets_per_round_trip: statistic(ours.to_vec()),
    });
    let alone = alone.collect();
    Ok(Outcome { plan, rows, alone })
}

fn per_round_trip(plan: &Plan, packets: f64) -> f64 {
    packets / (plan.until_s - plan.from_s) * ROUND_TRIP_S
}

fn measure_ns(ns: &Ns, plan: &Plan, job: &Job) -> Result<f64, NsError> {
    let arguments = [
        tcps::name(job.tcp).to_owned(),
        job.loss.to_string(),
        WINDOW.to_string(),
        plan.from_s.to_string(),
        plan.until_s.to_string(),
        job.number.to_string(),
    ];
    let printed = ns.run("random_loss.tcl", &arguments)?;
    let packets = printed.text.trim().strip_prefix("packets ").and_then(|text| text.parse::<f64>().ok());
    let packets = packets.ok_or_else(|| printed.unreadable(printed.text.trim(), "count of packets"))?;
    Ok(per_round_trip(plan, packets))
}

fn measure_ours(plan: &Plan, job: &Job) -> Result<f64, NetworkError> {
    let backward = LinkConfig {
        rate: Rate::from_mbps(100.0),
        delay: Duration::from_ms(50),
        queue: QueueConfig::default(),
        loss: LossModel::None,
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
    };
    let forward = LinkConfig { loss: LossModel::Bernoulli(job.loss), ..backward.clone() };
    let mut network = Network::new();
    let (from, to) = (network.add_node("S"), network.add_node("R"));
    network.add_link(from, to, forward, backward)?;
    let mut simulation = Simulation::new(network, job.number);
    let options = tcps::options(job.tcp, WINDOW);
    let config = TcpConfig {
        from,
        to,
        options,
        demand: Demand::Endless,
        start: Time::ZERO,
        stop: None,
        name: "tcp".into(),
    };
    let tcp = simulation.add_tcp(config)?;
    let mut acknowledged_at = |seconds| {
        simulation.run_until(Time::from_secs_f64(seconds));
        simulation.tcp_state(tcp).map_or(0, |state| state.highest_ack)
    };
    let before = acknowledged_at(plan.from_s);
    Ok(per_round_trip(plan, (acknowledged_at(plan.until_s) - before) as f64))
}
