//! The comparison: the results of each protocol, side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::SCHEMA;
use super::candidates::{BASELINE, Candidate};
use super::differences;
use super::effects;
use super::error::Rejected;
use super::ran::{Ran, Results};
use super::receivers::{self, Runs, Shows, over_receivers};
use super::row::Row;
use super::verdict::{self, Verdict};
use crate::results::json;
use crate::results::statistics::mean;
use crate::results::summary::{FlowStatistics, FlowSummary};
use crate::results::{Statistic, Summary};
use crate::scenario::{LossPlace, Scenario};

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
    /// The links whose utilisation is reported for one of the protocols: those that limit its receivers, or else are
    /// the fullest of their paths.
    pub bottlenecks: Vec<String>,
    /// Which protocol is best, and what shows it.
    pub verdict: Verdict,
    /// The protocol that the others are compared with.
    pub reference: String,
    /// The command that runs the scenario without the compared sessions; null where there is no other traffic.
    pub baseline: Option<Baseline>,
    /// A row for each protocol, in the order asked for.
    pub protocols: Vec<Row>,
    /// The protocols that could not be compared.
    pub refused: Vec<Rejected>,
}

/// The scenario without the compared sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Baseline {
    /// The command that runs it alone.
    pub command: String,
}

impl Comparison {
    /// The comparison of these runs with a reference, the best if none is named. None without any run.
    #[must_use]
    pub fn new(results: &Results, command: &str, reference: Option<&str>) -> Option<Comparison> {
        let first = results.ran.first()?;
        let mut protocols: Vec<Row> =
            results.ran.iter().map(|ran| row(ran, results.baseline.as_ref())).collect();
        let verdict = verdict::of(&protocols, first.summary.replications);
        let reference =
            reference.unwrap_or(verdict.best.first().unwrap_or(&protocols.first()?.protocol)).to_owned();
        if let Some(base) = protocols.iter().find(|row| row.protocol == reference).cloned() {
            for row in protocols.iter_mut().filter(|row| row.protocol != reference) {
                row.differences = differences::of(row, &base);
            }
        }
        let limiting: BTreeSet<usize> = results
            .ran
            .iter()
            .flat_map(|ran| {
                bottlenecks(&receivers::flows(&ran.summary, &ran.candidate.sessions), &ran.summary)
            })
            .collect();
        Some(Comparison {
            schema: SCHEMA,
            scenario: first.candidate.scenario.clone(),
            title: first.summary.title.clone(),
            command: command.to_owned(),
            replications: first.summary.replications,
            seed: first.summary.seed,
            window_s: first.summary.window_s,
            bottlenecks: limiting
                .iter()
                .filter_map(|&link| Some(first.summary.links.get(link)?.name.clone()))
                .collect(),
            verdict,
            reference,
            baseline: results
                .baseline
                .as_ref()
                .map(|baseline| Baseline { command: baseline.candidate.command.clone() }),
            protocols,
            refused: results.refused.clone(),
        })
    }

    /// What tables and plots of receivers show.
    pub(super) fn shows(&self) -> Shows {
        let with_tcp = self.protocols.iter().any(|row| row.share_of_tcp.mean.is_some());
        if with_tcp { Shows::ShareOfTcp } else { Shows::Throughput }
    }

