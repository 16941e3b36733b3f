//! The subjects compared across cells: a flow, or the flows of one name at a node; a group; a link.
//!
//! Cells may differ in how many flows of a name there are. Of several, the mean is reported.

use std::collections::BTreeMap;

use super::grid::{Cell, Grid};
use super::metric::{Kind, Metric};
use super::part::{Measured, Part};
use super::runner::Outcome;
use crate::results::{Experiment, Statistic, statistics};

/// One subject, compared across the cells in the main window.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its name: `elm@R1`, or `tcp@R1` for `tcp-1@R1`, `tcp-2@R1`, ...; a group's or link's name.
    pub(super) name: String,
    /// The name without the node, of flows.
    pub(super) family: String,
    /// The node, of flows.
    pub(super) node: String,
    /// The protocol of a flow, or of the flow that a group is about; none where that differs between cells.
    pub(super) protocol: String,
    /// By cell: how many flows it is there, and its statistics. Nothing where it is not.
    pub(super) cells: Vec<Option<LineCell>>,
}

/// A line in one cell.
#[derive(Debug, Clone)]
pub(super) struct LineCell {
    /// How many flows share the name there.
    pub(super) flows: usize,
    /// By metric, those that apply.
    pub(super) statistics: BTreeMap<&'static str, Statistic>,
}

impl Line {
    /// The statistic of a metric in a cell, counted from 0.
    pub(super) fn statistic(&self, cell: usize, metric: &Metric) -> Option<&Statistic> {
        self.cells.get(cell)?.as_ref()?.statistics.get(metric.name)
    }

    /// Whether the metric applies to it in any cell.
    pub(super) fn has(&self, metric: &Metric) -> bool {
        (0..self.cells.len()).any(|cell| self.statistic(cell, metric).is_some())
    }
}

/// The lines of a sweep, of flows, then groups, then links, each in the order of its first cell.
pub(super) fn lines(outcome: &Outcome<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for kind in [Kind::Flow, Kind::Group, Kind::Link] {
        for (index, cell) in outcome.grid.cells.iter().enumerate() {
            let parts = outcome.parts.get(index).map(Vec::as_slice).unwrap_or_default();
            for (line, members) in members(cell, kind) {
                let found = LineCell {
                    flows: members.len(),
                    statistics: statistics(outcome.grid, kind, parts, &members),
                };
                let known = lines.iter().position(|known| known.kind == kind && known.name == line.name);
                let protocol = line.protocol.clone();
                let position = known.unwrap_or_else(|| {
                    lines.push(Line { cells: vec![None; outcome.grid.cells.len()], ..line });
                    lines.len() - 1
                });
                // Where the protocol is a key, a group is about none of them.
                if let Some(group) =
                    lines.get_mut(position).filter(|known| kind == Kind::Group && known.protocol != protocol)
                {
                    group.protocol.clear();
                }
                if let Some(slot) = lines.get_mut(position).and_then(|line| line.cells.get_mut(index)) {
                    *slot = Some(found);
                }
            }
        }
    }
    lines
}

/// The lines of a cell, without values, and the indices of what each is made of.
fn members(cell: &Cell, kind: Kind) -> Vec<(Line, Vec<usize>)> {
    let experiment = &cell.experiment;
    let line = |name: &str, family: &str, node: &str, protocol: &str| Line {
        kind,
        name: name.to_owned(),
        family: family.to_owned(),
        node: node.to_owned(),
        protocol: protocol.to_owned(),
        cells: Vec::new(),
    };
    let mut found: Vec<(Line, Vec<usize>)> = Vec::new();
    match kind {
        Kind::Flow => {
            for (index, flow) in experiment.flows.iter().enumerate() {
                let family = flow.session.as_deref().unwrap_or_else(|| flow.family());
                let name = format!("{family}@{}", flow.node);
                match found.iter_mut().find(|(line, _)| line.name == name) {
                    Some((_, members)) => members.push(index),
                    None => found.push((line(&name, family, &flow.node, &flow.protocol), vec![index])),
                }
            }
        }
        Kind::Group => {
            for (index, group) in experiment.groups.iter().enumerate() {
                let line = line(&group.name, "", "", leader(experiment, &group.flows));
                found.push((line, vec![index]));
            }
        }
        Kind::Link => {
            for (index, link) in experiment.links.iter().enumerate() {
                found.push((line(&link.name, "", "", ""), vec![index]));
            }
        }
    }
    found
}

/// The protocol that a group is about: its layered one, or else its first.
fn leader<'a>(experiment: &'a Experiment, flows: &[usize]) -> &'a str {
    let mut flows = flows.iter().filter_map(|&flow| experiment.flows.get(flow));
    let first = flows.clone().next();
    flows.find(|flow| flow.is_layered()).or(first).map_or("", |flow| flow.protocol.as_str())
}

/// Over the replications; of several members, their mean in each.
fn statistics(
    grid: &Grid,
    kind: Kind,
    parts: &[Part],
    members: &[usize],
) -> BTreeMap<&'static str, Statistic> {
    let measured = |part: &'_ Part| -> Vec<Measured> {
        let Some(window) = part.windows.first() else { return Vec::new() };
        let all = match kind {
            Kind::Flow => &window.flows,
            Kind::Group => &window.groups,
            Kind::Link => &window.links,
        };
        members.iter().filter_map(|&member| all.get(member).cloned()).collect()
    };
    let by_part: Vec<Vec<Measured>> = parts.iter().map(measured).collect();
    let mut found = BTreeMap::new();
    for metric in grid.metrics.iter().filter(|metric| metric.kind == kind) {
        let applies = by_part.iter().flatten().any(|measured| measured.values.contains_key(metric.name));
        if !applies {
            continue;
        }
        let samples = by_part.iter().map(|measured| {
            let values: Vec<f64> =
                measured.iter().filter_map(|measured| *measured.values.get(metric.name)?).collect();
            statistics::mean(&values)
        });
        found.insert(metric.name, Statistic::new(samples));
    }
    found
}
