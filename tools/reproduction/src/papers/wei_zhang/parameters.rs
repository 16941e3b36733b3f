//! Sections IV-A to IV-C, four sessions sharing with four TCPs: figures 8 to 11.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

use super::grid::{
    BASES, FEW_INTERVALS, INTERVALS, Layers, OperatingPoint, base, combine, interval, jain, mean,
};

/// From this base rate on the report's curves are flat.
const PLATEAU: u32 = 400;

pub(super) fn figures() -> Vec<Figure> {
    vec![over_intervals(), over_bases(), thresholds(), structures()]
}

fn panel(title: &str, across: &'static str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across,
        across_scale: Scale::Logarithmic,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    }
}

const TAU: &str = "tau_0, ms";
const BASE: &str = "base rate, kbit/s";
const NORMALISED: &str = "Throughput over 1/8 of the link";

/// A curve over tau_0.
fn by_interval(data: &Data, name: &str, hue: usize, value: impl Fn(OperatingPoint<'_>) -> Samples) -> Curve {
    let points = INTERVALS.iter().map(|&at| (f64::from(at), value(interval(data, at))));
    Curve { name: name.to_owned(), look: Style::Dots(hue), points: points.collect() }
}

/// A curve over the base rate.
fn by_base(name: &str, hue: usize, value: impl Fn(u32) -> Samples) -> Curve {
    let points = BASES.iter().map(|&at| (f64::from(at), value(at)));
    Curve { name: name.to_owned(), look: Style::Dots(hue), points: points.collect() }
}

/// The mean throughput of a session, normalised.
fn share(data: &Data, layers: Layers, at: u32, tau: u32) -> Samples {
    let point = base(data, layers, at, tau);
    point.normalised(&point.multicast())
}

/// Twice what all flows together have of the link: the report's scale.
fn twice_used(data: &Data, layers: Layers, at: u32, tau: u32) -> Samples {
    base(data, layers, at, tau).utilisation().times(2.0)
}

fn at_base(at: u32, samples: Samples) -> Placed {
    (format!("{at} kbit/s"), samples)
}

fn over_intervals() -> Figure {
    Figure {
        label: Label::Figure(8),
        title: "Throughput over tau_0",
        section: "IV-A",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            vec![
                panel(
                    "Mean throughput, kbit/s",
                    TAU,
                    vec![
                        by_interval(data, "sessions", 1, |point| point.multicast()),
                        by_interval(data, "TCP", 0, |point| point.tcp()),
                    ],
                ),
                panel(
                    "Share of the link used by all flows",
                    TAU,
                    vec![by_interval(data, "all", 3, |point| point.utilisation())],
                ),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                let points = INTERVALS.map(|tau| (format!("{tau} ms"), interval(data, tau).multicast()));
                Measurements::of("Throughput of the sessions", points.to_vec())
            }),
            Supply::new(|data, _| {
                let pairs = [(40, 80), (80, 160), (160, 300), (250, 500)];
                let points = pairs.map(|(short, long)| {
                    let product = |tau: u32| interval(data, tau).multicast().times(f64::from(tau));
                    (format!("{short} to {long} ms"), product(long).over(&product(short)))
                });
                Measurements::of(
                    "Throughput times tau_0, over the same at about half of tau_0",
                    points.to_vec(),
                )
            }),
        ],
    }
}

fn over_bases() -> Figure {
    const TAU_MS: u32 = 80;
    let linear = |data: &Data, at: u32| share(data, Layers::Linear, at, TAU_MS);
    let tcp = |data: &Data, at: u32| {
        let point = base(data, Layers::Linear, at, TAU_MS);
        point.normalised(&point.tcp())
    };
    Figure {
        label: Label::Figure(9),
        title: "Throughput over the base rate, tau_0 of 80 ms",
        section: "IV-B",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let curves = vec![
                by_base("sessions", 1, |at| linear(data, at)),
                by_base("TCP", 0, |at| tcp(data, at)),
                by_base("twice the use of the link", 3, |at| twice_used(data, Layers::Linear, at, TAU_MS)),
            ];
            vec![panel(NORMALISED, BASE, curves)]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let points = BASES.iter().filter(|at| **at > PLATEAU);
                let points = points.map(|&at| at_base(at, linear(data, at).over(&linear(data, PLATEAU))));
                Measurements::of("Throughput above the threshold over that at 400 kbit/s", points.collect())
            }),
            Supply::new(move |data, _| {
                let points =
                    BASES[..2].iter().map(|&at| at_base(at, linear(data, at).over(&linear(data, PLATEAU))));
                Measurements::of(
                    "Throughput at the lowest base rates over that at 400 kbit/s",
                    points.collect(),
                )
            }),
            Supply::new(move |data, _| {
                let points = BASES[..2].iter().map(|&at| at_base(at, tcp(data, at).over(&linear(data, at))));
                Measurements::of("TCP's throughput over the sessions'", points.collect())
            }),
        ],
    }
}

