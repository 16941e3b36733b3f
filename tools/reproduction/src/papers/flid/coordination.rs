//! Section V-C: 100 hosts behind one bottleneck (figure 8).

use std::collections::BTreeMap;

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Panel, Supply};
use crate::frame::time_series::TimeSeries;
use crate::samples::{Placed, Samples};

use super::shapes::{at, line, panel};

/// The set-ups by the outer factor of their study.
const SETTINGS: [(u32, &str); 3] =
    [(1, "as in the scenario"), (2, "layers to 4 Mbit/s"), (3, "layers to 4 Mbit/s, access of 5 to 50 ms")];
/// All are equal if they stay equal for this number of samples, one per slot: ten slots.
const LOOKS: usize = 10;
/// From here on they are asked to stay equal, in seconds: 25 s after the last start.
const LATER_S: f64 = 30.0;

/// The levels of all hosts at one time.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot {
    at_s: f64,
    hosts: usize,
    lowest: f64,
    highest: f64,
    sum: f64,
}

impl Snapshot {
    fn spread(&self) -> f64 {
        self.highest - self.lowest
    }
}

/// The levels of all hosts at each end of a bin from when all have joined.
pub(crate) fn looks(time_series: &TimeSeries, replication: u32) -> Vec<Snapshot> {
    let mut looks: BTreeMap<u64, Snapshot> = BTreeMap::new();
    let mut hosts = 0;
    for flow in time_series.flows() {
        hosts += 1;
        for (at_s, level) in
            time_series.levels(replication, flow).into_iter().filter(|(_, level)| *level >= 0.0)
        {
            let new = Snapshot { at_s, hosts: 0, lowest: level, highest: level, sum: 0.0 };
            let look = looks.entry((at_s * 1e3).round() as u64).or_insert(new);
            look.hosts += 1;
            look.lowest = look.lowest.min(level);
            look.highest = look.highest.max(level);
            look.sum += level;
        }
    }
    looks.into_values().filter(|look| look.hosts == hosts).collect()
}

/// When all levels came to be equal and stayed so for ten looks; the end if they never did.
fn equal_after_s(looks: &[Snapshot]) -> Option<f64> {
    let are_equal = |looks: &&[Snapshot]| looks.iter().all(|look| look.spread() == 0.0);
    let found = looks.windows(LOOKS).find(are_equal).and_then(|found| found.first());
    found.or(looks.last()).map(|look| look.at_s)
}

/// The share of the later looks at which all levels are equal.
pub(crate) fn equal_later(looks: &[Snapshot]) -> Option<f64> {
    let later: Vec<&Snapshot> = looks.iter().filter(|look| look.at_s > LATER_S).collect();
    let equal = later.iter().filter(|look| look.spread() == 0.0).count();
    (!later.is_empty()).then(|| equal as f64 / later.len() as f64)
}

fn time_series(data: &Data, outer: u32) -> Option<&TimeSeries> {
    data.study("coordination").time_series(Some(outer))
}

fn positions(data: &Data, value: fn(&[Snapshot]) -> Option<f64>) -> Vec<Placed> {
    let position = |(outer, name): (u32, &str)| {
        let time_series = time_series(data, outer)?;
        let samples = time_series.replications().map(|replication| value(&looks(time_series, replication)));
        Some(at(name, Samples(samples.collect())))
    };
    SETTINGS.into_iter().filter_map(position).collect()
}

pub(super) fn figure() -> Figure {
    Figure {
        label: Label::Figure(8),
        title: "The levels of 100 hosts that start within 5 s",
        section: "V-C",
        kind: Kind::Sweep,
        panels: Box::new(|data| {
            SETTINGS.iter().map(|(outer, name)| levels(data, *outer, name)).chain([spread(data)]).collect()
        }),
        supplies: vec![
            Supply::new(|data, _| {
                Measurements::of(
                    "Seconds until all levels are equal for ten slots",
                    positions(data, equal_after_s),
                )
            }),
            Supply::new(|data, _| {
                Measurements::of(
                    "Share of slots after 30 s in which all levels are equal",
                    positions(data, equal_later),
                )
            }),
        ],
    }
}

/// The highest, the mean and the lowest level of one run.
fn levels(data: &Data, outer: u32, name: &str) -> Panel {
    let looks = time_series(data, outer).map_or_else(Vec::new, |time_series| looks(time_series, 1));
    let curve = |name: &str, hue, value: fn(&Snapshot) -> f64| -> Curve {
        line(name, hue, looks.iter().map(|look| (look.at_s, value(look))))
    };
    let curves = vec![
        curve("highest", 1, |look| look.highest),
        curve("mean", 3, |look| look.sum / look.hosts as f64),
        curve("lowest", 2, |look| look.lowest),
    ];
    panel(&format!("Level in one run, {name}"), "time in s", curves).about(12)
}

/// How far hosts are apart, on average over replications.
fn spread(data: &Data) -> Panel {
    let curve = |(index, (outer, name)): (usize, &(u32, &str))| {
        let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for look in time_series(data, *outer).into_iter().flat_map(|time_series| {
            time_series.replications().flat_map(move |replication| looks(time_series, replication))
        }) {
            let sum = sums.entry((look.at_s * 1e3).round() as u64).or_default();
            *sum = (sum.0 + look.spread(), sum.1 + 1.0);
        }
        let points = sums.into_iter().map(|(ms, (sum, count))| (ms as f64 / 1e3, sum / count));
        line(name, index + 1, points)
    };
    let curves = SETTINGS.iter().enumerate().map(curve).collect();
    panel("Highest less lowest level, mean over runs", "time in s", curves).about(12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_equal_once_they_stay_so() {
        let look = |index: u32| Snapshot {
            at_s: f64::from(index) / 2.0,
            hosts: 2,
            lowest: 5.0,
            highest: if index == 3 || index < 2 { 6.0 } else { 5.0 },
            sum: 10.0,
        };
        let looks: Vec<Snapshot> = (0..100).map(look).collect();
        assert_eq!(equal_after_s(&looks), Some(2.0), "after the relapse at 1.5 s");
        assert_eq!(equal_later(&looks), Some(1.0));
        assert_eq!(equal_after_s(&looks[..12]), Some(5.5), "too short to know: the end");
    }
}
