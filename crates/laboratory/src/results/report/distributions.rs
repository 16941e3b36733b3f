//! How a measure is distributed over flows or over time, and how fairness changes over time.

use super::chart::{Chart, Named};
use super::dots::leader;
use super::palette::Palette;
use super::strands::Curve;
use crate::results::error::ResultsError;
use crate::results::experiment::Experiment;
use crate::results::queue_delay;
use crate::results::replication::Replication;
use crate::results::statistics::{jain_index, mean};
use crate::results::summary::Summary;

/// Curves in a plot.
pub(super) const MOST_CURVES: usize = 6;
/// Fewer flows than this have no distribution worth a plot.
const FEWEST_FLOWS: usize = 5;
/// Points of a curve of fairness.
const FAIRNESS_POINTS: usize = 60;

/// The distribution of throughput over the flows of each session and each protocol; none without enough flows.
pub(super) fn throughput(summary: &Summary, palette: &Palette) -> Result<Option<String>, ResultsError> {
    let mut kinds: Vec<(String, &str, Vec<f64>)> = Vec::new();
    for flow in &summary.flows {
        let name = flow.session.as_ref().unwrap_or(&flow.protocol);
        let Some(kbps) = flow.measures.throughput_kbps.mean else { continue };
        match kinds.iter_mut().find(|(known, ..)| known == name) {
            Some((.., values)) => values.push(kbps),
            None => kinds.push((name.clone(), &flow.protocol, vec![kbps])),
        }
    }
    kinds.retain(|(.., values)| values.len() >= FEWEST_FLOWS);
    if kinds.is_empty() {
        return Ok(None);
    }
    let most = kinds.iter().flat_map(|(.., values)| values).fold(0.0_f64, |most, value| most.max(*value));
    let curves = kinds
        .into_iter()
        .map(|(name, protocol, values)| (name, protocol, values.len(), values))
        .map(|(name, protocol, count, values)| Named {
            name: format!("{name} × {count}"),
            ink: palette.ink(protocol),
            curve: distribution(values, count),
        })
        .collect();
    let chart = Chart {
        label: "Distribution of throughput over flows",
        axes: ("throughput, kbit/s", "share of the flows with at most this throughput"),
        x: 0.0..if most > 0.0 { most * 1.02 } else { 1.0 },
        y: Some(0.0..1.0),
        measured: None,
        is_steps: true,
        curves,
    };
    chart.svg().map(Some)
}

/// The share up to each value of `count`: the values, and those that have none.
pub(super) fn distribution(mut values: Vec<f64>, count: usize) -> Curve {
    values.sort_by(f64::total_cmp);
    let count = count as f64;
    let mut curve: Curve = vec![(0.0, 0.0)];
    curve.extend(values.into_iter().enumerate().map(|(index, value)| (value, (index + 1) as f64 / count)));
    curve
}

/// The links whose queues have the longest mean delay, in the order of the delay; those without delay are left out.
pub(super) fn slowest_links(summary: &Summary) -> Vec<usize> {
    let delay = |index: usize| {
        let mean = summary.links.get(index)?.queue_delay_ms.as_ref()?.mean?;
        (mean > 0.0).then_some((index, mean))
    };
    let mut links: Vec<(usize, f64)> = (0..summary.links.len()).filter_map(delay).collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    links.into_iter().map(|(index, _)| index).collect()
}

/// The delays of these queues over time in the first replication, and how they are distributed over the time of
/// the window in all replications: two plots.
pub(super) fn queue_delays(
    experiment: &Experiment,
    runs: &[&Replication],
    links: &[usize],
) -> Result<[String; 2], ResultsError> {
    let name = |link: usize| experiment.links.get(link).map_or_else(String::new, |link| link.name.clone());
    let names: Vec<String> = links.iter().map(|&link| name(link)).collect();
    let things: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "link")).collect();
    let palette = Palette::of_things(&things);
    let over_time = |link: usize| {
        let series = runs.first().and_then(|run| run.series.queue_delay_ms.get(link));
        series.map_or_else(Vec::new, |series| super::strands::curve(experiment, series))
    };
    let named = |curve: &dyn Fn(usize) -> Curve| -> Vec<Named> {
        let each = links.iter().zip(&names);
        each.map(|(&link, name)| Named { name: name.clone(), ink: palette.ink(name), curve: curve(link) })
            .collect()
    };
    let time = Chart {
        label: "Queueing delay over time",
        axes: ("time, s", "queueing delay, ms"),
        x: 0.0..experiment.duration_s.max(f64::MIN_POSITIVE),
        y: None,
        measured: Some(experiment.main_window_s()),
        is_steps: false,
        curves: named(&over_time),
    };
    let curves = named(&|link| delay_distribution(runs, link));
    let most = curves.iter().flat_map(|named| &named.curve).fold(0.0_f64, |most, point| most.max(point.0));
    let distribution = Chart {
        label: "Distribution of queueing delay over time",
        axes: ("queueing delay, ms", "share of the time with at most this delay"),
        x: 0.0..if most > 0.0 { most * 1.02 } else { 1.0 },
        y: Some(0.0..1.0),
        measured: None,
        is_steps: false,
        curves,
    };
    Ok([time.svg()?, distribution.svg()?])
}

