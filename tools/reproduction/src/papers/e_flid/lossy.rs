//! The experiments with link loss: figures 4, 6 and 8.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Supply};
use crate::frame::study::Study;
use crate::samples::{Placed, Samples};

use super::grid::{Along, LOSSES, PlotCell, Whose, by_loss, losing, over_losses, panel};

/// FLID-DL over the lossy bottleneck.
pub(super) const FLID: &str = "lossy-bottleneck-flid";
/// E-FLID-DL over the lossy bottleneck.
pub(super) const E_FLID: &str = "lossy-bottleneck-e-flid";
/// E-FLID-DL with lossy leaves, sharing with TCP.
const LEAVES: &str = "lossy-leaves-e-flid";
/// FLID-DL instead, which the paper does not show.
const LEAVES_FLID: &str = "lossy-leaves-flid";
/// E-FLID-DL with lossy leaves at half of the receivers.
const HALF: &str = "half-lossy";

/// The key of the bottleneck's loss.
pub(super) const BOTTLENECK: &str = "link.G1-G2.loss.forward.probability";

pub(super) fn studies() -> Vec<Study> {
    vec![
        by_loss(FLID, "e-flid/lossy-bottleneck-flid", BOTTLENECK, &LOSSES, &[]),
        by_loss(E_FLID, "e-flid/lossy-bottleneck", BOTTLENECK, &LOSSES, &[]),
        by_loss(LEAVES, "e-flid/lossy-leaves", "link.G2-H.loss.forward.probability", &LOSSES, &[]),
        by_loss(LEAVES_FLID, "e-flid/fairness-flid", "link.G2-H.loss", &LOSSES, &[]),
        by_loss(HALF, "e-flid/half-lossy", "link.G2-L.loss.forward.probability", &LOSSES, &[]),
    ]
}

pub(super) fn figures() -> Vec<Figure> {
    let figure = |number, title, section, panels: fn(&Data) -> Vec<Panel>, supplies| Figure {
        label: Label::Figure(number),
        title,
        section,
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies,
    };
    vec![
        figure(
            4,
            "Sessions alone over a lossy bottleneck",
            "3, second experiment",
            |data| alone([FLID, E_FLID], data),
            quantities_alone([FLID, E_FLID]),
        ),
        figure(
            6,
            "Lossy links to all receivers, sharing with TCP",
            "3, third experiment",
            leaves,
            quantities_of_leaves(),
        ),
        figure(8, "Lossy links to half of the receivers", "3, fourth experiment", half, quantities_of_half()),
    ]
}

