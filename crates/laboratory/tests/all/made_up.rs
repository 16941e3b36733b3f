//! Invented results that look like an experiment: ELM, RLC and TCP at three nodes.
//!
//! Nothing here was measured. It exists so that the files, the table and the report have something to
//! show before and apart from any simulation.

use layercast_core::math;
use layercast_laboratory::results::limited::Limited;
use layercast_laboratory::results::movement::Movement;
use layercast_laboratory::results::{
    EngineMeasures, Experiment, FlowInfo, FlowMeasures, FlowSeries, GroupInfo, LinkInfo, LinkMeasures,
    Metric, PaperValue, Relation, Replication, Role, Series, WindowMeasures,
};

const NODES: [(&str, f64); 3] = [("R1", 880.0), ("R2", 1420.0), ("R3", 660.0)];
const BURST: [(f64, f64); 3] = [(100.0, 140.0), (200.0, 220.0), (230.0, 240.0)];

/// A small generator, so that the data are the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn around(&mut self, middle: f64, spread: f64) -> f64 {
        middle * (1.0 + spread * (2.0 * self.roll() - 1.0))
    }
}

fn rates() -> Vec<f64> {
    (0..7).map(|layer| f64::from(128 << layer)).collect()
}

fn flow(name: &str, protocol: &str, session: Option<&str>, node: &str) -> FlowInfo {
    FlowInfo {
        traffic: None,
        has_transfers: false,
        has_object: false,
        one_rate: false,
        is_constant_rate: false,
        name: format!("{name}@{node}"),
        protocol: protocol.to_owned(),
        role: if session.is_some() { Role::Receiver } else { Role::Sink },
        session: session.map(str::to_owned),
        node: node.to_owned(),
        level_rates_kbps: if session.is_some() { rates() } else { Vec::new() },
    }
}

/// An experiment with these replications. `crowded` adds four permanent TCP flows and a burst per node.
pub(crate) fn experiment(crowded: bool) -> Experiment {
    let mut flows = Vec::new();
    let mut groups = Vec::new();
    for (node, _) in NODES {
        let first = flows.len();
        flows.push(flow("elm", "elm", Some("elm"), node));
        flows.push(flow("rlc", "rlc", Some("rlc"), node));
        let tcps: Vec<String> =
            if crowded { (1..=4).map(|n| format!("tcp-{n}")).collect() } else { vec!["tcp".into()] };
        let all: Vec<usize> = (first + 2..first + 2 + tcps.len()).collect();
        flows.extend(tcps.iter().map(|name| flow(name, "tcp-sack", None, node)));
        if crowded {
            flows.extend((1..=4).map(|n| flow(&format!("burst-{n}"), "tcp-sack", None, node)));
        }
        for (offset, session) in ["elm", "rlc"].iter().enumerate() {
            let members = std::iter::once(first + offset).chain(all.iter().copied()).collect();
            groups.push(GroupInfo { name: format!("{node}/{session}"), flows: members });
        }
    }
    Experiment {
        scenario: "made-up/example".to_owned(),
        title: "Invented: ELM, RLC and TCP at three nodes".to_owned(),
        description: Some(
            "One layered session of each kind against TCP over lossy links. None of these numbers was measured: \
             they only show what a report looks like."
                .to_owned(),
        ),
        scenario_text: "name = \"Invented <example> & more\"\nduration = \"300 s\"\nreplications = 15\n\n[links]\nS-G1 = {}\n"
            .to_owned(),
        scenario_hash: "6f1d0c2b9a".to_owned(),
        command: "layercast run made-up/example --replications 15 --seed 1 --out results".to_owned(),
        world: "simulated",
        seed: 1,
        duration_s: 300.0,
        windows_s: vec![[30.0, 300.0], [10.0, 300.0]],
        series_bin_s: 1.0,
        probes: Vec::new(),
        findings: Vec::new(),
        remarks: Vec::new(),
        flows,
        groups,
        links: ["G1-G2", "G1-G3", "G2-R1"].iter().map(|name| LinkInfo {
            name: (*name).to_owned(),
            rate_kbps: 100_000.0,
            delay: "10 ms".to_owned(),
            queue: "drop-tail, 50 packets".to_owned(),
        }).collect(),
        paper: paper(crowded),
    }
}

