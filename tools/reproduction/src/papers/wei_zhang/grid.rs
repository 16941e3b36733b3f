//! The studies of sections IV-A to IV-E, and how their numbers are asked for.

use layercast_core::stream::Stream;

use crate::frame::figure::{Data, Read};
use crate::frame::study::{Quantity, Study, Sweep};
use crate::readings::rhythm;
use crate::samples::{Placed, Samples};

/// The bottleneck, kbit/s.
const LINK_KBPS: f64 = 15_000.0;
/// Values of tau_0 in figure 8, ms (ours).
pub(super) const INTERVALS: [u32; 11] = [40, 60, 80, 100, 120, 160, 200, 250, 300, 400, 500];
/// Values of tau_0 in figures 9 to 11, ms.
pub(super) const FEW_INTERVALS: [u32; 3] = [80, 160, 250];
/// Base rates in figures 9 to 11, kbit/s (ours).
pub(super) const BASES: [u32; 13] = [16, 32, 64, 100, 150, 200, 300, 400, 600, 800, 1000, 1200, 1600];
/// Table I.
pub(super) const TABLE_I: [Row; 9] = [
    Row { count: 1, interval: 160, base: 1600 },
    Row { count: 2, interval: 160, base: 800 },
    Row { count: 4, interval: 160, base: 500 },
    Row { count: 8, interval: 160, base: 200 },
    Row { count: 16, interval: 160, base: 100 },
    Row { count: 24, interval: 160, base: 50 },
    Row { count: 32, interval: 250, base: 32 },
    Row { count: 40, interval: 333, base: 24 },
    Row { count: 48, interval: 500, base: 16 },
];
/// Numbers of sessions in figure 12; all have this tau_0 and base rate.
const MANY: [u32; 6] = [2, 4, 8, 16, 24, 32];
const MANY_INTERVAL: u32 = 250;
const MANY_BASE: u32 = 32;
/// Where open values are changed.
const VARIED: [u32; 4] = [1, 4, 16, 32];

/// A row of table I: sessions and as many TCP, tau_0 in ms, base rate in kbit/s.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) count: u32,
    pub(super) interval: u32,
    pub(super) base: u32,
}

macro_rules! numbered {
    ($letter:literal: $($number:literal)*) => { [$(concat!($letter, $number)),*] };
}
/// The sessions and the TCP of the scenarios.
#[rustfmt::skip]
const SESSIONS: [&str; 48] = numbered!("m": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48);
#[rustfmt::skip]
const TCPS: [&str; 48] = numbered!("t": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48);

/// The structure of the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layers {
    Linear,
    Exponential,
}

impl Layers {
    /// Enough layers of a base rate to reach the link's rate.
    fn set(self, base_kbps: u32) -> String {
        let layers = match self {
            Layers::Linear => {
                let count = libm::ceil(LINK_KBPS / f64::from(base_kbps));
                format!("scheme = \"equal\", base = \"{base_kbps} kbit/s\", count = {count}")
            }
            Layers::Exponential => {
                let doublings = libm::ceil(libm::log2(LINK_KBPS / f64::from(base_kbps)));
                let count = doublings + 1.0;
                format!("scheme = \"doubling\", base = \"{base_kbps} kbit/s\", count = {count}")
            }
        };
        format!("defaults.session.layers={{ {layers} }}")
    }
}

/// What the sources leave open, and one other reading of it.
pub(super) struct Reading {
    /// The study that has it.
    pub(super) study: &'static str,
    /// What it is called.
    pub(super) name: &'static str,
    /// The changes for a number of sessions.
    set: fn(u32) -> Vec<String>,
}

/// The other readings that are tried.
pub(super) const READINGS: [Reading; 7] = [
    Reading {
        study: "fairness-deaf-50",
        name: "deaf for 50 ms",
        set: |_| vec!["defaults.session.options.deaf_minimum=50 ms".to_owned()],
    },
    Reading {
        study: "fairness-deaf-250",
        name: "deaf for 250 ms",
        set: |_| vec!["defaults.session.options.deaf_minimum=250 ms".to_owned()],
    },
    Reading {
        study: "fairness-red",
        name: "RED",
        set: |_| {
            let queue = "{ kind = \"red\", limit = \"40 packets\", min_threshold = 5, max_threshold = 20 }";
            vec![format!("link.RL-RR.queue={queue}")]
        },
    },
    Reading {
        study: "fairness-backoff",
        name: "back-off",
        set: |_| vec!["defaults.session.options.backoff=true".to_owned()],
    },
    Reading {
        study: "fairness-sack",
        name: "TCP SACK",
        set: |_| vec!["defaults.flow.protocol=tcp-sack".to_owned()],
    },
    Reading { study: "fairness-tcp-first", name: "TCP first", set: |sessions| starts(sessions, sessions, 0) },
    Reading {
        study: "fairness-sessions-first",
        name: "sessions first",
        set: |sessions| starts(sessions, 0, sessions),
    },
];

