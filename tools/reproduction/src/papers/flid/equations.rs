//! What follows from the equations of section IV-C and the appendix: figures 3, 10 and 11, and other factors.

use layercast_core::units::Duration;
use layercast_protocols::flid::{Climb, Goal, Model, SEPARATION, Target, climb, heuristic, separated};

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, curve};
use crate::samples::{Placed, Samples};

use super::shapes::{at, line, panel};

/// The base in packets/s, and the number of layers (examples 2, 5 and 6).
const BASE: f64 = 3.0;
const LAYERS: i32 = 30;
/// The range of loss rates, and how many of them are drawn (the paper does not say which for its figures).
const RANGE: (f64, f64) = (0.001, 0.1);
const DRAWN: u32 = 100;
/// The factors and the ratios of slot to nominal round-trip time that are tried.
const FACTORS: [f64; 4] = [1.2, 1.3, 1.5, 2.0];
const RATIOS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
const LOSS: &str = "packet loss probability, %";
const FLID: &str = "FLID";
const TCP: &str = "TCP by equation 1";
const DYNAMIC: &str = "dynamic layers";
const STATIC: &str = "static layers";

/// What example 5 prints for the heuristic.
const EXAMPLE_5: [f64; 30] = [
    0.932, 0.932, 0.932, 0.932, 0.932, 0.932, 0.932, 0.932, 0.932, 0.932, 0.899, 0.840, 0.751, 0.649, 0.541,
    0.441, 0.353, 0.278, 0.217, 0.169, 0.131, 0.100, 0.078, 0.060, 0.046, 0.035, 0.027, 0.021, 0.016, 0.0,
];
/// What example 6 prints for hill climbing.
const EXAMPLE_6: [f64; 30] = [
    0.999, 0.932, 0.931, 0.930, 0.929, 0.928, 0.927, 0.926, 0.925, 0.924, 0.923, 0.922, 0.921, 0.920, 0.901,
    0.312, 0.311, 0.310, 0.248, 0.122, 0.118, 0.108, 0.077, 0.051, 0.040, 0.005, 0.003, 0.002, 0.001, 0.0,
];

/// The nominal round-trip time of the examples.
pub(super) fn rtt() -> Duration {
    Duration::from_ms(100)
}

/// 30 levels from 3 packets/s by a factor.
pub(super) fn model(factor: f64, slot_s: f64) -> Model {
    Model {
        packets_per_s: (0..LAYERS).map(|level| BASE * libm::pow(factor, f64::from(level))).collect(),
        slot_s,
    }
}

fn climbed(model: &Model, target: &Target) -> Vec<f64> {
    let start = separated(&heuristic(model, target), SEPARATION);
    climb(model, &Goal::from_paper(target), &start, &Climb::default()).increase_probabilities
}

fn losses() -> impl Iterator<Item = f64> {
    let position = |step: u32| f64::from(step) / f64::from(DRAWN - 1);
    (0..DRAWN).map(move |step| RANGE.0 * libm::pow(RANGE.1 / RANGE.0, position(step)))
}

/// The mean rate by the recursion as it is printed in equation 4, with 1 - p_i where p_i follows from equation 3.
fn as_printed(model: &Model, increase_probabilities: &[f64], loss: f64) -> f64 {
    let wrong: Vec<f64> = increase_probabilities.iter().map(|rise| 1.0 - rise).collect();
    model.mean_rate(&wrong, loss)
}

pub(super) fn figures() -> Vec<Figure> {
    vec![
        memberships(),
        against_tcp(
            Label::Figure(10),
            "The heuristic's mean rate and TCP's",
            "appendix A",
            heuristic,
            quantities_of_the_heuristic(),
        ),
        against_tcp(
            Label::Figure(11),
            "The mean rate after hill climbing and TCP's",
            "appendix B",
            climbed,
            quantities_of_climbing(),
        ),
        other_factors(),
    ]
}

