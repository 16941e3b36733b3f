//! What is run. Where a number is ours and not the paper's, the scenario's head says so.

use crate::frame::study::{Study, Sweep};

use super::open_points::{EXAMPLE_6, EXAMPLE_6_OUTER, ONE_WAY, READINGS, RED_128, Reading};

/// Factors between layers (section V-A: from 1.2 to 2.0).
pub(super) const FACTORS: [f64; 9] = [1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0];
/// The factors that figure 5 shows.
pub(super) const SHOWN: [f64; 2] = [1.3, 2.0];
/// Slots in seconds, at a nominal round-trip time of 100 ms.
pub(super) const SLOTS_S: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0];
/// Leave latencies of figure 7.
pub(super) const LEAVES: [&str; 6] = ["0 s", "0.5 s", "1 s", "2 to 4 s", "3 s", "9 s"];
/// Loss probabilities where loss does not depend on the rate.
pub(super) const LOSSES: [f64; 7] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
/// Loss probabilities in the tree.
pub(super) const TREE_LOSSES: [f64; 2] = [0.01, 0.04];
/// Links of the tree: all receivers are behind the first, four behind the second, one behind the third.
pub(super) const TREE_LINKS: [&str; 3] = ["S-T", "T-A1", "A1-R1"];
/// One-way delays in ms.
pub(super) const DELAYS_MS: [u32; 7] = [10, 50, 100, 200, 400, 600, 1000];
/// Sessions and TCP of figure 9.
pub(super) const FLOWS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Queues of figure 9 in packets for each pair.
pub(super) const QUEUES: [u32; 2] = [7, 25];

const METRICS: &[&str] = &["throughput_kbps", "loss_rate", "lost_packets", "mean_level", "leaves_per_min"];
const RED_100: &str = "link.A-B.queue={ kind = \"red\", limit = \"100 packets\", min_threshold = 5, \
                       max_threshold = 50, weight = 0.002, max_probability = 0.1, gentle = true }";

/// Studies with a drop-tail queue that decide claims of the paper.
pub(super) const JUDGED: [&str; 6] =
    ["factor", "factor-trajectories", "four-sessions", "four-trajectories", "coordination", "beside-tcp"];
/// Those that are compared with them.
pub(super) const COMPARED: [&str; 4] =
    ["factor-one-way", "factor-hill-climbing", "readings", "beside-tcp-sack"];

pub(super) fn all() -> Vec<Study> {
    vec![
        factor("factor", &[]),
        factor("factor-one-way", ONE_WAY),
        factor("factor-hill-climbing", &["session.flid.increase_probabilities=hill-climbing"]),
        factor("factor-red", &[RED_128]),
        readings(),
        factor_courses(),
        slots(),
        four_sessions("four-sessions", None),
        four_sessions("four-sessions-red", Some(RED_100)),
        four_courses(),
        coordination(),
        tree(),
        delays(),
        model(),
        sharing_with_tcp("beside-tcp", "tcp-reno"),
        sharing_with_tcp("beside-tcp-sack", "tcp-sack"),
    ]
}

fn owned(set: &[&str]) -> Vec<String> {
    set.iter().map(|&set| set.to_owned()).collect()
}

