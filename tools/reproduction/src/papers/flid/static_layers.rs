//! Section V-B: static against dynamic layers (figure 7).

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply};
use crate::frame::time_series::Points;
use crate::samples::{Placed, Samples};

use super::shapes::{at, dots, line, panel};
use super::studies::{LEAVES, flow_set};

const NAMES: [&str; 4] = ["f1", "f2", "f3", "f4"];
/// The leave latencies in the order of a plot, by their indices in the study: 2 to 4 s is plotted at its
/// mean.
const ACROSS_S: [(f64, usize); 6] = [(0.0, 0), (0.5, 1), (1.0, 2), (3.0, 4), (4.0, 3), (9.0, 5)];

/// The mean of a metric over the four sessions.
fn of(data: &Data, flow_set: u32, leave: usize, metric: &str) -> Samples {
    let position = [f64::from(flow_set), leave as f64];
    Samples::average(&NAMES.map(|name| data.study("four-sessions").of(&position, name, metric)))
}

fn link(data: &Data, flow_set: u32, leave: usize, metric: &str) -> Samples {
    data.study("four-sessions").of(&[f64::from(flow_set), leave as f64], "A-B", metric)
}

fn tcp(data: &Data, flow_set: u32, leave: usize, metric: &str) -> Samples {
    data.study("four-sessions").of(&[f64::from(flow_set), leave as f64], "tcp", metric)
}

pub(super) fn figure() -> Figure {
    Figure {
        label: Label::Figure(7),
        title: "Static against dynamic layers",
        section: "V-B",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies: vec![
            Supply::new(|data, _| {
                let over = |leave| {
                    of(data, flow_set::DYNAMIC, leave, "throughput_kbps").over(&of(
                        data,
                        flow_set::DYNAMIC,
                        0,
                        "throughput_kbps",
                    ))
                };
                Measurements::of("Dynamic layers' throughput over that without latency", leaves(over))
            }),
            Supply::new(|data, _| {
                let over = |leave| {
                    of(data, flow_set::STATIC, leave, "throughput_kbps").over(&of(
                        data,
                        flow_set::STATIC,
                        0,
                        "throughput_kbps",
                    ))
                };
                Measurements::of("Static layers' throughput over that without latency", leaves(over))
            }),
            Supply::new(|data, _| {
                let over = |leave| {
                    of(data, flow_set::STATIC, leave, "loss_rate").over(&of(
                        data,
                        flow_set::STATIC,
                        0,
                        "loss_rate",
                    ))
                };
                Measurements::of("Static layers' loss rate over that without latency", leaves(over))
            }),
            Supply::new(|data, _| {
                let ratio = of(data, flow_set::DYNAMIC, 3, "throughput_kbps").over(&of(
                    data,
                    flow_set::STATIC,
                    3,
                    "throughput_kbps",
                ));
                Measurements::of("Throughput, dynamic over static", vec![at("2 to 4 s", ratio)])
            }),
            Supply::new(|data, _| {
                let ratio = of(data, flow_set::DYNAMIC, 3, "loss_rate").over(&of(
                    data,
                    flow_set::STATIC,
                    3,
                    "loss_rate",
                ));
                Measurements::of("Loss rate, dynamic over static", vec![at("2 to 4 s", ratio)])
            }),
            Supply::new(|data, _| {
                let ratio = |leave| {
                    tcp(data, flow_set::STATIC_TCP, leave, "loss_rate").over(&tcp(
                        data,
                        flow_set::STATIC_TCP,
                        0,
                        "loss_rate",
                    ))
                };
                Measurements::of("TCP's loss rate over that without latency", leaves(ratio))
            }),
            Supply::new(|data, _| {
                let ratio = of(data, flow_set::TIGHT, 5, "throughput_kbps").over(&of(
                    data,
                    flow_set::DYNAMIC,
                    5,
                    "throughput_kbps",
                ));
                let position = at("leaves of 9 s", ratio);
                Measurements::of("Throughput with a bound of 4 s over that with 9 s", vec![position])
            }),
        ],
    }
}