fn memberships() -> Figure {
    Figure {
        label: Label::Figure(3),
        title: "Joins per second against the loss probability",
        section: "IV-C, example 2",
        kind: Kind::Analytic,
        panels: Box::new(|_| {
            let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
            let increase_probabilities = climbed(&model, &target);
            let joins = |loss| model.memberships(&increase_probabilities, loss);
            let curves = vec![
                line(DYNAMIC, 1, losses().map(|loss| (loss * 100.0, joins(loss).dynamic))),
                line(
                    "dynamic above the base",
                    3,
                    losses().map(|loss| (loss * 100.0, joins(loss).dynamic_above_base)),
                ),
                line(STATIC, 2, losses().map(|loss| (loss * 100.0, joins(loss).fixed))),
            ];
            vec![panel("Joins per second, and as many leaves", LOSS, curves).by_factors_across().about(9)]
        }),
        supplies: vec![
            Supply::new(|_, panels| extremes(panels, DYNAMIC, "Joins per second")),
            Supply::new(|_, panels| {
                let (Some(dynamic), Some(fixed)) = (curve(panels, 0, DYNAMIC), curve(panels, 0, STATIC))
                else {
                    return Measurements::of("Dynamic over static", Vec::new());
                };
                let ratio =
                    |(loss, joins): &(f64, Samples)| at(format!("{loss:.2} %"), joins.over(&fixed.at(*loss)));
                Measurements::of("Dynamic over static", dynamic.points.iter().map(ratio).collect())
            }),
        ],
    }
}

fn extremes(panels: &[Panel], name: &str, what: &'static str) -> Measurements {
    let points = curve(panels, 0, name).map_or(&[][..], |curve| &curve.points);
    let position = |(loss, samples): &(f64, Samples)| at(format!("{loss:.2} %"), samples.clone());
    Measurements::of(what, points.iter().map(position).collect())
}

/// The mean rate with some increase probabilities, compared with TCP's.
fn against_tcp(
    label: Label,
    title: &'static str,
    section: &'static str,
    shares: fn(&Model, &Target) -> Vec<f64>,
    supplies: Vec<Supply>,
) -> Figure {
    Figure {
        label,
        title,
        section,
        kind: Kind::Analytic,
        panels: Box::new(move |_| {
            let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
            let increase_probabilities = shares(&model, &target);
            let tcp = losses().map(|loss| (loss * 100.0, target.rate(loss)));
            let flid = losses().map(|loss| (loss * 100.0, model.mean_rate(&increase_probabilities, loss)));
            let printed =
                losses().map(|loss| (loss * 100.0, as_printed(&model, &increase_probabilities, loss)));
            let curves = vec![
                line(FLID, 1, flid),
                Curve::exact(TCP, Style::Line(0), tcp),
                Curve::exact("equation 4 as printed", Style::Guide, printed),
            ];
            let levels = increase_probabilities.iter().enumerate().map(|(level, rise)| (level as f64, *rise));
            vec![
                panel("Mean rate in packets/s", LOSS, curves).by_factors_across().by_factors_up().about(9),
                panel("Share of slots in which a level may rise", "level", vec![line("share", 1, levels)]),
            ]
        }),
        supplies,
    }
}

/// The mean rate over TCP's at each loss rate drawn.
fn over_tcp(panels: &[Panel]) -> Vec<Placed> {
    let (Some(flid), Some(tcp)) = (curve(panels, 0, FLID), curve(panels, 0, TCP)) else { return Vec::new() };
    let ratio = |(loss, rate): &(f64, Samples)| at(format!("{loss:.2} %"), rate.over(&tcp.at(*loss)));
    flid.points.iter().map(ratio).collect()
}

/// The largest difference of shares from those that are printed.
fn farthest(shares: &[f64], printed: &[f64]) -> Samples {
    Samples::exactly(shares.iter().zip(printed).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max))
}

fn quantities_of_the_heuristic() -> Vec<Supply> {
    vec![
        Supply::new(|_, panels| Measurements::of("FLID over TCP", over_tcp(panels))),
        Supply::new(|_, _| {
            let shares = heuristic(&model(1.3, 0.5), &Target::new(rtt()));
            let position = at("30 levels", farthest(&shares, &EXAMPLE_5));
            Measurements::of("Largest difference", vec![position])
        }),
    ]
}

/// The error of the heuristic, of hill climbing and of what example 6 prints.
fn errors() -> [f64; 3] {
    let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
    let goal = Goal::from_paper(&target);
    [heuristic(&model, &target), climbed(&model, &target), EXAMPLE_6.to_vec()]
        .map(|increase_probabilities| goal.error(&model, &increase_probabilities))
}

