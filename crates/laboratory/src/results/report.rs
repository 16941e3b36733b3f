//! `report.html`: one page with everything in it, to read without a network, scripts or this program.

mod aggregates;
pub(crate) mod canvas;
mod causes;
mod chart;
mod completion;
mod distributions;
mod dots;
mod findings;
pub mod palette;
mod probes;
mod prose;
mod receivers;
mod strands;
mod tables;
mod timeline;
mod tooltips;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::error::ResultsError;
use super::experiment::Experiment;
use super::paper;
use super::replication::Replication;
use super::statistics::{Spread, Statistic};
use super::summary::{FlowSummary, Summary};
use super::text::{Style, counted, seconds};
use dots::{Dots, MOST_ROWS};
use palette::Palette;
use strands::Strand;
use tables::Tables;

/// Nodes beyond these have their plots over time folded, the worst first.
const MOST_NODES: usize = 12;
/// Nodes beyond these have no plot over time; their numbers are in the tables.
const MOST_PLOTS: usize = 48;
/// Headline figures.
const MOST_TILES: usize = 8;

/// The page's text. It leaves out the cost of the run, so the same run gives the same bytes.
///
/// # Errors
/// When a replication does not fit the experiment or a plot cannot be drawn.
pub fn html(
    experiment: &Experiment,
    replications: &[Replication],
    summary: &Summary,
) -> Result<String, ResultsError> {
    experiment.check(replications)?;
    let mut runs: Vec<&Replication> = replications.iter().collect();
    runs.sort_by_key(|run| run.number);
    let palette = Palette::new(experiment);
    let page = Page { experiment, runs, summary, palette: &palette };
    Ok(page.whole()?.into_string())
}

/// A whole page of a title and what stands on it, in the look of all reports and some rules of its own.
pub(crate) fn document(title: &str, rules: &str, body: &Markup) -> Markup {
    let style = format!("{}{}{rules}", include_str!("report/style.css"), palette::stylesheet());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // The page needs nothing from anywhere, and says so.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="generator" content="layercast";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body { main { (body) } }
        }
    }
}

struct Page<'a> {
    experiment: &'a Experiment,
    runs: Vec<&'a Replication>,
    summary: &'a Summary,
    palette: &'a Palette,
}

