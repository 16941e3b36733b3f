//! What is run: the experiments of section 5 over time with each profile, and the values that are varied.

use crate::frame::study::{Study, Sweep};

/// The bottleneck A-B, kbit/s (given).
pub(super) const LINK_KBPS: f64 = 900.0;
/// The slow last links of figure 11, kbit/s (given).
pub(super) const SLOW_KBPS: f64 = 200.0;
/// A multicast packet, kbit (given).
pub(super) const PACKET_KBIT: f64 = 8.192;
/// The values of N in figure 6 (given).
pub(super) const EVERY: [u32; 4] = [16, 32, 64, 128];
/// The links at which packets may be lost.
pub(super) const LINKS: [&str; 5] = ["A-B", "B-R1", "B-R2", "B-R3", "B-R4"];
/// The profiles, in the order of their index in a study.
pub(super) const PROFILES: [&str; 3] = ["backlog", "count", "literal"];

/// The round-trip time of the empty path, which AMCA alone measures (`docs/studies.md`), as a source knows it that does
/// not have to measure it.
const EMPTY_PATH: &str = "session.amca.known_base=61.1 ms";

/// An experiment over time, and the study of it with each profile, and with the default one where the path is known.
pub(super) struct TimeSeries {
    scenario: &'static str,
    pub(super) backlog: &'static str,
    pub(super) known: &'static str,
    pub(super) count: &'static str,
    pub(super) literal: &'static str,
}

macro_rules! trajectories {
    ($($scenario:literal: $study:literal),* $(,)?) => { [$(TimeSeries {
        scenario: concat!("amca/", $scenario),
        backlog: $study,
        known: concat!($study, "-known"),
        count: concat!($study, "-count"),
        literal: concat!($study, "-literal"),
    }),*] };
}

/// The experiments.
pub(super) const COURSES: [TimeSeries; 8] = trajectories![
    "convergence": "convergence",
    "two-tcp": "two-tcp",
    "one-tcp": "one-tcp",
    "overlap": "overlap",
    "finite": "finite",
    "bottlenecks-caption": "caption",
    "bottlenecks-text": "text",
    "bottlenecks-tcp": "slow-tcp",
];

/// A value that the report leaves open, or that is ours, and what it is set to.
pub(super) struct Factor {
    /// The study with two TCPs.
    pub(super) shared: &'static str,
    /// The study without them.
    pub(super) alone: &'static str,
    /// What the figure is called.
    pub(super) label: &'static str,
    /// What it is, with its unit.
    pub(super) across: &'static str,
    /// The values, as they are drawn.
    pub(super) values: &'static [u32],
    /// What sets a value.
    set: fn(u32) -> Vec<String>,
}

/// The values that are varied, one at a time.
pub(super) const FACTORS: [Factor; 10] = [
    Factor {
        shared: "delay",
        alone: "delay-alone",
        label: "Delay",
        across: "one-way delay of A-B, ms",
        values: &[5, 20, 50, 100],
        set: |value| vec![format!("link.A-B.delay={value} ms")],
    },
    Factor {
        shared: "queue",
        alone: "queue-alone",
        label: "Queue",
        across: "queue of A-B, packets",
        values: &[10, 20, 50, 100],
        set: |value| vec![format!("link.A-B.queue.limit={value} packets")],
    },
    Factor {
        shared: "senders",
        alone: "senders-alone",
        label: "Senders' links",
        across: "rate of S-A, S1-A and S2-A, Mbit/s",
        values: &[2, 10],
        set: |value| ["S", "S1", "S2"].map(|from| format!("link.{from}-A.rate={value} Mbit/s")).to_vec(),
    },
    Factor {
        shared: "routers",
        alone: "routers-alone",
        label: "Routers",
        across: "routers that take part: none, B, A and B",
        values: &[0, 1, 2],
        set: |value| {
            let active = ["\"none\"", "[\"B\"]", "\"all\""].get(value as usize).copied().unwrap_or_default();
            vec![format!("session.amca.routers={{ active = {active} }}")]
        },
    },
    Factor {
        shared: "window",
        alone: "window-alone",
        label: "Window",
        across: "TCP's window, packets",
        values: &[20, 64],
        set: |value| ["tcp-1", "tcp-2"].map(|flow| format!("flow.{flow}.window={value}")).to_vec(),
    },
    Factor {
        shared: "restart",
        alone: "restart-alone",
        label: "Restart",
        across: "restart_after_cut: off, on",
        values: &[0, 1],
        set: |value| vec![format!("session.amca.restart_after_cut={}", value == 1)],
    },
    Factor {
        shared: "beta",
        alone: "beta-alone",
        label: "Beta",
        across: "beta, packets",
        values: &[1, 2, 3, 5],
        set: |value| vec![format!("session.amca.beta={value}")],
    },
    Factor {
        shared: "growth",
        alone: "growth-alone",
        label: "Growth while a queue drains",
        across: "gamma_max - 1, %",
        values: &[0, 5, 20, 100],
        set: |value| vec![format!("session.amca.increase_max={}", 1.0 + f64::from(value) / 100.0)],
    },
    Factor {
        shared: "drain",
        alone: "drain-alone",
        label: "Drain",
        across: "drain: off, on",
        values: &[0, 1],
        set: |value| vec![format!("session.amca.drain={}", value == 1)],
    },
    Factor {
        shared: "order",
        alone: "order-alone",
        label: "Order",
        across: "start of AMCA after TCP, s",
        values: &[0, 5, 20],
        set: |value| match value {
            0 => Vec::new(),
            _ => vec![format!("session.amca.start={{ uniform = [\"{value} s\", \"{} s\"] }}", value + 1)],
        },
    },
];

