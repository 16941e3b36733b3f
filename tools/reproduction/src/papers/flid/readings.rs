//! What the paper leaves open in section V-A, one reading after the other.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply};
use crate::samples::Placed;

use super::factor::{Cell, falls, lost, lost_per_event, used};
use super::open_points::{EXAMPLE_6_OUTER, READINGS};
use super::shapes::{at, panel};
use super::studies::SHOWN;

const ACROSS: &str = "factor between layers";
/// How many of them are about leaves.
const LEAVES: usize = 6;
const EXAMPLE_6_NAME: &str = "shares of example 6";

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            label: Label::Other("V-A, leave latency"),
            title: "The choice of the factor at various leave latencies",
            section: "V-A",
            kind: Kind::Sweep,
            panels: Box::new(|data| panels(data, &named()[..LEAVES])),
            supplies: vec![
                Supply::new(|data, _| {
                    let base = |factor| lost(&cell(data, 0, factor));
                    let positions = [1u32, 2, 3, 4].into_iter().flat_map(|outer| {
                        SHOWN.map(|factor| {
                            let name = format!("{}, c = {factor}", READINGS[outer as usize].name);
                            at(name, lost(&cell(data, outer, factor)).over(&base(factor)))
                        })
                    });
                    Measurements::of("Packets lost, over those with leaves of 2 to 4 s", positions.collect())
                }),
                ratio_claim(&[0, 1, 2, 3, 4, 5]),
            ],
        },
        Figure {
            label: Label::Other("V-A, other readings"),
            title: "The choice of the factor with other joins, shares and queues",
            section: "V-A",
            kind: Kind::Sweep,
            panels: Box::new(|data| panels(data, &named()[LEAVES..])),
            supplies: vec![ratio_claim(&[6, 7, 8, 9, 10, 11, 12, 13, 14])],
        },
    ]
}

/// All readings with their outer factors.
fn named() -> Vec<(u32, &'static str)> {
    let mut all: Vec<(u32, &str)> = (0u32..).zip(READINGS.iter().map(|reading| reading.name)).collect();
    all.push((EXAMPLE_6_OUTER, EXAMPLE_6_NAME));
    all
}

fn cell(data: &Data, outer: u32, factor: f64) -> Cell<'_> {
    Cell { measured: data.study("readings"), at: vec![f64::from(outer), factor] }
}

fn panels(data: &Data, readings: &[(u32, &str)]) -> Vec<Panel> {
    let of = readings.len();
    let curves = |value: &dyn Fn(Cell<'_>) -> crate::samples::Samples| -> Vec<Curve> {
        let curve = |(index, (outer, name)): (usize, &(u32, &str))| Curve {
            name: (*name).to_owned(),
            look: Style::Family { index, of },
            points: SHOWN.map(|factor| (factor, value(cell(data, *outer, factor)))).to_vec(),
        };
        readings.iter().enumerate().map(curve).collect()
    };
    let ratios = readings.iter().enumerate().map(|(index, (outer, name))| {
        let base = lost(&cell(data, *outer, SHOWN[0]));
        let ratio = |factor| (factor, lost(&cell(data, *outer, factor)).over(&base));
        Curve {
            name: (*name).to_owned(),
            look: Style::Family { index, of },
            points: SHOWN.map(ratio).to_vec(),
        }
    });
    let ratios = ratios.collect();
    vec![
        panel("Use of the link, %", ACROSS, curves(&|cell| used(&cell))),
        panel("Packets lost in 50 s", ACROSS, curves(&|cell| lost(&cell))),
        panel(
            "Packets lost for each slot with loss",
            ACROSS,
            curves(&|cell| lost(&cell).over(&falls(&cell))),
        ),
        panel("Packets lost for each loss event caused", ACROSS, curves(&|cell| lost_per_event(&cell))),
        panel("Packets lost, over those at factor 1.3", ACROSS, ratios),
    ]
}

/// What the paper says of the factors' totals, at each of these readings.
fn ratio_claim(outers: &'static [u32]) -> Supply {
    Supply::new(move |data, _| {
        let position = |&outer: &u32| -> Placed {
            let [little, much] = SHOWN.map(|factor| lost(&cell(data, outer, factor)));
            at(READINGS[outer as usize].name, much.over(&little))
        };
        Measurements::of("Packets lost at 2.0 over 1.3", outers.iter().map(position).collect())
    })
}
