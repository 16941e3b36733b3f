//! What a protocol does to the other traffic: the change from the same replication without multicast.

use serde::Serialize;

use super::paired;
use super::ran::Ran;
use crate::results::summary::{FlowStatistics, FlowSummary};
use crate::results::{Statistic, Summary};
use crate::scenario::{DemandPlan, FlowPlan, Scenario, Traffic};

/// A measure by which traffic is judged.
struct Measure {
    name: &'static str,
    /// Whether more of it is worse.
    is_cost: bool,
    of: fn(&FlowStatistics) -> Option<&Statistic>,
    /// The values of flows at one node in one replication, each with how much it weighs, as one.
    at_node: fn(&[(f64, f64)]) -> f64,
}

fn sum(values: &[(f64, f64)]) -> f64 {
    values.iter().map(|(value, _)| value).sum()
}

fn weighted_mean(values: &[(f64, f64)]) -> f64 {
    let weight: f64 = values.iter().map(|(_, weight)| weight).sum();
    values.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight
}

/// Traffic with an end is judged by how long it takes, other traffic by how much it gets.
const COMPLETION: Measure = Measure {
    name: "completion_s",
    is_cost: true,
    of: |measures| measures.completion_s.as_ref(),
    at_node: weighted_mean,
};
const THROUGHPUT: Measure = Measure {
    name: "throughput_kbps",
    is_cost: false,
    of: |measures| Some(&measures.throughput_kbps),
    at_node: sum,
};

/// The effect on one kind of traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// The kind: `tcp-cubic downloads`, `tcp-cubic transfers`, `udp`.
    pub kind: String,
    /// What was measured of it: `completion_s` of transfers, `throughput_kbps` of others.
    pub metric: &'static str,
    /// At how many nodes there is such traffic.
    pub nodes: usize,
    /// Without multicast, mean over nodes.
    pub baseline: Statistic,
    /// With the protocol, mean over nodes.
    pub with: Statistic,
    /// The change at each node in per cent of the baseline, mean over nodes, paired by replication.
    pub change_percent: Statistic,
    /// The node that lost most, by its mean over replications.
    pub worst: Option<Worst>,
}

/// The node at which traffic lost most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// The node.
    pub node: String,
    /// The change in per cent.
    pub change_percent: Statistic,
}

impl Effect {
    /// Whether more of the metric is worse.
    #[must_use]
    pub fn is_cost(&self) -> bool {
        self.metric == COMPLETION.name
    }
}

/// The kind of a flow of the scenario.
fn kind(flow: &FlowPlan) -> String {
    let Traffic::Tcp { demand, .. } = &flow.traffic else { return flow.protocol().to_owned() };
    let what = match demand {
        DemandPlan::Endless => "downloads",
        DemandPlan::OnOff { .. } => "on and off",
        _ => "transfers",
    };
    format!("{} {what}", flow.protocol())
}

/// The kinds of the traffic that is not compared, each with the names of its flows.
fn kinds(plan: &Scenario, compared: &[String]) -> Vec<(String, Vec<String>)> {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |kind: String, names: Vec<String>| match kinds.iter_mut().find(|(known, _)| *known == kind)
    {
        Some((_, all)) => all.extend(names),
        None => kinds.push((kind, names)),
    };
    for flow in &plan.flows {
        add(kind(flow), flow.to.iter().map(|end| end.flow.clone()).collect());
    }
    for session in plan.sessions.iter().filter(|session| !compared.contains(&session.name)) {
        let names = session.receivers.iter().map(|end| end.flow.clone()).collect();
        add(format!("{} receivers", session.protocol.name()), names);
    }
    kinds.retain(|(_, names)| !names.is_empty());
    kinds
}

/// What a protocol changed for each kind of other traffic.
pub(super) fn effects(with: &Ran, baseline: &Ran) -> Vec<Effect> {
    let kinds = kinds(&baseline.contender.plan, &with.contender.sessions);
    kinds.into_iter().map(|(kind, names)| effect(kind, &names, &with.summary, &baseline.summary)).collect()
}

fn effect(kind: String, names: &[String], with: &Summary, baseline: &Summary) -> Effect {
    let (ours, base) = (flows(with, names), flows(baseline, names));
    let ends = base.iter().any(|flow| flow.measures.completion_s.is_some());
    let measure = if ends { COMPLETION } else { THROUGHPUT };
    let replications = with.replications.min(baseline.replications);
    let (ours, base) = (at_nodes(&ours, &measure, replications), at_nodes(&base, &measure, replications));
    // Flows of the baseline are those of the scenario, so nodes come in the same order.
    let pairs: Vec<(&paired::Samples, &paired::Samples)> =
        ours.iter().zip(&base).map(|((_, ours), (_, base))| (ours.as_slice(), base.as_slice())).collect();
    let worst = ours.iter().zip(&pairs).filter_map(|((node, _), (ours, base))| {
        let change_percent = paired::percent(ours, base);
        let harm = change_percent.mean? * if measure.is_cost { 1.0 } else { -1.0 };
        Some((harm, Worst { node: (*node).to_owned(), change_percent }))
    });
    Effect {
        kind,
        metric: measure.name,
        nodes: pairs.len(),
        baseline: mean_over(&base, replications),
        with: mean_over(&ours, replications),
        change_percent: paired::percent_over_places(&pairs, replications),
        worst: worst.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, worst)| worst),
    }
}

