//! Simulations 3 to 5 at the fitted point, and which protocol is fairer to TCP.

use layercast_laboratory::sweep::Part;

use super::Point;
use crate::readings::rhythm::{PHASES, Reading};
use crate::samples::{Samples, format_samples};
use crate::studies::experiment::{Case, Meant, Runner, mean, samples};
use crate::studies::page::{Placed, Report, Side};

/// The simulations with the scenarios of ELM and RLC, and whether a queue loses packets there.
const SIMULATIONS: [(u32, &str, &str, bool); 3] = [
    (3, "thesis/simulation-3-elm", "thesis/simulation-3-rlc", true),
    (4, "thesis/simulation-4-elm", "thesis/simulation-4-rlc", false),
    (5, "thesis/simulation-5-elm", "thesis/simulation-5-rlc", true),
];
const NODES: [&str; 3] = ["R1", "R2", "R3"];
/// Replications where nothing queues, at one delay.
const REPLICATIONS: u32 = 15;
/// Replications at each delay where something does.
const OF_A_PHASE: u32 = 2;
/// The readings, of which the first counts.
const READINGS: [Reading; 3] = [Reading::Together, Reading::Plain, Reading::Jittered];

/// Of both protocols the replications of one set of runs.
#[derive(Default)]
struct Pair {
    elm: Vec<Part>,
    rlc: Vec<Part>,
}

/// What one node has.
struct Row {
    simulation: u32,
    node: &'static str,
    /// ELM's index less RLC's in each reading; none in one that changes nothing there.
    differences: [Option<Samples>; 3],
}

pub(super) fn run(runner: &Runner, point: &Point, report: &mut Report) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let (mut lines, mut more) = (Vec::new(), Vec::new());
    let mut oscillates = Vec::new();
    for (simulation, elm, rlc, queues) in SIMULATIONS {
        let cases = [Case::new(elm)?.with(point.elm()), Case::new(rlc)?.with(point.rlc())];
        let mut readings = Vec::new();
        for reading in READINGS.into_iter().filter(|&reading| queues || reading == READINGS[0]) {
            readings.push(phases(runner, simulation, reading, &cases, queues)?);
        }
        let mut counting = Pair::default();
        for phase in readings.first().into_iter().flatten() {
            counting.elm.extend_from_slice(&phase.elm);
            counting.rlc.extend_from_slice(&phase.rlc);
        }
        for node in NODES {
            let differences =
                [0, 1, 2].map(|reading| readings.get(reading).map(|all| differences(all, node)));
            let changes = |parts: &[Part], session: &str| {
                samples(parts, &format!("{session}@{node}"), "level_changes", 0)
            };
            let (slow, quick) = (changes(&counting.elm, "elm"), changes(&counting.rlc, "rlc"));
            oscillates.push(Placed::of(&slow.less(&quick), 0.0).side == Side::Below);
            let experiment = format!("simulation {simulation}, {node}");
            let [elm, rlc] = indices(&counting, node);
            for (name, samples) in [("ELM", &elm), ("RLC", &rlc)] {
                report.keep(&experiment, name, "index", samples);
            }
            for (reading, difference) in READINGS.iter().zip(&differences) {
                if let Some(difference) = difference {
                    report.keep(&experiment, reading.name(), "ELM's index less RLC's", difference);
                }
            }
            more.push(vec![
                simulation.to_string(),
                node.to_owned(),
                format_samples(&elm),
                format_samples(&rlc),
                format_samples(&slow),
                format_samples(&quick),
            ]);
            lines.push(vec![
                simulation.to_string(),
                node.to_owned(),
                format_samples(&of_tcp(&counting.elm, "elm", node)),
                format_samples(&of_tcp(&counting.rlc, "rlc", node)),
            ]);
            rows.push(Row { simulation, node, differences });
        }
    }
    for (position, reading) in READINGS.iter().enumerate() {
        report.page.say(&verdict(&rows, position, reading.name()));
    }
    let calm = oscillates.iter().filter(|&&calm| calm).count();
    report
        .page
        .say(&format!("- Level changes: ELM makes fewer than RLC at {calm} of {} nodes.", oscillates.len()));
    report.page.say("");
    report.page.heading(&[
        "simulation",
        "node",
        "ELM of TCP:",
        "RLC of TCP:",
        "ELM's index less RLC's:",
        "plain:",
        "jittered:",
    ]);
    for (mut line, row) in lines.into_iter().zip(&rows) {
        line.extend(row.differences.iter().map(|difference| match difference {
            Some(difference) => format_samples(difference),
            None => "–".to_owned(),
        }));
        report.page.row(&line);
    }
    let names =
        ["simulation", "node", "index, ELM:", "index, RLC:", "level changes, ELM:", "level changes, RLC:"];
    report.more.heading(&names);
    for line in more {
        report.more.row(&line);
    }
    report.more.say("");
    Ok(())
}