/// Starts 0.1 s apart, of sessions and of TCP one after the other, from these positions in the row on.
fn starts(count: u32, first_session: u32, first_tcp: u32) -> Vec<String> {
    let tenths = |point: u32| f64::from(point) / 10.0;
    let of = |number: u32| {
        let (session, tcp) = (first_session + number, first_tcp + number - 1);
        [
            format!("session.m{number}.start={:.1} s", tenths(session)),
            format!(
                "flow.t{number}.start={{ uniform = [\"{:.1} s\", \"{:.1} s\"] }}",
                tenths(tcp),
                tenths(tcp + 1)
            ),
        ]
    };
    (1..=count).flat_map(of).collect()
}

/// The receivers of each of so many sessions, by their numbers: two different ones of as many, where
/// there are two.
fn drawn(count: u32) -> Vec<(u32, Option<u32>)> {
    let mut stream = Stream::new(1, &format!("wei-zhang/receivers/{count}"));
    let mut below = |bound: u32| (stream.uniform() * f64::from(bound)) as u32;
    let mut pair = || {
        let one = below(count) + 1;
        let other = (count > 1).then(|| below(count - 1) + 1);
        (one, other.map(|other| other + u32::from(other >= one)))
    };
    (0..count).map(|_| pair()).collect()
}

/// Those receivers as a scenario has them.
fn receivers(count: u32) -> Vec<String> {
    let of = |(number, (one, other)): (u32, (u32, Option<u32>))| {
        let other = other.map_or_else(String::new, |other| format!(", \"R{other}\""));
        format!("session.m{number}.receivers=[\"R{one}\"{other}]")
    };
    (1..).zip(drawn(count)).map(of).collect()
}

/// How often a run with so many sessions is repeated: 15 times as elsewhere where it is short. The sessions
/// of one run are drawn receivers themselves, so many of them need fewer runs.
fn replications(sessions: u32) -> u32 {
    match sessions {
        ..=8 => 15,
        9..=16 => 8,
        _ => 5,
    }
}

/// So many sessions and TCP, with tau_0 and a base rate.
fn of_sessions(layers: Layers, Row { count, interval, base }: Row, further: Vec<String>) -> Sweep {
    let mut set = vec![layers.set(base), format!("replications={}", replications(count))];
    set.extend(receivers(count));
    for number in count + 1..=SESSIONS.len() as u32 {
        set.extend([format!("session.m{number}.count=0"), format!("flow.t{number}.count=0")]);
    }
    set.extend(further);
    Sweep { outer: Some(count), set, vary: vec![vary(&[interval])] }
}

fn vary(intervals: &[u32]) -> String {
    let values: Vec<String> = intervals.iter().map(|interval| format!("{interval} ms")).collect();
    format!("defaults.session.options.base_interval={}", values.join(","))
}

/// All that is run.
pub(super) fn studies() -> Vec<Study> {
    let four = |name, sweeps| Study { name, scenario: "wei-zhang/four-flows", sweeps, metrics: METRICS };
    let many = |name, sweeps| Study { name, scenario: "wei-zhang/fairness", sweeps, metrics: METRICS };
    let bases = |layers: Layers, intervals: &[u32]| {
        let sweep =
            |base| Sweep { outer: Some(base), set: vec![layers.set(base)], vary: vec![vary(intervals)] };
        BASES.map(sweep).to_vec()
    };
    let fairness = |layers| TABLE_I.map(|row| of_sessions(layers, row, Vec::new())).to_vec();
    let same = |layers| {
        MANY.map(|count| {
            of_sessions(layers, Row { count, interval: MANY_INTERVAL, base: MANY_BASE }, Vec::new())
        })
        .to_vec()
    };
    let interval = Sweep { outer: None, set: Vec::new(), vary: vec![vary(&INTERVALS)] };
    let mut studies = vec![
        four("interval", vec![interval]),
        four("base", bases(Layers::Linear, &FEW_INTERVALS)),
        four("base-exponential", bases(Layers::Exponential, &[250])),
        many("many", same(Layers::Linear)),
        many("many-exponential", same(Layers::Exponential)),
        many("fairness", fairness(Layers::Linear)),
        many("fairness-exponential", fairness(Layers::Exponential)),
    ];
    studies.extend(READINGS.iter().map(|reading| {
        let rows = TABLE_I.iter().filter(|row| VARIED.contains(&row.count));
        let few = |count: u32| format!("replications={}", replications(count).min(8));
        let sweep = |row: &Row| {
            of_sessions(Layers::Linear, *row, [(reading.set)(row.count), vec![few(row.count)]].concat())
        };
        many(reading.study, rows.map(sweep).collect())
    }));
    studies
}

