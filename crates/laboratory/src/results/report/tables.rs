//! The report's tables.

use maud::{Markup, html};

use super::dots::leader;
use super::palette::Palette;
use crate::results::experiment::Experiment;
use crate::results::limited::Limited;
use crate::results::paper::{self, Comparison};
use crate::results::statistics::Statistic;
use crate::results::summary::{FlowSummary, Summary};
use crate::results::text::{NONE, Style, decimal, verdict, window};

/// What the tables are made of.
pub(super) struct Tables<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) summary: &'a Summary,
    pub(super) palette: &'a Palette,
}

/// A measure that may be compared with the paper's: heading, metric, and where it is.
type Column = (&'static str, &'static str, fn(&FlowSummary) -> Option<&Statistic>);

const FLOW_COLUMNS: [Column; 5] = [
    ("Throughput, kbit/s", "throughput_kbps", |flow| Some(&flow.measures.throughput_kbps)),
    ("Loss", "loss_rate", |flow| Some(&flow.measures.loss_rate)),
    ("Level changes", "level_changes", |flow| flow.measures.level_changes.as_ref()),
    ("Mean level", "mean_level", |flow| flow.measures.mean_level.as_ref()),
    ("Settled after, s", "settled_after_s", |flow| flow.measures.settled_after_s.as_ref()),
];

impl Tables<'_> {
    fn compared(&self, subject: &str, metric: &str) -> Option<Comparison<'_>> {
        paper::find(self.experiment, self.summary, subject, metric)
    }

    fn has_paper<'s>(&self, mut subjects: impl Iterator<Item = &'s str>, metric: &str) -> bool {
        subjects.any(|subject| self.compared(subject, metric).is_some())
    }

    /// The heading of a measure, with the paper's two columns if it has the measure.
    fn heading(text: &str, paper: bool) -> Markup {
        html! {
            th { (text) }
            @if paper { th.paper { "Paper" } th.paper { "Ratio" } }
        }
    }

    fn cells(&self, subject: &str, metric: &str, ours: Option<&Statistic>, paper: bool) -> Markup {
        let style = Style::of(metric);
        let compared = self.compared(subject, metric);
        html! {
            td { (ours.map_or_else(|| NONE.to_owned(), |ours| style.statistic(ours))) }
            @if paper {
                @if let Some(compared) = compared {
                    td.paper { (style.paper(compared.paper)) }
                    td.paper.off[compared.agrees() == Some(false)] { (verdict(&compared)) }
                } @else {
                    td.paper {} td.paper {}
                }
            }
        }
    }

    fn name(&self, name: &str, protocol: &str) -> Markup {
        html! { th scope="row" { i.dot.(self.palette.class(protocol)) {} (name) } }
    }

    /// Every flow with all its measures.
    pub(super) fn flows(&self) -> Markup {
        let flows = &self.summary.flows;
        let names = || flows.iter().map(|flow| flow.name.as_str());
        let columns: Vec<(&Column, bool)> = FLOW_COLUMNS
            .iter()
            .filter(|(_, _, of)| flows.iter().any(|flow| of(flow).is_some()))
            .map(|column| (column, self.has_paper(names(), column.1)))
            .collect();
        let has_limits = flows.iter().any(|flow| flow.measures.limited.is_some());
        let limit = |flow: &FlowSummary| {
            let main = flow.measures.limited.as_ref().and_then(Limited::main);
            main.unwrap_or_else(|| NONE.to_owned())
        };
        html! {
            div.scroll tabindex="0" { table {
                thead { tr {
                    th { "Flow" } th.word { "Protocol" }
                    @for (column, paper) in &columns { (Self::heading(column.0, *paper)) }
                    @if has_limits { th { "Limited by" } }
                } }
                tbody { @for flow in flows { tr {
                    (self.name(&flow.name, &flow.protocol))
                    td.word { (flow.protocol) }
                    @for ((_, metric, of), paper) in &columns { (self.cells(&flow.name, metric, of(flow), *paper)) }
                    @if has_limits { td { (limit(flow)) } }
                } } }
            } }
        }
    }

    /// Every group with its Jain index.
    pub(super) fn groups(&self) -> Markup {
        let groups = &self.summary.groups;
        let paper = self.has_paper(groups.iter().map(|group| group.name.as_str()), "jain_index");
        html! {
            div.scroll tabindex="0" { table {
                thead { tr { th { "Group" } th.word { "Flows" } (Self::heading("Jain index", paper)) } }
                tbody { @for group in groups { tr {
                    (self.name(&group.name, leader(self.experiment, &group.flows)))
                    td.word { (listed(&group.flows)) }
                    (self.cells(&group.name, "jain_index", Some(&group.jain_index), paper))
                } } }
            } }
        }
    }

    /// Throughput and fairness in every window, side by side.
    pub(super) fn windows(&self) -> Markup {
        let windows = &self.summary.windows;
        let index = |statistic: Option<&Statistic>, style: Style| {
            statistic.map_or_else(|| NONE.to_owned(), |statistic| style.statistic(statistic))
        };
        html! {
            div.scroll tabindex="0" { table {
                thead { tr {
                    th { "Measured over" } th { (window(self.summary.window_s)) }
                    @for further in windows { th { (window(further.window_s)) } }
                } }
                tbody {
                    @for flow in &self.summary.flows { tr {
                        (self.name(&flow.name, &flow.protocol))
                        td { (Style::Amount.statistic(&flow.measures.throughput_kbps)) }
                        @for further in windows {
                            td { (index(further.flows.get(&flow.name).map(|f| &f.throughput_kbps), Style::Amount)) }
                        }
                    } }
                }
                tbody {
                    @for group in &self.summary.groups { tr {
                        (self.name(&group.name, leader(self.experiment, &group.flows)))
                        td { (Style::Index.statistic(&group.jain_index)) }
                        @for further in windows {
                            td { (index(further.groups.get(&group.name).map(|g| &g.jain_index), Style::Index)) }
                        }
                    } }
                }
            } }
        }
    }

    /// Every measured link.
    pub(super) fn links(&self) -> Markup {
        let rate = |kbps: f64| if kbps.is_finite() { decimal(kbps, 0) } else { NONE.to_owned() };
        html! {
            div.scroll tabindex="0" { table {
                thead { tr {
                    th { "Link" } th { "Rate, kbit/s" } th { "Utilisation" } th { "Drops" } th { "Marks" }
                    th { "Mean queue, packets" }
                } }
                tbody { @for (info, link) in self.experiment.links.iter().zip(&self.summary.links) { tr {
                    th scope="row" { (link.name) }
                    td { (rate(info.rate_kbps)) }
                    td { (Style::Percent.statistic(&link.utilisation)) }
                    td { (Style::Tenths.statistic(&link.drops)) }
                    td { (Style::Tenths.statistic(&link.marks)) }
                    td { (Style::Tenths.statistic(&link.mean_queue_packets)) }
                } } }
            } }
        }
    }
}

/// The names, or the first few and how many more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
