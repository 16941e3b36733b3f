//! Figures 31 to 33: smoothing, a rate that grows without losses, and the window of LAP.

use layercast_core::units::{Duration, Layer, Rate, RateEstimate, Seq};
use layercast_kit::equation::{Formula, Path};
use layercast_kit::estimator::{
    Lap, Lip, LossConfig, Packet, SendTime, Smoother, Smoothing, SmoothingConfig,
};
use layercast_protocols::elm::options::Strategy;

use super::{BORDER, DURATION_S, beginning, exactly, follow, panel, swinging};
use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Style, Supply, Table, curve};

pub(super) fn figures() -> Vec<Figure> {
    vec![smoothing(), no_losses(), window()]
}

/// The weights of a new value that are drawn.
const WEIGHTS: [f64; 2] = [0.1, 0.01];

fn smoothed(time_series: &[(f64, f64)], smoothing: Smoothing, weight: f64) -> Vec<(f64, f64)> {
    let largest = Rate::from_kbps(8192.0);
    let mut smoother = Smoother::new(&SmoothingConfig { smoothing, weight, ..SmoothingConfig::elm(largest) });
    let mut push = |kbps: f64| {
        let rate = smoother.push(RateEstimate::Known(Rate::from_kbps(kbps)));
        rate.known().map_or(f64::NAN, Rate::as_kbps)
    };
    time_series.iter().map(|&(at, kbps)| (at, push(kbps))).collect()
}

/// How far a time_series swings in its second half.
fn swing(time_series: &[(f64, f64)]) -> f64 {
    let late = || time_series.iter().filter(|(at, _)| *at > DURATION_S / 2.0).map(|(_, kbps)| *kbps);
    late().fold(f64::NEG_INFINITY, f64::max) - late().fold(f64::INFINITY, f64::min)
}

fn smoothing() -> Figure {
    Figure {
        label: Label::Figure(31),
        title: "An oscillating rate and what smoothing makes of it",
        section: "6.1.4",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let time_series = swinging(BORDER);
            let line = |name: &str, hue, time_series: &[(f64, f64)]| {
                Curve::exact(name, Style::Line(hue), beginning(time_series, 60.0).collect::<Vec<_>>())
            };
            let mut curves = vec![line("calculated rate", 0, &time_series)];
            for (weight, hue) in WEIGHTS.into_iter().zip([2, 1]) {
                let name = format!("weighted mean, {weight}");
                curves.push(line(&name, hue, &smoothed(&time_series, Smoothing::Ewma, weight)));
            }
            let percentiles = smoothed(&time_series, Smoothing::PercentileMean, 1.0);
            curves.push(line("mean of percentiles", 3, &percentiles));
            vec![panel("Rates in kbit/s", "time, s", Table::About(12), curves)]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                let time_series = swinging(BORDER);
                let share = |name: &str, smoothing, weight| {
                    let left = swing(&smoothed(&time_series, smoothing, weight)) / swing(&time_series);
                    exactly(name, left).remove(0)
                };
                let ways = vec![
                    share("the weighted mean (0.01)", Smoothing::Ewma, WEIGHTS[1]),
                    share("the mean of percentiles", Smoothing::PercentileMean, 1.0),
                ];
                Measurements::of("What is left of the swing", ways)
            }),
            Supply::new(|_, _| {
                let time_series = swinging(BORDER);
                let [large, small] =
                    WEIGHTS.map(|weight| swing(&smoothed(&time_series, Smoothing::Ewma, weight)));
                Measurements::of("Swing at 0.01 over that at 0.1", exactly("the weights", small / large))
            }),
            Supply::new(|_, _| {
                let time_series = swinging(BORDER);
                let (_, raw) = follow(Strategy::Naive, &time_series);
                let (_, calm) = follow(Strategy::Naive, &smoothed(&time_series, Smoothing::Ewma, WEIGHTS[1]));
                let share = f64::from(calm) / f64::from(raw);
                Measurements::of(
                    "Changes of the naive strategy, smoothed over not",
                    exactly("weight 0.01", share),
                )
            }),
        ],
    }
}

