//! Section 5.2, sharing with TCP: figures 7 to 9.

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Supply};
use crate::samples::{Placed, Samples};

use super::runs::{AMCA, RECEIVERS, Runs, at, over_time, runs};
use super::studies::LINK_KBPS;

/// When TCP comes and goes in figure 8.
const COMES: f64 = 20.0;
const GOES: f64 = 100.0;
/// From here on they should share.
const TOGETHER: f64 = 50.0;
const END: f64 = 150.0;

pub(super) fn figures() -> Vec<Figure> {
    vec![two_tcp(), one_tcp(), overlap()]
}

/// The throughput of flows over an equal share of what they have together.
pub(super) fn shares(runs: Runs<'_>, flows: &[(&str, &str)], from: f64, to: f64) -> Vec<Placed> {
    let kbps: Vec<Samples> = flows.iter().map(|(flow, _)| runs.kbps(flow, from, to)).collect();
    let mean = Samples::average(&kbps);
    flows.iter().zip(&kbps).map(|((_, name), kbps)| at(name, kbps.over(&mean))).collect()
}

const BOTH_TCP: [(&str, &str); 3] = [(AMCA, "AMCA"), ("tcp-1@R3", "TCP 1"), ("tcp-2@R4", "TCP 2")];

fn no_loss(study: &'static str) -> Supply {
    Supply::new(move |data, _| {
        let drops = runs(data, study, None).all_drops();
        Measurements::of("Packets dropped at all links", vec![at("the whole run", drops)])
    })
}

fn two_tcp() -> Figure {
    const STUDY: &str = "two-tcp";
    Figure {
        label: Label::Figure(7),
        title: "One session and two TCP that start together",
        section: "5.2",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let runs = runs(data, STUDY, None);
            let curves =
                BOTH_TCP.iter().zip([1, 0, 4]).map(|((flow, name), hue)| runs.time_series(flow, name, hue));
            vec![
                over_time("Throughput, kbit/s (one of 15 replications)", curves.collect()),
                over_time("Packets that wait at the bottleneck", vec![runs.queue("A-B", 2)]),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let runs = runs(data, STUDY, None);
                Measurements::of(
                    "Throughput over an equal share, 50 to 200 s",
                    shares(runs, &BOTH_TCP, TOGETHER, 200.0),
                )
            }),
            no_loss(STUDY),
        ],
    }
}

fn one_tcp() -> Figure {
    const STUDY: &str = "one-tcp";
    fn of(data: &Data) -> Runs<'_> {
        runs(data, STUDY, None)
    }
    let used =
        |data: &Data, from: f64, to: f64| runs(data, STUDY, None).kbps(AMCA, from, to).times(1.0 / LINK_KBPS);
    Figure {
        label: Label::Figure(8),
        title: "One TCP from 20 to 100 s",
        section: "5.2",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let runs = of(data);
            vec![
                over_time(
                    "(a) Throughput, kbit/s (one of 15 replications)",
                    vec![runs.time_series(AMCA, "AMCA", 1), runs.time_series("tcp@R3", "TCP", 0)],
                ),
                over_time(
                    "(b) Packets received",
                    vec![runs.packets(RECEIVERS[0], "R1", 1), runs.packets(RECEIVERS[1], "R2", 2)],
                ),
                over_time("Packets that wait at the bottleneck", vec![runs.queue("A-B", 2)]),
                over_time("Packets dropped so far", vec![runs.dropped("A-B", "A-B", 4)]),
            ]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let position = at("10 to 20 s", used(data, 10.0, COMES));
                Measurements::of("Use of the bottleneck before TCP", vec![position])
            }),
            Supply::new(move |data, _| {
                let flows = [(AMCA, "AMCA"), ("tcp@R3", "TCP")];
                Measurements::of(
                    "Throughput over an equal share, 50 to 100 s",
                    shares(of(data), &flows, TOGETHER, GOES),
                )
            }),
            Supply::new(move |data, _| {
                let position = at("120 to 150 s", used(data, 120.0, END));
                Measurements::of("Use of the bottleneck after TCP", vec![position])
            }),
            Supply::new(move |data, _| {
                let yields = of(data).yielded(AMCA, COMES, TOGETHER, GOES);
                let recovers = of(data).reached(AMCA, GOES, END, |kbps| kbps >= 0.9 * LINK_KBPS);
                let positions = vec![at("its coming", yields), at("its going", recovers)];
                Measurements::of("Seconds until the throughput has its new value", positions)
            }),
            Supply::new(move |data, _| {
                let slope = used(data, TOGETHER, GOES).over(&used(data, 10.0, COMES));
                Measurements::of("The slope over that before TCP came", vec![at("50 to 100 s", slope)])
            }),
            no_loss(STUDY),
        ],
    }
}

fn overlap() -> Figure {
    const STUDY: &str = "overlap";
    fn of(data: &Data) -> Runs<'_> {
        runs(data, STUDY, None)
    }
    Figure {
        label: Label::Figure(9),
        title: "Two TCP, from 30 to 100 s and from 70 to 150 s",
        section: "5.2",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let runs = of(data);
            let curves =
                BOTH_TCP.iter().zip([1, 0, 4]).map(|((flow, name), hue)| runs.time_series(flow, name, hue));
            vec![
                over_time("Throughput, kbit/s (one of 15 replications)", curves.collect()),
                over_time("Packets that wait at the bottleneck", vec![runs.queue("A-B", 2)]),
            ]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let first = [BOTH_TCP[0], BOTH_TCP[1]];
                let second = [BOTH_TCP[0], BOTH_TCP[2]];
                let share = |name: &str, flows: &[(&str, &str)], from, to| {
                    let amca = shares(of(data), flows, from, to).into_iter().next();
                    amca.map(|(_, share)| at(name, share))
                };
                let phases = [
                    share("one TCP, 45 to 70 s", &first, 45.0, 70.0),
                    share("two TCP, 80 to 100 s", &BOTH_TCP, 80.0, 100.0),
                    share("the other TCP, 115 to 150 s", &second, 115.0, 150.0),
                ];
                let positions = phases.into_iter().flatten();
                Measurements::of("AMCA's throughput over an equal share", positions.collect())
            }),
            Supply::new(move |data, _| {
                let positions = vec![
                    at("the first one's coming", of(data).yielded(AMCA, 30.0, 45.0, 70.0)),
                    at("the second one's coming", of(data).yielded(AMCA, 70.0, 80.0, 100.0)),
                    at(
                        "the last one's going",
                        of(data).reached(AMCA, 150.0, 200.0, |kbps| kbps >= 0.9 * LINK_KBPS),
                    ),
                ];
                Measurements::of("Seconds until the throughput has its new value", positions)
            }),
            Supply::new(move |data, _| {
                let position = |name: &str, tcp: &str, from, to| {
                    at(name, of(data).kbps(AMCA, from, to).over(&of(data).kbps(tcp, from, to)))
                };
                let positions = vec![
                    position("TCP 1, 45 to 70 s", "tcp-1@R3", 45.0, 70.0),
                    position("TCP 1, 80 to 100 s", "tcp-1@R3", 80.0, 100.0),
                    position("TCP 2, 80 to 100 s", "tcp-2@R4", 80.0, 100.0),
                    position("TCP 2, 115 to 150 s", "tcp-2@R4", 115.0, 150.0),
                ];
                Measurements::of("AMCA's throughput over TCP's", positions)
            }),
            no_loss(STUDY),
        ],
    }
}
