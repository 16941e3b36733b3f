//! Figures 28 to 33: the made-up trajectories of sections 6.1 and 6.2.2, through the library's own components.

mod laziness;
mod signals;

use layercast_core::units::{Rate, RateEstimate, Time};
use layercast_protocols::elm::Options;
use layercast_protocols::elm::options::Strategy;
use layercast_protocols::elm::strategy::{Manager, RateBounds, Step};

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table, curve};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

/// Cumulative rates in kbit/s; a time_series begins on the second.
const LADDER: [f64; 4] = [512.0, 1024.0, 2048.0, 4096.0];
const FIRST: usize = 1;
/// The rate around which trajectories swing: the next one above.
const BORDER: f64 = 2048.0;
const DURATION_S: f64 = 120.0;
/// How often a rate is calculated.
const EVERY_S: f64 = 0.1;

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![naive()];
    figures.extend(laziness::figures());
    figures.extend(signals::figures());
    figures
}

/// A calculated rate that swings around a mean, in two beats.
fn swinging(mean: f64) -> Vec<(f64, f64)> {
    let beat = |at_s: f64, period_s: f64| libm::sin(std::f64::consts::TAU * at_s / period_s);
    let count = (DURATION_S / EVERY_S) as u32;
    let times = (1..=count).map(|index| f64::from(index) * EVERY_S);
    times.map(|at| (at, mean + 300.0 * beat(at, 8.0) + 80.0 * beat(at, 1.7))).collect()
}

/// What lies around a step of the ladder.
fn rung(level: usize) -> RateBounds {
    let rate = |index: usize| LADDER.get(index).map(|&kbps| Rate::from_kbps(kbps));
    RateBounds {
        below: level.checked_sub(1).and_then(rate),
        here: rate(level).unwrap_or(Rate::ZERO),
        above: rate(level + 1),
    }
}

/// The rate of the level held at each moment of a time_series, and how often it changed.
fn follow(strategy: Strategy, time_series: &[(f64, f64)]) -> (Vec<(f64, f64)>, u32) {
    let mut manager = Manager::new(&Options { strategy, ..Options::default() });
    let (mut level, mut changes) = (FIRST, 0);
    let mut held = Vec::new();
    for &(at, kbps) in time_series {
        let now = Time::from_ns((at * 1e9) as u64);
        manager.on_rate(now, RateEstimate::Known(Rate::from_kbps(kbps)), &rung(level));
        if let Some(step) = manager.poll(now) {
            level = if step == Step::Join { level + 1 } else { level - 1 };
            changes += 1;
            manager.level_changed(now, step);
        }
        held.push((at, LADDER.get(level).copied().unwrap_or_default()));
    }
    (held, changes)
}

fn panel(title: &str, across: &'static str, table: Table, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across,
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table,
    }
}

/// The first seconds of a time series: more would only be a band.
fn beginning(time_series: &[(f64, f64)], seconds: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
    time_series.iter().copied().filter(move |(at, _)| *at <= seconds)
}

/// One number that is the same in every repetition.
fn exactly(name: &str, value: f64) -> Vec<Placed> {
    vec![(name.to_owned(), Samples::exactly(value))]
}

const CHANGES: &str = "naive strategy";
/// How far the mean lies below the border, in kbit/s.
const DISTANCES: [f64; 7] = [0.0, 60.0, 120.0, 180.0, 240.0, 300.0, 420.0];

fn naive() -> Figure {
    Figure {
        label: Label::Figure(28),
        title: "The naive strategy under an oscillating rate",
        section: "6.1.1",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let time_series = swinging(BORDER);
            let (held, _) = follow(Strategy::Naive, &time_series);
            let changes = DISTANCES.map(|distance| {
                let (_, changes) = follow(Strategy::Naive, &swinging(BORDER - distance));
                (distance, f64::from(changes))
            });
            vec![
                panel(
                    "Rates in kbit/s",
                    "time, s",
                    Table::About(12),
                    vec![
                        Curve::exact("calculated rate", Style::Line(2), beginning(&time_series, 40.0)),
                        Curve::exact("level held", Style::Line(1), beginning(&held, 40.0)),
                    ],
                ),
                panel(
                    "Level changes in 120 s",
                    "how far the mean rate lies below the layer's, kbit/s",
                    Table::Whole,
                    vec![Curve::exact(CHANGES, Style::Dots(1), changes)],
                ),
            ]
        }),
        supplies: vec![
            Supply::new(|_, panels| {
                let changes = curve(panels, 1, CHANGES).map_or(f64::NAN, |curve| curve.at(0.0).mean());
                let swings = DURATION_S / 8.0;
                Measurements::of(
                    "Level changes a swing of 8 s",
                    exactly("the layer's rate", changes / swings),
                )
            }),
            Supply::new(|_, panels| {
                let points = curve(panels, 1, CHANGES).map_or(&[][..], |curve| &curve.points);
                let steps = points.windows(2).map(|pair| {
                    let name = format!("{} kbit/s", pair[1].0);
                    (name, pair[1].1.less(&pair[0].1))
                });
                let ends = points
                    .first()
                    .zip(points.last())
                    .map_or(f64::NAN, |(first, last)| last.1.mean() - first.1.mean());
                Measurements::of("Changes less those at the next nearer mean", steps.collect()).and(
                    Measurements::of(
                        "Changes at the furthest mean less those at the nearest",
                        exactly("the ends", ends),
                    ),
                )
            }),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_naive_receiver_goes_up_and_down_with_each_swing() {
        let slow: Vec<(f64, f64)> = [2000.0, 2100.0, 2000.0, 900.0]
            .iter()
            .zip(1..)
            .map(|(&rate, at)| (f64::from(at), rate))
            .collect();
        let (held, changes) = follow(Strategy::Naive, &slow);
        assert_eq!(held.iter().map(|(_, rate)| *rate).collect::<Vec<_>>(), [1024.0, 2048.0, 1024.0, 512.0]);
        assert_eq!(changes, 3);
    }
}
