//! Rows and columns of the grids as panels: a loss rate on the left, a rate on the right.

use crate::frame::figure::{Curve, Panel, Style, Table};
use crate::frame::scale::Scale;
use crate::frame::study::Quantity;

use super::grid::{LAP, LAP_RATE, LIP, LIP_RATE, PlotCell, TCP_LOSS, TCP_RATE, TFRC_LOSS, TFRC_RATE};

/// The chapter that a figure belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chapter {
    /// LIP, TFRC and TCP.
    Four,
    /// LAP as well.
    Five,
}

/// What is along the bottom.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    /// The packet loss probability.
    Loss,
    /// The sending rate.
    Rate,
    /// The number of TCP.
    Flows,
}

impl Along {
    fn name(self) -> &'static str {
        match self {
            Along::Loss => "packet loss probability, %",
            Along::Rate => "sending rate, packets per round trip",
            Along::Flows => "TCP flows",
        }
    }

    fn scale(self) -> Scale {
        match self {
            Along::Loss => Scale::Linear,
            Along::Rate | Along::Flows => Scale::Logarithmic,
        }
    }
}

/// The two panels of a slice through a grid.
pub(super) fn panels(chapter: Chapter, along: Along, positions: &[(f64, PlotCell<'_>)]) -> Vec<Panel> {
    let curve = |name: &str, hue: usize, quantity: Quantity, factor: f64| Curve {
        name: name.to_owned(),
        look: Style::Dots(hue),
        points: positions.iter().map(|(at, position)| (*at, position.of(quantity).times(factor))).collect(),
    };
    let mut losses = vec![curve("CBR (LIP)", 2, LIP, 100.0)];
    let mut rates = vec![curve("CBR (LIP)", 2, LIP_RATE, 1.0)];
    if chapter == Chapter::Five {
        losses.push(curve("LAP", 1, LAP, 100.0));
        rates.push(curve("LAP", 1, LAP_RATE, 1.0));
    }
    losses.extend([curve("TFRC", 3, TFRC_LOSS, 100.0), curve("TCP, packets lost", 0, TCP_LOSS, 100.0)]);
    rates.extend([curve("TFRC", 3, TFRC_RATE, 1.0), curve("TCP", 0, TCP_RATE, 1.0)]);
    // From 0.1 to 10 % loss rates fall by factors of twenty and more.
    let up_scale = if along == Along::Loss { Scale::Logarithmic } else { Scale::Linear };
    vec![
        panel("Loss (event) rate, %", along, Scale::Linear, losses),
        panel("Calculated rate of CBR, throughput of TFRC and TCP, kbit/s", along, up_scale, rates),
    ]
}

/// A plot over a grid's factor.
pub(super) fn panel(title: &str, along: Along, up_scale: Scale, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across: along.name(),
        across_scale: along.scale(),
        up_scale,
        curves,
        table: Table::Whole,
    }
}

/// A family of curves over the sending rate, one for each value of the other factor.
pub(super) fn family<'d>(
    names: impl Iterator<Item = String>,
    rows: &[Vec<(f64, PlotCell<'d>)>],
    value: impl Fn(PlotCell<'d>) -> crate::samples::Samples,
) -> Vec<Curve> {
    let of = rows.len();
    let curves = names.zip(rows).enumerate().map(|(index, (name, row))| Curve {
        name,
        look: Style::Family { index, of },
        points: row.iter().map(|(at, position)| (*at, value(*position))).collect(),
    });
    curves.collect()
}