fn paper(crowded: bool) -> Vec<PaperValue> {
    let value = |subject: &str, metric: Metric, value: f64, relation: Relation| PaperValue {
        subject: subject.to_owned(),
        metric,
        value,
        relation,
    };
    if crowded {
        return Vec::new();
    }
    vec![
        value("elm@R1", Metric::ThroughputKbps, 783.0, Relation::Equal),
        value("rlc@R1", Metric::ThroughputKbps, 470.0, Relation::Equal),
        value("tcp@R1", Metric::ThroughputKbps, 912.0, Relation::Equal),
        value("elm@R2", Metric::ThroughputKbps, 1076.0, Relation::Equal),
        value("rlc@R2", Metric::ThroughputKbps, 641.0, Relation::Equal),
        value("tcp@R2", Metric::ThroughputKbps, 1429.0, Relation::Equal),
        value("elm@R1", Metric::LevelChanges, 12.0, Relation::About),
        value("elm@R2", Metric::LevelChanges, 10.0, Relation::Below),
        value("rlc@R1", Metric::LevelChanges, 430.0, Relation::About),
        value("rlc@R2", Metric::LevelChanges, 300.0, Relation::Above),
        value("R1/elm", Metric::JainIndex, 0.9921, Relation::Equal),
        value("R1/rlc", Metric::JainIndex, 0.9072, Relation::Equal),
        value("R2/elm", Metric::JainIndex, 0.9801, Relation::Equal),
        value("R2/rlc", Metric::JainIndex, 0.8733, Relation::Equal),
    ]
}

/// This many replications of it.
pub(crate) fn replications(experiment: &Experiment, count: u32) -> Vec<Replication> {
    (1..=count).map(|number| replication(experiment, number)).collect()
}

fn replication(experiment: &Experiment, number: u32) -> Replication {
    let mut dice = Dice(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 77);
    let flows: Vec<FlowSeries> = experiment.flows.iter().map(|info| series(info, &mut dice)).collect();
    let windows = experiment
        .windows_s
        .iter()
        .map(|window| WindowMeasures {
            flows: experiment
                .flows
                .iter()
                .zip(&flows)
                .map(|(info, series)| measures(info, series, *window))
                .collect(),
            links: experiment
                .links
                .iter()
                .map(|_| LinkMeasures {
                    utilisation: dice.around(0.04, 0.02),
                    drops: (100.0 * dice.roll()) as u64,
                    marks: 0,
                    mean_queue_packets: dice.around(0.4, 0.1),
                    ..LinkMeasures::default()
                })
                .collect(),
        })
        .collect();
    let engine = EngineMeasures { events: 1_000_000, packet_hops: 400_000, cpu_s: 0.25 };
    Replication {
        number,
        windows,
        series: Series { flows, ..Series::default() },
        probes: Vec::new(),
        engine,
        ..Replication::default()
    }
}

fn series(info: &FlowInfo, dice: &mut Dice) -> FlowSeries {
    let place = NODES.iter().position(|(node, _)| *node == info.node).unwrap_or(0);
    let fair = NODES[place].1;
    match info.protocol.as_str() {
        "elm" => layered(dice, fair, 0.02, 12.0),
        "rlc" => {
            let series = layered(dice, fair * 0.6, 0.6, 0.9);
            FlowSeries { rate_kbps: Vec::new(), smoothed_rate_kbps: Vec::new(), ..series }
        }
        _ if info.name.starts_with("burst") => tcp(dice, fair * 0.4, BURST[place]),
        _ => {
            let start = 20.0 * dice.roll();
            tcp(dice, fair, (start, 300.0))
        }
    }
}

