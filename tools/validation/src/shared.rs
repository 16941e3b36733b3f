//! Connections that share a bottleneck.

use layercast_core::stream::Stream;
use layercast_core::units::Duration;
use layercast_simulator::tcp::TcpVariant;
use serde::Serialize;

use crate::compare::Comparison;
use crate::ns::Ns;
use crate::work::run_all;

mod ours;
mod theirs;

use ours::measure_ours;
use theirs::measure_ns;

/// Size of a data packet.
const PACKET_BYTES: u64 = 1000;
/// The round-trip time in seconds.
const ROUND_TRIP_S: f64 = 0.1;
/// Connections start within this time.
const STARTS_WITHIN: Duration = Duration::from_secs(20);
/// RED's weight where it is not automatic.
const WEIGHT: f64 = 0.002;

/// The queue of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Discipline {
    /// Drop-tail, counting bytes.
    DropTail,
    /// RED with thresholds of an eighth and three eighths of a bandwidth-delay product, weight 0.002.
    Red,
    /// RED with ns-2's defaults: all automatic.
    RedAuto,
    /// REM with ns-2's defaults.
    Rem,
}

impl Discipline {
    /// Its name in the script.
    fn name(self) -> &'static str {
        match self {
            Discipline::DropTail => "drop-tail",
            Discipline::Red => "red",
            Discipline::RedAuto => "red-auto",
            Discipline::Rem => "rem",
        }
    }
}

/// A set-up.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Case {
    pub(crate) discipline: Discipline,
    #[serde(serialize_with = "crate::raw::tcp")]
    pub(crate) tcp: TcpVariant,
    pub(crate) flows: u32,
}

impl Case {
    /// The bandwidth-delay product of the bottleneck, in packets.
    fn packets_per_round_trip(&self) -> f64 {
        f64::from((self.flows + 2) * 16)
    }

    fn packets_per_s(&self) -> f64 {
        self.packets_per_round_trip() / ROUND_TRIP_S
    }

    fn rate_bps(&self) -> f64 {
        self.packets_per_s() * (PACKET_BYTES * 8) as f64
    }

    /// One and a half bandwidth-delay products.
    fn room_packets(&self) -> u32 {
        (self.flows + 2) * 24
    }

    /// RED's thresholds where they are not automatic, in packets.
    fn thresholds(&self) -> (f64, f64) {
        let min = self.packets_per_round_trip() / 8.0;
        (min, 3.0 * min)
    }

    /// When the connections start, in seconds: the same in both simulators. Whole microseconds, so that the
    /// scripts read the exact values.
    fn starts(&self, replication: u64) -> Vec<f64> {
        let start = |flow: u32| {
            let mut stream = Stream::new(replication, &format!("start/{flow}"));
            stream.uniform_duration(STARTS_WITHIN).as_us() as f64 / 1e6
        };
        (0..self.flows).map(start).collect()
    }
}

/// The results of a run of one simulator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// The throughput of the connections, as a fraction of the bottleneck.
    pub(crate) throughput: f64,
    /// The fraction of packets that the queue dropped.
    pub(crate) loss: f64,
    /// The time average of the queue length in packets.
    pub(crate) queue: f64,
    /// The standard deviation of the connections' throughputs, as a fraction of their mean.
    pub(crate) spread: f64,
}

/// Counts of one run, between the two times of measurement.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    /// Packets that left the queue for the link.
    departures: f64,
    /// Packets that it dropped.
    drops: f64,
    /// The time integral of the queue length, in packets times seconds.
    waiting: f64,
    /// Packets acknowledged to each connection.
    acknowledged: Vec<f64>,
}

impl Counts {
    fn measured(&self, case: &Case, seconds: f64) -> Measured {
        let got = &self.acknowledged;
        let mean = got.iter().sum::<f64>() / got.len() as f64;
        let deviation = layercast_laboratory::results::statistics::standard_deviation(got).unwrap_or(0.0);
        Measured {
            throughput: got.iter().sum::<f64>() / (case.packets_per_s() * seconds),
            loss: self.drops / (self.drops + self.departures),
            queue: self.waiting / seconds,
            spread: deviation / mean,
        }
    }
}

/// The plan of the runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) cases: Vec<Case>,
    pub(crate) from_s: f64,
    pub(crate) until_s: f64,
    pub(crate) replications: u64,
}

impl Plan {
    pub(crate) fn full() -> Plan {
        use Discipline::{DropTail, Red, RedAuto, Rem};
        let mut cases = Vec::new();
        for discipline in [DropTail, Red, RedAuto, Rem] {
            let case = |tcp| move |flows| Case { discipline, tcp, flows };
            cases.extend([1, 2, 4, 8, 16, 32].map(case(TcpVariant::Sack)));
            cases.extend([2, 8].map(case(TcpVariant::Reno)));
        }
        Plan { cases, from_s: 30.0, until_s: 130.0, replications: 10 }
    }

    pub(crate) fn quick() -> Plan {
        let tcp = TcpVariant::Sack;
        let cases =
            [Discipline::DropTail, Discipline::Red].map(|discipline| Case { discipline, tcp, flows: 8 });
        Plan { cases: cases.to_vec(), from_s: 30.0, until_s: 60.0, replications: 3 }
    }

    fn seconds(&self) -> f64 {
        self.until_s - self.from_s
    }
}

/// A set-up and the results of both simulators.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) throughput: Comparison,
    pub(crate) loss: Comparison,
    pub(crate) queue: Comparison,
    pub(crate) spread: Comparison,
}

/// All measurements.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<Row>,
}

/// The tolerance of rows outside the joint interval.
pub(crate) const THROUGHPUT_TOLERANCE: f64 = 0.05;
/// The same for loss and mean queue.
pub(crate) const QUEUE_TOLERANCE: f64 = 0.10;

/// Runs both simulators.
///
/// # Errors
/// Those of ns-2, or of the network, which would be a bug.
pub(crate) fn run(ns: &Ns, plan: Plan) -> anyhow::Result<Outcome> {
    let jobs: Vec<(Case, u64)> = plan
        .cases
        .iter()
        .flat_map(|&case| (0..plan.replications).map(move |number| (case, number)))
        .collect();
    let theirs =
        run_all("shared bottleneck, ns-2", &jobs, |(case, number)| measure_ns(ns, &plan, case, *number))?;
    let ours =
        run_all("shared bottleneck, layercast", &jobs, |(case, number)| measure_ours(&plan, case, *number))?;
    let count = plan.replications as usize;
    let chunks = ours.chunks_exact(count).zip(theirs.chunks_exact(count));
    let rows = plan.cases.iter().zip(chunks).map(|(&case, (ours, ns))| {
        let compare = |of: fn(&Measured) -> f64, tolerance| {
            let samples = |of_one: &[Measured]| of_one.iter().map(of).collect();
            Comparison::new(samples(ours), samples(ns), tolerance)
        };
        Row {
            case,
            throughput: compare(|measured| measured.throughput, THROUGHPUT_TOLERANCE),
            loss: compare(|measured| measured.loss, QUEUE_TOLERANCE),
            queue: compare(|measured| measured.queue, QUEUE_TOLERANCE),
            spread: compare(|measured| measured.spread, 0.0),
        }
    });
    let rows = rows.collect();
    Ok(Outcome { plan, rows })
}
