//! Simulations 1 to 5 of section 6.3, and what chapter 7 concludes of them.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table};
use crate::frame::scale::Scale;
use crate::frame::study::{Study, Sweep};
use crate::samples::{Placed, Samples};

const NODES: [&str; 3] = ["R1", "R2", "R3"];
const METRICS: &[&str] = &["throughput_kbps", "level_changes", "jain_index", "fell_after_s"];
/// A study has an axis: TCP's window, which never binds.
const WINDOW: f64 = 10_000.0;
/// From when on and how long the added TCP last at each node (table 7), s.
const BURSTS: [(f64, f64); 3] = [(100.0, 40.0), (200.0, 20.0), (230.0, 10.0)];

/// One run of the thesis: its study, and the session in it.
#[derive(Clone, Copy)]
struct Run {
    study: &'static str,
    session: &'static str,
}

const NAIVE: Run = Run { study: "simulation-1-naive", session: "elm" };
const LAZY: Run = Run { study: "simulation-1-lazy", session: "elm" };
const ELM_2: Run = Run { study: "simulation-2", session: "elm" };
const RLC_2: Run = Run { study: "simulation-2", session: "rlc" };
const ELM_3: Run = Run { study: "simulation-3-elm", session: "elm" };
const RLC_3: Run = Run { study: "simulation-3-rlc", session: "rlc" };
const ELM_4: Run = Run { study: "simulation-4-elm", session: "elm" };
const RLC_4: Run = Run { study: "simulation-4-rlc", session: "rlc" };
const ELM_5: Run = Run { study: "simulation-5-elm", session: "elm" };
const RLC_5: Run = Run { study: "simulation-5-rlc", session: "rlc" };
/// Simulation 5 measured from the start of each burst on.
pub(super) const BURST_STUDY: &str = "simulation-5-elm-bursts";
/// Where queues lose packets.
pub(super) const COMPETITION: [&str; 4] = [ELM_3.study, RLC_3.study, ELM_5.study, RLC_5.study];

/// What the thesis prints of a run in one node: throughput of the session and of TCP, kbit/s.
type Printed = [(f64, f64); 3];
const NAIVE_PRINTED: Printed = [(649.0, 927.0), (1033.0, 1416.0), (479.0, 662.0)];
const LAZY_PRINTED: Printed = [(785.0, 909.0), (1059.0, 1438.0), (508.0, 662.0)];
const ELM_PRINTED: Printed = [(783.0, 912.0), (1076.0, 1429.0), (508.0, 668.0)];
const RLC_PRINTED: [f64; 3] = [470.0, 641.0, 400.0];

pub(super) fn studies() -> Vec<Study> {
    let study =
        |name, scenario| Study { name, scenario, sweeps: vec![sweep(None, Vec::new())], metrics: METRICS };
    let burst = |(node, (from, _)): (u32, (f64, f64))| {
        sweep(Some(node), vec![format!("windows=[[\"{from} s\", \"end\"]]")])
    };
    vec![
        study(NAIVE.study, "thesis/simulation-1-naive"),
        study(LAZY.study, "thesis/simulation-1-lazy"),
        study(ELM_2.study, "thesis/simulation-2"),
        study(ELM_3.study, "thesis/simulation-3-elm"),
        study(RLC_3.study, "thesis/simulation-3-rlc"),
        study(ELM_4.study, "thesis/simulation-4-elm"),
        study(RLC_4.study, "thesis/simulation-4-rlc"),
        study(ELM_5.study, "thesis/simulation-5-elm"),
        study(RLC_5.study, "thesis/simulation-5-rlc"),
        Study {
            name: BURST_STUDY,
            scenario: "thesis/simulation-5-elm",
            sweeps: (1..).zip(BURSTS).map(burst).collect(),
            metrics: METRICS,
        },
    ]
}

fn sweep(outer: Option<u32>, set: Vec<String>) -> Sweep {
    Sweep { outer, set, vary: vec![format!("flow.tcp.window={WINDOW}")] }
}

impl Run {
    /// A metric of a flow or group, replication by replication.
    fn of(self, data: &Data, name: &str, metric: &str) -> Samples {
        data.study(self.study).of(&[WINDOW], name, metric)
    }

    fn at_nodes(value: impl Fn(&str) -> Samples) -> Vec<Placed> {
        NODES.map(|node| (node.to_owned(), value(node))).to_vec()
    }

    fn rate(self, data: &Data) -> Vec<Placed> {
        Self::at_nodes(|node| self.of(data, &format!("{}@{node}", self.session), "throughput_kbps"))
    }

    /// The rate of the only TCP of a node.
    fn tcp_rate(self, data: &Data) -> Vec<Placed> {
        Self::at_nodes(|node| self.of(data, &format!("tcp@{node}"), "throughput_kbps"))
    }

    fn changes(self, data: &Data) -> Vec<Placed> {
        Self::at_nodes(|node| self.of(data, &format!("{}@{node}", self.session), "level_changes"))
    }

    fn index(self, data: &Data) -> Vec<Placed> {
        Self::at_nodes(|node| self.of(data, &format!("{node}/{}", self.session), "jain_index"))
    }
}