/// A number at each leave latency above zero.
fn leaves(value: impl Fn(usize) -> Samples) -> Vec<Placed> {
    (1..LEAVES.len()).map(|leave| at(LEAVES[leave], value(leave))).collect()
}

fn panels(data: &Data) -> Vec<Panel> {
    let mut panels = Vec::new();
    for (flow_set, name) in [(flow_set::DYNAMIC, "dynamic"), (flow_set::STATIC, "static")] {
        panels.extend(time_series(data, flow_set, name));
    }
    const ACROSS: &str = "leave latency in s (at 4: uniform in 2 to 4)";
    let curve = |name: &str, hue, value: &dyn Fn(usize) -> Samples| {
        dots(name, hue, ACROSS_S.map(|(across, leave)| (across, value(leave))))
    };
    let both = |metric: &'static str, factor: f64| {
        vec![
            curve("dynamic", 1, &|leave| of(data, flow_set::DYNAMIC, leave, metric).times(factor)),
            curve("static", 2, &|leave| of(data, flow_set::STATIC, leave, metric).times(factor)),
            curve("dynamic, bound 4 s", 3, &|leave| of(data, flow_set::TIGHT, leave, metric).times(factor)),
        ]
    };
    let sharing_tcp = |metric: &'static str, factor: f64| {
        vec![
            curve("with dynamic", 1, &|leave| tcp(data, flow_set::DYNAMIC_TCP, leave, metric).times(factor)),
            curve("with static", 2, &|leave| tcp(data, flow_set::STATIC_TCP, leave, metric).times(factor)),
        ]
    };
    let on_link = |metric: &'static str, factor: f64| {
        vec![
            curve("dynamic", 1, &|leave| link(data, flow_set::DYNAMIC, leave, metric).times(factor)),
            curve("static", 2, &|leave| link(data, flow_set::STATIC, leave, metric).times(factor)),
        ]
    };
    panels.extend([
        panel("Throughput of a session in kbit/s", ACROSS, both("throughput_kbps", 1.0)),
        panel("Loss rate of a session, %", ACROSS, both("loss_rate", 100.0)),
        panel("Use of the bottleneck, %", ACROSS, on_link("utilisation", 100.0)),
        panel("Packets dropped at the bottleneck in 50 s", ACROSS, on_link("drops", 1.0)),
        panel(
            "Throughput of a TCP sharing with four sessions in kbit/s",
            ACROSS,
            sharing_tcp("throughput_kbps", 1.0),
        ),
        panel("Loss rate of that TCP, %", ACROSS, sharing_tcp("loss_rate", 100.0)),
    ]);
    panels
}

/// What the four sessions get together, and what is dropped, every 250 ms of one run.
fn time_series(data: &Data, flow_set: u32, name: &str) -> Vec<Panel> {
    let time_series = data.study("four-trajectories").time_series(Some(flow_set));
    let within = |points: Points| -> Points {
        let [from, to] = time_series.map_or([0.0, 0.0], |time_series| time_series.window_s());
        points.into_iter().filter(|(at, _)| *at > from && *at <= to).collect()
    };
    let mut total: Points = Vec::new();
    for points in
        (1..=4).filter_map(|number| Some(time_series?.throughput(1, &format!("f{number}@R{number}"))))
    {
        let points = within(points);
        if total.is_empty() {
            total = points;
        } else {
            total.iter_mut().zip(points).for_each(|(sum, (_, value))| sum.1 += value);
        }
    }
    let drops = time_series.map_or_else(Vec::new, |time_series| time_series.probe(1, "bottleneck", "drops"));
    let lost = Curve::exact("lost", Style::Marks(2), within(drops));
    const ACROSS: &str = "time in s";
    vec![
        panel(&format!("Four sessions in kbit/s, {name} layers"), ACROSS, vec![line("throughput", 1, total)])
            .about(10),
        panel(&format!("Packets lost, {name} layers"), ACROSS, vec![lost]).about(10),
    ]
}
