//! The report's tables.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::aggregates;
use super::dots::{MOST_ROWS, leader};
use super::palette::Palette;
use crate::results::aggregates::{MOST_SINGLE, aggregates};
use crate::results::experiment::{Experiment, LinkInfo};
use crate::results::limited::Limited;
use crate::results::paper::{self, Comparison};
use crate::results::statistics::Statistic;
use crate::results::summary::{FlowSummary, LinkSummary, Summary};
use crate::results::text::{NONE, Style, counted, decimal, verdict, window};

/// What the tables are made of.
pub(super) struct Tables<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) summary: &'a Summary,
    pub(super) palette: &'a Palette,
}

/// A measure that may be compared with the paper's: heading, metric, and where it is.
type Column = (&'static str, &'static str, fn(&FlowSummary) -> Option<&Statistic>);

/// A link that is used less is idle.
const IDLE: f64 = 0.01;

const FLOW_COLUMNS: [Column; 15] = [
    ("Throughput, kbit/s", "throughput_kbps", |flow| Some(&flow.measures.throughput_kbps)),
    ("Loss", "loss_rate", |flow| Some(&flow.measures.loss_rate)),
    ("Level changes", "level_changes", |flow| flow.measures.level_changes.as_ref()),
    ("Mean level", "mean_level", |flow| flow.measures.mean_level.as_ref()),
    ("Settled after, s", "settled_after_s", |flow| flow.measures.settled_after_s.as_ref()),
    ("Complete after, s", "completion_s", |flow| {
        flow.measures.complete.as_ref().and(flow.measures.completion_s.as_ref())
    }),
    ("Object received", "object_received", |flow| flow.measures.object_received.as_ref()),
    ("Transfers", "transfers", |flow| flow.measures.transfers.as_ref()),
    ("Mean time of one, s", "completion_s", |flow| {
        flow.measures.transfers.as_ref().and(flow.measures.completion_s.as_ref())
    }),
    ("Video, kbit/s", "video_kbps", |flow| Some(&flow.measures.video.as_ref()?.video_kbps)),
    ("Stalled", "rebuffering", |flow| Some(&flow.measures.video.as_ref()?.rebuffering)),
    ("Began after, s", "startup_s", |flow| Some(&flow.measures.video.as_ref()?.startup_s)),
    ("Delay, ms", "delay_ms", |flow| Some(&flow.measures.call.as_ref()?.delay_ms)),
    ("99 % of packets under, ms", "delay_p99_ms", |flow| Some(&flow.measures.call.as_ref()?.delay_p99_ms)),
    ("Over 150 ms", "over_150ms", |flow| Some(&flow.measures.call.as_ref()?.over_150ms)),
];