/// Climbs to the level under the fair rate and tries the next with this eagerness.
fn layered(dice: &mut Dice, fair: f64, eagerness: f64, patience: f64) -> FlowSeries {
    let rates = rates();
    let mut series = FlowSeries::default();
    let mut level = -1_i32;
    let mut held = 0.0;
    let mut calculated = fair * 0.5;
    for bin in 0..300 {
        held += 1.0;
        if bin < 10 {
            level = -1;
        } else if level < 0 || (held > patience * 0.2 && f64::from(level) < math::log2(fair / 128.0).floor())
        {
            (level, held) = (level + 1, 0.0);
        } else if dice.roll() < eagerness {
            let above = rates.get(level.max(0) as usize).is_some_and(|rate| *rate > fair);
            (level, held) = (if above { level - 1 } else { level + 1 }, 0.0);
        }
        level = level.min(6);
        let rate = usize::try_from(level).ok().and_then(|level| rates.get(level)).copied().unwrap_or(0.0);
        calculated = 0.93 * calculated + 0.07 * dice.around(fair, 0.7);
        series.throughput_kbps.push(if bin < 10 { 0.0 } else { dice.around(rate, 0.03) });
        series.level.push(Some(level));
        let known = if bin < 12 { f64::NAN } else { calculated };
        series.rate_kbps.push(dice.around(known, 0.15));
        series.smoothed_rate_kbps.push(known);
        series.loss.push(0.02);
        series.rtt_ms.push(dice.around(62.0, 0.05));
    }
    series
}

fn tcp(dice: &mut Dice, fair: f64, (start, end): (f64, f64)) -> FlowSeries {
    let mut series = FlowSeries::default();
    let mut now = fair;
    for bin in 0..300 {
        now = (0.75 * now + 0.25 * dice.around(fair, 0.9)).max(0.0);
        let alive = f64::from(bin) >= start && f64::from(bin) < end;
        series.throughput_kbps.push(if alive { dice.around(now, 0.2) } else { f64::NAN });
        series.cwnd_packets.push(if alive { now * 0.0075 } else { f64::NAN });
        series.rtt_ms.push(if alive { dice.around(61.0, 0.05) } else { f64::NAN });
    }
    series
}

fn measures(info: &FlowInfo, series: &FlowSeries, [from, to]: [f64; 2]) -> FlowMeasures {
    let bins = from as usize..to as usize;
    let known: Vec<f64> =
        series.throughput_kbps[bins.clone()].iter().copied().filter(|x| x.is_finite()).collect();
    let mut measures = FlowMeasures {
        throughput_kbps: known.iter().sum::<f64>() / (to - from),
        loss_rate: 0.02,
        lost_packets: (known.len() as u64) * 2,
        ..FlowMeasures::default()
    };
    if info.is_tcp() {
        measures.limited = Some(Limited {
            limited_by_window: Some(0.25),
            limited_by_application: Some(0.0),
            limited_by_network: Some(0.75),
        });
    }
    if info.is_layered() {
        let levels: Vec<i32> = series.level.iter().copied().flatten().collect();
        let changes = levels.windows(2).skip(11).map(|pair| f64::from((pair[1] - pair[0]).abs())).sum();
        measures.level_changes = Some(changes);
        measures.mean_level =
            Some(levels[bins].iter().map(|level| f64::from(*level)).sum::<f64>() / (to - from));
        let per_min = changes / (to - from) * 60.0;
        measures.movement = Some(Movement {
            joins_per_min: Some(per_min / 2.0),
            leaves_per_min: Some(per_min / 2.0),
            level_changes_per_min: Some(per_min),
            ..Movement::default()
        });
        // Now and then it never settles.
        measures.settled_after_s = (!(changes as u64).is_multiple_of(7)).then_some(12.0 + changes * 0.5);
    }
    measures
}
