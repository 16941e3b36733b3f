//! What our scenarios draw or fix where a simulation script of the time may have had another value: each varied once.
//!
//! All in the reading that counts for these experiments, together, a sample for each of eight delays.

use anyhow::Context;
use layercast_laboratory::sweep::Part;

use super::experiment::{Case, Runner, samples};
use super::open_values::{Competition, TWICE, flid, wei_zhang};
use super::page::{Placed, Report};
use crate::readings::rhythm::{PHASES, Reading};
use crate::samples::{Samples, format_samples};

/// What is varied, and what it is in each experiment: changes as for `--set`; none where it is stated or not there.
const DRAWS: [(&str, [Option<&[&str]>; 3]); 10] = [
    ("as the scenarios", [Some(&[]); 3]),
    (
        "TCPs start at one moment",
        [Some(&["flow.tcp.start=0 s"]), Some(&["flow.tcp.start=0 s"]), Some(WEI_ZHANG_STARTS)],
    ),
    (
        "receivers join in the other order",
        [Some(&["defaults.session.receivers=[\"R3\", \"R2\", \"R1\"]"]), None, None],
    ),
    (
        "sessions 1 ns earlier",
        [Some(&["defaults.session.start=9999999999 ns"]), None, Some(WEI_ZHANG_EARLIER)],
    ),
    ("sessions 1 ns later", [Some(&["defaults.session.start=10000000001 ns"]), None, Some(WEI_ZHANG_LATER)]),
    (
        "first hop ten times as fast",
        [
            Some(&["link.S-G1.rate=1 Gbit/s"]),
            Some(&["link.S-A.rate=10 Gbit/s"]),
            Some(&["link.S-RL.rate=1 Gbit/s"]),
        ],
    ),
    (
        "first hop twice as fast as what it feeds",
        [
            Some(&["link.S-G1.rate=42 Mbit/s"]),
            Some(&["link.S-A.rate=4 Mbit/s"]),
            Some(&["link.S-RL.rate=30 Mbit/s"]),
        ],
    ),
    ("leaves of 0 s", [None, Some(&["defaults.session.leave_latency=0 s"]), None]),
    ("leaves of 2 s", [None, Some(LEAVES_2_S), Some(LEAVES_2_S)]),
    ("leaves of 4 s", [None, Some(LEAVES_4_S), Some(LEAVES_4_S)]),
];

const LEAVES_2_S: &[&str] = &["defaults.session.leave_latency=2 s"];
const LEAVES_4_S: &[&str] = &["defaults.session.leave_latency=4 s"];
const WEI_ZHANG_STARTS: &[&str] = &[
    "flow.t1.start=0 s",
    "flow.t2.start=0 s",
    "flow.t3.start=0 s",
    "flow.t4.start=0 s",
    "flow.back.start=0 s",
];
const WEI_ZHANG_EARLIER: &[&str] = &[
    "session.m1.start=99999999 ns",
    "session.m2.start=299999999 ns",
    "session.m3.start=499999999 ns",
    "session.m4.start=699999999 ns",
];
const WEI_ZHANG_LATER: &[&str] = &[
    "session.m1.start=100000001 ns",
    "session.m2.start=300000001 ns",
    "session.m3.start=500000001 ns",
    "session.m4.start=700000001 ns",
];

/// Replications of each delay.
const OF_A_PHASE: u32 = 2;

/// An experiment: the scenarios that are run for it, and the columns that are made of them.
struct Experiment {
    cases: Vec<Case>,
    columns: Vec<Column>,
}

/// A quantity of which a claim speaks.
struct Column {
    heading: &'static str,
    /// What the claim compares it with.
    bound: f64,
    quantity: Quantity,
}

/// What a column has, of the replications of each of the experiment's scenarios.
type Quantity = Box<dyn Fn(&[&[Part]]) -> Samples>;