fn flows<'a>(summary: &'a Summary, names: &[String]) -> Vec<&'a FlowSummary> {
    summary.flows.iter().filter(|flow| names.contains(&flow.name)).collect()
}

/// What the flows at each node have together.
fn at_nodes<'a>(
    flows: &[&'a FlowSummary],
    measure: &Measure,
    replications: usize,
) -> Vec<(&'a str, Vec<Option<f64>>)> {
    let mut nodes: Vec<(&str, Vec<&FlowSummary>)> = Vec::new();
    for flow in flows {
        match nodes.iter_mut().find(|(node, _)| *node == flow.node) {
            Some((_, all)) => all.push(flow),
            None => nodes.push((&flow.node, vec![flow])),
        }
    }
    let at = |flows: &[&FlowSummary], number: usize| {
        let sample = |statistic: &Statistic| statistic.samples.get(number).copied().flatten();
        let value = |flow: &&FlowSummary| {
            let weight = flow.measures.transfers.as_ref().and_then(sample).unwrap_or(1.0);
            Some(((measure.of)(&flow.measures).and_then(sample)?, weight))
        };
        let values: Vec<(f64, f64)> = flows.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| (measure.at_node)(&values)).filter(|value| value.is_finite())
    };
    let samples = |flows: &[&FlowSummary]| (0..replications).map(|number| at(flows, number)).collect();
    nodes.into_iter().map(|(node, flows)| (node, samples(&flows))).collect()
}

fn mean_over(nodes: &[(&str, Vec<Option<f64>>)], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let each: Vec<f64> = nodes.iter().filter_map(|(_, samples)| samples.get(number).copied()?).collect();
        crate::results::statistics::mean(&each)
    }))
}

/// What all other traffic lost, in per cent of the baseline: the mean over kinds of what each got less, or took
/// longer.
pub(super) fn harm(effects: &[Effect], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let each = effects.iter().filter_map(|effect| {
            let change = effect.change_percent.samples.get(number).copied()??;
            Some(if effect.is_cost() { change } else { -change })
        });
        crate::results::statistics::mean(&each.collect::<Vec<f64>>())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Role;

    fn flow(name: &str, node: &str, kbps: [f64; 2], transfers: Option<([f64; 2], [f64; 2])>) -> FlowSummary {
        let of = |samples: [f64; 2]| Statistic::new(samples.map(Some));
        let measures: FlowStatistics = serde_json::from_value(serde_json::json!({
            "throughput_kbps": of(kbps), "loss_rate": of([0.0, 0.0]),
            "transfers": transfers.map(|(count, _)| of(count)), "completion_s": transfers.map(|(_, took)| of(took)),
        }))
        .unwrap();
        FlowSummary {
            name: name.to_owned(),
            protocol: "tcp".to_owned(),
            role: Role::Sink,
            session: None,
            node: node.to_owned(),
            measures,
            why: None,
        }
    }

    #[test]
    fn flows_at_a_node_count_as_one_and_nodes_the_same() {
        let flows = [
            flow("a-1@A", "A", [10.0, 20.0], None),
            flow("a-2@A", "A", [30.0, 20.0], None),
            flow("a@B", "B", [1000.0, 500.0], None),
        ];
        let flows: Vec<&FlowSummary> = flows.iter().collect();
        let nodes = at_nodes(&flows, &THROUGHPUT, 2);
        assert_eq!(nodes, [("A", vec![Some(40.0), Some(40.0)]), ("B", vec![Some(1000.0), Some(500.0)])]);
        assert_eq!(mean_over(&nodes, 2).samples, [Some(520.0), Some(270.0)]);
    }

    #[test]
    fn a_flow_weighs_as_much_as_it_made_transfers() {
        // Nine of 1 s and one of 11 s take 2 s each on average.
        let many = flow("web-1@A", "A", [1.0, 1.0], Some(([9.0, 1.0], [1.0, 3.0])));
        let few = flow("web-2@A", "A", [1.0, 1.0], Some(([1.0, 0.0], [11.0, f64::NAN])));
        let nodes = at_nodes(&[&many, &few], &COMPLETION, 2);
        assert_eq!(nodes, [("A", vec![Some(2.0), Some(3.0)])]);
    }

    #[test]
    fn harm_is_less_throughput_and_longer_transfers() {
        let effect = |metric: &'static str, change: f64| Effect {
            kind: String::new(),
            metric,
            nodes: 1,
            baseline: Statistic::default(),
            with: Statistic::default(),
            change_percent: Statistic::new([Some(change)]),
            worst: None,
        };
        let effects = [effect("throughput_kbps", -30.0), effect("completion_s", 10.0)];
        assert_eq!(harm(&effects, 1).samples, [Some(20.0)]);
    }
}
