//! Section 5.2, 5000 packets with a TCP in the background: figure 10.

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Supply};
use crate::samples::Samples;

use super::runs::{AMCA, RECEIVERS, Runs, at, over_time, runs};
use super::sharing::shares;
use super::studies::{LINK_KBPS, PACKET_KBIT};

const STUDY: &str = "finite";
/// How many packets there are (given).
const PACKETS: f64 = 5000.0;

/// How long it took until both receivers had all; none where one did not get all.
fn last(runs: Runs<'_>) -> Samples {
    let all = RECEIVERS.map(|receiver| runs.completion_s(receiver));
    let pairs = all[0].0.iter().zip(&all[1].0);
    Samples(pairs.map(|(one, other)| one.zip(*other).map(|(one, other)| one.max(other))).collect())
}

/// Whether both got all, as 0 or 1.
fn complete(runs: Runs<'_>) -> Samples {
    Samples(last(runs).0.iter().map(|time| Some(f64::from(u8::from(time.is_some())))).collect())
}

pub(super) fn figure() -> Figure {
    fn of(data: &Data) -> Runs<'_> {
        runs(data, STUDY, None)
    }
    Figure {
        label: Label::Figure(10),
        title: "5000 packets, sharing with one TCP",
        section: "5.2, outcome not in our copy",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let runs = of(data);
            vec![
                over_time(
                    "Throughput, kbit/s (one of 15 replications)",
                    vec![runs.time_series(AMCA, "AMCA", 1), runs.time_series("tcp@R3", "TCP", 0)],
                ),
                over_time(
                    "Packets received",
                    vec![runs.packets(RECEIVERS[0], "R1", 1), runs.packets(RECEIVERS[1], "R2", 2)],
                ),
            ]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let position = at("15 replications", complete(of(data)));
                Measurements::of("Share of replications", vec![position])
            }),
            Supply::new(move |data, _| {
                let half = PACKETS * PACKET_KBIT / (LINK_KBPS / 2.0);
                Measurements::of(
                    "Time over that at 450 kbit/s",
                    vec![at("the last receiver", last(of(data)).times(1.0 / half))],
                )
            }),
            Supply::new(move |data, _| {
                let flows = [(AMCA, "AMCA"), ("tcp@R3", "TCP")];
                Measurements::of(
                    "Throughput over an equal share, 40 to 80 s",
                    shares(of(data), &flows, 40.0, 80.0),
                )
            }),
            Supply::new(move |data, _| {
                let position = at("the whole run", of(data).all_drops());
                Measurements::of("Packets dropped at all links", vec![position])
            }),
        ],
    }
}