/// Metrics that only receivers with levels have.
const OF_LEVELS: [&str; 3] = ["level_changes", "mean_level", "settled_after_s"];

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

    /// Every flow, or if they are many, those that belong together, and every flow beneath.
    pub(super) fn flows(&self) -> Markup {
        let count = self.summary.flows.len();
        if count <= MOST_SINGLE {
            return self.each_flow(&self.summary.flows.iter().collect::<Vec<_>>());
        }
        let all = aggregates(self.experiment, self.summary, MOST_ROWS);
        let mut flows: Vec<&FlowSummary> = self.summary.flows.iter().collect();
        let mean = |flow: &FlowSummary| flow.measures.throughput_kbps.mean.unwrap_or(f64::INFINITY);
        flows.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        html! {
            (aggregates::table(&all, self.palette))
            details {
                summary { "Each of the " (count) " flows, the lowest throughput first" }
                (self.each_flow(&flows))
            }
        }
    }

    /// A statistic of a flow; none of levels where there are none to choose from.
    fn statistic_of<'f>(
        flow: &'f FlowSummary,
        column: &Column,
        level_less: &BTreeSet<&str>,
    ) -> Option<&'f Statistic> {
        if OF_LEVELS.contains(&column.1) && level_less.contains(flow.name.as_str()) {
            return None;
        }
        (column.2)(flow)
    }

    /// Every flow with all its measures.
    fn each_flow(&self, flows: &[&FlowSummary]) -> Markup {
        let names = || flows.iter().map(|flow| flow.name.as_str());
        let without_levels = self.experiment.flows.iter().filter(|info| !info.has_levels());
        let level_less: BTreeSet<&str> = without_levels.map(|info| info.name.as_str()).collect();
        let of = |flow, column: &Column| Self::statistic_of(flow, column, &level_less);
        let columns: Vec<(&Column, bool)> = FLOW_COLUMNS
            .iter()
            .filter(|column| flows.iter().any(|flow| of(flow, column).is_some()))
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
                    @for (column, paper) in &columns {
                        (self.cells(&flow.name, column.1, of(flow, column), *paper))
                    }
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
                            td { (index(further.flow(&flow.name).map(|f| &f.measures.throughput_kbps), Style::Amount)) }
                        }
                    } }
                }
                tbody {
                    @for group in &self.summary.groups { tr {
                        (self.name(&group.name, leader(self.experiment, &group.flows)))
                        td { (Style::Index.statistic(&group.jain_index)) }
                        @for further in windows {
                            td { (index(further.group(&group.name).map(|g| &g.jain_index), Style::Index)) }
                        }
                    } }
                }
            } }
        }
    }

    /// Every measured link; those that carried next to nothing are folded.
    pub(super) fn links(&self) -> Markup {
        let pairs = || self.experiment.links.iter().zip(&self.summary.links);
        let is_idle = |link: &LinkSummary| {
            let none = |statistic: &Statistic| statistic.mean.is_none_or(|mean| mean == 0.0);
            link.utilisation.mean.is_some_and(|mean| mean < IDLE) && none(&link.drops) && none(&link.marks)
        };
        let mut busy: Vec<_> = pairs().filter(|(_, link)| !is_idle(link)).collect();
        let idle: Vec<_> = pairs().filter(|(_, link)| is_idle(link)).collect();
        if self.summary.links.len() <= MOST_SINGLE || idle.is_empty() {
            return self.link_table(&pairs().collect::<Vec<_>>());
        }
        let used = |link: &LinkSummary| link.utilisation.mean.unwrap_or(0.0);
        busy.sort_by(|a, b| used(b.1).total_cmp(&used(a.1)));
        html! {
            (self.link_table(&busy))
            details {
                summary { (counted(idle.len(), "direction")) " of links used for less than 1 %, without drops" }
                (self.link_table(&idle))
            }
        }
    }

    fn link_table(&self, links: &[(&LinkInfo, &LinkSummary)]) -> Markup {
        let rate = |kbps: f64| if kbps.is_finite() { decimal(kbps, 0) } else { NONE.to_owned() };
        let ms = |statistic: &Option<Statistic>| {
            statistic.as_ref().map_or_else(|| NONE.to_owned(), |statistic| Style::Amount.statistic(statistic))
        };
        html! {
            div.scroll tabindex="0" { table {
                thead { tr {
                    th { "Link" } th { "Rate, kbit/s" } th { "Delay" } th.word { "Queue" } th { "Utilisation" }
                    th { "Drops" } th { "Marks" } th { "Mean queue, packets" } th { "Queueing delay, ms" }
                    th { "95 % of the time under" }
                } }
                tbody { @for (info, link) in links { tr {
                    th scope="row" { (link.name) }
                    td { (rate(info.rate_kbps)) }
                    td { (info.delay) }
                    td.word { (info.queue) }
                    td { (Style::Percent.statistic(&link.utilisation)) }
                    td { (Style::Tenths.statistic(&link.drops)) }
                    td { (Style::Tenths.statistic(&link.marks)) }
                    td { (Style::Tenths.statistic(&link.mean_queue_packets)) }
                    td { (ms(&link.queue_delay_ms)) }
                    td { (ms(&link.queue_delay_p95_ms)) }
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