fn quantities_of_climbing() -> Vec<Supply> {
    vec![
        Supply::new(|_, _| {
            let [heuristic, climbed, printed] = errors();
            let positions = vec![
                at("the climbed shares", Samples::exactly(climbed / heuristic)),
                at("those that example 6 prints", Samples::exactly(printed / heuristic)),
            ];
            Measurements::of("Sum of squared relative errors over the heuristic's", positions)
        }),
        Supply::new(|_, panels| {
            let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
            let before = heuristic(&model, &target);
            let (Some(flid), Some(tcp)) = (curve(panels, 0, FLID), curve(panels, 0, TCP)) else {
                return Measurements::of("Squared relative errors over the heuristic's", Vec::new());
            };
            let low = flid.points.iter().filter(|(loss, _)| *loss < 0.5);
            let off = |rate: f64, tcp: f64| (rate / tcp - 1.0) * (rate / tcp - 1.0);
            let (mut climbed, mut started) = (0.0, 0.0);
            for (loss, rate) in low {
                let tcp = tcp.at(*loss).mean();
                climbed += off(rate.mean(), tcp);
                started += off(model.mean_rate(&before, loss / 100.0), tcp);
            }
            let position = at("0.1 to 0.5 %", Samples::exactly(climbed / started));
            Measurements::of("Squared relative errors over the heuristic's", vec![position])
        }),
        Supply::new(|_, panels| Measurements::of("FLID over TCP", over_tcp(panels))),
        Supply::new(|_, _| {
            let shares = climbed(&model(1.3, 0.5), &Target::new(rtt()));
            let position = at("30 levels", farthest(&shares, &EXAMPLE_6));
            Measurements::of("Largest difference", vec![position])
        }),
    ]
}

/// The heuristic's root mean square relative error for a factor and a ratio of slot to round-trip time.
fn root_mean(factor: f64, ratio: f64) -> f64 {
    let (model, target) = (model(factor, ratio * rtt().as_secs_f64()), Target::new(rtt()));
    let goal = Goal::from_paper(&target);
    goal.mean(goal.error(&model, &heuristic(&model, &target)))
}

fn other_factors() -> Figure {
    Figure {
        label: Label::Other("Appendix A, other factors"),
        title: "The heuristic with other factors and slots",
        section: "appendix A",
        kind: Kind::Analytic,
        panels: Box::new(|_| {
            let curve = |(index, &factor): (usize, &f64)| {
                let points = RATIOS.map(|ratio| (ratio, root_mean(factor, ratio)));
                Curve::exact(&format!("c = {factor:.1}"), Style::Family { index, of: FACTORS.len() }, points)
            };
            let curves = FACTORS.iter().enumerate().map(curve).collect();
            vec![
                panel("Root mean square relative error", "slot over nominal round-trip time", curves)
                    .by_factors_across(),
            ]
        }),
        supplies: vec![
            Supply::new(|_, panels| {
                ends(panels, "Root mean square relative error, at most 20 round-trip times", |ratio| {
                    (5.0..=20.0).contains(&ratio)
                })
            }),
            Supply::new(|_, panels| {
                ends(panels, "Root mean square relative error, beyond", |ratio| ratio > 20.0)
            }),
        ],
    }
}

/// The errors at some ratios.
fn ends(panels: &[Panel], name: &'static str, wanted: fn(f64) -> bool) -> Measurements {
    let curves = panels.first().into_iter().flat_map(|panel| &panel.curves);
    let positions = curves.flat_map(|curve| {
        let points = curve.points.iter().filter(move |(ratio, _)| wanted(*ratio));
        points.map(|(ratio, error)| at(format!("{}, ratio {ratio}", curve.name), error.clone()))
    });
    Measurements::of(name, positions.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_that_the_errata_tell() {
        let [heuristic, climbed, printed] = errors();
        assert!((25.3..25.5).contains(&heuristic), "{heuristic}");
        assert!(climbed < 17.0, "{climbed}");
        assert!((23.9..24.1).contains(&printed), "{printed}");
        let (model, target) = (model(1.3, 0.5), Target::new(rtt()));
        let printed = as_printed(&model, &EXAMPLE_6, 0.01) / target.rate(0.01);
        assert!(!(0.33..=3.0).contains(&printed), "the printed recursion is far off: {printed}");
    }
}
