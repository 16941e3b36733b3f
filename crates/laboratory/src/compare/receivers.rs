//! Each receiver by itself: what it is called, and its share of what TCP gets.

use serde::Serialize;

use super::completion::{self, Completion};
use super::paired::Samples;
use crate::results::share;
use crate::results::statistics::mean;
use crate::results::summary::FlowSummary;
use crate::results::{Experiment, Replication, Statistic, Summary};

/// What was run, and the replications in their order.
pub(crate) type Runs<'a> = (&'a Experiment, &'a [Replication]);

/// The results of one receiver.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiverRow {
    /// The flow's name. It begins with that of the session, which may be the name of another protocol.
    pub name: String,
    /// What tables and plots call it: its node, and where one session is not enough the session.
    pub label: String,
    /// Its node.
    pub node: String,
    /// Throughput in kbit/s.
    pub throughput_kbps: Statistic,
    /// Throughput over the mean of the competing TCP flows.
    pub share_of_tcp: Statistic,
    /// Mean level, 0 for the base layer.
    pub mean_level: Option<Statistic>,
    /// Changes of level a minute.
    pub level_changes_per_min: Option<Statistic>,
    /// From its start until it had the object, in seconds; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<Statistic>,
    /// The part of the object that it had at the end of the run; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_received: Option<Statistic>,
}

/// The receivers of the compared sessions.
pub(super) fn flows<'a>(summary: &'a Summary, sessions: &[String]) -> Vec<&'a FlowSummary> {
    let compared = |flow: &&FlowSummary| flow.session.as_ref().is_some_and(|name| sessions.contains(name));
    summary.flows.iter().filter(compared).collect()
}

/// A row for each receiver, in the order of the scenario.
pub(super) fn rows(flows: &[&FlowSummary], summary: &Summary, runs: Runs<'_>) -> Vec<ReceiverRow> {
    let labels = labels(flows);
    let row = |(flow, label): (&&FlowSummary, String)| ReceiverRow {
        name: flow.name.clone(),
        label,
        node: flow.node.clone(),
        throughput_kbps: flow.measures.throughput_kbps.clone(),
        share_of_tcp: share_of_tcp(flow, summary, runs),
        mean_level: flow.measures.mean_level.clone(),
        level_changes_per_min: flow
            .measures
            .movement
            .as_ref()
            .map(|moved| moved.level_changes_per_min.clone()),
        completion_s: flow.measures.complete.as_ref().and(flow.measures.completion_s.clone()),
        object_received: flow.measures.object_received.clone(),
    };
    flows.iter().zip(labels).map(row).collect()
}

/// The node of each, with the session's name where there are several, and a number where a session has several
/// receivers at a node.
fn labels(flows: &[&FlowSummary]) -> Vec<String> {
    let several = flows.iter().any(|flow| flows.first().is_some_and(|first| first.session != flow.session));
    let same =
        |one: &FlowSummary, other: &FlowSummary| one.node == other.node && one.session == other.session;
    let label = |(index, flow): (usize, &&FlowSummary)| {
        let mut label = flow.node.clone();
        if flows.iter().filter(|other| same(flow, other)).count() > 1 {
            let before = flows.iter().take(index).filter(|other| same(flow, other)).count();
            label.push_str(&format!(" #{}", before + 1));
        }
        if let Some(session) = flow.session.as_ref().filter(|_| several) {
            label.push_str(&format!(", session {session}"));
        }
        label
    };
    flows.iter().enumerate().map(label).collect()
}

/// When they completed.
pub(super) fn completion(rows: &[ReceiverRow], replications: usize) -> Option<Completion> {
    let times: Vec<(&str, Option<&Statistic>)> =
        rows.iter().map(|row| (row.label.as_str(), row.completion_s.as_ref())).collect();
    completion::of(&times, replications)
}

/// How close a share is to an equal one: 1 if equal, 0.5 at half or at twice as much.
fn closeness(share: f64) -> f64 {
    if share > 1.0 { 1.0 / share } else { share }
}

/// The mean closeness over receivers.
pub(super) fn fair_share_closeness(rows: &[ReceiverRow], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let shares = rows.iter().filter_map(|row| row.share_of_tcp.samples.get(number).copied()?);
        mean(&shares.map(closeness).collect::<Vec<f64>>())
    }))
}

/// The mean over receivers in each replication, and the statistic of those means.
pub(super) fn over_receivers<'a>(
    of_each: impl Iterator<Item = &'a Statistic>,
    replications: usize,
) -> Statistic {
    let all: Vec<&Statistic> = of_each.collect();
    Statistic::new((0..replications).map(|number| {
        let samples: Vec<f64> =
            all.iter().filter_map(|one| one.samples.get(number).copied().flatten()).collect();
        mean(&samples)
    }))
}

/// A receiver's share of TCP in each replication.
fn share_of_tcp(
    receiver: &FlowSummary,
    summary: &Summary,
    (experiment, replications): Runs<'_>,
) -> Statistic {
    let place = summary.flows.iter().position(|flow| flow.name == receiver.name);
    Statistic::new(replications.iter().map(|run| share::share_of_tcp(experiment, run, 0, place?)))
}

/// The throughputs of the same receivers with two protocols.
pub(super) fn throughputs<'a>(
    one: &'a [ReceiverRow],
    other: &'a [ReceiverRow],
) -> Vec<(&'a Samples, &'a Samples)> {
    let pair = |row: &'a ReceiverRow| {
        let same = other.iter().find(|other| other.name == row.name)?;
        Some((row.throughput_kbps.samples.as_slice(), same.throughput_kbps.samples.as_slice()))
    };
    one.iter().filter_map(pair).collect()
}

/// What tables and plots of receivers show: the share of TCP, or the throughput where there is no TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    ShareOfTcp,
    Throughput,
}

impl Shows {
    pub(super) fn of(self, row: &ReceiverRow) -> &Statistic {
        match self {
            Self::ShareOfTcp => &row.share_of_tcp,
            Self::Throughput => &row.throughput_kbps,
        }
    }

    pub(super) fn metric(self) -> &'static str {
        match self {
            Self::ShareOfTcp => "share_of_tcp",
            Self::Throughput => "throughput_kbps",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ShareOfTcp => "share of TCP",
            Self::Throughput => "kbit/s",
        }
    }
}

/// The rows of one protocol, worst first; those without a number come first of all.
pub(super) fn worst_first(rows: &[ReceiverRow], shows: Shows) -> Vec<&ReceiverRow> {
    let mut sorted: Vec<&ReceiverRow> = rows.iter().collect();
    let mean = |row: &&ReceiverRow| shows.of(row).mean.unwrap_or(f64::NEG_INFINITY);
    sorted.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_as_close_at_half_as_at_twice_as_much() {
        assert_eq!([0.0, 0.5, 1.0, 2.0, 4.0].map(closeness), [0.0, 0.5, 1.0, 0.5, 0.25]);
    }
}
