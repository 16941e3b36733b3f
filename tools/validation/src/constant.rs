//! Constant-rate flows and layers against TCP at drop-tail queues: the tree of the thesis's simulation 3, by phase and with
//! waits.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use serde::Serialize;

use crate::compare::Comparison;
use crate::ns::Ns;
use crate::work::run_all;

mod layers;
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
    /// How many layers it holds of the thesis's, which double from 128 kbit/s.
    pub(crate) layers: u16,
    /// Their rate.
    pub(crate) constant_kbps: f64,
}

/// The receivers of simulation 3. The flows have 0.85 of an equal share each.
pub(crate) const SITES: [Site; 3] = [
    Site { name: "R1", link_kbps: 3000.0, layers: 3, constant_kbps: 512.0 },
    Site { name: "R2", link_kbps: 6000.0, layers: 4, constant_kbps: 1024.0 },
    Site { name: "R3", link_kbps: 12_000.0, layers: 5, constant_kbps: 2048.0 },
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

/// How a receiver's constant rate is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sending {
    /// As one flow.
    One,
    /// As cumulative layers, each from a moment of its own on.
    Apart,
    /// As cumulative layers that begin at one moment.
    Together,
}

/// What is the same for eight phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Setting {
    pub(crate) sending: Sending,
    /// What TCPs wait at random at most before they use their window, in packet times of each receiver's link.
    pub(crate) wait: f64,
    /// By how much longer than the thesis's the last delay towards the receiver is, in ms.
    pub(crate) longer_ms: f64,
}

/// By how much longer the last delay is where the places that a train leaves come after another train, in ms. Layers repeat
/// every 62.5 ms. A round trip through the full queue takes 7.5 ms less than three periods with the thesis's delays, and
/// 7.5 ms more with these.
const LONGER_MS: f64 = 15.0;

/// All settings, in the order of the page.
pub(crate) fn settings() -> Vec<Setting> {
    let of = |longer_ms| move |sending| [0.0, 1.0].map(|wait| Setting { sending, wait, longer_ms });
    let all = [Sending::One, Sending::Apart, Sending::Together].map(of(0.0)).concat();
    let longer = [Sending::Apart, Sending::Together].map(of(LONGER_MS)).concat();
    all.into_iter().chain(longer.into_iter().filter(|setting| setting.wait > 0.0)).collect()
}

/// How the senders' rhythm is set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Rhythm {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// By how much longer the last delay towards the receiver is in addition, in packet times of its link.
    pub(crate) phase: f64,
}

impl Rhythm {
    /// What a receiver's connections wait at most, in seconds.
    fn wait_s(&self, site: &Site) -> f64 {
        self.setting.wait * site.packet_s()
    }

    /// A receiver's last delay towards it, in seconds.
    fn delay_s(&self, site: &Site) -> f64 {
        0.01 + self.setting.longer_ms * 1e-3 + self.phase * site.packet_s()
    }
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
    /// Eight phases of each setting.
    pub(crate) fn full() -> Plan {
        let phases = |setting| (0..8u8).map(move |phase| Rhythm { setting, phase: f64::from(phase) / 8.0 });
        let rhythms = settings().into_iter().flat_map(phases).collect();
        Plan { rhythms, from_s: 30.0, until_s: 300.0, replications: 5 }
    }

    /// One phase of each setting.
    pub(crate) fn quick() -> Plan {
        let phase = |setting: Setting| Rhythm { setting, phase: if setting.wait > 0.0 { 0.0 } else { 0.5 } };
        let rhythms = settings().into_iter().map(phase).collect();
        Plan { rhythms, from_s: 30.0, until_s: 60.0, replications: 3 }
    }
}

/// When the flows of all receivers start: of each the constant flow, then the connections. The same in both simulators,
/// in whole microseconds.
fn starts(replication: u64) -> Vec<Vec<Time>> {
    let site = |site: &Site| {
        let start = |flow: u32| {
            let mut stream = Stream::new(replication, &format!("start/{}/{flow}", site.name));
            Time::from_secs_f64(stream.uniform_duration(STARTS_WITHIN).as_us() as f64 / 1e6)
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
    fn a_round_trip_is_shorter_or_longer_than_three_periods_of_the_base_layer() {
        let periods_s = 3.0 * (PACKET_BYTES * 8) as f64 / 128e3;
        for setting in settings().into_iter().filter(|setting| setting.sending == Sending::Together) {
            for site in &SITES {
                let full_queue_s = (site.room_bytes() / PACKET_BYTES) as f64 * site.packet_s();
                let round_trip_s = 0.05 + Rhythm { setting, phase: 0.0 }.delay_s(site) + full_queue_s;
                let apart_s = if setting.longer_ms > 0.0 { 0.0075 } else { -0.0075 };
                assert!((round_trip_s - periods_s - apart_s).abs() < 1e-9, "{round_trip_s}");
            }
        }
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