/// In each replication the lowest base rate from which on the throughput is at least four fifths of the
/// mean from 400 kbit/s on, between the rates of the grid by a straight line.
fn threshold(data: &Data, layers: Layers, tau: u32) -> Samples {
    let all = BASES.map(|at| share(data, layers, at, tau));
    combine(&all, |values| {
        let plateau = BASES.iter().zip(values).filter(|(at, _)| **at >= PLATEAU);
        let plateau: Vec<f64> = plateau.map(|(_, value)| *value).collect();
        let enough = 0.8 * mean(&plateau);
        let Some(last) = values.iter().rposition(|value| *value < enough) else { return f64::from(BASES[0]) };
        let Some(above) = values.get(last + 1) else { return f64::from(BASES[last]) };
        let part = (enough - values[last]) / (above - values[last]);
        f64::from(BASES[last]) + part * f64::from(BASES[last + 1] - BASES[last])
    })
}

fn thresholds() -> Figure {
    Figure {
        label: Label::Figure(10),
        title: "Throughput over the base rate at three values of tau_0",
        section: "IV-B",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let curves = FEW_INTERVALS.iter().zip(1..).map(|(&tau, hue)| {
                by_base(&format!("{tau} ms"), hue, |at| share(data, Layers::Linear, at, tau))
            });
            vec![panel(NORMALISED, BASE, curves.collect())]
        }),
        supplies: vec![Supply::new(|data, _| {
            let at = FEW_INTERVALS.map(|tau| (format!("{tau} ms"), threshold(data, Layers::Linear, tau)));
            Measurements::of("Threshold, kbit/s", at.to_vec())
        })],
    }
}

fn structures() -> Figure {
    const TAU_MS: u32 = 250;
    let ratio = |data: &Data, at: u32, of: fn(&Data, Layers, u32, u32) -> Samples| {
        at_base(at, of(data, Layers::Exponential, at, TAU_MS).over(&of(data, Layers::Linear, at, TAU_MS)))
    };
    Figure {
        label: Label::Figure(11),
        title: "Linear and exponential layers over the base rate, tau_0 of 250 ms",
        section: "IV-C",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let both = [(Layers::Linear, "linear", 1), (Layers::Exponential, "exponential", 2)];
            let of = |value: fn(&Data, Layers, u32, u32) -> Samples| {
                both.map(|(layers, name, hue)| by_base(name, hue, |at| value(data, layers, at, TAU_MS)))
                    .to_vec()
            };
            let fair = |data: &Data, layers, at, tau| combine(&base(data, layers, at, tau).sessions(), jain);
            vec![
                panel(NORMALISED, BASE, of(share)),
                panel("Twice the use of the link", BASE, of(twice_used)),
                panel("Jain's index of the four sessions", BASE, of(fair)),
            ]
        }),
        supplies: vec![
            Supply::new(move |data, _| {
                let points = BASES[..4].iter().map(|&at| ratio(data, at, share));
                Measurements::of("Their throughput over that of linear ones", points.collect())
            }),
            Supply::new(move |data, _| {
                let points = BASES[9..].iter().map(|&at| ratio(data, at, twice_used));
                Measurements::of(
                    "What exponential layers leave used over what linear ones do",
                    points.collect(),
                )
            }),
            Supply::new(|data, _| {
                let fair = |at: u32| combine(&base(data, Layers::Linear, at, TAU_MS).sessions(), jain);
                let points = vec![at_base(1600, fair(1600).less(&fair(PLATEAU)))];
                Measurements::of("Jain's index of linear layers less that at 400 kbit/s", points)
            }),
            Supply::new(|data, _| {
                let fair = |layers, at: u32| combine(&base(data, layers, at, TAU_MS).sessions(), jain);
                let points = BASES[9..]
                    .iter()
                    .map(|&at| at_base(at, fair(Layers::Exponential, at).less(&fair(Layers::Linear, at))));
                Measurements::of("Jain's index less that of linear layers", points.collect())
            }),
        ],
    }
}
