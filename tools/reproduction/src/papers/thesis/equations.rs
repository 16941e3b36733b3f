//! Figures 3 and 5: what the equations of section 4.2 say.

use layercast_kit::estimator::LossIntervals;

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table, curve};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

/// The loss probabilities of figure 3; the thesis does not state them.
const LOSSES: [f64; 4] = [0.001, 0.01, 0.03, 0.1];
/// Packets per round trip of figure 3.
const MOST_PACKETS: u32 = 128;

pub(super) fn figures() -> Vec<Figure> {
    vec![loss_probabilities(), average_interval()]
}

/// The probability that a round of `packets` loses at least one (eq. 8).
fn any_lost(loss: f64, packets: f64) -> f64 {
    1.0 - libm::pow(1.0 - loss, packets)
}

/// Loss events per packet if rounds follow each other without a gap (eq. 9).
fn events_in_rounds(loss: f64, packets: f64) -> f64 {
    any_lost(loss, packets) / packets
}

/// Loss events per packet if a round begins with a loss (eq. 12).
fn events_after_losses(loss: f64, packets: f64) -> f64 {
    1.0 / (packets - 1.0 + 1.0 / loss)
}

fn name(loss: f64) -> String {
    format!("{} %", super::grid::percent(loss))
}

fn loss_probabilities() -> Figure {
    let panels = |_: &_| {
        let counts = || (1..=MOST_PACKETS).map(f64::from);
        let exact = |suffix: &str, look: &dyn Fn(usize) -> Style, value: fn(f64, f64) -> f64| -> Vec<Curve> {
            let curves = LOSSES.iter().enumerate().map(|(index, &loss)| {
                let points = counts().map(|packets| (packets, 100.0 * value(loss, packets)));
                Curve::exact(&format!("{}{suffix}", name(loss)), look(index), points)
            });
            curves.collect()
        };
        let family = |index| Style::Line(index + 1);
        let mut events = exact(", eq. 12", &family, events_after_losses);
        events.extend(exact(", eq. 9", &|_| Style::Guide, events_in_rounds));
        vec![
            panel("Probability that a round loses a packet (eq. 8), %", exact("", &family, any_lost)),
            panel("Loss events per packet, %", events),
        ]
    };
    Figure {
        label: Label::Figure(3),
        title: "Loss probability of a round, and loss events per packet",
        section: "4.2.3",
        kind: Kind::Analytic,
        panels: Box::new(panels),
        supplies: vec![
            Supply::new(|_, panels| {
                let curves = panels.get(1).into_iter().flat_map(|panel| &panel.curves);
                Measurements::of(
                    "Each value over the one before it, the largest of each curve",
                    curves.map(largest_step).collect(),
                )
            }),
            Supply::new(|_, panels| {
                let curves = panels.first().into_iter().flat_map(|panel| &panel.curves);
                Measurements::of(
                    "Each value over the one before it, the least of each curve",
                    curves.map(least_step).collect(),
                )
            }),
        ],
    }
}

fn panel(title: &str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        across: "packets per round trip",
        across_scale: Scale::Logarithmic,
        up_scale: Scale::Logarithmic,
        curves,
        table: Table::About(9),
    }
}

/// Each value over the one before it.
fn steps(curve: &Curve) -> Vec<f64> {
    let values: Vec<f64> = curve.points.iter().map(|(_, samples)| samples.mean()).collect();
    values.windows(2).map(|pair| pair[1] / pair[0]).collect()
}

fn largest_step(curve: &Curve) -> Placed {
    let largest = steps(curve).into_iter().fold(f64::NEG_INFINITY, f64::max);
    (curve.name.clone(), Samples::exactly(largest))
}

fn least_step(curve: &Curve) -> Placed {
    let least = steps(curve).into_iter().fold(f64::INFINITY, f64::min);
    (curve.name.clone(), Samples::exactly(least))
}

/// The time_series of figure 5: how long each interval is; the long one is what the figure is about.
const INTERVALS: [u32; 14] = [100, 80, 120, 100, 90, 110, 100, 100, 90, 110, 600, 100, 110, 90];
const HISTORY: usize = 8;
const LONG: u32 = 600;
const PLAIN: &str = "average (eq. 10)";
const DISCOUNTED: &str = "average with history discounting";
const OPEN: &str = "open interval";

