//! Section 5.3, several bottlenecks: figure 11.

use crate::frame::figure::{Claim, Data, Figure, Kind, Label};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;

use super::runs::{AMCA, RECEIVERS, Runs, at, list, over_time, runs};
use super::studies::{LINK_KBPS, LINKS, SLOW_KBPS};

const TCPS: [&str; 2] = ["tcp-1@R3", "tcp-2@R4"];
/// From here to the end.
const SETTLED: (f64, f64) = (50.0, 200.0);

fn kbps(runs: Runs<'_>, flow: &str) -> Samples {
    runs.kbps(flow, SETTLED.0, SETTLED.1)
}

/// What all flows have of the bottleneck A-B.
fn used(runs: Runs<'_>) -> Samples {
    let all = [AMCA, TCPS[0], TCPS[1]].map(|flow| kbps(runs, flow));
    Samples::average(&all).times(3.0 / LINK_KBPS)
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
        section: "5.3, outcome not in our copy; claims are ours",
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
        claims: vec![
            Claim::new("Both receivers of the session get the same.", move |data, _| {
                let [one, other] = RECEIVERS.map(|flow| kbps(set_up.runs(data), flow));
                let position = at("50 to 200 s", one.over(&other));
                Finding::each("R1's throughput over R2's", Bound::Within(0.98, 1.02), vec![position])
                    .because(&list("In kbit/s", &[at("R1", one), at("R2", other)]))
            }),
            Claim::new("The session gets what its slowest path has to give.", move |data, _| {
                let position = at("50 to 200 s", kbps(set_up.runs(data), AMCA).times(1.0 / expected(set_up)));
                Finding::each("Throughput over what is left for it", Bound::Within(0.9, 1.05), vec![position])
                    .because(if set_up.slow[1] {
                        "That is the rate of the link to R2."
                    } else {
                        "That is what the two TCP leave of A-B if they fill their own links."
                    })
            }),
            Claim::new(
                "TCP behind a slow link fills it, and one that is not takes what is left.",
                move |data, _| {
                    let positions =
                        TCPS.iter().zip([set_up.slow[2], set_up.slow[3]]).map(|(flow, is_slow)| {
                            let left = if is_slow { SLOW_KBPS } else { LINK_KBPS - 2.0 * SLOW_KBPS };
                            at(flow, kbps(set_up.runs(data), flow).times(1.0 / left))
                        });
                    Finding::each(
                        "TCP's throughput over what there is for it",
                        Bound::Above(0.9),
                        positions.collect(),
                    )
                    .because(&list("In kbit/s", &TCPS.map(|flow| at(flow, kbps(set_up.runs(data), flow)))))
                    .because(&list("Use of A-B", &[at("50 to 200 s", used(set_up.runs(data)))]))
                },
            ),
            Claim::new("No link loses anything.", move |data, _| {
                let drops = drops(set_up.runs(data));
                let all = list("Packets dropped", &drops);
                Finding::each("Packets dropped in the whole run", Bound::Below(0.5), drops).because(&all)
            }),
        ],
    }
}
