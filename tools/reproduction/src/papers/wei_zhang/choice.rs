//! What follows from the report's equations: how many layers a range takes (section III-B), and what table I
//! makes of equation 28.

use layercast_protocols::wei_zhang::theory::{Structure, packets_per_interval, scale};

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

use super::grid::{Row, TABLE_I};

const LINK_KBPS: f64 = 15_000.0;
const PACKET_BYTES: f64 = 1000.0;
/// A full queue of 40 packets at 15 Mbit/s, ms: half of it on average.
const QUEUE_MS: f64 = 40.0 * 8.0 / 15.0;

/// Layers from 32 kbit/s until the cumulative rate is 1024 kbit/s.
fn layers_up_to(structure: Structure, multiple: f64) -> u32 {
    (0..).find(|&level| structure.multiple(level) >= multiple).map_or(0, |level| level + 1)
}

fn exactly(name: &str, value: f64) -> Vec<Placed> {
    vec![(name.to_owned(), Samples::exactly(value))]
}

pub(super) fn layers() -> Figure {
    let count = |structure, multiple: f64| f64::from(layers_up_to(structure, multiple));
    let curve = move |name: &str, hue, structure| {
        let points = (1..=32).map(f64::from);
        Curve::exact(
            name,
            Style::Line(hue),
            points.map(|multiple| (32.0 * multiple, count(structure, multiple))),
        )
    };
    Figure {
        label: Label::Other("Section III-B"),
        title: "Layers that a range of rates takes",
        section: "III-B",
        kind: Kind::Analytic,
        panels: Box::new(move |_| {
            vec![Panel {
                title: "Layers from 32 kbit/s up".to_owned(),
                across: "highest cumulative rate, kbit/s",
                across_scale: Scale::Linear,
                up_scale: Scale::Linear,
                curves: vec![
                    curve("linear", 1, Structure::Linear),
                    curve("exponential", 2, Structure::Exponential),
                ],
                table: Table::About(8),
            }]
        }),
        supplies: vec![
            Supply::new(move |_, _| {
                Measurements::of(
                    "Layers, exponential",
                    exactly("1024 kbit/s", count(Structure::Exponential, 32.0)),
                )
            }),
            Supply::new(move |_, _| {
                Measurements::of("Layers, linear", exactly("1024 kbit/s", count(Structure::Linear, 32.0)))
            }),
        ],
    }
}

/// A session's rate over that of a TCP at the same loss event rate by equation 28, for N of each: the level
/// is the one that the equal share lies on.
fn expected(&Row { count, interval, base }: &Row) -> f64 {
    let share = LINK_KBPS / (2.0 * f64::from(count)) / f64::from(base);
    let lower = libm::floor(share).max(1.0);
    let interval_s = f64::from(interval) / 1e3;
    let packets = packets_per_interval(interval_s, f64::from(base) * 125.0, PACKET_BYTES);
    let own = scale((lower + 1.0) / lower, packets, share - lower) / interval_s;
    // The mean receiver, with half of a full queue.
    let rtt_s = (44.0 + f64::from(count + 1) / 3.0 + QUEUE_MS / 2.0) / 1e3;
    own / (libm::sqrt(1.5) / rtt_s)
}

pub(super) fn table() -> Figure {
    let points = |value: fn(&Row) -> f64| TABLE_I.map(|row| (f64::from(row.count), value(&row)));
    let panel = |title: &str, curves| Panel {
        title: title.to_owned(),
        across: "sessions, and as many TCP",
        across_scale: Scale::Logarithmic,
        up_scale: Scale::Linear,
        curves,
        table: Table::Whole,
    };
    Figure {
        label: Label::Other("Table I"),
        title: "The values of figure 13 by the equations",
        section: "IV-E, IV-F",
        kind: Kind::Analytic,
        panels: Box::new(move |_| {
            let steps = points(|row| LINK_KBPS / (2.0 * f64::from(row.count)) / f64::from(row.base));
            let packets = points(|row| f64::from(row.interval) * f64::from(row.base) / 8.0 / PACKET_BYTES);
            vec![
                panel(
                    "An equal share over the base rate, and m",
                    vec![
                        Curve::exact("base rates in 1/2N of the link", Style::Dots(1), steps),
                        Curve::exact("m, base packets in a tau_0", Style::Dots(2), packets),
                    ],
                ),
                panel(
                    "Rate of a session over a TCP's by equation 28",
                    vec![Curve::exact("linear", Style::Dots(1), points(expected))],
                ),
            ]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                let bases = TABLE_I
                    .map(|row| (format!("{} of each", row.count), Samples::exactly(f64::from(row.base))));
                Measurements::of("Base rate, kbit/s", bases.to_vec())
            }),
            Supply::new(|_, _| {
                let points =
                    TABLE_I.map(|row| (format!("{} of each", row.count), Samples::exactly(expected(&row))));
                Measurements::of("A session's rate over a TCP's at the same loss event rate", points.to_vec())
            }),
        ],
    }
}