/// The bottleneck of figure 32, and the rate of the layers held, in kbit/s.
const CAPACITY: f64 = 2000.0;
const SENT: f64 = 1024.0;
/// After which time nothing is lost any more.
const LAST_LOSS_S: f64 = 30.0;
const GROWING: &str = "calculated rate";

/// The calculated rate of a receiver that loses a packet in sixty for a while, and then none.
fn rate_without_losses() -> Vec<(f64, f64)> {
    let rtt = Duration::from_ms(100);
    let mut lip = Lip::new(&LossConfig { initial_rtt: rtt, ..LossConfig::default() });
    let path = Path::from_secs(1000.0, rtt.as_secs_f64(), 4.0 * rtt.as_secs_f64());
    let spacing_s = 8.0 / SENT;
    let count = (DURATION_S / spacing_s) as u64;
    let mut time_series = Vec::new();
    for seq in 0..count {
        let at = seq as f64 * spacing_s;
        let packet = Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us((at * 1e6) as u64) };
        if seq % 60 == 30 && at < LAST_LOSS_S {
            lip.on_lost(&packet);
        } else {
            lip.on_received(&packet);
        }
        let rate = Formula::PftkSimplified.rate(&path, lip.loss_rate());
        if let Some(rate) = rate.ok().and_then(RateEstimate::known).filter(|_| seq % 32 == 0) {
            time_series.push((at, rate.as_kbps()));
        }
    }
    time_series
}

fn no_losses() -> Figure {
    Figure {
        label: Label::Figure(32),
        title: "A calculated rate that grows beyond the capacity",
        section: "6.1.5",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let flat = |kbps: f64| [(0.0, kbps), (DURATION_S, kbps)];
            vec![panel(
                "Rates in kbit/s; no losses after 30 s",
                "time, s",
                Table::About(12),
                vec![
                    Curve::exact(GROWING, Style::Line(2), rate_without_losses()),
                    Curve::exact("capacity", Style::Line(0), flat(CAPACITY)),
                    Curve::exact("layers held", Style::Line(1), flat(SENT)),
                ],
            )]
        }),
        supplies: vec![Supply::new(|_, panels| {
            let points = curve(panels, 0, GROWING).map_or(&[][..], |curve| &curve.points);
            let late: Vec<f64> =
                points.iter().filter(|(at, _)| *at > LAST_LOSS_S).map(|(_, rate)| rate.mean()).collect();
            let least = late.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
            let end = late.last().copied().unwrap_or(f64::NAN);
            Measurements::of("The calculated rate over the capacity", exactly("120 s", end / CAPACITY)).and(
                Measurements::of(
                    "Least step of the calculated rate after the last loss, kbit/s",
                    exactly("any time", least),
                ),
            )
        })],
    }
}

/// Which packets of a period of twenty are lost.
const LOST: [u64; 3] = [4, 6, 11];
const COUNTED: &str = "losses that count";

/// The fraction of the losses that count with a window of a number of packets.
fn counted(size: u32) -> u64 {
    let mut lap =
        Lap::new(&LossConfig { initial_rtt: Duration::from_ms(100), window: size, ..LossConfig::default() });
    for seq in 0..20 {
        let packet = Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us(5000 * seq) };
        if LOST.contains(&seq) {
            lap.on_lost(&packet);
        } else {
            lap.on_received(&packet);
        }
    }
    lap.counted()
}

fn window() -> Figure {
    Figure {
        label: Label::Figure(33),
        title: "The window of LAP",
        section: "6.2.2",
        kind: Kind::Trace,
        panels: Box::new(|_| {
            let points = (1..=8).map(|size| (f64::from(size), counted(size) as f64));
            vec![panel(
                "Of three losses (packets 4, 6 and 11 of a period)",
                "window, packets",
                Table::Whole,
                vec![Curve::exact(COUNTED, Style::Dots(1), points)],
            )]
        }),
        supplies: vec![Supply::new(|_, panels| {
            let two = curve(panels, 0, COUNTED).map_or(f64::NAN, |curve| curve.at(3.0).mean());
            Measurements::of("Losses that count", exactly("a window of 3", two))
        })],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_one_counts_all_losses_and_a_wide_one_the_first() {
        assert_eq!([1, 2, 3, 5, 6].map(counted), [3, 3, 2, 2, 1]);
    }
}
