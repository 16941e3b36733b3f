//! What a protocol does to the other traffic: the change from the same replication without multicast.

use serde::Serialize;

use super::ran::Ran;
use super::{interval, paired};
use crate::results::summary::{FlowStatistics, FlowSummary};
use crate::results::{Statistic, Summary, TrafficKind};
use crate::scenario::{DemandPlan, FlowPlan, Scenario, Traffic};

/// A measure by which traffic is judged.
struct Measure {
    name: &'static str,
    /// Whether more of it is worse.
    is_cost: bool,
    /// Whether it is a share, whose change is given in points of a hundred: it may well be zero without multicast.
    is_share: bool,
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
    is_share: false,
    of: |measures| measures.completion_s.as_ref(),
    at_node: weighted_mean,
};
const THROUGHPUT: Measure = Measure {
    name: "throughput_kbps",
    is_cost: false,
    is_share: false,
    of: |measures| Some(&measures.throughput_kbps),
    at_node: sum,
};
/// Video is judged by what is seen of it, and by how often it stands still.
const VIDEO_RATE: Measure = Measure {
    name: "video_kbps",
    is_cost: false,
    is_share: false,
    of: |measures| Some(&measures.video.as_ref()?.video_kbps),
    at_node: weighted_mean,
};
const REBUFFERING: Measure = Measure {
    name: "rebuffering",
    is_cost: true,
    is_share: true,
    of: |measures| Some(&measures.video.as_ref()?.rebuffering),
    at_node: weighted_mean,
};
/// Calls are judged by what does not come. Their delay is given too.
const LOSS: Measure = Measure {
    name: "loss_rate",
    is_cost: true,
    is_share: true,
    of: |measures| Some(&measures.loss_rate),
    at_node: weighted_mean,
};
const DELAY: Measure = Measure {
    name: "delay_ms",
    is_cost: true,
    is_share: false,
    of: |measures| Some(&measures.call.as_ref()?.delay_ms),
    at_node: weighted_mean,
};

/// The effect on one kind of traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// The kind: `tcp-cubic downloads`, `tcp-cubic transfers`, `udp`; of the traffic library `web pages`, `video`,
    /// `file downloads`, `calls`.
    pub kind: String,
    /// What was measured of it: `completion_s` of transfers and pages, `video_kbps` and `rebuffering` of video,
    /// `delay_ms` and `loss_rate` of calls, `throughput_kbps` of others.
    pub metric: &'static str,
    /// At how many nodes there is such traffic.
    pub nodes: usize,
    /// Without multicast, mean over nodes.
    pub baseline: Statistic,
    /// With the protocol, mean over nodes.
    pub with: Statistic,
    /// The change at each node in per cent of the baseline, or of a share in percentage points, mean over nodes,
    /// paired by replication.
    pub change_percent: Statistic,
    /// The node that lost most, by its mean over replications.
    pub worst: Option<Worst>,
}

/// The node at which traffic lost most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// The node.
    pub node: String,
    /// The change in per cent or percentage points.
    pub change_percent: Statistic,
}

impl Effect {
    /// Whether more of the metric is worse.
    #[must_use]
    pub fn is_cost(&self) -> bool {
        [COMPLETION, REBUFFERING, LOSS, DELAY].iter().any(|measure| measure.name == self.metric)
    }

    /// Whether the change is in percentage points.
    #[must_use]
    pub fn is_in_points(&self) -> bool {
        [REBUFFERING, LOSS].iter().any(|measure| measure.name == self.metric)
    }

    /// A change of it, in words.
    pub(super) fn words(&self, change: &Statistic) -> String {
        if self.is_in_points() {
            format!("{} points", interval::points(change))
        } else {
            format!("{} %", interval::change(change))
        }
    }
}

/// The kind of a flow of the scenario.
fn kind(flow: &FlowPlan) -> String {
    if let Some(kind) = flow.kind {
        return kind.plural().to_owned();
    }
    let Traffic::Tcp { demand, .. } = &flow.traffic else { return flow.protocol().to_owned() };
    let what = match demand {
        DemandPlan::Endless => "downloads",
        DemandPlan::OnOff { .. } => "on and off",
        _ => "transfers",
    };
    format!("{} {what}", flow.protocol())
}

/// Equal traffic: its kind, which of the library it is, and the names of its flows.
struct Kind {
    name: String,
    of_library: Option<TrafficKind>,
    flows: Vec<String>,
}