fn listed(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

fn factor(name: &'static str, set: &[&str]) -> Study {
    let vary = vec![format!("session.flid.layers.factor={}", listed(&FACTORS))];
    let sweeps = vec![Sweep { outer: None, set: owned(set), vary }];
    Study { name, scenario: "flid/one-bottleneck", sweeps, metrics: METRICS }
}

fn readings() -> Study {
    let sweep = |(outer, reading): (u32, &Reading)| Sweep {
        outer: Some(outer),
        set: owned(reading.set),
        vary: vec![format!("session.flid.layers.factor={}", listed(&SHOWN))],
    };
    let mut sweeps: Vec<Sweep> = (0u32..).zip(&READINGS).map(sweep).collect();
    sweeps.push(Sweep {
        outer: Some(EXAMPLE_6_OUTER),
        set: owned(&["session.flid.increase_probabilities=list", EXAMPLE_6]),
        vary: vec!["session.flid.layers.factor=1.3".to_owned()],
    });
    Study { name: "readings", scenario: "flid/one-bottleneck", sweeps, metrics: METRICS }
}

/// Ten times the factor is the outer factor.
fn factor_courses() -> Study {
    let sweep = |&factor: &f64| Sweep {
        outer: Some((factor * 10.0).round() as u32),
        set: vec![format!("session.flid.layers.factor={factor}")],
        vary: Vec::new(),
    };
    let sweeps = SHOWN.iter().map(sweep).collect();
    Study { name: "factor-trajectories", scenario: "flid/one-bottleneck", sweeps, metrics: METRICS }
}

/// Loss of 4 % and no full queue. Slots of less than a base packet need a faster base. Joins are sent early by
/// what they take, or by half of a slot that is short.
fn slots() -> Study {
    let sweep = |(outer, &slot_s): (u32, &f64)| {
        let lead_ms = (slot_s * 500.0).min(115.0);
        let mut set = owned(&[
            "link.A-B.loss=0.04",
            "link.A-B.rate=100 Mbit/s",
            "link.A-B.queue.limit=10000 packets",
            "session.flid.layers.base=160 kbit/s",
            "session.flid.rtt=100 ms",
        ]);
        set.push(format!("session.flid.join_lead={lead_ms} ms"));
        Sweep { outer: Some(outer), set, vary: vec![format!("session.flid.slot={} ms", slot_s * 1e3)] }
    };
    let sweeps = (0u32..).zip(&SLOTS_S).map(sweep).collect();
    Study { name: "slots", scenario: "flid/one-bottleneck", sweeps, metrics: METRICS }
}

/// The outer factor selects the flows.
pub(super) mod flow_set {
    /// Dynamic layers alone.
    pub(in super::super) const DYNAMIC: u32 = 1;
    /// Static layers alone.
    pub(in super::super) const STATIC: u32 = 2;
    /// Dynamic layers and a TCP.
    pub(in super::super) const DYNAMIC_TCP: u32 = 3;
    /// Static layers and a TCP.
    pub(in super::super) const STATIC_TCP: u32 = 4;
    /// Dynamic layers alone whose bound on leaves is 4 s.
    pub(in super::super) const TIGHT: u32 = 5;
}

fn sessions(outer: u32) -> Vec<String> {
    let mut set = match outer {
        flow_set::STATIC | flow_set::STATIC_TCP => {
            owned(&["defaults.session.protocol=flid-sl", "defaults.session.options={}"])
        }
        flow_set::TIGHT => Vec::new(),
        _ => owned(&["defaults.session.options.leave_bound=9 s"]),
    };
    if matches!(outer, flow_set::DYNAMIC_TCP | flow_set::STATIC_TCP) {
        set.push("flow.tcp.stop=100 s".to_owned());
    }
    set
}

fn four_sessions(name: &'static str, queue: Option<&str>) -> Study {
    let leaves = LEAVES.map(|leave| match leave {
        "2 to 4 s" => "{ uniform = [\"2 s\", \"4 s\"] }",
        other => other,
    });
    let sweep = |outer| Sweep {
        outer: Some(outer),
        set: sessions(outer).into_iter().chain(queue.map(str::to_owned)).collect(),
        vary: vec![format!("defaults.session.leave_latency={}", leaves.join(","))],
    };
    let all =
        [flow_set::DYNAMIC, flow_set::STATIC, flow_set::DYNAMIC_TCP, flow_set::STATIC_TCP, flow_set::TIGHT];
    let sweeps = all.map(sweep).to_vec();
    Study { name, scenario: "flid/four-sessions", sweeps, metrics: METRICS }
}

fn four_courses() -> Study {
    let sweep = |outer| Sweep { outer: Some(outer), set: sessions(outer), vary: Vec::new() };
    let sweeps = [flow_set::DYNAMIC, flow_set::STATIC].map(sweep).to_vec();
    Study { name: "four-trajectories", scenario: "flid/four-sessions", sweeps, metrics: METRICS }
}

/// Courses: 1 as in the scenario, 2 with layers above the bottleneck, 3 with these and various delays.
fn coordination() -> Study {
    let delays = "defaults.link.delay={ uniform = [\"5 ms\", \"50 ms\"] }";
    let above = "session.flid.layers.above=4 Mbit/s";
    let sweep =
        |(outer, set): (u32, &[&str])| Sweep { outer: Some(outer), set: owned(set), vary: Vec::new() };
    let sets: [&[&str]; 3] = [&[], &[above], &[above, delays]];
    let sweeps = (1u32..).zip(sets).map(sweep).collect();
    Study { name: "coordination", scenario: "flid/coordination", sweeps, metrics: METRICS }
}

/// The lossy link is the outer factor.
fn tree() -> Study {
    let sweep = |(outer, link): (u32, &&str)| Sweep {
        outer: Some(outer),
        set: owned(&["flow.tcp.stop=200 s"]),
        vary: vec![format!("link.{link}.loss={}", listed(&TREE_LOSSES))],
    };
    let sweeps = (0u32..).zip(&TREE_LINKS).map(sweep).collect();
    Study { name: "tree", scenario: "flid/random-loss", sweeps, metrics: METRICS }
}

/// Whether receivers wait for a packet of their top layer is the outer factor.
fn delays() -> Study {
    let sweep = |outer: u32| Sweep {
        outer: Some(outer),
        set: vec![format!("session.flid.wait_first_packet={}", outer == 1)],
        vary: vec![format!("link.A-B.loss={}", listed(&TREE_LOSSES))],
    };
    Study {
        name: "delays",
        scenario: "flid/heterogeneous-delays",
        sweeps: vec![sweep(0), sweep(1)],
        metrics: METRICS,
    }
}

/// One receiver with independent loss and the structure of examples 5 and 6, for longer.
fn model() -> Study {
    let set = owned(&[
        "duration=400 s",
        "windows=[[\"50 s\", \"end\"]]",
        "link.A-B.rate=100 Mbit/s",
        "link.A-B.queue.limit=10000 packets",
        "session.flid.layers.above=47 Mbit/s",
        "session.flid.rtt=100 ms",
    ]);
    let vary = vec![format!("link.A-B.loss={}", listed(&LOSSES))];
    let sweeps = vec![Sweep { outer: None, set, vary }];
    Study { name: "model", scenario: "flid/one-bottleneck", sweeps, metrics: METRICS }
}

/// How many replications n pairs need: their mean is over n flows, and they cost as n does.
fn replications(pairs: u32) -> u32 {
    match pairs {
        0..=16 => 15,
        17..=32 => 8,
        _ => 5,
    }
}

/// The number of pairs is the outer factor, the queue the inner one.
fn sharing_with_tcp(name: &'static str, tcp: &str) -> Study {
    let sweep = |pairs: u32| {
        let mut set = vec![
            format!("replications={}", replications(pairs)),
            format!("flow.tcp.protocol={tcp}"),
            format!("flow.tcp.count={pairs}"),
            format!("link.A-B.rate={} kbit/s", 500 * pairs),
        ];
        let starts = |session| {
            let start = format!("session.f{session}.start={{ uniform = [\"0 s\", \"5 s\"] }}");
            [start, format!("session.f{session}.stop=100 s")]
        };
        set.extend((2..=pairs).flat_map(starts));
        let queues = QUEUES.map(|each| format!("{} packets", each * pairs));
        Sweep { outer: Some(pairs), set, vary: vec![format!("link.A-B.queue.limit={}", queues.join(","))] }
    };
    Study { name, scenario: "flid/beside-tcp", sweeps: FLOWS.map(sweep).to_vec(), metrics: METRICS }
}
