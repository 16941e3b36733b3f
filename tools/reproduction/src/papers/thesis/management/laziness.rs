//! Figures 29 and 30: when the lazy strategy starts a timer, and how long it waits.

use layercast_core::units::{Duration, Rate, RateEstimate, Time};
use layercast_protocols::elm::Options;
use layercast_protocols::elm::options::Strategy;
use layercast_protocols::elm::strategy::Manager;

use super::{BORDER, FIRST, LADDER, exactly, panel, rung};
use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table, curve};
use crate::samples::Samples;

/// The longest delays (section 6.3).
const LONGEST_S: f64 = 25.0;
/// How wide the passive zone of the figure is, in gaps between layers; the thesis states no width.
const ZONE: f64 = 0.25;

pub(super) fn figures() -> Vec<Figure> {
    vec![passive_zone(), reactivity()]
}

/// How long a lazy receiver waits at a rate before it changes its level; none if no timer runs.
fn delay_s(kbps: f64, zone: f64) -> Option<f64> {
    let longest = Duration::from_secs(25);
    let options = Options {
        strategy: Strategy::Lazy,
        t_join_max: longest,
        t_leave_max: longest,
        z_up: zone,
        z_down: zone,
        ..Options::default()
    };
    let mut manager = Manager::new(&options);
    // Not at zero, where a join might be held back for another reason.
    let now = Time::ZERO + Duration::from_secs(1000);
    manager.on_rate(now, RateEstimate::Known(Rate::from_kbps(kbps)), &rung(FIRST));
    manager.next_deadline().map(|deadline| deadline.since(now).as_secs_f64())
}

/// Rates from below the layer under the present one to above the one over the next.
fn rates() -> impl Iterator<Item = f64> + Clone {
    (0..=112).map(|step| 400.0 + 25.0 * f64::from(step))
}

fn delays(zone: f64) -> Vec<(f64, Samples)> {
    rates().map(|kbps| (kbps, Samples(vec![delay_s(kbps, zone)]))).collect()
}

const WITHOUT: &str = "without a passive zone";
const WITH: &str = "passive zone of a quarter of each gap";

fn passive_zone() -> Figure {
    Figure {
        label: Label::Figure(29),
        title: "The passive zone of the lazy strategy",
        section: "6.1.3",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let curve = |name: &str, hue, zone| Curve {
                name: name.to_owned(),
                look: Style::Line(hue),
                points: delays(zone),
            };
            vec![panel(
                "Delay until the level changes, s",
                "calculated rate, kbit/s; 1024 is held, 2048 is next",
                Table::About(15),
                vec![curve(WITHOUT, 1, 0.0), curve(WITH, 2, ZONE)],
            )]
        }),
        supplies: vec![Supply::new(|_, panels| {
            let [below, here] = [LADDER[FIRST - 1], LADDER[FIRST]];
            let (low, high) = (here - ZONE * (here - below), BORDER + ZONE * (BORDER - here));
            let is_in_zone = |kbps: f64| kbps > low && kbps < high;
            Measurements::of(
                "Share of rates in the zone at which a timer starts",
                exactly("the zone", share_with_timer(panels, WITH, is_in_zone)),
            )
            .and(Measurements::of(
                "Share of rates outside of the zone at which a timer starts",
                exactly("the rest", share_with_timer(panels, WITH, |kbps| kbps < low || kbps > high)),
            ))
        })],
    }
}

/// The share of these rates at which a timer starts.
fn share_with_timer(panels: &[Panel], name: &str, is_meant: impl Fn(f64) -> bool) -> f64 {
    let points = curve(panels, 0, name).map_or(&[][..], |curve| &curve.points);
    let meant: Vec<&Samples> =
        points.iter().filter(|(at, _)| is_meant(*at)).map(|(_, delay)| delay).collect();
    let with_timer = meant.iter().filter(|delay| delay.statistic().mean.is_some()).count();
    with_timer as f64 / meant.len() as f64
}

const JOIN: &str = "join";
const LEAVE: &str = "leave";

fn reactivity() -> Figure {
    Figure {
        label: Label::Figure(30),
        title: "Reactivity and laziness",
        section: "6.1.3",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            // As the library waits: the laziness is the share of the longest delay.
            let [below, here] = [LADDER[FIRST - 1], LADDER[FIRST]];
            let excesses = || (1..=50).map(|step| f64::from(step) / 50.0);
            let joins = excesses().map(|excess| (excess, delay_s(BORDER + excess * (BORDER - here), 0.0)));
            let leaves = excesses().map(|excess| (excess, delay_s(here - excess * (here - below), 0.0)));
            let lazy = |delay: Option<f64>| Samples(vec![delay.map(|delay| delay / LONGEST_S)]);
            let laziness: Vec<Vec<(f64, Samples)>> = [joins.collect::<Vec<_>>(), leaves.collect()]
                .into_iter()
                .map(|time_series| {
                    time_series.into_iter().map(|(excess, delay)| (excess, lazy(delay))).collect()
                })
                .collect();
            let curves = |value: &dyn Fn(&Samples) -> Samples| -> Vec<Curve> {
                let named = [(JOIN, 1), (LEAVE, 2)].into_iter().zip(&laziness);
                let curves = named.map(|((name, hue), points)| Curve {
                    name: name.to_owned(),
                    look: Style::Line(hue),
                    points: points.iter().map(|(excess, lazy)| (*excess, value(lazy))).collect(),
                });
                curves.collect()
            };
            let across = "delta: how far the rate is beyond the layer, in gaps";
            vec![
                panel("Reactivity", across, Table::About(10), curves(&|lazy| lazy.each(|lazy| 1.0 - lazy))),
                panel("Laziness", across, Table::About(10), curves(&Samples::clone)),
            ]
        }),
        supplies: vec![
            Supply::new(|_, panels| {
                let largest = |name: &str, expected: fn(f64) -> f64| {
                    let points = curve(panels, 0, name).map_or(&[][..], |curve| &curve.points);
                    let off = points.iter().map(|(delta, found)| (found.mean() - expected(*delta)).abs());
                    exactly(name, off.fold(0.0, f64::max))
                };
                Measurements::of("Largest difference from delta", largest(JOIN, |delta| delta)).and(
                    Measurements::of("Largest difference from the root of delta", largest(LEAVE, libm::sqrt)),
                )
            }),
            Supply::new(|_, panels| {
                let [join, leave] = [JOIN, LEAVE].map(|name| curve(panels, 0, name));
                let Some((join, leave)) = join.zip(leave) else {
                    return Measurements::of("Reactivity of leaving over that of joining", Vec::new());
                };
                let inside = join.points.iter().filter(|(delta, _)| *delta < 1.0);
                let positions =
                    inside.map(|(delta, joining)| (format!("delta {delta}"), leave.at(*delta).over(joining)));
                Measurements::of("Reactivity of leaving over that of joining", positions.collect())
            }),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_waits_as_the_thesis_says() {
        // Halfway to the layer above the next: 25 s times 1 - 0.5; halfway down: 25 s times 1 - sqrt 0.5.
        assert!((delay_s(2560.0, 0.0).unwrap() - 12.5).abs() < 1e-6);
        assert!((delay_s(768.0, 0.0).unwrap() - 25.0 * (1.0 - 0.5f64.sqrt())).abs() < 1e-6);
        assert_eq!(delay_s(1500.0, 0.0), None);
        assert_eq!(delay_s(2100.0, ZONE), None);
    }
}