/// The kinds of the traffic that is not compared.
fn kinds(plan: &Scenario, compared: &[String]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut add = |name: String, of_library: Option<TrafficKind>, flows: Vec<String>| match kinds
        .iter_mut()
        .find(|known| known.name == name)
    {
        Some(known) => known.flows.extend(flows),
        None => kinds.push(Kind { name, of_library, flows }),
    };
    for flow in &plan.flows {
        add(kind(flow), flow.kind, flow.to.iter().map(|end| end.flow.clone()).collect());
    }
    for session in plan.sessions.iter().filter(|session| !compared.contains(&session.name)) {
        let names = session.receivers.iter().map(|end| end.flow.clone()).collect();
        add(format!("{} receivers", session.protocol.name()), None, names);
    }
    kinds.retain(|kind| !kind.flows.is_empty());
    kinds
}

/// What a protocol changed for each kind of other traffic.
pub(super) fn effects(with: &Ran, baseline: &Ran) -> Vec<Effect> {
    let kinds = kinds(&baseline.candidate.plan, &with.candidate.sessions);
    kinds.iter().flat_map(|kind| effects_on(kind, &with.summary, &baseline.summary)).collect()
}

fn effects_on(kind: &Kind, with: &Summary, baseline: &Summary) -> Vec<Effect> {
    let (ours, base) = (flows(with, &kind.flows), flows(baseline, &kind.flows));
    let ends = base.iter().any(|flow| flow.measures.completion_s.is_some());
    let measures: &[Measure] = match kind.of_library {
        Some(TrafficKind::Video) => &[VIDEO_RATE, REBUFFERING],
        Some(TrafficKind::Call) => &[DELAY, LOSS],
        _ if ends => &[COMPLETION],
        _ => &[THROUGHPUT],
    };
    let replications = with.replications.min(baseline.replications);
    measures.iter().map(|measure| effect(&kind.name, measure, &ours, &base, replications)).collect()
}

fn effect(
    kind: &str,
    measure: &Measure,
    ours: &[&FlowSummary],
    base: &[&FlowSummary],
    replications: usize,
) -> Effect {
    let (ours, base) = (at_nodes(ours, measure, replications), at_nodes(base, measure, replications));
    // Flows of the baseline are those of the scenario, so nodes come in the same order.
    let pairs: Vec<(&paired::Samples, &paired::Samples)> =
        ours.iter().zip(&base).map(|((_, ours), (_, base))| (ours.as_slice(), base.as_slice())).collect();
    let change = |places: &[(&paired::Samples, &paired::Samples)]| match measure.is_share {
        true => paired::points_over_places(places, replications),
        false => paired::percent_over_places(places, replications),
    };
    let worst = ours.iter().zip(&pairs).filter_map(|((node, _), pair)| {
        let change_percent = change(&[*pair]);
        let harm = change_percent.mean? * if measure.is_cost { 1.0 } else { -1.0 };
        Some((harm, Worst { node: (*node).to_owned(), change_percent }))
    });
    Effect {
        kind: kind.to_owned(),
        metric: measure.name,
        nodes: pairs.len(),
        baseline: mean_over(&base, replications),
        with: mean_over(&ours, replications),
        change_percent: change(&pairs),
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
/// longer. Of video the rate and the time that it stood still are added; of calls packets lost count, and delay does
/// not: what one millisecond more or less is to a call depends on how many there are.
pub(super) fn harm(effects: &[Effect], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let mut kinds: Vec<(&str, f64)> = Vec::new();
        for effect in effects.iter().filter(|effect| effect.metric != DELAY.name) {
            let Some(change) = effect.change_percent.samples.get(number).copied().flatten() else { continue };
            let lost = if effect.is_cost() { change } else { -change };
            match kinds.iter_mut().find(|(kind, _)| *kind == effect.kind) {
                Some((_, sum)) => *sum += lost,
                None => kinds.push((&effect.kind, lost)),
            }
        }
        crate::results::statistics::mean(&kinds.into_iter().map(|(_, lost)| lost).collect::<Vec<f64>>())
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
            kind: if metric == "throughput_kbps" { "downloads" } else { "pages" }.to_owned(),
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

    #[test]
    fn video_is_harmed_by_rate_and_stalls_together_and_calls_by_loss() {
        let effect = |kind: &str, metric: &'static str, change: f64| Effect {
            kind: kind.to_owned(),
            metric,
            nodes: 1,
            baseline: Statistic::default(),
            with: Statistic::default(),
            change_percent: Statistic::new([Some(change)]),
            worst: None,
        };
        let video = [effect("video", "video_kbps", -20.0), effect("video", "rebuffering", 4.0)];
        assert_eq!(harm(&video, 1).samples, [Some(24.0)]);
        let calls = [effect("calls", "delay_ms", 300.0), effect("calls", "loss_rate", 2.0)];
        assert_eq!(harm(&calls, 1).samples, [Some(2.0)], "delay is given, and not weighed");
        assert_eq!(harm(&[video, calls].concat(), 1).samples, [Some(13.0)]);
    }
}