/// Rates over printed ones.
fn over(rates: Vec<Placed>, printed: [f64; 3]) -> Vec<Placed> {
    rates.into_iter().zip(printed).map(|((node, rate), printed)| (node, rate.times(1.0 / printed))).collect()
}

fn of_session(printed: Printed) -> [f64; 3] {
    printed.map(|(session, _)| session)
}

fn of_tcp(printed: Printed) -> [f64; 3] {
    printed.map(|(_, tcp)| tcp)
}

/// The measure of two runs at the three nodes.
fn panel(title: &str, curves: [(&str, Vec<Placed>); 2]) -> Panel {
    let hues = [1, 2];
    let curve = |((name, places), hue): ((&str, Vec<Placed>), usize)| Curve {
        name: name.to_owned(),
        look: Style::Marks(hue),
        points: (1..).map(f64::from).zip(places.into_iter().map(|(_, samples)| samples)).collect(),
    };
    Panel {
        title: title.to_owned(),
        across: "receiver R1, R2, R3",
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves: curves.into_iter().zip(hues).map(curve).collect(),
        table: Table::Whole,
    }
}

/// Two runs side by side: rates, level changes, fairness indices.
fn figure(
    label: &'static str,
    section: &'static str,
    title: &'static str,
    names: [&'static str; 2],
    runs: [Run; 2],
    further: Vec<Supply>,
) -> Figure {
    let panels = move |data: &Data| {
        let of = |measure: fn(Run, &Data) -> Vec<Placed>| {
            [(names[0], measure(runs[0], data)), (names[1], measure(runs[1], data))]
        };
        vec![
            panel("Throughput, kbit/s", of(Run::rate)),
            panel("Level changes", of(Run::changes)),
            panel("Jain's index with TCP", of(Run::index)),
        ]
    };
    let mut supplies = vec![Supply::new(move |data, _| {
        Measurements::of("Level changes of the first", runs[0].changes(data))
            .and(Measurements::of("Level changes of the second", runs[1].changes(data)))
            .and(Measurements::of("Index of the first", runs[0].index(data)))
            .and(Measurements::of("Index of the second", runs[1].index(data)))
    })];
    supplies.extend(further);
    Figure {
        label: Label::Other(label),
        title,
        section,
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies,
    }
}

pub(super) fn figures() -> Vec<Figure> {
    let first = Supply::new(|data, _| {
        let tcp = |run: Run, printed| over(run.tcp_rate(data), of_tcp(printed));
        Measurements::of("Naive rate over the printed one", over(NAIVE.rate(data), of_session(NAIVE_PRINTED)))
            .and(Measurements::of(
                "Lazy rate over the printed one",
                over(LAZY.rate(data), of_session(LAZY_PRINTED)),
            ))
            .and(Measurements::of("TCP's rate over the printed one, naive", tcp(NAIVE, NAIVE_PRINTED)))
            .and(Measurements::of("TCP's rate over the printed one, lazy", tcp(LAZY, LAZY_PRINTED)))
    });
    let second = Supply::new(|data, _| {
        Measurements::of("ELM's rate", ELM_2.rate(data))
            .and(Measurements::of("RLC's rate", RLC_2.rate(data)))
            .and(Measurements::of("TCP's rate", ELM_2.tcp_rate(data)))
            .and(Measurements::of(
                "ELM's rate over the printed one",
                over(ELM_2.rate(data), of_session(ELM_PRINTED)),
            ))
            .and(Measurements::of("RLC's rate over the printed one", over(RLC_2.rate(data), RLC_PRINTED)))
            .and(Measurements::of(
                "TCP's rate over the printed one",
                over(ELM_2.tcp_rate(data), of_tcp(ELM_PRINTED)),
            ))
    });
    let fell = Supply::new(|data, _| {
        Measurements::of("Share of runs in which ELM's level fell in the burst", fell(data))
    });
    const BOTH: [&str; 2] = ["ELM", "RLC"];
    vec![
        figure("Simulation 1", "6.3.1", "Naive and lazy", ["naive", "lazy"], [NAIVE, LAZY], vec![first]),
        figure("Simulation 2", "6.3.2", "Artificial congestion", BOTH, [ELM_2, RLC_2], vec![second]),
        figure("Simulation 3", "6.3.3", "Congestion due to competition", BOTH, [ELM_3, RLC_3], Vec::new()),
        figure("Simulation 4", "6.3.4", "Heterogeneous delay", BOTH, [ELM_4, RLC_4], Vec::new()),
        figure("Simulation 5", "6.3.5", "Transient congestion", BOTH, [ELM_5, RLC_5], vec![fell]),
    ]
}

/// Whether the level fell while the added TCP were there, as 0 or 1.
fn fell(data: &Data) -> Vec<Placed> {
    let study = data.study(BURST_STUDY);
    let node = |(number, (name, (_, length))): (u32, (&str, (f64, f64)))| {
        let after = study.of(&[f64::from(number), WINDOW], &format!("elm@{name}"), "fell_after_s");
        let fell =
            |after: &Option<f64>| Some(f64::from(u8::from(after.is_some_and(|after| after <= length))));
        (name.to_owned(), Samples(after.0.iter().map(fell).collect()))
    };
    (1..).zip(NODES.into_iter().zip(BURSTS)).map(node).collect()
}
