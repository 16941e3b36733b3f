//! Many flows as few: those of one table and protocol together.

use std::collections::BTreeMap;

use super::experiment::Experiment;
use super::statistics::{Statistic, mean};
use super::summary::{FlowStatistics, FlowSummary, Summary};

/// With more flows than this, tables begin with aggregates.
pub(crate) const MOST_SINGLE: usize = 24;

/// Equal flows: those of one session, or of one table of flows with one protocol.
pub(crate) struct Aggregate<'a> {
    pub(crate) name: String,
    pub(crate) protocol: &'a str,
    pub(crate) flows: Vec<&'a FlowSummary>,
    /// The mean throughput over the flows, in each replication.
    pub(crate) throughput_kbps: Statistic,
}

/// The flows as aggregates: the lowest throughput first. Where tables are too many, all flows of a protocol are
/// together.
pub(crate) fn aggregates<'a>(
    experiment: &Experiment,
    summary: &'a Summary,
    most: usize,
) -> Vec<Aggregate<'a>> {
    let by_table = gathered(summary, |index| {
        let info = experiment.flows.get(index);
        info.map_or_else(String::new, |info| info.session.clone().unwrap_or_else(|| info.family().to_owned()))
    });
    let mut all = if by_table.len() > most {
        gathered(summary, |index| {
            let flow = summary.flows.get(index);
            flow.map_or_else(String::new, |flow| {
                flow.session.clone().unwrap_or_else(|| flow.protocol.clone())
            })
        })
    } else {
        by_table
    };
    let rate = |aggregate: &Aggregate<'_>| aggregate.throughput_kbps.mean.unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    all
}

fn gathered(summary: &Summary, name: impl Fn(usize) -> String) -> Vec<Aggregate<'_>> {
    let mut all: Vec<Aggregate<'_>> = Vec::new();
    let mut places: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (index, flow) in summary.flows.iter().enumerate() {
        let (name, protocol) = (name(index), flow.protocol.as_str());
        let place = *places.entry((name.clone(), protocol)).or_insert(all.len());
        if place == all.len() {
            all.push(Aggregate { name, protocol, flows: Vec::new(), throughput_kbps: Statistic::default() });
        }
        all[place].flows.push(flow);
    }
    for aggregate in &mut all {
        aggregate.throughput_kbps = over_flows(&aggregate.flows, |flow| Some(&flow.throughput_kbps));
    }
    all
}

/// The mean over flows in each replication, as a statistic over the replications.
pub(crate) fn over_flows(
    flows: &[&FlowSummary],
    of: impl Fn(&FlowStatistics) -> Option<&Statistic>,
) -> Statistic {
    let all: Vec<&Statistic> = flows.iter().filter_map(|flow| of(&flow.measures)).collect();
    let runs = all.iter().map(|statistic| statistic.samples.len()).max().unwrap_or(0);
    Statistic::new((0..runs).map(|run| {
        let values: Vec<f64> =
            all.iter().filter_map(|statistic| statistic.samples.get(run).copied().flatten()).collect();
        mean(&values)
    }))
}

impl Aggregate<'_> {
    /// The name with the number of flows.
    pub(crate) fn label(&self) -> String {
        if self.flows.len() == 1 {
            self.name.clone()
        } else {
            format!("{} × {}", self.name, self.flows.len())
        }
    }

    /// The flows with the least and the greatest mean of a measure.
    pub(crate) fn ends(
        &self,
        of: impl Fn(&FlowStatistics) -> Option<&Statistic>,
    ) -> Option<(&FlowSummary, &FlowSummary)> {
        let mut known: Vec<(&FlowSummary, f64)> =
            self.flows.iter().filter_map(|flow| Some((*flow, of(&flow.measures)?.mean?))).collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some((known.first()?.0, known.last()?.0))
    }
}