pub(super) fn run(runner: &Runner) -> anyhow::Result<Report> {
    let mut report = Report::new();
    let experiments = experiments()?;
    let columns = experiments.iter().flat_map(|experiment| &experiment.columns);
    let headings: Vec<String> = columns.map(|column| format!("{}:", column.heading)).collect();
    report
        .page
        .heading(&["varied"].into_iter().chain(headings.iter().map(String::as_str)).collect::<Vec<_>>());
    let mut as_scenario: Vec<Placed> = Vec::new();
    for (name, changes) in DRAWS {
        let mut row = vec![name.to_owned()];
        for (experiment, set) in experiments.iter().zip(changes) {
            let Some(set) = set else {
                row.extend(experiment.columns.iter().map(|_| "–".to_owned()));
                continue;
            };
            let of_a_case = |case: &Case| {
                let name = format!("{} {name}", case.scenario);
                runner.phases(&name, &case.with(set), Reading::Together, PHASES, OF_A_PHASE)
            };
            let cases = experiment.cases.iter().map(of_a_case).collect::<anyhow::Result<Vec<_>>>()?;
            let at = |phase: usize| -> Vec<&[Part]> {
                cases.iter().filter_map(|phases| phases.get(phase)).map(Vec::as_slice).collect()
            };
            for column in &experiment.columns {
                let mean = |phase: u8| (column.quantity)(&at(phase.into())).statistic().mean;
                let samples = Samples((0..PHASES).map(mean).collect());
                report.keep(column.heading, name, "value", &samples);
                let placed = Placed::of(&samples, column.bound);
                let cell = format_samples(&samples);
                let position = row.len() - 1;
                if position == as_scenario.len() {
                    as_scenario.push(placed);
                }
                let differs = as_scenario.get(position).is_some_and(|base| base.side != placed.side);
                row.push(if differs { format!("**{cell}**") } else { cell });
            }
        }
        report.page.row(&row);
    }
    Ok(report)
}

/// Reads all cases.
#[cfg(test)]
pub(super) fn check() -> anyhow::Result<()> {
    let experiments = experiments()?;
    for (_, changes) in DRAWS {
        for (experiment, set) in experiments.iter().zip(changes) {
            for case in &experiment.cases {
                case.with(set.unwrap_or_default()).read()?;
            }
        }
    }
    Ok(())
}

fn experiments() -> anyhow::Result<[Experiment; 3]> {
    let index = |heading, node: &'static str| Column {
        heading,
        bound: 0.0,
        quantity: Box::new(move |cases| fairer(cases, node)),
    };
    let thesis = Experiment {
        cases: vec![Case::new("thesis/simulation-3-elm")?, Case::new("thesis/simulation-3-rlc")?],
        columns: vec![index("thesis 3, R1", "R1"), index("R2", "R2"), index("R3", "R3")],
    };
    Ok([thesis, over_tcp(flid("FLID-DL V-E, n = 4", 4, OF_A_PHASE)?)?, over_tcp(wei_zhang()?)?])
}

/// Sessions over TCP, of which the papers say that they are within a factor of two.
fn over_tcp(competition: Competition) -> anyhow::Result<Experiment> {
    let case = competition.scenario().context("the scenario is the first of the variants")?;
    let column = Column {
        heading: competition.name,
        bound: TWICE,
        quantity: Box::new(move |cases| match cases {
            [parts] => competition.over_tcp(parts),
            _ => Samples::default(),
        }),
    };
    Ok(Experiment { cases: vec![case], columns: vec![column] })
}

/// ELM's index of fairness to TCP at a node less RLC's.
fn fairer(cases: &[&[Part]], node: &str) -> Samples {
    let index = |parts: &[Part], session: &str| samples(parts, &format!("{node}/{session}"), "jain_index", 0);
    match cases {
        [elm, rlc] => index(elm, "elm").less(&index(rlc, "rlc")),
        _ => Samples::default(),
    }
}
