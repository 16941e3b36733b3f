//! What the paper leaves open in section V-A, one reading after the other.

use crate::frame::figure::{Claim, Curve, Data, Figure, Kind, Label, Panel, Style};
use crate::frame::finding::{Bound, Finding, Placed};

use super::factor::{Cell, LEAST_RATIO, falls, lost, lost_per_event, used};
use super::shapes::{at, panel};
use super::studies::SHOWN;

/// An interpretation of what the paper leaves open.
pub(super) struct Reading {
    /// What it is called in figures.
    pub(super) name: &'static str,
    /// What is changed.
    pub(super) set: &'static [&'static str],
}

/// Joins are sent at the boundary and take half as long, about the one-way delay of the paper's path.
pub(super) const ONE_WAY: &[&str] = &[
    "session.flid.join_mode=at-boundary",
    "link.S-A.delay=5 ms",
    "link.A-B.delay=20 ms",
    "link.B-R.delay=5 ms",
];
/// The E-FLID-DL paper's RED with room for what the drop-tail queue holds.
pub(super) const RED_128: &str = "link.A-B.queue={ kind = \"red\", limit = \"128 packets\", min_threshold = 5, \
                                  max_threshold = 50, weight = 0.002, max_probability = 0.1, gentle = true }";
/// The shares that example 6 prints, as far as 25 layers need them.
pub(super) const EXAMPLE_6: &str = "session.flid.increase_probability_list=\"0.999, 0.932, 0.931, 0.930, 0.929, 0.928, 0.927, \
                                    0.926, 0.925, 0.924, 0.923, 0.922, 0.921, 0.920, 0.901, 0.312, 0.311, \
                                    0.310, 0.248, 0.122, 0.118, 0.108, 0.077, 0.051, 0\"";

/// The readings by the outer factor of their study. The first is the scenario itself.
pub(super) const READINGS: [Reading; 15] = [
    Reading { name: "leaves of 2 to 4 s (scenario)", set: &[] },
    Reading { name: "leaves of 0 s", set: &["session.flid.leave_latency=0 s"] },
    Reading { name: "leaves of 1 s", set: &["session.flid.leave_latency=1 s"] },
    Reading { name: "leaves of 4 s", set: &["session.flid.leave_latency=4 s"] },
    Reading {
        name: "leaves of 9 s, bound 9 s",
        set: &["session.flid.leave_latency=9 s", "session.flid.leave_bound=9 s"],
    },
    Reading { name: "leaves of 9 s, bound 4 s", set: &["session.flid.leave_latency=9 s"] },
    Reading { name: "joins at the boundary", set: &["session.flid.join_mode=at-boundary"] },
    Reading { name: "joins that take a one-way delay", set: ONE_WAY },
    Reading { name: "joins 60 ms ahead", set: &["session.flid.join_lead=60 ms"] },
    Reading { name: "shares for 100 ms", set: &["session.flid.rtt=100 ms"] },
    Reading { name: "shares by hill climbing", set: &["session.flid.increase_probabilities=hill-climbing"] },
    Reading { name: "signals at random", set: &["session.flid.signal=probabilistic"] },
    Reading { name: "RED", set: &[RED_128] },
    Reading { name: "24 layers at 1.3", set: &["session.flid.layers.above=10 Mbit/s"] },
    Reading { name: "the base turns too", set: &["session.flid.static_base=false"] },
];
const ACROSS: &str = "factor between layers";
/// How many of them are about leaves.
const LEAVES: usize = 6;
/// The outer factor of the shares that example 6 prints: they are for one factor only.
pub(super) const EXAMPLE_6_OUTER: u32 = 100;
const EXAMPLE_6_NAME: &str = "shares of example 6";

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            label: Label::Other("V-A, leave latency"),
            title: "The choice of the factor at various leave latencies",
            section: "V-A",
            kind: Kind::Sweep,
            panels: Box::new(|data| panels(data, &named()[..LEAVES])),
            claims: vec![
                Claim::new(
                    "What is lost does not depend on leaves within their bound (sections I and III-B).",
                    |data, _| {
                        let base = |factor| lost(&cell(data, 0, factor));
                        let positions = [1u32, 2, 3, 4].into_iter().flat_map(|outer| {
                            SHOWN.map(|factor| {
                                let name = format!("{}, c = {factor}", READINGS[outer as usize].name);
                                at(name, lost(&cell(data, outer, factor)).over(&base(factor)))
                            })
                        });
                        Finding::each(
                            "Packets lost, over those with leaves of 2 to 4 s",
                            Bound::Within(0.95, 1.05),
                            positions.collect(),
                        )
                    },
                ),
                ratio_claim(&[0, 1, 2, 3, 4, 5]),
            ],
        },
        Figure {
            label: Label::Other("V-A, other readings"),
            title: "The choice of the factor with other joins, shares and queues",
            section: "V-A",
            kind: Kind::Sweep,
            panels: Box::new(|data| panels(data, &named()[LEAVES..])),
            claims: vec![ratio_claim(&[6, 7, 8, 9, 10, 11, 12, 13, 14])],
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
    let curves = |value: &dyn Fn(Cell<'_>) -> crate::frame::samples::Samples| -> Vec<Curve> {
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
fn ratio_claim(outers: &'static [u32]) -> Claim {
    Claim::new("Over the 50 s factor 2.0 loses 2.5 times as many packets as factor 1.3.", move |data, _| {
        let position = |&outer: &u32| -> Placed {
            let [little, much] = SHOWN.map(|factor| lost(&cell(data, outer, factor)));
            at(READINGS[outer as usize].name, much.over(&little))
        };
        Finding::each(
            "Packets lost at 2.0 over 1.3",
            Bound::Above(LEAST_RATIO),
            outers.iter().map(position).collect(),
        )
    })
}