impl Page<'_> {
    fn whole(&self) -> Result<Markup, ResultsError> {
        let tables = Tables { experiment: self.experiment, summary: self.summary, palette: self.palette };
        let body = html! {
            (self.head())
            (findings::section(&self.experiment.findings))
            (self.headline())
            (self.fairness()?)
            (self.throughput()?)
            (self.completion()?)
            (self.nodes()?)
            (self.receivers())
            (self.delays()?)
            (self.probes()?)
            (self.tables(&tables))
            (self.settings())
        };
        Ok(document(&self.experiment.title, "", &body))
    }

    fn head(&self) -> Markup {
        let (experiment, summary) = (self.experiment, self.summary);
        let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
        html! {
            header {
                p.over { "Layercast report" }
                h1 { (experiment.title) }
                @if let Some(description) = &experiment.description { p.lead { (description) } }
                @for remark in &experiment.remarks { p.note { (prose::coded(remark)) } }
                @if let Some(lateness) = &summary.lateness { p.note { (lateness.sentence()) } }
                dl.facts {
                    (fact("Scenario", &experiment.scenario))
                    (fact("World", experiment.world))
                    (fact("Replications", &summary.replications.to_string()))
                    (fact("Seed", &experiment.seed.to_string()))
                    (fact("Each lasts", &seconds(experiment.duration_s)))
                    (fact("Measured over", &super::completion::window(summary)))
                    (fact("Scenario hash", &experiment.scenario_hash))
                }
            }
        }
    }

    /// The few numbers to take away: fairness if there are groups, else throughput.
    fn headline(&self) -> Markup {
        let tile = |name: &str, class: String, style: Style, metric: &str, statistic: &Statistic| {
            let paper = paper::find(self.experiment, self.summary, name, metric);
            let mean = statistic.mean;
            html! {
                div.tile {
                    div.what { i.dot.(class) {} (name) }
                    div.value { (mean.map_or_else(|| super::text::NONE.to_owned(), |mean| style.number(mean))) }
                    div.beside {
                        @match (statistic.spread(&style.possible()), statistic.ci95) {
                            (Spread::Interval(..), Some(half)) => { div { "± " (style.number(half)) } }
                            (Spread::Range(least, greatest), _) => {
                                div { (style.bare(least)) " to " (style.number(greatest)) }
                            }
                            _ => {}
                        }
                        @if let Some(paper) = paper { div { "paper " (style.paper(paper.paper)) } }
                    }
                }
            }
        };
        let groups = &self.summary.groups;
        let low = |statistic: &Statistic| statistic.mean.unwrap_or(f64::INFINITY);
        let lowest = distributions::unfairest(self.summary);
        let shown: Vec<usize> = if groups.len() > MOST_TILES {
            lowest.into_iter().take(MOST_TILES).collect()
        } else {
            (0..groups.len()).collect()
        };
        let mut flows: Vec<&FlowSummary> = self.summary.flows.iter().collect();
        if flows.len() > MOST_TILES {
            flows.sort_by(|a, b| {
                low(&a.measures.throughput_kbps).total_cmp(&low(&b.measures.throughput_kbps))
            });
        }
        html! {
            h2 { @if groups.is_empty() { "Throughput in kbit/s" } @else { "How fairly they share" } }
            @if !groups.is_empty() {
                p.note {
                    "Jain index of the throughputs in each group: 1 when all get the same, 1/n when one of n gets all."
                    @if super::completion::any(self.summary) { " A group is judged until the first of its receivers has its object." }
                }
            }
            div.tiles {
                @for group in shown.iter().filter_map(|&group| groups.get(group)) {
                    @let class = self.palette.class(dots::leader(self.experiment, &group.flows));
                    (tile(&group.name, class, Style::Index, "jain_index", &group.jain_index))
                }
                @if groups.is_empty() { @for flow in flows.iter().take(MOST_TILES) {
                    @let got = &flow.measures.throughput_kbps;
                    (tile(&flow.name, self.palette.class(&flow.protocol), Style::Amount, "throughput_kbps", got))
                } }
            }
            @if groups.len() > MOST_TILES {
                p.note { "The " (MOST_TILES) " lowest of " (groups.len()) " groups; all are in the tables below." }
            } @else if groups.is_empty() && flows.len() > MOST_TILES {
                p.note { "The " (MOST_TILES) " lowest of " (flows.len()) " flows; all are in the tables below." }
            }
            (self.agreement())
        }
    }

    fn agreement(&self) -> Markup {
        let compared = paper::compare(self.experiment, self.summary);
        let agree = compared.iter().filter(|comparison| comparison.agrees() == Some(true)).count();
        html! { @if !compared.is_empty() {
            p {
                b { (agree) " of " (counted(compared.len(), "number")) } " agree with the paper: "
                (paper::criterion()) "."
            }
        } }
    }

    fn fairness(&self) -> Result<Markup, ResultsError> {
        let groups = self.summary.groups.len();
        let figure =
            self.dots(dots::fairness(self.experiment, self.summary, self.palette), groups, "groups")?;
        let worst: Vec<usize> =
            distributions::unfairest(self.summary).into_iter().take(distributions::MOST_CURVES).collect();
        let Some(run) = self.runs.first() else { return Ok(figure) };
        let over_time = distributions::fairness(self.experiment, self.summary, run, &worst)?;
        Ok(html! {
            (figure)
            @if let Some(svg) = over_time {
                figure {
                    (PreEscaped(svg))
                    figcaption {
                        "The index over time in the first replication, "
                        (seconds(distributions::fairness_point_s(self.experiment, run))) " to a point"
                        @if groups > worst.len() { ": the " (worst.len()) " lowest of " (groups) " groups" }
                        ". It is unknown while a flow of the group has not started."
                    }
                }
            }
        })
    }

    fn throughput(&self) -> Result<Markup, ResultsError> {
        let rows = dots::throughput(self.experiment, self.summary, self.palette);
        let (count, receivers) = (
            self.summary.flows.len(),
            self.summary.flows.iter().filter(|flow| flow.session.is_some()).count(),
        );
        let too_many = count > MOST_ROWS;
        let figure = self.dots(rows, if too_many { receivers } else { count }, "receivers")?;
        let all = crate::results::aggregates::aggregates(self.experiment, self.summary, MOST_ROWS);
        let together = if too_many {
            self.dots(dots::aggregated(&all, self.palette), all.len(), "kinds of flows")?
        } else {
            html! {}
        };
        let distribution = distributions::throughput(self.summary, self.palette)?;
        Ok(html! {
            @if !self.summary.groups.is_empty() && !self.summary.flows.is_empty() { h2 { "Throughput in kbit/s" } }
            @if too_many {
                p.note {
                    "There are " (count) " flows: first the receivers of sessions, the lowest first, then all flows by "
                    "session and table. Each flow is in the tables below."
                }
            }
            (figure)
            (together)
            @if let Some(svg) = distribution {
                figure {
                    (PreEscaped(svg))
                    figcaption { "How throughput, each flow’s mean, is distributed over flows." }
                }
            }
        })
    }

    /// When receivers had the object of their session, if one has.
    fn completion(&self) -> Result<Markup, ResultsError> {
        let Some(sentences) = super::completion::sentences(self.summary) else { return Ok(html! {}) };
        let rows = dots::completion(self.summary, self.palette);
        let receivers = self.summary.flows.iter().filter(|flow| flow.measures.complete.is_some()).count();
        let figure = self.dots(rows, receivers, "receivers")?;
        let over_time = completion::cdf(self.summary, self.palette)?;
        Ok(html! {
            h2 { "Completion in s from a receiver’s start" }
            p { @for sentence in &sentences { (sentence) " " } }
            (figure)
            @if let Some(svg) = over_time {
                figure {
                    (PreEscaped(svg))
                    figcaption {
                        "The share of receivers in % that have the object"
                        @if self.summary.replications > 1 { ", over all replications" }
                        "."
                    }
                }
            }
        })
    }

    fn dots(&self, rows: Dots<'_>, all: usize, what: &str) -> Result<Markup, ResultsError> {
        if rows.is_empty() {
            return Ok(html! {});
        }
        let svg = rows.svg()?;
        Ok(html! {
            figure {
                (PreEscaped(svg))
                figcaption {
                    "Dots are means"
                    @if self.summary.replications > 2 { ", bars their 95 % confidence intervals" }
                    @if rows.has_ranges() {
                        ", thin bars the least and the greatest of the replications where an interval says nothing"
                    }
                    @if rows.has_ends() { ", thin lines from the lowest flow to the highest" }
                    @if rows.has_paper() { ", diamonds the paper’s numbers" }
                    "."
                    @if all > rows.len() {
                        " The " (rows.len()) " lowest of " (all) " " (what) "; the rest is in the tables below."
                    }
                }
            }
        })
    }

    fn nodes(&self) -> Result<Markup, ResultsError> {
        let mut nodes = self.experiment.nodes();
        let Some(first) = self.runs.first().filter(|_| !nodes.is_empty()) else { return Ok(html! {}) };
        let count = nodes.len();
        if count > MOST_NODES {
            nodes = aggregates::worst_nodes(self.experiment, self.summary);
            nodes.truncate(MOST_PLOTS);
        }
        let restless = aggregates::restless(self.experiment, first, self.palette, &nodes);
        let mut plots = Vec::new();
        for node in &nodes {
            plots.push((*node, timeline::node(self.experiment, &self.runs, self.palette, node, &restless)?));
        }
        let (shown, folded) = plots.split_at(plots.len().min(MOST_NODES));
        let bins = self.runs.first().and_then(|run| run.series.flows.first()).map_or(0, |flow| flow.bins());
        let point = strands::bins_per_point(bins) as f64 * self.experiment.series_bin_s;
        Ok(html! {
            h2 { "Over time" }
            p.note {
                "The first replication, " (seconds(point)) " to a point. Sessions are bold"
                @if !restless.is_empty() { " (thin: " (restless.join(", ")) ", which jump too much)" }
                @if self.calculates() { ", dashed is the rate that they calculate" }
                ". Where several flows share a name, each is faint and their mean is strong. Beneath, the "
                "subscription level with its cumulative rate in kbit/s"
                @if self.runs.len() > 1 { ", the other replications faint behind it" }
                ", and a strip of the causes of its changes: joins above, leaves below. The shaded time is not measured."
                @if count > MOST_NODES {
                    " There are " (count) " nodes; the receivers with the smallest part of their fair share come first."
                }
            }
            @if self.experiment.flows.iter().any(|flow| flow.has_levels()) { (causes::legend()) }
            @for (node, svg) in shown { (self.node(node, svg)) }
            @if !folded.is_empty() {
                details {
                    summary { (counted(folded.len(), "more node")) }
                    @for (node, svg) in folded { (self.node(node, svg)) }
                }
            }
            @if count > plots.len() {
                p.note {
                    (plots.len()) " of " (count) " nodes are drawn; all are in the tables and in series.parquet."
                }
            }
        })
    }

    fn node(&self, node: &str, svg: &str) -> Markup {
        html! {
            section {
                h3 { (node) }
                (self.strands(node))
                figure { (PreEscaped(svg)) }
                (receivers::at_node(self.summary, self.palette, node))
            }
        }
    }

    fn receivers(&self) -> Markup {
        html! { @if receivers::any(self.summary) {
            h2 { "Why receivers have their rates" }
            p.note {
                "The bottleneck is the link of the path that loses or marks the largest share of its packets, or else "
                "the fullest one; the fair share is an equal share of it among the sessions and TCP connections that "
                "cross it. Estimates are the receiver’s own: for many protocols the loss estimate is that of loss "
                "events. The smallest part of the fair share comes first."
            }
            (receivers::table(self.summary, self.palette))
        } }
    }

    fn delays(&self) -> Result<Markup, ResultsError> {
        let slowest = distributions::slowest_links(self.summary);
        if slowest.is_empty() || self.runs.is_empty() {
            return Ok(html! {});
        }
        let shown: Vec<usize> = slowest.iter().copied().take(distributions::MOST_CURVES).collect();
        let [over_time, distribution] = distributions::queue_delays(self.experiment, &self.runs, &shown)?;
        Ok(html! {
            h2 { "Queueing delay" }
            p.note {
                "The time that a link needs for what waits in its queue, without the packet that is being transmitted: a packet "
                "that arrives waits that long and for the rest of that packet"
                @if slowest.len() > shown.len() {
                    ": the " (shown.len()) " queues with the longest mean delay of " (slowest.len())
                    " in which packets waited; all are in the table of links"
                }
                ". Over time it is that of the first replication; the distribution is over the time that is measured, "
                "in all replications."
            }
            figure { (PreEscaped(over_time)) }
            figure { (PreEscaped(distribution)) }
        })
    }

    fn probes(&self) -> Result<Markup, ResultsError> {
        let Some(run) = self.runs.first().filter(|_| !self.experiment.probes.is_empty()) else {
            return Ok(html! {});
        };
        let mut plots = Vec::new();
        for (number, info) in self.experiment.probes.iter().enumerate() {
            plots.push((info, probes::plot(self.experiment, run, number)?));
        }
        Ok(html! {
            h2 { "Probes" }
            p.note {
                "The first replication. Where many values share a point the line is their mean, and the faint ones "
                "are the least and the greatest. The shaded time is not measured."
            }
            @for (info, svg) in &plots {
                section {
                    h3 { (info.name) }
                    p.note { (info.subject) ", every " (seconds(info.every_ns as f64 / 1e9)) }
                    figure { (PreEscaped(svg)) }
                }
            }
        })
    }

    /// Whether any layered flow of the first replication calculates a rate.
    fn calculates(&self) -> bool {
        let known = |values: &[f64]| values.iter().any(|value| value.is_finite());
        let series = self.runs.first().map(|run| run.series.flows.as_slice()).unwrap_or_default();
        series.iter().zip(&self.experiment.flows).any(|(series, flow)| {
            flow.is_layered() && (known(&series.rate_kbps) || known(&series.smoothed_rate_kbps))
        })
    }

    /// What each strand at a node got, in words.
    fn strands(&self, node: &str) -> Markup {
        html! {
            ul.strands { @for strand in strands::at(self.experiment, self.palette, node) {
                li {
                    i.dot.(self.palette.class(&strand.protocol)) {}
                    (strand.label()) " "
                    (self.got(&strand))
                }
            } }
        }
    }

    fn got(&self, strand: &Strand) -> Markup {
        let flows: Vec<_> = strand.flows.iter().filter_map(|&flow| self.summary.flows.get(flow)).collect();
        if let [flow] = flows.as_slice() {
            let paper = paper::find(self.experiment, self.summary, &flow.name, "throughput_kbps");
            return html! {
                b { (Style::Amount.statistic(&flow.measures.throughput_kbps)) } " kbit/s"
                @if let Some(paper) = paper { span.paper { ", paper " (Style::Amount.paper(paper.paper)) } }
            };
        }
        let means: Vec<f64> = flows.iter().filter_map(|flow| flow.measures.throughput_kbps.mean).collect();
        html! { @if let Some(mean) = super::statistics::mean(&means) {
            "mean " b { (Style::Amount.number(mean)) } " kbit/s"
        } }
    }

    fn tables(&self, tables: &Tables<'_>) -> Markup {
        html! {
            h2 { "All numbers" }
            @if self.summary.replications > 1 {
                p.note {
                    "Mean ± half the 95 % Student-t interval over " (counted(self.summary.replications, "replication"))
                    ", or (least–greatest) where there are two or the interval would leave the possible values"
                    ". (k/n): only k of n replications have a value."
                }
            }
            (tables.flows())
            @if !self.summary.groups.is_empty() { (tables.groups()) }
            @if !self.summary.windows.is_empty() {
                h2 { "Other windows" }
                p.note { "Throughput in kbit/s, then the Jain index of the groups." }
                (tables.windows())
            }
            @if !self.summary.links.is_empty() { h2 { "Links" } (tables.links()) }
        }
    }

    fn settings(&self) -> Markup {
        html! {
            h2 { "To repeat this" }
            pre { (self.experiment.command) }
            details {
                summary { "The scenario as it was run" }
                pre { (self.experiment.scenario_text) }
            }
        }
    }
}