/// N where the growth of a draining queue is varied without TCP: with few packets to a report it matters most.
const GROWTH_EVERY: u32 = 16;

/// Keeps what each link drops and what waits at the bottleneck, each second.
fn probes() -> Vec<String> {
    let of = |link: &str| {
        [
            format!("probes.{link}.of=link {link}"),
            format!("probes.{link}.what=[\"drops\", \"queue_packets\"]"),
            format!("probes.{link}.every=1 s"),
        ]
    };
    LINKS.into_iter().flat_map(of).collect()
}

/// Figure 7 with starts within a second instead of at once.
fn scattered() -> Vec<String> {
    let table = |table: &str| format!("{table}.start={{ uniform = [\"0 s\", \"1 s\"] }}");
    ["session.amca", "flow.tcp-1", "flow.tcp-2"].map(table).to_vec()
}

fn profile(name: &str) -> String {
    format!("session.amca.profile={name}")
}

/// An experiment over time with some rules; that of figure 6 with each N.
fn time_series(time_series: &TimeSeries, name: &'static str, rules: Vec<String>) -> Study {
    let set = [probes(), rules].concat();
    let outer: Vec<Option<u32>> = match time_series.backlog {
        "convergence" => EVERY.into_iter().map(Some).collect(),
        _ => vec![None],
    };
    let sweep = |outer: Option<u32>| {
        let every = outer.map(|every| format!("session.amca.report_every={every}"));
        Sweep { outer, set: set.iter().cloned().chain(every).collect(), vary: Vec::new() }
    };
    let sweeps = outer.into_iter().map(sweep).collect();
    Study { name, scenario: time_series.scenario, sweeps, metrics: METRICS }
}

fn factor(factor: &Factor) -> Vec<Study> {
    let vary = vec![profile(&PROFILES.join(","))];
    let study = |name, scenario, further: &[String]| {
        let sweep = |&value: &u32| Sweep {
            outer: Some(value),
            set: [further.to_vec(), (factor.set)(value)].concat(),
            vary: vary.clone(),
        };
        let sweeps = factor.values.iter().map(sweep).collect();
        Study { name, scenario, sweeps, metrics: METRICS }
    };
    let further = factor.is_at_small_n().then(|| format!("session.amca.report_every={GROWTH_EVERY}"));
    let further: Vec<String> = further.into_iter().collect();
    let mut studies = vec![study(factor.shared, "amca/two-tcp", &scattered())];
    if factor.has_alone() {
        studies.push(study(factor.alone, "amca/convergence", &further));
    }
    studies
}

impl Factor {
    /// Whether it is varied without TCP at a smaller N than elsewhere.
    pub(super) fn is_at_small_n(&self) -> bool {
        self.shared == "growth"
    }

    /// Whether it changes anything without TCP.
    pub(super) fn has_alone(&self) -> bool {
        !matches!(self.shared, "window" | "order")
    }
}

/// All that is run.
pub(super) fn studies() -> Vec<Study> {
    let trajectories = COURSES.iter().flat_map(|one| {
        let names = [one.backlog, one.count, one.literal];
        let profiles =
            names.into_iter().zip(PROFILES).map(|(name, of)| time_series(one, name, vec![profile(of)]));
        profiles.chain([time_series(one, one.known, vec![EMPTY_PATH.to_owned()])])
    });
    trajectories.chain(FACTORS.iter().flat_map(factor)).collect()
}

const METRICS: &[&str] = &["throughput_kbps", "loss_rate"];