/// The share of the main window, over all replications, in which a link's queue had at most each delay.
fn delay_distribution(runs: &[&Replication], link: usize) -> Curve {
    let measures = || runs.iter().filter_map(|run| run.windows.first()?.links.get(link));
    let total_s: f64 = measures().map(|measures| measures.window_s).sum();
    between_bins(queue_delay::distribution(
        measures().filter_map(|measures| measures.queue_delay.as_deref()),
        total_s,
    ))
}

/// A distribution of which the shares at the ends of bins are known: within a bin the delays are taken as spread evenly,
/// and between bins there are none.
fn between_bins(shares: Vec<(f64, f64)>) -> Curve {
    let mut curve: Curve = Vec::with_capacity(2 * shares.len());
    for (end, share) in shares {
        if let Some(&(before, shared)) = curve.last() {
            curve.push((queue_delay::bin_start_ms(end).max(before), shared));
        }
        curve.push((end, share));
    }
    curve
}

/// The groups that share least fairly, worst first.
pub(super) fn unfairest(summary: &Summary) -> Vec<usize> {
    let mut groups: Vec<(usize, f64)> = summary
        .groups
        .iter()
        .enumerate()
        .filter_map(|(index, group)| Some((index, group.jain_index.mean?)))
        .collect();
    groups.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    groups.into_iter().map(|(index, _)| index).collect()
}

/// The Jain index of these groups over time, from the first replication.
pub(super) fn fairness(
    experiment: &Experiment,
    summary: &Summary,
    run: &Replication,
    groups: &[usize],
) -> Result<Option<String>, ResultsError> {
    let members = |group: usize| experiment.groups.get(group).map(|info| info.flows.as_slice());
    let things: Vec<(&str, &str)> = groups
        .iter()
        .filter_map(|&group| summary.groups.get(group))
        .map(|group| (group.name.as_str(), leader(experiment, &group.flows)))
        .collect();
    let palette = Palette::of_things(&things);
    let curves: Vec<Named> = groups
        .iter()
        .zip(&things)
        .map(|(&group, (name, _))| Named {
            name: (*name).to_owned(),
            ink: palette.ink(name),
            curve: jain_curve(experiment, run, members(group).unwrap_or_default()),
        })
        .filter(|named| named.curve.iter().any(|(_, index)| index.is_finite()))
        .collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let chart = Chart {
        label: "Jain index over time",
        axes: ("time, s", "Jain index"),
        x: 0.0..experiment.duration_s.max(f64::MIN_POSITIVE),
        y: Some(0.0..1.0),
        measured: Some(experiment.main_window_s()),
        is_steps: false,
        curves,
    };
    chart.svg().map(Some)
}

/// How long a point of [`fairness`] is, in seconds.
pub(super) fn fairness_point_s(experiment: &Experiment, run: &Replication) -> f64 {
    let bins = run.series.flows.first().map_or(0, |flow| flow.bins());
    bins.div_ceil(FAIRNESS_POINTS).max(1) as f64 * experiment.series_bin_s
}

/// The index of the mean throughputs within each stretch of time; unknown while a flow does not exist.
fn jain_curve(experiment: &Experiment, run: &Replication, flows: &[usize]) -> Curve {
    let series: Vec<&[f64]> = flows
        .iter()
        .filter_map(|&flow| run.series.flows.get(flow))
        .map(|series| series.throughput_kbps.as_slice())
        .collect();
    let bins = series.iter().map(|values| values.len()).max().unwrap_or(0);
    let per_point = bins.div_ceil(FAIRNESS_POINTS).max(1);
    (0..bins.div_ceil(per_point))
        .map(|point| {
            let (first, end) = (point * per_point, ((point + 1) * per_point).min(bins));
            let means: Vec<f64> = series
                .iter()
                .map(|values| mean(values.get(first..end).unwrap_or_default()).unwrap_or(f64::NAN))
                .collect();
            let middle = 0.5 * (first as f64 * experiment.series_bin_s + experiment.bin_end_s(end - 1));
            (middle, jain_index(&means).unwrap_or(f64::NAN))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_spread_within_their_bins_and_nowhere_else() {
        // Bins from 1.048576 to 1.179648 ms and from 2.097152 to 2.359296 ms.
        let curve = between_bins(vec![(0.0, 0.5), (1.179_648, 0.75), (2.359_296, 1.0)]);
        let expected = [(0.0, 0.5), (1.048_576, 0.5), (1.179_648, 0.75), (2.097_152, 0.75), (2.359_296, 1.0)];
        assert_eq!(curve, expected);
    }

    #[test]
    fn a_distribution_rises_to_one() {
        let curve = distribution(vec![30.0, 10.0, 20.0, 20.0], 4);
        assert_eq!(curve, [(0.0, 0.0), (10.0, 0.25), (20.0, 0.5), (20.0, 0.75), (30.0, 1.0)]);
    }
}
