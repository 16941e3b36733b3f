//! Section 5.1, one session alone: figure 6.

use crate::frame::effort::Effort;
use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Style, Supply};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

use super::runs::{AMCA, Runs, at, over_time, panel, runs};
use super::studies::{EVERY, LINK_KBPS};

/// From here to the end it should have converged; brief runs end before that.
fn converged(data: &Data) -> (f64, f64) {
    match data.effort {
        Effort::Full => (100.0, 200.0),
        Effort::Quick => (45.0, 90.0),
    }
}

fn of(data: &Data, every: u32) -> Runs<'_> {
    runs(data, "convergence", Some(every))
}

fn used(data: &Data, every: u32) -> Samples {
    of(data, every).kbps(AMCA, converged(data).0, converged(data).1).times(1.0 / LINK_KBPS)
}

fn reaction(data: &Data, every: u32) -> Samples {
    of(data, every).reached(AMCA, 0.0, converged(data).1, |kbps| kbps >= 0.9 * LINK_KBPS)
}

fn roughness(data: &Data, every: u32) -> Samples {
    of(data, every).variation(AMCA, converged(data).0, converged(data).1)
}

fn lost(data: &Data, every: u32) -> Samples {
    of(data, every).drops("A-B", converged(data).0, converged(data).1)
}

fn lost_before(data: &Data, every: u32) -> Samples {
    of(data, every).drops("A-B", 0.0, converged(data).0)
}

/// A number at each N.
fn at_each(data: &Data, value: fn(&Data, u32) -> Samples) -> Vec<Placed> {
    EVERY.map(|every| at(format!("N = {every}"), value(data, every))).to_vec()
}

fn by_n(name: &str, hue: usize, data: &Data, value: fn(&Data, u32) -> Samples) -> Curve {
    let points = EVERY.map(|every| (f64::from(every), value(data, every)));
    Curve { name: name.to_owned(), look: Style::Dots(hue), points: points.to_vec() }
}

pub(super) fn figure() -> Figure {
    Figure {
        label: Label::Figure(6),
        title: "One session alone: reaction and smoothness",
        section: "5.1",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            let trajectories = EVERY.iter().zip(1..);
            let trajectories = trajectories
                .map(|(&every, hue)| of(data, every).time_series(AMCA, &format!("N = {every}"), hue));
            let across = "N, packets";
            let by_factors = |title: &str, curves| {
                let plain = panel(title, across, curves);
                Panel { across_scale: Scale::Logarithmic, ..plain }
            };
            vec![
                over_time("Throughput of R1, kbit/s (one of 15 replications)", trajectories.collect()),
                by_factors("Use of the bottleneck, 100 to 200 s", vec![by_n("used", 1, data, used)]),
                by_factors(
                    "Seconds until 90 % of the bottleneck are used",
                    vec![by_n("reaction", 2, data, reaction)],
                ),
                by_factors(
                    "Coefficient of variation of the throughput in 1 s, 100 to 200 s",
                    vec![by_n("variation", 3, data, roughness)],
                ),
                by_factors(
                    "Packets dropped",
                    vec![by_n("0 to 100 s", 2, data, lost_before), by_n("100 to 200 s", 4, data, lost)],
                ),
            ]
        }),
        supplies: vec![
            Supply::new(|data, _| {
                Measurements::of("Use of the bottleneck, 100 to 200 s", at_each(data, used))
            }),
            Supply::new(|data, _| {
                Measurements::of("Seconds to 90 % of the bottleneck", at_each(data, reaction))
            }),
            Supply::new(|data, _| Measurements::of("Coefficient of variation", at_each(data, roughness))),
            Supply::new(|data, _| Measurements::of("Packets dropped from 100 to 200 s", at_each(data, lost))),
        ],
    }
}
