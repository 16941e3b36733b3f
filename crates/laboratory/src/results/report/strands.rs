//! Flows at a node that belong together: drawn in one colour, with their mean.

use super::palette::{Ink, Palette};
use crate::results::experiment::Experiment;
use crate::results::replication::Replication;

/// More points than this along a plot are not seen, only loaded.
const MOST_POINTS: usize = 600;

/// Flows of one session or one name at one node.
#[derive(Debug)]
pub(super) struct Strand {
    /// The session's or the flows' name.
    pub(super) name: String,
    /// Their protocol.
    pub(super) protocol: String,
    /// The protocol's ink.
    pub(super) ink: Ink,
    /// Cumulative rates of the layers; empty without levels to choose from.
    pub(super) rates: Vec<f64>,
    /// Whether they receive a session.
    pub(super) is_session: bool,
    /// Indices of the flows.
    pub(super) flows: Vec<usize>,
}

/// The strands at a node, in the order of their flows.
pub(super) fn at(experiment: &Experiment, palette: &Palette, node: &str) -> Vec<Strand> {
    let mut strands: Vec<Strand> = Vec::new();
    for (index, flow) in experiment.flows.iter().enumerate().filter(|(_, flow)| flow.node == node) {
        let name = flow.session.as_deref().unwrap_or_else(|| flow.family());
        match strands.iter_mut().find(|strand| strand.name == name && strand.protocol == flow.protocol) {
            Some(strand) => strand.flows.push(index),
            None => strands.push(Strand {
                name: name.to_owned(),
                protocol: flow.protocol.clone(),
                ink: palette.ink(&flow.protocol),
                rates: if flow.has_levels() { flow.level_rates_kbps.clone() } else { Vec::new() },
                is_session: flow.is_layered(),
                flows: vec![index],
            }),
        }
    }
    strands
}

impl Strand {
    /// Whether its flows have levels.
    pub(super) fn is_layered(&self) -> bool {
        !self.rates.is_empty()
    }

    /// The label next to its line.
    pub(super) fn label(&self) -> String {
        match self.flows.len() {
            1 => self.name.clone(),
            count => format!("{} × {count}", self.name),
        }
    }
}

/// How many bins go into one point of a plot.
pub(super) fn bins_per_point(bins: usize) -> usize {
    bins.div_ceil(MOST_POINTS).max(1)
}

/// A curve over time: points at the middle of what they stand for.
pub(super) type Curve = Vec<(f64, f64)>;

/// A column of a flow's series as a curve, with neighbouring bins averaged if there are very many.
pub(super) fn curve(experiment: &Experiment, values: &[f64]) -> Curve {
    let per_point = bins_per_point(values.len());
    let chunks = values.chunks(per_point).enumerate();
    chunks
        .map(|(chunk, values)| {
            let start = (chunk * per_point) as f64 * experiment.series_bin_s;
            let end = experiment.bin_end_s(chunk * per_point + values.len() - 1);
            let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
            let mean = crate::results::statistics::mean(&known).unwrap_or(f64::NAN);
            (0.5 * (start + end), mean)
        })
        .collect()
}

/// The throughput of a flow in a replication.
pub(super) fn throughput(experiment: &Experiment, replication: &Replication, flow: usize) -> Curve {
    let series = replication.series.flows.get(flow);
    series.map_or_else(Vec::new, |series| curve(experiment, &series.throughput_kbps))
}

/// The mean of curves at each point, over those that are known there.
pub(super) fn mean_curve(curves: &[Curve]) -> Curve {
    let longest = curves.iter().max_by_key(|curve| curve.len());
    let points = longest.map(Vec::as_slice).unwrap_or_default().iter().enumerate();
    points
        .map(|(point, &(time, _))| {
            let known: Vec<f64> = curves
                .iter()
                .filter_map(|curve| curve.get(point))
                .map(|&(_, value)| value)
                .filter(|value| value.is_finite())
                .collect();
            (time, crate::results::statistics::mean(&known).unwrap_or(f64::NAN))
        })
        .collect()
}

/// The level of a flow as steps: two points at each change, none where it is unknown.
pub(super) fn steps(experiment: &Experiment, replication: &Replication, flow: usize) -> Curve {
    let levels = replication.series.flows.get(flow).map(|series| series.level.as_slice()).unwrap_or_default();
    let per_point = bins_per_point(levels.len());
    let mut curve: Curve = Vec::new();
    let mut last = f64::NAN;
    for (chunk, levels) in levels.chunks(per_point).enumerate() {
        let start = (chunk * per_point) as f64 * experiment.series_bin_s;
        let level = levels.last().copied().flatten().map_or(f64::NAN, f64::from);
        if level != last {
            if last.is_finite() {
                curve.push((start, last));
            }
            if level.is_finite() || last.is_finite() {
                curve.push((start, level));
            }
        }
        last = level;
    }
    if last.is_finite() {
        curve.push((experiment.bin_end_s(levels.len() - 1), last));
    }
    curve
}