fn curve(
    data: &Data,
    name: &str,
    hue: usize,
    study: &'static str,
    value: impl Fn(PlotCell<'_>) -> Samples,
) -> Curve {
    over_losses(name, hue, |loss| value(losing(data, study, loss)))
}

/// Rates and levels of FLID-DL and E-FLID-DL without TCP.
pub(super) fn alone([flid, e_flid]: [&'static str; 2], data: &Data) -> Vec<Panel> {
    let both = |value: fn(PlotCell<'_>) -> Samples| {
        vec![curve(data, "FLID-DL", 2, flid, value), curve(data, "E-FLID-DL", 1, e_flid, value)]
    };
    vec![
        panel("Mean reception rate, kbit/s", Along::Loss, both(|cell| cell.kbps(Whose::Layered))),
        panel("Mean level", Along::Loss, both(|cell| cell.level(Whose::Layered))),
    ]
}

fn leaves(data: &Data) -> Vec<Panel> {
    let curves = |value: fn(PlotCell<'_>, Whose) -> Samples, of_tcp: bool| {
        let mut curves = vec![curve(data, "E-FLID-DL", 1, LEAVES, |cell| value(cell, Whose::Layered))];
        if of_tcp {
            curves.push(curve(data, "TCP with E-FLID-DL", 3, LEAVES, |cell| value(cell, Whose::Tcp)));
        }
        curves.push(curve(data, "FLID-DL instead", 2, LEAVES_FLID, |cell| value(cell, Whose::Layered)));
        if of_tcp {
            curves.push(curve(data, "TCP with FLID-DL", 0, LEAVES_FLID, |cell| value(cell, Whose::Tcp)));
        }
        curves
    };
    vec![
        panel("Mean throughput, kbit/s", Along::Loss, curves(|cell, whose| cell.kbps(whose), true)),
        panel("Mean level", Along::Loss, curves(|cell, whose| cell.level(whose), false)),
    ]
}

fn half(data: &Data) -> Vec<Panel> {
    let of = |name, hue, value: fn(PlotCell<'_>) -> Samples| curve(data, name, hue, HALF, value);
    vec![
        panel(
            "Mean throughput, kbit/s",
            Along::Loss,
            vec![
                of("E-FLID-DL, lossy link", 1, |cell| cell.kbps(Whose::Lossy)),
                of("E-FLID-DL, no link loss", 2, |cell| cell.kbps(Whose::Lossless)),
                of("TCP", 3, |cell| cell.kbps(Whose::Tcp)),
            ],
        ),
        panel(
            "Mean level",
            Along::Loss,
            vec![
                of("E-FLID-DL, lossy link", 1, |cell| cell.level(Whose::Lossy)),
                of("E-FLID-DL, no link loss", 2, |cell| cell.level(Whose::Lossless)),
            ],
        ),
    ]
}

/// A number at each link loss.
fn at_losses<'d>(
    data: &'d Data,
    study: &'static str,
    value: impl Fn(PlotCell<'d>) -> Samples,
) -> Vec<Placed> {
    let cells = LOSSES.iter().map(|&loss| losing(data, study, loss));
    cells.map(|cell| cell.named(value(cell))).collect()
}

/// A number at each link loss above zero, over the same without link loss.
fn changes<'d>(
    data: &'d Data,
    study: &'static str,
    losses: &[f64],
    value: impl Fn(PlotCell<'d>) -> Samples,
) -> Vec<Placed> {
    let without = value(losing(data, study, 0.0));
    let cells = losses.iter().filter(|loss| **loss > 0.0).map(|&loss| losing(data, study, loss));
    cells.map(|cell| cell.named(value(cell).over(&without))).collect()
}

/// What the paper says of sessions alone, and what the level does.
pub(super) fn quantities_alone([flid, e_flid]: [&'static str; 2]) -> Vec<Supply> {
    vec![
        Supply::new(move |data, _| {
            let rate = |cell: PlotCell<'_>| cell.kbps(Whose::Layered);
            let losses = changes(data, flid, &[0.01, 0.1], rate);
            Measurements::of("FLID-DL's rate", at_losses(data, flid, rate))
                .and(Measurements::of("FLID-DL's rate over that without link loss", losses))
        }),
        Supply::new(move |data, _| {
            Measurements::of(
                "E-FLID-DL's rate over that without link loss",
                changes(data, e_flid, &LOSSES, |cell| cell.kbps(Whose::Layered)),
            )
        }),
        Supply::new(move |data, _| {
            let level = |cell: PlotCell<'_>| cell.level(Whose::Layered);
            Measurements::of(
                "E-FLID-DL's level over that without link loss",
                changes(data, e_flid, &LOSSES, level),
            )
            .and(Measurements::of(
                "FLID-DL's level over that without link loss",
                changes(data, flid, &[0.1], level),
            ))
        }),
    ]
}

fn quantities_of_leaves() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            let rate = |cell: PlotCell<'_>| cell.kbps(Whose::Layered);
            Measurements::of("Throughput over that without link loss", changes(data, LEAVES, &LOSSES, rate))
        }),
        Supply::new(|data, _| {
            Measurements::of("E-FLID-DL over TCP", at_losses(data, LEAVES, PlotCell::over_tcp))
        }),
        Supply::new(|data, _| {
            let level = |cell: PlotCell<'_>| cell.level(Whose::Layered);
            Measurements::of(
                "E-FLID-DL's level over that without link loss",
                changes(data, LEAVES, &LOSSES, level),
            )
            .and(Measurements::of(
                "FLID-DL's level over that without link loss",
                changes(data, LEAVES_FLID, &[0.1], level),
            ))
        }),
        Supply::new(|data, _| {
            let cells = [0.01, 0.1].map(|loss| losing(data, LEAVES_FLID, loss));
            Measurements::of("FLID-DL over TCP", cells.map(|cell| cell.named(cell.over_tcp())).to_vec())
        }),
    ]
}

fn quantities_of_half() -> Vec<Supply> {
    let ratio = |one: Whose, other: Whose| move |cell: PlotCell<'_>| cell.kbps(one).over(&cell.kbps(other));
    vec![
        Supply::new(move |data, _| {
            let cells = at_losses(data, HALF, ratio(Whose::Lossy, Whose::Lossless));
            let levels =
                at_losses(data, HALF, |cell| cell.level(Whose::Lossy).over(&cell.level(Whose::Lossless)));
            Measurements::of("Their throughput over the others'", cells)
                .and(Measurements::of("Their mean level over the others'", levels))
        }),
        Supply::new(move |data, _| {
            Measurements::of("Lossy over TCP", at_losses(data, HALF, ratio(Whose::Lossy, Whose::Tcp))).and(
                Measurements::of(
                    "Lossless over TCP",
                    at_losses(data, HALF, ratio(Whose::Lossless, Whose::Tcp)),
                ),
            )
        }),
    ]
}
