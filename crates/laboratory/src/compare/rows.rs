//! The results of each protocol, in one row.

use serde::Serialize;

use super::completion::{self, Completion};
use super::{Ran, SCHEMA};
use crate::results::json;
use crate::results::statistics::mean;
use crate::results::summary::{FlowStatistics, FlowSummary};
use crate::results::{Role, Statistic, Summary};
use crate::scenario::Scenario;

/// A comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The version of `compare.json`, [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// The scenario's name or path.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// The command that repeats the comparison.
    pub command: String,
    /// How many replications of each protocol there are.
    pub replications: usize,
    /// The seed.
    pub seed: u64,
    /// The measurement window in seconds.
    pub window_s: [f64; 2],
    /// The links whose utilisation is reported: those with a queue that can be full.
    pub bottlenecks: Vec<String>,
    /// A row for each protocol, in the order asked for.
    pub protocols: Vec<Row>,
}

/// The results of a protocol: means over its receivers, of each replication first.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The protocol.
    pub protocol: String,
    /// The command that runs it alone.
    pub command: String,
    /// Throughput of a receiver in kbit/s.
    pub throughput_kbps: Statistic,
    /// Throughput over the mean of the competing TCP flows: those of its group, or else of its node.
    pub share_of_tcp: Statistic,
    /// The Jain index, mean over the groups with a receiver.
    pub jain_index: Statistic,
    /// The share of packets lost on the path to a receiver.
    pub loss_rate: Statistic,
    /// Own packets lost in a loss event that a receiver caused.
    pub own_lost_per_event: Statistic,
    /// Others' packets lost in such an event.
    pub others_lost_per_event: Statistic,
    /// Changes of level a minute.
    pub level_changes_per_min: Statistic,
    /// Joins of channels a second.
    pub channel_joins_per_s: Statistic,
    /// Leaves of channels a second.
    pub channel_leaves_per_s: Statistic,
    /// When the level came to stay within one of its final median, in seconds.
    pub settled_after_s: Statistic,
    /// When receivers had the object of their session; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// Utilisation of the bottlenecks, of each the busier direction.
    pub utilisation: Statistic,
    /// Processor time for a simulated second in milliseconds; differs from run to run.
    pub cpu_ms_per_s: Option<f64>,
    /// Each receiver by itself.
    pub receivers: Vec<ReceiverRow>,
}

/// The results of one receiver.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiverRow {
    /// The flow's name.
    pub name: String,
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

impl Comparison {
    /// The comparison of these runs. None without any.
    #[must_use]
    pub fn new(ran: &[Ran], command: &str) -> Option<Comparison> {
        let first = ran.first()?;
        let bottlenecks = bottlenecks(&first.contender.plan);
        Some(Comparison {
            schema: SCHEMA,
            scenario: first.contender.scenario.clone(),
            title: first.summary.title.clone(),
            command: command.to_owned(),
            replications: first.summary.replications,
            seed: first.summary.seed,
            window_s: first.summary.window_s,
            bottlenecks: bottlenecks
                .iter()
                .map(|&link| first.contender.plan.links[link].name.clone())
                .collect(),
            protocols: ran.iter().map(|ran| row(ran, &bottlenecks)).collect(),
        })
    }

    /// The text of `compare.json`. The same comparison gives the same bytes, but for the processor time.
    ///
    /// # Panics
    /// Never: every field has a JSON form and keys are strings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self).expect("a comparison always has a JSON form")
    }
}

/// The links with a queue that can be full, by their numbers.
fn bottlenecks(plan: &Scenario) -> Vec<usize> {
    let links = plan.links.iter().enumerate();
    let limited =
        links.filter(|(_, link)| link.forward.queue.is_limited() || link.backward.queue.is_limited());
    limited.map(|(index, _)| index).collect()
}

