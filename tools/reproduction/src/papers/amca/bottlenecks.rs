//! Section 5.3, several bottlenecks: figure 11.

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Supply};
use crate::samples::{Placed, Samples};

use super::runs::{AMCA, RECEIVERS, Runs, at, over_time, runs};
use super::studies::{LINK_KBPS, LINKS, SLOW_KBPS};

const TCPS: [&str; 2] = ["tcp-1@R3", "tcp-2@R4"];
/// From here to the end.
const SETTLED: (f64, f64) = (50.0, 200.0);

fn kbps(runs: Runs<'_>, flow: &str) -> Samples {
    runs.kbps(flow, SETTLED.0, SETTLED.1)
}

fn drops(runs: Runs<'_>) -> Vec<Placed> {
    LINKS.map(|link| at(link, runs.drops(link, 0.0, f64::INFINITY))).to_vec()
}

/// One set-up: its study, and which of the four receivers are behind slow links.
#[derive(Clone, Copy)]
struct SetUp {
    study: &'static str,
    label: Label,
    title: &'static str,
    slow: [bool; 4],
}

const SET_UPS: [SetUp; 3] = [
    SetUp {
        study: "caption",
        label: Label::Other("Figure 11 (a)"),
        title: "0.2 Mbit/s to R2 and R3, as the caption says",
        slow: [false, true, true, false],
    },
    SetUp {
        study: "text",
        label: Label::Other("Figure 11 (a), text"),
        title: "0.2 Mbit/s to R2 and R4, as the text says",
        slow: [false, true, false, true],
    },
    SetUp {
        study: "slow-tcp",
        label: Label::Other("Figure 11 (b)"),
        title: "0.2 Mbit/s to R3 and R4",
        slow: [false, false, true, true],
    },
];

pub(super) fn figures() -> Vec<Figure> {
    SET_UPS.map(figure).into()
}

/// What AMCA would have if slow flows had their links and the others shared the rest.
fn expected(set_up: SetUp) -> f64 {
    if set_up.slow[1] { SLOW_KBPS } else { LINK_KBPS - 2.0 * SLOW_KBPS }
}

impl SetUp {
    fn runs(self, data: &Data) -> Runs<'_> {
        runs(data, self.study, None)
    }
}

fn figure(set_up: SetUp) -> Figure {
    Figure {
        label: set_up.label,
        title: set_up.title,
        section: "5.3, outcome not in our copy",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let runs = set_up.runs(data);
            let flows = [(RECEIVERS[0], "R1", 1), (RECEIVERS[1], "R2", 2), (TCPS[0], "TCP to R3", 0)];
            let all = flows.into_iter().chain([(TCPS[1], "TCP to R4", 4)]);
            let curves = all.map(|(flow, name, hue)| runs.time_series(flow, name, hue));
            let dropped = LINKS.iter().zip(1..).map(|(link, hue)| runs.dropped(link, link, hue));
            vec![
                over_time("Throughput, kbit/s (one of 15 replications)", curves.collect()),
                over_time("Packets dropped so far", dropped.collect()),
            ]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let [one, other] = RECEIVERS.map(|flow| kbps(set_up.runs(data), flow));
                let position = at("50 to 200 s", one.over(&other));
                Measurements::of("R1's throughput over R2's", vec![position])
            }),
            Supply::new(move |data, _| {
                let position = at("50 to 200 s", kbps(set_up.runs(data), AMCA).times(1.0 / expected(set_up)));
                Measurements::of("Throughput over what is left for it", vec![position])
            }),
            Supply::new(move |data, _| {
                let positions = TCPS.iter().zip([set_up.slow[2], set_up.slow[3]]).map(|(flow, is_slow)| {
                    let left = if is_slow { SLOW_KBPS } else { LINK_KBPS - 2.0 * SLOW_KBPS };
                    at(flow, kbps(set_up.runs(data), flow).times(1.0 / left))
                });
                Measurements::of("TCP's throughput over what there is for it", positions.collect())
            }),
            Supply::new(move |data, _| {
                let drops = drops(set_up.runs(data));
                Measurements::of("Packets dropped in the whole run", drops)
            }),
        ],
    }
}