/// How they are read: those with other values of what is open, which are compared with one of them, as it counts.
pub(super) fn readings() -> Vec<Read> {
    let judged = [
        "interval",
        "base",
        "base-exponential",
        "many",
        "many-exponential",
        "fairness",
        "fairness-exponential",
    ];
    let compared = READINGS.iter().map(|reading| reading.study).filter(|study| *study != "fairness-red");
    vec![
        Read { primary: rhythm::Reading::Together, in_all: true, studies: judged.to_vec() },
        Read { primary: rhythm::Reading::Together, in_all: false, studies: compared.collect() },
    ]
}

const METRICS: &[&str] = &["throughput_kbps", "loss_rate", "level_changes"];

/// A cell of a study: where it is, and where its numbers are.
#[derive(Clone)]
pub(super) struct OperatingPoint<'d> {
    data: &'d Data,
    study: &'static str,
    at: Vec<f64>,
    count: u32,
}

/// A tau_0 as studies know it.
pub(super) fn seconds(interval: u32) -> f64 {
    f64::from(interval) / 1e3
}

/// The cell of a tau_0 with four sessions.
pub(super) fn interval(data: &Data, interval: u32) -> OperatingPoint<'_> {
    OperatingPoint { data, study: "interval", at: vec![seconds(interval)], count: 4 }
}

/// The cell of a base rate and a tau_0 with four sessions.
pub(super) fn base(data: &Data, layers: Layers, base: u32, interval: u32) -> OperatingPoint<'_> {
    let study = if layers == Layers::Linear { "base" } else { "base-exponential" };
    OperatingPoint { data, study, at: vec![f64::from(base), seconds(interval)], count: 4 }
}

/// The cells of figure 12.
pub(super) fn many(data: &Data, layers: Layers) -> Vec<OperatingPoint<'_>> {
    let study = if layers == Layers::Linear { "many" } else { "many-exponential" };
    let point =
        |count| OperatingPoint { data, study, at: vec![f64::from(count), seconds(MANY_INTERVAL)], count };
    MANY.map(point).to_vec()
}

/// The cells of figure 13.
pub(super) fn fairness(data: &Data, layers: Layers) -> Vec<OperatingPoint<'_>> {
    let study = if layers == Layers::Linear { "fairness" } else { "fairness-exponential" };
    TABLE_I.map(|row| of_table(data, study, row)).to_vec()
}

/// The cells of another reading.
pub(super) fn reading<'d>(data: &'d Data, study: &'static str) -> Vec<OperatingPoint<'d>> {
    let rows = TABLE_I.into_iter().filter(|row| VARIED.contains(&row.count));
    rows.map(|row| of_table(data, study, row)).collect()
}

fn of_table<'d>(data: &'d Data, study: &'static str, row: Row) -> OperatingPoint<'d> {
    let at = vec![f64::from(row.count), seconds(row.interval)];
    OperatingPoint { data, study, at, count: row.count }
}