fn row(ran: &Ran, bottlenecks: &[usize]) -> Row {
    let summary = &ran.summary;
    let receivers: Vec<&FlowSummary> = summary
        .flows
        .iter()
        .filter(|flow| flow.session.as_ref().is_some_and(|name| ran.contender.sessions.contains(name)))
        .collect();
    let shares: Vec<Statistic> = receivers.iter().map(|flow| share_of_tcp(flow, summary)).collect();
    let over = |of: &dyn Fn(&FlowStatistics) -> Option<&Statistic>| {
        over_receivers(receivers.iter().filter_map(|flow| of(&flow.measures)), summary.replications)
    };
    let moved = |of: fn(&crate::results::movement::Movement<Statistic>) -> &Statistic| {
        over(&|measures| measures.movement.as_ref().map(of))
    };
    let groups = summary
        .groups
        .iter()
        .filter(|group| receivers.iter().any(|receiver| group.flows.contains(&receiver.name)));
    let simulated_s = summary.duration_s * summary.replications as f64;
    Row {
        protocol: ran.contender.protocol.clone(),
        command: ran.contender.command.clone(),
        throughput_kbps: over(&|measures| Some(&measures.throughput_kbps)),
        share_of_tcp: over_receivers(shares.iter(), summary.replications),
        jain_index: over_receivers(groups.map(|group| &group.jain_index), summary.replications),
        loss_rate: over(&|measures| Some(&measures.loss_rate)),
        own_lost_per_event: moved(|movement| &movement.own_lost_per_event),
        others_lost_per_event: moved(|movement| &movement.others_lost_per_event),
        level_changes_per_min: moved(|movement| &movement.level_changes_per_min),
        channel_joins_per_s: moved(|movement| &movement.channel_joins_per_s),
        channel_leaves_per_s: moved(|movement| &movement.channel_leaves_per_s),
        settled_after_s: over(&|measures| measures.settled_after_s.as_ref()),
        completion: completion::of(&receivers, summary.replications),
        utilisation: utilisation(summary, bottlenecks),
        cpu_ms_per_s: summary.engine.as_ref().map(|engine| engine.cpu_s * 1e3 / simulated_s),
        receivers: receivers
            .iter()
            .zip(shares)
            .map(|(flow, share_of_tcp)| ReceiverRow {
                name: flow.name.clone(),
                throughput_kbps: flow.measures.throughput_kbps.clone(),
                share_of_tcp,
                mean_level: flow.measures.mean_level.clone(),
                completion_s: flow.measures.complete.as_ref().and(flow.measures.completion_s.clone()),
                object_received: flow.measures.object_received.clone(),
                level_changes_per_min: flow
                    .measures
                    .movement
                    .as_ref()
                    .map(|movement| movement.level_changes_per_min.clone()),
            })
            .collect(),
    }
}

/// The mean over receivers in each replication, and the statistic of those means.
fn over_receivers<'a>(of_each: impl Iterator<Item = &'a Statistic>, replications: usize) -> Statistic {
    let all: Vec<&Statistic> = of_each.collect();
    Statistic::new((0..replications).map(|number| {
        let samples: Vec<f64> =
            all.iter().filter_map(|one| one.samples.get(number).copied().flatten()).collect();
        mean(&samples)
    }))
}

/// A receiver's throughput over the mean of the TCP in its first group, or else at its node.
fn share_of_tcp(receiver: &FlowSummary, summary: &Summary) -> Statistic {
    let group = summary.groups.iter().find(|group| group.flows.contains(&receiver.name));
    let competing = |flow: &&FlowSummary| {
        flow.role == Role::Sink
            && flow.protocol.starts_with("tcp-")
            && group.map_or(flow.node == receiver.node, |group| group.flows.contains(&flow.name))
    };
    let tcp: Vec<&Statistic> =
        summary.flows.iter().filter(competing).map(|flow| &flow.measures.throughput_kbps).collect();
    let tcp = over_receivers(tcp.into_iter(), summary.replications);
    let samples = receiver.measures.throughput_kbps.samples.iter().zip(&tcp.samples);
    Statistic::new(samples.map(|(own, tcp)| Some((*own)? / tcp.filter(|tcp| *tcp > 0.0)?)))
}

/// The mean over bottlenecks of the busier direction.
fn utilisation(summary: &Summary, bottlenecks: &[usize]) -> Statistic {
    let of = |link: usize, number: usize| {
        summary.links.get(link).and_then(|link| link.utilisation.samples.get(number).copied().flatten())
    };
    Statistic::new((0..summary.replications).map(|number| {
        let busier = |&link: &usize| match (of(2 * link, number), of(2 * link + 1, number)) {
            (Some(forward), Some(backward)) => Some(forward.max(backward)),
            (one, other) => one.or(other),
        };
        let each: Vec<f64> = bottlenecks.iter().filter_map(busier).collect();
        mean(&each)
    }))
}
