//! Sections IV-D and IV-E, up to 48 sessions sharing with as many TCPs: figures 12 and 13, and what other
//! readings of the open values change.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

use super::grid::{Layers, OperatingPoint, READINGS, Reading, combine, fairness, jain, many, mean, reading};

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![among_sessions(), beside_tcp()];
    figures.push(open_values());
    figures
}

fn panel(title: &str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across: "sessions, and as many TCP",
        across_scale: Scale::Logarithmic,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    }
}

fn curve(
    name: &str,
    look: Style,
    points: &[OperatingPoint<'_>],
    value: impl Fn(&OperatingPoint<'_>) -> Samples,
) -> Curve {
    let plotted = points.iter().map(|point| (f64::from(point.count()), value(point)));
    Curve { name: name.to_owned(), look, points: plotted.collect() }
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The mean of some flows, and their least and most, over an equal share.
fn spread(
    name: &str,
    hue: usize,
    points: &[OperatingPoint<'_>],
    flows: fn(&OperatingPoint<'_>) -> Vec<Samples>,
) -> Vec<Curve> {
    let of = |make: fn(&[f64]) -> f64| {
        move |point: &OperatingPoint<'_>| point.normalised(&combine(&flows(point), make))
    };
    vec![
        curve(&format!("{name}, mean"), Style::Dots(hue), points, of(mean)),
        curve(&format!("{name}, least"), Style::Line(hue), points, of(least)),
        curve(&format!("{name}, most"), Style::Line(hue), points, of(most)),
    ]
}

/// The mean of the nearer half of flows over that of the farther half.
fn near_over_far(flows: &[Samples]) -> Samples {
    let (near, far) = flows.split_at(flows.len() / 2);
    combine(near, mean).over(&combine(far, mean))
}

/// The mean throughput of a session over that of a TCP.
fn session_over_tcp(point: &OperatingPoint<'_>) -> Samples {
    point.multicast().over(&point.tcp())
}

fn each(points: &[OperatingPoint<'_>], value: impl Fn(&OperatingPoint<'_>) -> Samples) -> Vec<Placed> {
    points.iter().map(|point| point.by_count(value(point))).collect()
}

fn fair(point: &OperatingPoint<'_>) -> Samples {
    combine(&point.sessions(), jain)
}

/// The points with at least a number of sessions.
fn from(count: u32, points: Vec<OperatingPoint<'_>>) -> Vec<OperatingPoint<'_>> {
    points.into_iter().filter(|point| point.count() >= count).collect()
}

fn among_sessions() -> Figure {
    Figure {
        label: Label::Figure(12),
        title: "Fairness among sessions",
        section: "IV-D",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let (linear, exponential) = (many(data, Layers::Linear), many(data, Layers::Exponential));
            let both = |value: fn(&OperatingPoint<'_>) -> Samples| {
                vec![
                    curve("linear", Style::Dots(1), &linear, value),
                    curve("exponential", Style::Dots(2), &exponential, value),
                ]
            };
            vec![
                panel(
                    "Linear: throughput over 1/2N of the link",
                    spread("session", 1, &linear, |point| point.sessions()),
                ),
                panel(
                    "Exponential: throughput over 1/2N of the link",
                    spread("session", 2, &exponential, |point| point.sessions()),
                ),
                panel("Jain's index of the sessions", both(fair)),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let points = many(data, Layers::Linear);
                Measurements::of("Jain's index of the sessions, linear", each(&points, fair))
            }),
            Supply::new(|data, _| {
                let points = many(data, Layers::Exponential);
                Measurements::of("Jain's index of the sessions, exponential", each(&points, fair))
            }),
            Supply::new(|data, _| {
                let (linear, exponential) = (many(data, Layers::Linear), many(data, Layers::Exponential));
                let pairs: Vec<_> =
                    linear.iter().zip(&exponential).filter(|(point, _)| point.count() >= 16).collect();
                let of = |value: fn(&OperatingPoint<'_>) -> Samples| -> Vec<Placed> {
                    pairs.iter().map(|(one, other)| one.by_count(value(one).less(&value(other)))).collect()
                };
                Measurements::of("Jain's index less that of exponential layers", of(fair))
                    .and(Measurements::of("Use of the link less theirs", of(|point| point.utilisation())))
            }),
        ],
    }
}

fn beside_tcp() -> Figure {
    Figure {
        label: Label::Figure(13),
        title: "Fairness with TCP",
        section: "IV-E",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let of = |layers, hue, title: &str| {
                let points = fairness(data, layers);
                let mut curves = spread("session", hue, &points, |point| point.sessions());
                curves.extend(spread("TCP", 0, &points, |point| point.tcps()));
                panel(title, curves)
            };
            vec![
                of(Layers::Linear, 1, "Linear: throughput over 1/2N of the link"),
                of(Layers::Exponential, 2, "Exponential: throughput over 1/2N of the link"),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let points = fairness(data, Layers::Linear);
                Measurements::of(
                    "A session's throughput over a TCP's, linear",
                    each(&points, session_over_tcp),
                )
            }),
            Supply::new(|data, _| {
                let points = fairness(data, Layers::Exponential);
                Measurements::of(
                    "A session's throughput over a TCP's, exponential",
                    each(&points, session_over_tcp),
                )
            }),
            Supply::new(|data, _| {
                let points = from(8, fairness(data, Layers::Linear));
                let ratio = |point: &OperatingPoint<'_>| near_over_far(&point.tcps());
                Measurements::of("The nearer half of TCP over the farther half", each(&points, ratio))
            }),
            Supply::new(|data, _| {
                let points = from(8, fairness(data, Layers::Linear));
                let ratio = |point: &OperatingPoint<'_>| near_over_far(&point.sessions_by_distance());
                Measurements::of(
                    "The half of the sessions with the nearer receivers over the other half",
                    each(&points, ratio),
                )
            }),
        ],
    }
}

/// How a ratio changes with another reading, where both were run.
fn changed(data: &Data, other: &Reading) -> Vec<Placed> {
    let points = reading(data, other.study);
    let change = |point: &OperatingPoint<'_>| {
        let (Samples(with), Samples(without)) =
            (session_over_tcp(point), session_over_tcp(&point.of_study("fairness")));
        // Repeated less often: the first replications have the same luck.
        let count = with.len().min(without.len());
        Samples(with[..count].to_vec()).over(&Samples(without[..count].to_vec()))
    };
    each(&points, change)
}

fn open_values() -> Figure {
    let supply = |other: &'static Reading| {
        Supply::new(move |data, _| Measurements::of(other.name, changed(data, other)))
    };
    Figure {
        label: Label::Other("Open values"),
        title: "Figure 13 with other readings of what the report does not say",
        section: "IV",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let base = reading(data, "fairness");
            let mut curves = vec![curve("our reading", Style::Dots(0), &base, session_over_tcp)];
            curves.extend(READINGS.iter().zip(1..).map(|(other, hue)| {
                curve(other.name, Style::Dots(hue), &reading(data, other.study), session_over_tcp)
            }));
            let ratio = panel("A session's throughput over a TCP's, linear layers", curves);
            vec![Panel { up_scale: Scale::Logarithmic, ..ratio }]
        }),
        supplies: READINGS.iter().map(supply).collect(),
    }
}
