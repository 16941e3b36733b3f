//! Section III: what receivers do on a link of their own, figures 1, 4, 5 and 6.

use layercast_laboratory::results::ProbeInfo;
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scenario::{self, catalogue};
use layercast_protocols::registry::Registry;

use crate::frame::figure::{Curve, Figure, Kind, Label, Measurements, Panel, Style, Supply, Table};
use crate::frame::scale::Scale;
use crate::samples::{Placed, Samples};

/// tau_0 of the scenarios.
const INTERVAL_S: f64 = 0.25;
/// 60 tau_0.
const DURATION_S: f64 = 15.0;
/// A link between the cumulative rates 12 and 13 of the linear layers, and 3 and 4 of the exponential ones.
const FAST_LINK: &str = "link.G-R.rate=5400 kbit/s";
const EXPONENTIAL: &str = "session.m.layers={ scheme = \"doubling\", base = \"400 kbit/s\", count = 6 }";
const BACKOFF: &str = "session.m.options.backoff=true";
/// Long enough for four failed experiments in a row.
const LONG: &str = "duration=40 s";

/// The levels of a receiver over time.
struct TimeSeries {
    name: String,
    /// The time in seconds, the level counted from 0, and the cumulative rate in kbit/s.
    looks: Vec<(f64, u32, f64)>,
}

impl TimeSeries {
    /// When the level rose, and to which.
    fn joins(&self) -> Vec<(f64, u32)> {
        let rises = self.looks.windows(2).filter(|pair| pair[1].1 > pair[0].1);
        rises.map(|pair| (pair[1].0, pair[1].1)).collect()
    }

    fn after(&self, from_s: f64) -> impl Iterator<Item = &(f64, u32, f64)> {
        self.looks.iter().filter(move |(at, _, _)| *at > from_s)
    }

    /// The lowest and the highest cumulative rate from a time on.
    fn range_after(&self, from_s: f64) -> (f64, f64) {
        let rates = || self.after(from_s).map(|(_, _, rate)| *rate);
        (rates().fold(f64::INFINITY, f64::min), rates().fold(f64::NEG_INFINITY, f64::max))
    }

    fn curve(&self, look: Style) -> Curve {
        Curve::exact(&self.name, look, self.looks.iter().map(|(at, _, rate)| (*at, *rate)))
    }
}

/// Runs a built-in scenario once and gives the time_series of each probed receiver. One that cannot be run
/// gives none, and a claim on it is undecided.
fn trajectories(name: &str, overrides: &[&str], names: &[&str]) -> Vec<TimeSeries> {
    let Some(built_in) = catalogue::find(name) else { return Vec::new() };
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let Ok(plan) = scenario::read(name, built_in.text, &overrides, &Catalogue::of::<Registry>()) else {
        return Vec::new();
    };
    let request = RunRequest {
        id: name.to_owned(),
        text: built_in.text.to_owned(),
        command: String::new(),
        jobs: Some(1),
        ..RunRequest::default()
    };
    let Ok(outcome) = run::run::<Registry>(&plan, &request, &|_| {}) else { return Vec::new() };
    let Some(replication) = outcome.replications.first() else { return Vec::new() };
    let rates = outcome.experiment.flows.first().map_or(&[][..], |flow| &flow.level_rates_kbps);
    let probes = outcome.experiment.probes.iter().zip(&replication.probes).zip(names);
    let time_series = |((info, values), name): ((_, &Vec<Vec<f64>>), &&str)| {
        let info: &ProbeInfo = info;
        let levels = values.first().into_iter().flatten().enumerate();
        let known = levels.filter(|(_, level)| level.is_finite());
        let look = |(index, level): (usize, &f64)| {
            let rate = rates.get(*level as usize).copied()?;
            Some((info.time_s(index), *level as u32, rate))
        };
        TimeSeries { name: (*name).to_owned(), looks: known.filter_map(look).collect() }
    };
    probes.map(time_series).collect()
}

fn one(overrides: &[&str], name: &str) -> TimeSeries {
    let found = trajectories("wei-zhang/one-receiver", overrides, &[name]).into_iter().next();
    found.unwrap_or_else(|| TimeSeries { name: name.to_owned(), looks: Vec::new() })
}

fn four() -> Vec<TimeSeries> {
    trajectories("wei-zhang/four-receivers", &[], &["A", "B", "C", "D"])
}

fn panel(curves: Vec<Curve>) -> Panel {
    Panel {
        title: "Cumulative rate of the level held, kbit/s".to_owned(),
        across: "time, s",
        across_scale: Scale::Linear,
        up_scale: Scale::Linear,
        curves,
        table: Table::About(16),
    }
}

fn exactly(name: &str, value: f64) -> Vec<Placed> {
    vec![(name.to_owned(), Samples::exactly(value))]
}

pub(super) fn figures() -> Vec<Figure> {
    vec![catching_up(), climb(), structures(), backing_off()]
}