fn average_interval() -> Figure {
    Figure {
        label: Label::Figure(5),
        title: "The average loss interval in a long time without losses",
        section: "4.2.4 and 4.2.5",
        kind: Kind::Trace,
        panels: Box::new(|_| vec![course_of_the_average()]),
        supplies: vec![
            Supply::new(|_, panels| {
                let Some((start, average)) =
                    time_series(panels, PLAIN).and_then(|average| Some((start_of_growth(panels)?, average)))
                else {
                    return Measurements::of(
                        "Length of the open interval when the average begins to grow, over the average",
                        Vec::new(),
                    );
                };
                let before = average
                    .iter()
                    .find(|(at, _)| *at >= f64::from(long_start()))
                    .map_or(f64::NAN, |(_, value)| *value);
                let share = Samples::exactly(start / before);
                Measurements::of(
                    "Length of the open interval when the average begins to grow, over the average",
                    vec![("the long interval".to_owned(), share)],
                )
            }),
            Supply::new(|_, panels| {
                let grown = time_series(panels, PLAIN).unwrap_or_default();
                let (from, to) = (f64::from(long_start()), f64::from(long_start() + LONG));
                let within: Vec<f64> =
                    grown.iter().filter(|(at, _)| *at > from && *at < to).map(|(_, value)| *value).collect();
                let largest = within.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
                let least = within.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
                let here = |value| vec![("the long interval".to_owned(), Samples::exactly(value))];
                Measurements::of("Largest growth a packet, in packets", here(largest))
                    .and(Measurements::of("Least growth a packet, in packets", here(least)))
            }),
        ],
    }
}

/// When the long interval begins, in packets.
fn long_start() -> u32 {
    INTERVALS.iter().take_while(|length| **length != LONG).sum()
}

fn time_series(panels: &[Panel], name: &str) -> Option<Vec<(f64, f64)>> {
    let curve = curve(panels, 0, name)?;
    Some(curve.points.iter().map(|(at, samples)| (*at, samples.mean())).collect())
}

/// How long the open interval is when the average begins to grow.
fn start_of_growth(panels: &[Panel]) -> Option<f64> {
    let average = time_series(panels, PLAIN)?;
    let within: Vec<&(f64, f64)> = average.iter().filter(|(at, _)| *at >= f64::from(long_start())).collect();
    let first = within.first()?.1;
    within.iter().find(|(_, value)| *value > first + 1e-9).map(|(at, _)| at - f64::from(long_start()))
}

fn course_of_the_average() -> Panel {
    let mut averages = [(PLAIN, None, Vec::new()), (DISCOUNTED, Some(0.5), Vec::new())];
    for (_, discounting, points) in &mut averages {
        let mut intervals = LossIntervals::new(HISTORY, *discounting);
        let mut at = 0.0;
        for length in INTERVALS {
            for open in 0..length {
                if let Some(average) = intervals.average(f64::from(open)).filter(|_| at > 0.0) {
                    points.push((at, average));
                }
                at += 1.0;
            }
            intervals.push(f64::from(length), 1.0);
        }
    }
    let mut at = 0.0;
    let mut open_points = Vec::new();
    for length in INTERVALS {
        for open in 0..length {
            open_points.push((at, f64::from(open)));
            at += 1.0;
        }
    }
    let mut curves = vec![Curve::exact(OPEN, Style::Guide, open_points)];
    let lines = averages.into_iter().zip([1, 2]);
    curves.extend(lines.map(|((name, _, points), hue)| Curve::exact(name, Style::Line(hue), points)));
    Panel {
        title: "Packets".to_owned(),
        across: "packets sent",
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table: Table::About(20),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::frame::effort::Effort;
    use crate::frame::figure::Data;
    use crate::frame::report::{Outcome, outcomes};

    fn drawn(figure: &Figure) -> Vec<Panel> {
        (figure.panels)(&Data { effort: Effort::Quick, studies: BTreeMap::new() })
    }

    fn holds(label: Label) {
        let data = Data { effort: Effort::Quick, studies: BTreeMap::new() };
        let found = outcomes(&super::super::paper(), &data, label);
        assert!(found.iter().all(|outcome| *outcome == Outcome::Holds), "{found:?}");
    }

    #[test]
    fn figure_3_is_what_its_equations_say() {
        let panels = drawn(&loss_probabilities());
        let at = |panel, name: &str, packets| curve(&panels, panel, name).unwrap().at(packets).mean();
        // At one packet per round trip all are the loss probability itself.
        for loss in LOSSES {
            let name = name(loss);
            assert!((at(0, &name, 1.0) - 100.0 * loss).abs() < 1e-9);
            assert!((at(1, &format!("{name}, eq. 9"), 1.0) - 100.0 * loss).abs() < 1e-9);
            assert!((at(1, &format!("{name}, eq. 12"), 1.0) - 100.0 * loss).abs() < 1e-9);
        }
        // 1 - 0.97^32 = 0.6227, over 32; 1 / (31 + 33.3).
        assert!((at(0, "3 %", 32.0) - 62.27).abs() < 0.01);
        assert!((at(1, "3 %, eq. 9", 32.0) - 1.9459).abs() < 1e-3);
        assert!((at(1, "3 %, eq. 12", 32.0) - 100.0 / (31.0 + 100.0 / 3.0)).abs() < 1e-9);
        holds(Label::Figure(3));
    }

    #[test]
    fn figure_5_begins_to_grow_where_the_open_interval_passes_the_average() {
        let panels = drawn(&average_interval());
        holds(Label::Figure(5));
        let plain = curve(&panels, 0, PLAIN).unwrap();
        let discounted = curve(&panels, 0, DISCOUNTED).unwrap();
        let end = f64::from(long_start() + LONG - 1);
        assert!(discounted.at(end).mean() > plain.at(end).mean(), "discounting forgets the past sooner");
    }
}