/// At which nodes which protocol is the fairer one.
fn verdict(rows: &[Row], reading: usize, name: &str) -> String {
    let at = |wanted: Side| {
        let is_there = |row: &&Row| {
            row.differences[reading]
                .as_ref()
                .is_some_and(|difference| Placed::of(difference, 0.0).side == wanted)
        };
        let places: Vec<String> =
            rows.iter().filter(is_there).map(|row| format!("{}/{}", row.simulation, row.node)).collect();
        places
    };
    let all = rows.iter().filter(|row| row.differences[reading].is_some()).count();
    let listed = |places: &[String]| {
        if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) }
    };
    let (elm, rlc, open) = (at(Side::Above), at(Side::Below), at(Side::Open));
    format!(
        "- Index of fairness to TCP, {name}: ELM the fairer at {} of {all} nodes{}, RLC at {}{}, undecided at {}{}.",
        elm.len(),
        listed(&elm),
        rlc.len(),
        listed(&rlc),
        open.len(),
        listed(&open)
    )
}

/// A reading of a simulation, a pair for each delay: one where nothing queues.
fn phases(
    runner: &Runner,
    simulation: u32,
    reading: Reading,
    cases: &[Case; 2],
    queues: bool,
) -> anyhow::Result<Vec<Pair>> {
    let (phases, replications) = if queues { (PHASES, OF_A_PHASE) } else { (1, REPLICATIONS) };
    let of = |protocol: &str, case: &Case| {
        let name = format!("simulation {simulation} fitted {protocol}");
        runner.phases(&name, case, reading, phases, replications)
    };
    let [elm, rlc] = cases;
    Ok(of("elm", elm)?.into_iter().zip(of("rlc", rlc)?).map(|(elm, rlc)| Pair { elm, rlc }).collect())
}

/// ELM's index less RLC's at a node: of each replication at one delay, or the mean at each of several.
fn differences(phases: &[Pair], node: &str) -> Samples {
    let of = |pair: &Pair| {
        let [elm, rlc] = indices(pair, node);
        elm.less(&rlc)
    };
    match phases {
        [one] => of(one),
        _ => Samples(phases.iter().map(|pair| of(pair).statistic().mean).collect()),
    }
}

/// Jain's index at a node in each replication: of ELM and of RLC.
fn indices(pair: &Pair, node: &str) -> [Samples; 2] {
    let of = |parts: &[Part], session: &str| samples(parts, &format!("{node}/{session}"), "jain_index", 0);
    [of(&pair.elm, "elm"), of(&pair.rlc, "rlc")]
}

/// The throughput at a node over the mean of the TCPs there that last.
fn of_tcp(parts: &[Part], session: &str, node: &str) -> Samples {
    let is_tcp = |name: &str| name.starts_with("tcp") && name.ends_with(&format!("@{node}"));
    let meant = Meant { names: &is_tcp, metric: "throughput_kbps", window: 0 };
    let tcp = Samples(parts.iter().map(|part| mean(part, meant)).collect());
    samples(parts, &format!("{session}@{node}"), "throughput_kbps", 0).over(&tcp)
}
