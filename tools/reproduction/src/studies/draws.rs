//! What our scenarios draw or fix where a simulation script of the time may have had another value: each varied once.
//!
//! All in the reading that counts for these experiments, together, a sample for each of eight delays.

use layercast_laboratory::sweep::Part;

use super::experiment::{Case, Runner, over_tcp, samples};
use super::page::{Placed, Report};
use crate::readings::rhythm::{PHASES, Reading};
use crate::samples::{Samples, format_samples};

/// What is varied, and what it is in each experiment: changes as for `--set`, none where it is stated or not there.
const DRAWS: [(&str, [&[&str]; 3]); 10] = [
    ("as the scenarios", [&[""], &[""], &[""]]),
    ("TCPs start at one moment", [&["flow.tcp.start=0 s"], &["flow.tcp.start=0 s"], WEI_ZHANG_STARTS]),
    (
        "receivers join in the other order",
        [&["defaults.session.receivers=[\"R3\", \"R2\", \"R1\"]"], &[], &[]],
    ),
    ("sessions 1 ns earlier", [&["defaults.session.start=9999999999 ns"], &[], WEI_ZHANG_EARLIER]),
    ("sessions 1 ns later", [&["defaults.session.start=10000000001 ns"], &[], WEI_ZHANG_LATER]),
    (
        "first hop ten times as fast",
        [&["link.S-G1.rate=1 Gbit/s"], &["link.S-A.rate=10 Gbit/s"], &["link.S-RL.rate=1 Gbit/s"]],
    ),
    (
        "first hop twice as fast as what it feeds",
        [&["link.S-G1.rate=42 Mbit/s"], &["link.S-A.rate=4 Mbit/s"], &["link.S-RL.rate=30 Mbit/s"]],
    ),
    ("leaves of 0 s", [&[], &["defaults.session.leave_latency=0 s"], &[]]),
    (
        "leaves of 2 s",
        [&[], &["defaults.session.leave_latency=2 s"], &["defaults.session.leave_latency=2 s"]],
    ),
    (
        "leaves of 4 s",
        [&[], &["defaults.session.leave_latency=4 s"], &["defaults.session.leave_latency=4 s"]],
    ),
];

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
    /// What it is, of the replications of the experiment's scenarios.
    quantity: fn(&[Vec<Part>]) -> Samples,
}

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
            if set.is_empty() {
                row.extend(experiment.columns.iter().map(|_| "–".to_owned()));
                continue;
            }
            let set: Vec<&str> = set.iter().copied().filter(|key| !key.is_empty()).collect();
            let phases = phases(runner, name, experiment, &set)?;
            for column in &experiment.columns {
                let each = phases.iter().map(|parts| (column.quantity)(parts).statistic().mean);
                let samples = Samples(each.collect());
                report.keep(column.heading, name, "value", &samples);
                let placed = Placed::of(&samples, column.bound);
                let cell = format_samples(&samples);
                let position = row.len() - 1;
                match as_scenario.get(position) {
                    Some(base) if base.side != placed.side => row.push(format!("**{cell}**")),
                    Some(_) => row.push(cell),
                    None => {
                        as_scenario.push(placed);
                        row.push(cell);
                    }
                }
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
                case.with(set.iter().filter(|key| !key.is_empty())).read()?;
            }
        }
    }
    Ok(())
}

/// An experiment's scenarios at each delay: of each delay, of each scenario the replications.
fn phases(
    runner: &Runner,
    name: &str,
    experiment: &Experiment,
    set: &[&str],
) -> anyhow::Result<Vec<Vec<Vec<Part>>>> {
    let at = |phase: u8| {
        let run = |case: &Case| {
            let rhythm = Reading::Together.at(phase);
            let changed = case.with(set);
            let changed = changed.with(rhythm.overrides(&changed.read()?));
            runner.parts(&format!("{} {name} {}", case.scenario, rhythm.name()), &changed, OF_A_PHASE)
        };
        experiment.cases.iter().map(run).collect()
    };
    (0..PHASES).map(at).collect()
}

fn experiments() -> anyhow::Result<[Experiment; 3]> {
    let index = |heading, quantity| Column { heading, bound: 0.0, quantity };
    let thesis = Experiment {
        cases: vec![Case::new("thesis/simulation-3-elm")?, Case::new("thesis/simulation-3-rlc")?],
        columns: vec![
            index("thesis 3, R1", |parts| fairer(parts, "R1")),
            index("R2", |parts| fairer(parts, "R2")),
            index("R3", |parts| fairer(parts, "R3")),
        ],
    };
    let ratio = |heading, quantity| Column { heading, bound: super::TWICE, quantity };
    let flid = Experiment {
        cases: vec![super::open_values::flid_beside_tcp(4)?],
        columns: vec![ratio("FLID-DL V-E, n = 4", |parts| {
            sessions_over_tcp(parts, |name| ["f1@R", "f2@R", "f3@R", "f4@R"].contains(&name))
        })],
    };
    let wei_zhang = Experiment {
        cases: vec![Case::new("wei-zhang/four-flows")?],
        columns: vec![ratio("Wei and Zhang IV-A", |parts| {
            sessions_over_tcp(parts, |name| name.starts_with('m') && name.contains('@'))
        })],
    };
    Ok([thesis, flid, wei_zhang])
}

/// ELM's index of fairness to TCP at a node less RLC's.
fn fairer(parts: &[Vec<Part>], node: &str) -> Samples {
    let index =
        |parts: &Vec<Part>, session: &str| samples(parts, &format!("{node}/{session}"), "jain_index", 0);
    match parts {
        [elm, rlc] => index(elm, "elm").less(&index(rlc, "rlc")),
        _ => Samples::default(),
    }
}

/// The sessions' mean throughput over that of the TCPs.
fn sessions_over_tcp(parts: &[Vec<Part>], is_session: fn(&str) -> bool) -> Samples {
    Samples(parts.iter().flatten().map(|part| over_tcp(part, &is_session)).collect())
}
