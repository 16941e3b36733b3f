//! Constant-rate flows against TCP at drop-tail queues: the tree of the thesis's simulation 3, by phase and with waits.

use layercast_core::stream::Stream;
use layercast_core::units::Duration;
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
/// Connections to each receiver.
pub(crate) const CONNECTIONS: u32 = 4;
/// All flows start within this time.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// A receiver: its link and its constant flow.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Site {
    pub(crate) name: &'static str,
    pub(crate) link_kbps: f64,
    pub(crate) constant_kbps: f64,
}

/// The receivers of simulation 3. The flows have 0.85 of an equal share each.
pub(crate) const SITES: [Site; 3] = [
    Site { name: "R1", link_kbps: 3000.0, constant_kbps: 512.0 },
    Site { name: "R2", link_kbps: 6000.0, constant_kbps: 1024.0 },
    Site { name: "R3", link_kbps: 12_000.0, constant_kbps: 2048.0 },
];

impl Site {
    /// How long a packet takes on the link, in seconds.
    fn packet_s(&self) -> f64 {
        (PACKET_BYTES * 8) as f64 / (self.link_kbps * 1e3)
    }

    /// The queue: twice the bandwidth-delay product of 60 ms.
    fn room_bytes(&self) -> u64 {
        (self.link_kbps * 1e3 * 2.0 * 0.06 / 8.0).round() as u64
    }
}

/// How the senders' rhythm is set, in packet times of each receiver's link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Rhythm {
    /// What senders wait at random at most before they use their window.
    pub(crate) wait: f64,
    /// By how much longer the last delay towards the receiver is.
    pub(crate) phase: f64,
}

/// What came of a receiver's flows in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// The fraction of the constant flow's packets that the queue dropped.
    pub(crate) constant_loss: f64,
    /// The same of the connections' packets.
    pub(crate) tcp_loss: f64,
    /// What the constant flow got over the mean of the connections.
    pub(crate) share: f64,
}

/// Packets that came to a receiver's queue and were dropped, and acknowledged packets, within the time of measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    constant: f64,
    constant_drops: f64,
    tcp: f64,
    tcp_drops: f64,
    acknowledged: f64,
}

impl Counts {
    fn measured(&self) -> Measured {
        let got = self.constant - self.constant_drops;
        Measured {
            constant_loss: self.constant_drops / self.constant,
            tcp_loss: self.tcp_drops / self.tcp,
            share: got * f64::from(CONNECTIONS) / self.acknowledged,
        }
    }
}

/// The plan of the runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) rhythms: Vec<Rhythm>,
    pub(crate) from_s: f64,
    pub(crate) until_s: f64,
    pub(crate) replications: u64,
}

impl Plan {
    /// Eight phases, of senders that answer at once and of senders that wait up to a packet's time.
    pub(crate) fn full() -> Plan {
        let phases = |wait: f64| (0..8u8).map(move |phase| Rhythm { wait, phase: f64::from(phase) / 8.0 });
        let rhythms = phases(0.0).chain(phases(1.0)).collect();
        Plan { rhythms, from_s: 30.0, until_s: 300.0, replications: 5 }
    }

    pub(crate) fn quick() -> Plan {
        let rhythms = vec![Rhythm { wait: 0.0, phase: 0.5 }, Rhythm { wait: 1.0, phase: 0.0 }];
        Plan { rhythms, from_s: 30.0, until_s: 60.0, replications: 3 }
    }
}

/// When the flows of all receivers start, in seconds: of each the constant flow, then the connections. The same in both
/// simulators, in whole microseconds.
fn starts(replication: u64) -> Vec<Vec<f64>> {
    let site = |site: &Site| {
        let start = |flow: u32| {
            let mut stream = Stream::new(replication, &format!("start/{}/{flow}", site.name));
            stream.uniform_duration(STARTS_WITHIN).as_us() as f64 / 1e6
        };
        (0..=CONNECTIONS).map(start).collect()
    };
    SITES.iter().map(site).collect()
}

/// A receiver under one rhythm, and the results of both simulators.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) rhythm: Rhythm,
    pub(crate) site: Site,
    pub(crate) constant_loss: Comparison,
    pub(crate) tcp_loss: Comparison,
    pub(crate) share: Comparison,
}

/// A comparison of a row.
pub(crate) type Of = fn(&Row) -> &Comparison;

/// All measurements.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<Row>,
}

/// The tolerance of losses outside the joint interval, and that of shares.
const LOSS_TOLERANCE: f64 = 0.10;
const SHARE_TOLERANCE: f64 = 0.05;

/// Runs both simulators.
///
/// # Errors
/// Those of ns-2, or of the network, which would be a bug.
pub(crate) fn run(ns: &Ns, plan: Plan) -> anyhow::Result<Outcome> {
    let jobs: Vec<(Rhythm, u64)> = plan
        .rhythms
        .iter()
        .flat_map(|&rhythm| (0..plan.replications).map(move |number| (rhythm, number)))
        .collect();
    let theirs =
        run_all("constant rates, ns-2", &jobs, |(rhythm, number)| measure_ns(ns, &plan, *rhythm, *number))?;
    let ours = run_all("constant rates, layercast", &jobs, |(rhythm, number)| {
        measure_ours(&plan, *rhythm, *number)
    })?;
    let count = plan.replications as usize;
    let chunks = ours.chunks_exact(count).zip(theirs.chunks_exact(count));
    let rows = plan.rhythms.iter().zip(chunks).flat_map(|(&rhythm, (ours, ns))| {
        SITES.iter().enumerate().map(move |(place, &site)| {
            let compare = |of: fn(&Measured) -> f64, tolerance| {
                let samples = |of_one: &[Vec<Measured>]| of_one.iter().map(|run| of(&run[place])).collect();
                Comparison::new(samples(ours), samples(ns), tolerance)
            };
            Row {
                rhythm,
                site,
                constant_loss: compare(|measured| measured.constant_loss, LOSS_TOLERANCE),
                tcp_loss: compare(|measured| measured.tcp_loss, LOSS_TOLERANCE),
                share: compare(|measured| measured.share, SHARE_TOLERANCE),
            }
        })
    });
    let rows = rows.collect();
    Ok(Outcome { plan, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_and_packet_times_are_those_of_simulation_3() {
        assert_eq!(SITES.map(|site| site.room_bytes()), [45_000, 90_000, 180_000]);
        assert!((SITES[0].packet_s() - 8.0 / 3000.0).abs() < 1e-12);
    }

    #[test]
    fn shares_are_of_the_mean_connection() {
        let counts = Counts {
            constant: 100.0,
            constant_drops: 20.0,
            tcp: 410.0,
            tcp_drops: 10.0,
            acknowledged: 400.0,
        };
        let measured = counts.measured();
        assert_eq!((measured.constant_loss, measured.share), (0.2, 0.8));
        assert!((measured.tcp_loss - 10.0 / 410.0).abs() < 1e-12);
    }

    #[test]
    fn starts_differ_between_flows_and_replications() {
        let (one, other) = (starts(0), starts(1));
        assert_eq!((one.len(), one[0].len()), (3, 5));
        assert!(one[0][0] != one[0][1] && one[0][0] != one[1][0] && one[0][0] != other[0][0]);
    }
}