fn catching_up() -> Figure {
    Figure {
        label: Label::Figure(1),
        title: "Four receivers that come one after the other",
        section: "I",
        kind: Kind::TimeSeries,
        panels: Box::new(|_| {
            let hues = [1, 2, 3, 4];
            let curves = four()
                .iter()
                .zip(hues)
                .map(|(time_series, hue)| time_series.curve(Style::Line(hue)))
                .collect();
            vec![panel(curves)]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                let share = |time_series: &TimeSeries, low: u32, high: u32| {
                    let last = || time_series.after(DURATION_S - 5.0);
                    let there = last().filter(|(_, level, _)| (low..=high).contains(level)).count();
                    there as f64 / last().count().max(1) as f64
                };
                let all = four();
                let of = |low: u32, high: u32| -> Vec<Placed> {
                    let one = |time_series: &TimeSeries| {
                        (time_series.name.clone(), Samples::exactly(share(time_series, low, high)))
                    };
                    all.iter().map(one).collect()
                };
                Measurements::of("Share of the last 5 s on the levels 2 and 3", of(2, 3))
                    .and(Measurements::of("Share of the last 5 s on level 3", of(3, 3)))
            }),
            Supply::new(|_, _| {
                let all = four();
                let Some((first, others)) = all.split_first() else {
                    return Measurements::of("Share of the last 5 s on the same level as A", Vec::new());
                };
                let same = |time_series: &TimeSeries| {
                    let pairs = || first.after(DURATION_S - 5.0).zip(time_series.after(DURATION_S - 5.0));
                    let same = pairs().filter(|(one, other)| one.1 == other.1).count();
                    (time_series.name.clone(), Samples::exactly(same as f64 / pairs().count().max(1) as f64))
                };
                Measurements::of(
                    "Share of the last 5 s on the same level as A",
                    others.iter().map(same).collect(),
                )
            }),
        ],
    }
}

fn climb() -> Figure {
    Figure {
        label: Label::Figure(4),
        title: "The climb of one receiver",
        section: "III-A",
        kind: Kind::TimeSeries,
        panels: Box::new(|_| vec![panel(vec![one(&[FAST_LINK], "linear").curve(Style::Line(1))])]),
        supplies: vec![Supply::new(|_, _| {
            let time_series = one(&[FAST_LINK], "linear");
            let top = time_series.joins().iter().map(|(_, level)| *level).max().unwrap_or(0);
            let first = time_series.joins().into_iter().take(top as usize);
            let points = first.map(|(at, level)| {
                (format!("level {level}"), Samples::exactly(at / (f64::from(level + 1) * INTERVAL_S)))
            });
            Measurements::of("When a level is reached, over (level + 1) tau_0", points.collect())
        })],
    }
}

fn structures() -> Figure {
    let both = || [one(&[FAST_LINK], "linear"), one(&[FAST_LINK, EXPONENTIAL], "exponential")];
    let peak = |time_series: &TimeSeries| {
        let above = |(_, _, rate): &&(f64, u32, f64)| *rate > 5400.0;
        time_series.looks.iter().find(above).map_or(f64::NAN, |(at, _, _)| *at)
    };
    let swing = |time_series: &TimeSeries| {
        let (low, high) = time_series.range_after(DURATION_S - 6.0);
        high - low
    };
    Figure {
        label: Label::Figure(5),
        title: "Linear and exponential layers on one link",
        section: "III-B",
        kind: Kind::TimeSeries,
        panels: Box::new(move |_| {
            let [linear, exponential] = both();
            vec![panel(vec![linear.curve(Style::Line(1)), exponential.curve(Style::Line(2))])]
        }),
        supplies: vec![
            Supply::new(move |_, _| {
                let [linear, exponential] = both().map(|time_series| peak(&time_series));
                Measurements::of(
                    "When exponential layers exceed the link, over when linear ones do",
                    exactly("the first time", exponential / linear),
                )
            }),
            Supply::new(move |_, _| {
                let [linear, exponential] = both().map(|time_series| swing(&time_series));
                Measurements::of(
                    "The range of linear layers over that of exponential ones in the last 6 s",
                    exactly("one link", linear / exponential),
                )
            }),
        ],
    }
}

fn backing_off() -> Figure {
    Figure {
        label: Label::Figure(6),
        title: "Exponential back-off after failed experiments",
        section: "III-C",
        kind: Kind::TimeSeries,
        panels: Box::new(|_| {
            let backing_off = one(&[BACKOFF, LONG], "with back-off");
            vec![panel(vec![
                one(&[LONG], "without").curve(Style::Line(0)),
                backing_off.curve(Style::Line(1)),
            ])]
        }),
        supplies: vec![
            Supply::new(|_, _| {
                let time_series = one(&[BACKOFF, LONG], "with back-off");
                let tries: Vec<f64> = time_series
                    .joins()
                    .into_iter()
                    .filter(|(_, level)| *level == 3)
                    .map(|(at, _)| at)
                    .collect();
                let spacing = 4.0 * INTERVAL_S;
                let gaps = tries.windows(2).skip(1).enumerate().take(3).map(|(number, pair)| {
                    let asked = libm::pow(2.0, number as f64 + 1.0);
                    (
                        format!("failure {}", number + 1),
                        Samples::exactly((pair[1] - pair[0]) / spacing / asked),
                    )
                });
                Measurements::of("Time to the next experiment over 2^n spacings", gaps.collect())
            }),
            Supply::new(|_, _| {
                let above = |time_series: &TimeSeries| {
                    time_series.after(DURATION_S).filter(|(_, level, _)| *level > 2).count() as f64
                };
                let ratio = above(&one(&[BACKOFF, LONG], "with back-off")) / above(&one(&[LONG], "without"));
                Measurements::of(
                    "Time above level 2 after 15 s, over the same without back-off",
                    exactly("one link", ratio),
                )
            }),
        ],
    }
}