    /// The refusals in a line each.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (String, String)> {
        self.refused.iter().map(|refused| {
            let what = if refused.protocol == BASELINE { "not run" } else { "refused" };
            (format!("{} {what}", refused.protocol), refused.reasons.join("; "))
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

/// The links that limit receivers, or else are the fullest of their paths: each once, by their places in the summary.
fn bottlenecks(receivers: &[&FlowSummary], summary: &Summary) -> BTreeSet<usize> {
    let named: BTreeSet<&str> =
        receivers.iter().filter_map(|flow| flow.why.as_ref()?.most_loaded_link()).collect();
    let links = summary.links.iter().enumerate();
    links.filter(|(_, link)| named.contains(link.name.as_str())).map(|(index, _)| index).collect()
}

fn row(ran: &Ran, baseline: Option<&Ran>) -> Row {
    let mut row =
        row_alone(&ran.candidate, &ran.summary, (&ran.outcome.experiment, &ran.outcome.replications));
    row.effects = baseline.map_or_else(Vec::new, |baseline| effects::effects(ran, baseline));
    row.harm_percent = effects::harm(&row.effects, ran.summary.replications);
    row.verdict = verdict::sentence(&row);
    row
}

/// The results of a candidate, without its effects on other traffic, which need a run without it.
pub(crate) fn row_alone(candidate: &Candidate, summary: &Summary, runs: Runs<'_>) -> Row {
    let flows = receivers::flows(summary, &candidate.sessions);
    let rows = receivers::rows(&flows, summary, runs);
    let over = |of: &dyn Fn(&FlowStatistics) -> Option<&Statistic>| {
        over_receivers(flows.iter().filter_map(|flow| of(&flow.measures)), summary.replications)
    };
    let moved = |of: fn(&crate::results::movement::Movement<Statistic>) -> &Statistic| {
        over(&|measures| measures.movement.as_ref().map(of))
    };
    let has_receiver = |names: &[String]| flows.iter().any(|flow: &&FlowSummary| names.contains(&flow.name));
    let groups = summary.groups.iter().filter(|group| has_receiver(&group.flows));
    let simulated_s = summary.duration_s * summary.replications as f64;
    Row {
        protocol: candidate.protocol.clone(),
        command: candidate.command.clone(),
        throughput_kbps: over(&|measures| Some(&measures.throughput_kbps)),
        share_of_tcp: over_receivers(rows.iter().map(|row| &row.share_of_tcp), summary.replications),
        fair_share_closeness: receivers::fair_share_closeness(&rows, summary.replications),
        harm_percent: Statistic::default(),
        effects: Vec::new(),
        completion: receivers::completion(&rows, summary.replications),
        jain_index: over_receivers(groups.map(|group| &group.jain_index), summary.replications),
        loss_rate: over(&|measures| Some(&measures.loss_rate)),
        queue_loss: queue_loss(&flows, summary, &candidate.plan),
        own_lost_per_event: moved(|movement| &movement.own_lost_per_event),
        others_lost_per_event: moved(|movement| &movement.others_lost_per_event),
        level_changes_per_min: moved(|movement| &movement.level_changes_per_min),
        channel_joins_per_s: moved(|movement| &movement.channel_joins_per_s),
        channel_leaves_per_s: moved(|movement| &movement.channel_leaves_per_s),
        settled_after_s: over(&|measures| measures.settled_after_s.as_ref()),
        utilisation: utilisation(&flows, summary),
        cpu_ms_per_s: summary.engine.as_ref().map(|engine| engine.cpu_s * 1e3 / simulated_s),
        differences: Vec::new(),
        verdict: String::new(),
        receivers: rows,
    }
}

/// The mean over these receivers of the share of their packets that queues lost.
fn queue_loss(receivers: &[&FlowSummary], summary: &Summary, plan: &Scenario) -> Option<f64> {
    let directions = plan.links.iter().flat_map(|link| [&link.forward, &link.backward]);
    // What passes the error model of each link.
    let passes: BTreeMap<&str, f64> = directions
        .zip(&summary.links)
        .filter_map(|(direction, link)| {
            let (drops, losses) = (link.drops.mean?, link.losses.as_ref()?.mean?);
            // What is lost at the far end has been transmitted.
            let twice = if direction.loss_place == LossPlace::AfterLink { losses } else { 0.0 };
            let offered = link.packets.as_ref()?.mean? + drops - twice;
            (offered > 0.0).then(|| (link.name.as_str(), 1.0 - losses / offered))
        })
        .collect();
    let of = |flow: &&FlowSummary| {
        let path = flow.why.as_ref().map(|why| why.path.as_slice()).unwrap_or_default();
        let passed: f64 = path.iter().filter_map(|link| passes.get(link.as_str())).product();
        Some((1.0 - (1.0 - flow.measures.loss_rate.mean?) / passed).max(0.0))
    };
    mean(&receivers.iter().filter_map(of).collect::<Vec<f64>>())
}

/// The mean over the bottlenecks of these receivers.
fn utilisation(receivers: &[&FlowSummary], summary: &Summary) -> Statistic {
    let limiting = bottlenecks(receivers, summary);
    Statistic::new((0..summary.replications).map(|number| {
        let used =
            |&link: &usize| summary.links.get(link)?.utilisation.samples.get(number).copied().flatten();
        let each: Vec<f64> = limiting.iter().filter_map(used).collect();
        mean(&each)
    }))
}
