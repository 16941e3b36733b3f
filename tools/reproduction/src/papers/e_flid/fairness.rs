//! The first experiment, figure 2: sessions sharing with as many TCPs, without and with marks.

use crate::frame::figure::{Data, Figure, Kind, Label, Measurements, Panel, Supply};
use crate::frame::study::Study;
use crate::samples::{Placed, Samples};

use super::grid::{Along, COUNTS, PlotCell, Step, Whose, by_count, over_counts, panel, sharing_with_tcp};

/// The study of the first step.
pub(super) const FLID: &str = "fairness-flid";
/// The study of the second step.
pub(super) const E_FLID: &str = "fairness-e-flid";

pub(super) fn studies() -> Vec<Study> {
    [(FLID, Step::Lost), (E_FLID, Step::Marked)]
        .map(|(name, step)| by_count(name, step, &COUNTS, |_| Vec::new()))
        .to_vec()
}

pub(super) fn figure() -> Figure {
    Figure {
        label: Label::Figure(2),
        title: "Sharing with TCP without link loss",
        section: "3, first experiment",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies: quantities(),
    }
}

fn panels(data: &Data) -> Vec<Panel> {
    let curve = |name, hue, study, value: fn(PlotCell<'_>) -> Samples| {
        over_counts(name, hue, &COUNTS, |count| value(sharing_with_tcp(data, study, count)))
    };
    vec![
        panel(
            "Mean throughput, kbit/s",
            Along::Count,
            vec![
                curve("FLID-DL", 2, FLID, |cell| cell.kbps(Whose::Layered)),
                curve("TCP with FLID-DL", 0, FLID, |cell| cell.kbps(Whose::Tcp)),
                curve("E-FLID-DL", 1, E_FLID, |cell| cell.kbps(Whose::Layered)),
                curve("TCP with E-FLID-DL", 3, E_FLID, |cell| cell.kbps(Whose::Tcp)),
            ],
        ),
        panel(
            "Layered over TCP",
            Along::Count,
            vec![
                curve("FLID-DL", 2, FLID, |cell| cell.over_tcp()),
                curve("E-FLID-DL", 1, E_FLID, |cell| cell.over_tcp()),
            ],
        ),
        panel(
            "Mean level",
            Along::Count,
            vec![
                curve("FLID-DL", 2, FLID, |cell| cell.level(Whose::Layered)),
                curve("E-FLID-DL", 1, E_FLID, |cell| cell.level(Whose::Layered)),
            ],
        ),
    ]
}

/// A number at each number of sessions.
fn at_counts<'d>(
    data: &'d Data,
    study: &'static str,
    value: impl Fn(PlotCell<'d>) -> Samples,
) -> Vec<Placed> {
    let cells = COUNTS.iter().map(|&count| sharing_with_tcp(data, study, count));
    cells.map(|cell| cell.named(value(cell))).collect()
}

/// How much further from TCP's throughput sessions are in one study than in another, at these numbers of
/// sessions.
pub(super) fn further_from_tcp(data: &Data, [one, other]: [&'static str; 2], counts: &[u32]) -> Vec<Placed> {
    let cells = counts.iter().map(|&count| [one, other].map(|study| sharing_with_tcp(data, study, count)));
    cells.map(|[one, other]| one.named(one.unfairness().less(&other.unfairness()))).collect()
}

fn quantities() -> Vec<Supply> {
    vec![
        Supply::new(|data, _| {
            Measurements::of("FLID-DL over TCP", at_counts(data, FLID, PlotCell::over_tcp))
        }),
        Supply::new(|data, _| {
            Measurements::of(
                "How much further from TCP E-FLID-DL is than FLID-DL, as a difference of logarithms",
                further_from_tcp(data, [E_FLID, FLID], &COUNTS),
            )
        }),
        Supply::new(|data, _| {
            Measurements::of("E-FLID-DL over TCP", at_counts(data, E_FLID, PlotCell::over_tcp))
        }),
        Supply::new(|data, _| {
            let mut cells = at_counts(data, E_FLID, |cell| {
                cell.level(Whose::Layered).over(&sharing_with_tcp(data, E_FLID, 16).level(Whose::Layered))
            });
            // The last one is 16 itself.
            cells.pop();
            Measurements::of("Mean level over that with n = 16", cells)
        }),
    ]
}
