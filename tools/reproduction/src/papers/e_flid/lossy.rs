//! The experiments with link loss: figures 4, 6 and 8.

use crate::frame::figure::{Claim, Curve, Data, Figure, Kind, Label, Panel};
use crate::frame::finding::{Bound, Finding, Placed};
use crate::frame::samples::Samples;
use crate::frame::study::Study;

use super::grid::{
    Along, CONSTANT, FAIR_RATE, LOSSES, PlotCell, SAME_LEVEL, SAME_RATE, Whose, by_loss, losing, over_losses,
    panel,
};

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
    let figure = |number, title, section, panels: fn(&Data) -> Vec<Panel>, claims| Figure {
        label: Label::Figure(number),
        title,
        section,
        kind: Kind::Sweep,
        panels: Box::new(panels),
        claims,
    };
    vec![
        figure(
            4,
            "Sessions alone over a lossy bottleneck",
            "3, second experiment",
            |data| alone([FLID, E_FLID], data),
            claims_alone([FLID, E_FLID]),
        ),
        figure(
            6,
            "Lossy links to all receivers, sharing with TCP",
            "3, third experiment",
            leaves,
            claims_of_leaves(),
        ),
        figure(8, "Lossy links to half of the receivers", "3, fourth experiment", half, claims_of_half()),
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
pub(super) fn claims_alone([flid, e_flid]: [&'static str; 2]) -> Vec<Claim> {
    vec![
        Claim::new("FLID-DL's reception rate falls significantly as the link loss grows.", move |data, _| {
            let rate = |cell: PlotCell<'_>| cell.kbps(Whose::Layered);
            let steps = LOSSES.windows(2).map(|pair| {
                let [before, after] = [pair[0], pair[1]].map(|loss| losing(data, flid, loss));
                after.named(rate(after).over(&rate(before)))
            });
            Finding::each("Rate over that at the loss before", Bound::Below(1.0), steps.collect()).and(
                Finding::each(
                    "Over that without link loss",
                    Bound::Below(0.5),
                    changes(data, flid, &[0.01, 0.1], rate),
                ),
            )
        }),
        Claim::new("E-FLID-DL's reception rate remains almost constant.", move |data, _| {
            Finding::each(
                "Rate over that without link loss",
                CONSTANT,
                changes(data, e_flid, &LOSSES, |cell| cell.kbps(Whose::Layered)),
            )
        }),
        Claim::new(
            "E-FLID-DL's mean level changes by less than a tenth, FLID-DL's collapses (ours).",
            move |data, _| {
                let level = |cell: PlotCell<'_>| cell.level(Whose::Layered);
                Finding::each(
                    "E-FLID-DL's level over that without link loss",
                    SAME_LEVEL,
                    changes(data, e_flid, &LOSSES, level),
                )
                .and(Finding::each(
                    "FLID-DL's",
                    Bound::Below(0.5),
                    changes(data, flid, &[0.1], level),
                ))
            },
        ),
    ]
}

fn claims_of_leaves() -> Vec<Claim> {
    vec![
        Claim::new(
            "E-FLID-DL's throughput does not drop too much, however much the links lose.",
            |data, _| {
                let rate = |cell: PlotCell<'_>| cell.kbps(Whose::Layered);
                Finding::each(
                    "Throughput over that without link loss",
                    CONSTANT,
                    changes(data, LEAVES, &LOSSES, rate),
                )
            },
        ),
        Claim::new("E-FLID-DL and TCP share fairly.", |data, _| {
            Finding::each("E-FLID-DL over TCP", SAME_RATE, at_losses(data, LEAVES, PlotCell::over_tcp))
        }),
        Claim::new(
            "E-FLID-DL's mean level changes by less than a tenth, FLID-DL's collapses (ours).",
            |data, _| {
                let level = |cell: PlotCell<'_>| cell.level(Whose::Layered);
                Finding::each(
                    "E-FLID-DL's level over that without link loss",
                    SAME_LEVEL,
                    changes(data, LEAVES, &LOSSES, level),
                )
                .and(Finding::each(
                    "FLID-DL's",
                    Bound::Below(0.5),
                    changes(data, LEAVES_FLID, &[0.1], level),
                ))
            },
        ),
        Claim::new("FLID-DL instead would leave the link to TCP (ours).", |data, _| {
            let cells = [0.01, 0.1].map(|loss| losing(data, LEAVES_FLID, loss));
            Finding::each(
                "FLID-DL over TCP",
                Bound::Below(0.5),
                cells.map(|cell| cell.named(cell.over_tcp())).to_vec(),
            )
        }),
    ]
}

fn claims_of_half() -> Vec<Claim> {
    let ratio = |one: Whose, other: Whose| move |cell: PlotCell<'_>| cell.kbps(one).over(&cell.kbps(other));
    vec![
        Claim::new("Receivers with lossy links get almost what the others get.", move |data, _| {
            let cells = at_losses(data, HALF, ratio(Whose::Lossy, Whose::Lossless));
            let levels =
                at_losses(data, HALF, |cell| cell.level(Whose::Lossy).over(&cell.level(Whose::Lossless)));
            Finding::each("Their throughput over the others'", CONSTANT, cells).and(Finding::each(
                "Their mean level over the others'",
                SAME_LEVEL,
                levels,
            ))
        }),
        Claim::new("Both share fairly with TCP.", move |data, _| {
            Finding::each("Lossy over TCP", FAIR_RATE, at_losses(data, HALF, ratio(Whose::Lossy, Whose::Tcp)))
                .and(Finding::each(
                    "Lossless over TCP",
                    SAME_RATE,
                    at_losses(data, HALF, ratio(Whose::Lossless, Whose::Tcp)),
                ))
        }),
    ]
}