impl OperatingPoint<'_> {
    /// How many sessions there are, and how many TCP.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The same cell of another study.
    pub(super) fn of_study(&self, study: &'static str) -> Self {
        OperatingPoint { study, at: self.at.clone(), ..*self }
    }

    fn all(&self, names: &[&'static str]) -> Vec<Samples> {
        let kbps = |&flow: &&'static str| {
            let quantity = Quantity { flow, metric: "throughput_kbps" };
            self.data.study(self.study).samples(&self.at, quantity)
        };
        names.iter().take(self.count as usize).map(kbps).collect()
    }

    /// The throughput of each session, as the mean of its receivers, kbit/s.
    pub(super) fn sessions(&self) -> Vec<Samples> {
        self.all(&SESSIONS)
    }

    /// The same, from the sessions with the nearest receivers to those with the farthest.
    pub(super) fn sessions_by_distance(&self) -> Vec<Samples> {
        let distances = drawn(self.count).into_iter().map(|(one, other)| one + other.unwrap_or(one));
        let mut all: Vec<(u32, Samples)> = distances.zip(self.sessions()).collect();
        all.sort_by_key(|(distance, _)| *distance);
        all.into_iter().map(|(_, samples)| samples).collect()
    }

    /// The throughput of each TCP, by the distance of its receiver, kbit/s.
    pub(super) fn tcps(&self) -> Vec<Samples> {
        self.all(&TCPS)
    }

    /// The mean throughput of a session.
    pub(super) fn multicast(&self) -> Samples {
        combine(&self.sessions(), mean)
    }

    /// The mean throughput of a TCP.
    pub(super) fn tcp(&self) -> Samples {
        combine(&self.tcps(), mean)
    }

    /// A throughput over what each of all flows would have of the link.
    pub(super) fn normalised(&self, kbps: &Samples) -> Samples {
        kbps.times(2.0 * f64::from(self.count) / LINK_KBPS)
    }

    /// What all flows together have of the link.
    pub(super) fn utilisation(&self) -> Samples {
        combine(&[self.sessions(), self.tcps()].concat(), |all| all.iter().sum::<f64>() / LINK_KBPS)
    }

    /// These samples with the number of sessions.
    pub(super) fn by_count(&self, samples: Samples) -> Placed {
        (format!("{} of each", self.count), samples)
    }
}

/// One number of each replication out of one of each flow; none where a flow has none.
pub(super) fn combine(all: &[Samples], make: impl Fn(&[f64]) -> f64) -> Samples {
    let replications = all.iter().map(|samples| samples.0.len()).min().unwrap_or(0);
    let of = |number: usize| {
        let values: Option<Vec<f64>> = all.iter().map(|samples| samples.0[number]).collect();
        values.map(|values| make(&values))
    };
    Samples((0..replications).map(of).collect())
}

/// The mean.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Jain's index.
pub(super) fn jain(values: &[f64]) -> f64 {
    let (sum, squares) = (values.iter().sum::<f64>(), values.iter().map(|value| value * value).sum::<f64>());
    if squares > 0.0 { sum * sum / (values.len() as f64 * squares) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_are_two_different_ones_of_as_many_as_sessions() {
        assert_eq!(receivers(1), ["session.m1.receivers=[\"R1\"]"]);
        for text in receivers(8) {
            let list = text.split_once('[').map_or("", |(_, list)| list.trim_end_matches(']'));
            let nodes: Vec<&str> = list.split(", ").collect();
            assert!(nodes.len() == 2 && nodes[0] != nodes[1], "{text}");
            let number = |node: &str| node.trim_matches('"')[1..].parse::<u32>().unwrap_or(0);
            assert!(nodes.iter().all(|node| (1..=8).contains(&number(node))), "{text}");
        }
        let all: String = receivers(48).concat();
        let drawn = (1..=48).filter(|number| all.contains(&format!("\"R{number}\""))).count();
        assert!(drawn > 35, "{drawn} of 48 receivers are drawn");
    }

    #[test]
    fn others_are_taken_out_and_layers_reach_the_link() {
        let sweep = of_sessions(Layers::Linear, Row { count: 40, interval: 333, base: 24 }, Vec::new());
        let out = sweep.set.iter().filter(|set| set.ends_with("count=0")).count();
        assert_eq!((sweep.outer, out), (Some(40), 16));
        assert_eq!(sweep.vary, ["defaults.session.options.base_interval=333 ms"]);
        assert!(sweep.set[0].contains("count = 625"));
        assert!(Layers::Exponential.set(32).contains("count = 10"));
    }

    #[test]
    fn orders_of_starts_fill_one_row() {
        let tcp_first = starts(2, 2, 0);
        assert_eq!(tcp_first[0], "session.m1.start=0.3 s");
        assert_eq!(tcp_first[3], "flow.t2.start={ uniform = [\"0.1 s\", \"0.2 s\"] }");
        assert_eq!(starts(2, 0, 2)[1], "flow.t1.start={ uniform = [\"0.2 s\", \"0.3 s\"] }");
    }

    #[test]
    fn flows_are_combined_replication_by_replication() {
        let all = [Samples::of([1.0, 3.0]), Samples(vec![Some(3.0), None])];
        assert_eq!(combine(&all, mean), Samples(vec![Some(2.0), None]));
        assert_eq!(combine(&[], mean), Samples::default());
        assert!((jain(&[1.0, 1.0, 0.0, 0.0]) - 0.5).abs() < 1e-12);
    }
}
