//! Many flows in few rows: those of one table and protocol together.

use maud::{Markup, html};

use super::palette::Palette;
use super::strands;
use crate::results::aggregates::{Aggregate, over_flows};
use crate::results::experiment::Experiment;
use crate::results::statistics::Statistic;
use crate::results::summary::{FlowStatistics, Summary};
use crate::results::text::{NONE, Style};

impl Aggregate<'_> {
    /// Whether any of its flows has something.
    fn has(&self, what: impl Fn(&FlowStatistics) -> bool) -> bool {
        self.flows.iter().any(|flow| what(&flow.measures))
    }

    /// The mean over its flows.
    fn cell(&self, style: Style, of: impl Fn(&FlowStatistics) -> Option<&Statistic>) -> String {
        style.statistic(&over_flows(&self.flows, of))
    }

    fn end_cell(
        &self,
        style: Style,
        worst: bool,
        of: impl Fn(&FlowStatistics) -> Option<&Statistic> + Copy,
    ) -> Markup {
        let Some((least, greatest)) = self.ends(of) else { return html! { td { (NONE) } } };
        let flow = if worst { greatest } else { least };
        let value = of(&flow.measures).and_then(|statistic| statistic.mean);
        html! { td title=(flow.name) {
            (value.map_or_else(|| NONE.to_owned(), |value| style.number(value)))
            @if self.flows.len() > 1 { " " span.who { (flow.name) } }
        } }
    }
}

/// The table of aggregates.
pub(super) fn table(all: &[Aggregate<'_>], palette: &Palette) -> Markup {
    let transfers = all.iter().any(|aggregate| has_transfers(aggregate));
    let video = all.iter().any(|aggregate| aggregate.has(|measures| measures.video.is_some()));
    let calls = all.iter().any(|aggregate| aggregate.has(|measures| measures.call.is_some()));
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Flows" } th.word { "Protocol" } th { "Mean, kbit/s" } th { "Lowest" } th { "Highest" }
                th { "Mean loss" } th { "Worst loss" }
                @if transfers { th { "Transfers each" } th { "Mean time, s" } th { "Slowest, s" } }
                @if video { th { "Video, kbit/s" } th { "Lowest video" } th { "Stalled" } th { "Most stalled" } }
                @if calls { th { "Delay, ms" } th { "Longest delay" } th { "Longest of 99 %" } }
            } }
            tbody { @for aggregate in all { tr {
                th scope="row" { i.dot.(palette.class(aggregate.protocol)) {} (aggregate.label()) }
                td.word { (aggregate.protocol) }
                td { (Style::Amount.statistic(&aggregate.throughput_kbps)) }
                (aggregate.end_cell(Style::Amount, false, |measures| Some(&measures.throughput_kbps)))
                (aggregate.end_cell(Style::Amount, true, |measures| Some(&measures.throughput_kbps)))
                td { (Style::Percent.statistic(&over_flows(&aggregate.flows, |m| Some(&m.loss_rate)))) }
                (aggregate.end_cell(Style::Percent, true, |measures| Some(&measures.loss_rate)))
                @if transfers {
                    @if has_transfers(aggregate) {
                        td { (Style::Tenths.statistic(&over_flows(&aggregate.flows, |m| m.transfers.as_ref()))) }
                        td { (Style::Amount.statistic(&over_flows(&aggregate.flows, |m| m.completion_s.as_ref()))) }
                        (aggregate.end_cell(Style::Amount, true, |measures| measures.completion_s.as_ref()))
                    } @else { td { (NONE) } td { (NONE) } td { (NONE) } }
                }
                @if video {
                    td { (aggregate.cell(Style::Amount, |m| Some(&m.video.as_ref()?.video_kbps))) }
                    (aggregate.end_cell(Style::Amount, false, |m| Some(&m.video.as_ref()?.video_kbps)))
                    td { (aggregate.cell(Style::Percent, |m| Some(&m.video.as_ref()?.rebuffering))) }
                    (aggregate.end_cell(Style::Percent, true, |m| Some(&m.video.as_ref()?.rebuffering)))
                }
                @if calls {
                    td { (aggregate.cell(Style::Amount, |m| Some(&m.call.as_ref()?.delay_ms))) }
                    (aggregate.end_cell(Style::Amount, true, |m| Some(&m.call.as_ref()?.delay_ms)))
                    (aggregate.end_cell(Style::Amount, true, |m| Some(&m.call.as_ref()?.delay_p99_ms)))
                }
            } } }
        } }
    }
}

fn has_transfers(aggregate: &Aggregate<'_>) -> bool {
    aggregate.flows.iter().any(|flow| flow.measures.transfers.is_some())
}

/// The nodes of the experiment, those whose receivers have the smallest part of their fair share first.
pub(super) fn worst_nodes<'a>(experiment: &'a Experiment, summary: &Summary) -> Vec<&'a str> {
    let part = |node: &str| {
        let receivers = summary.flows.iter().filter(|flow| flow.node == node && flow.session.is_some());
        let parts = receivers.filter_map(|flow| {
            let got = flow.measures.throughput_kbps.mean?;
            let share = flow.why.as_ref()?.bottleneck.as_ref()?.fair_share_kbps?;
            (share > 0.0).then(|| got / share)
        });
        parts.fold(f64::INFINITY, f64::min)
    };
    let mut nodes: Vec<(&str, f64)> = experiment.nodes().into_iter().map(|node| (node, part(node))).collect();
    nodes.sort_by(|a, b| a.1.total_cmp(&b.1));
    nodes.into_iter().map(|(node, _)| node).collect()
}

/// The protocols whose curves jump so much at some node that they are drawn thin everywhere.
pub(super) fn restless(
    experiment: &Experiment,
    run: &crate::results::replication::Replication,
    palette: &Palette,
    nodes: &[&str],
) -> Vec<String> {
    let mut restless: Vec<String> = Vec::new();
    for node in nodes {
        let strands = strands::at(experiment, palette, node);
        let curves: Vec<Vec<strands::Curve>> = strands
            .iter()
            .map(|strand| {
                strand.flows.iter().map(|&flow| strands::throughput(experiment, run, flow)).collect()
            })
            .collect();
        let top = super::timeline::ceiling(curves.iter().flatten());
        for (strand, curves) in strands.iter().zip(&curves) {
            let is_new = strand.is_session && !restless.contains(&strand.protocol);
            if is_new && super::timeline::is_restless(curves, top) {
                restless.push(strand.protocol.clone());
            }
        }
    }
    restless
}
