//! `report.html`: one page with everything in it, to read without a network, scripts or this program.

pub(crate) mod canvas;
mod dots;
pub(crate) mod palette;
mod probes;
mod strands;
mod tables;
mod timeline;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::error::ResultsError;
use super::experiment::Experiment;
use super::paper;
use super::replication::Replication;
use super::summary::Summary;
use super::text::{Style, counted, seconds, window};
use dots::{Dots, MOST_ROWS};
use palette::Palette;
use strands::Strand;
use tables::Tables;

/// Nodes beyond these have no plot over time; their numbers are in the tables.
const MOST_NODES: usize = 12;
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
            (self.headline())
            (self.fairness()?)
            (self.throughput()?)
            (self.nodes()?)
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
                @for remark in &experiment.remarks { p.note { (remark) } }
                dl.facts {
                    (fact("Scenario", &experiment.scenario))
                    (fact("World", experiment.world))
                    (fact("Replications", &summary.replications.to_string()))
                    (fact("Seed", &experiment.seed.to_string()))
                    (fact("Each lasts", &seconds(experiment.duration_s)))
                    (fact("Measured over", &window(summary.window_s)))
                    (fact("Scenario hash", &experiment.scenario_hash))
                }
            }
        }
    }

    /// The few numbers to take away: fairness if there are groups, else throughput.
    fn headline(&self) -> Markup {
        let tile = |name: &str,
                    class: String,
                    style: Style,
                    metric: &str,
                    mean: Option<f64>,
                    half: Option<f64>| {
            let paper = paper::find(self.experiment, self.summary, name, metric);
            html! {
                div.tile {
                    div.what { i.dot.(class) {} (name) }
                    div.value { (mean.map_or_else(|| super::text::NONE.to_owned(), |mean| style.number(mean))) }
                    div.beside {
                        @if let Some(half) = half { div { "± " (style.number(half)) } }
                        @if let Some(paper) = paper { div { "paper " (style.paper(paper.paper)) } }
                    }
                }
            }
        };
        let groups = &self.summary.groups;
        html! {
            h2 { @if groups.is_empty() { "Throughput in kbit/s" } @else { "How fairly they share" } }
            @if !groups.is_empty() {
                p.note {
                    "Jain index of the throughputs in each group: 1 when all get the same, 1/n when one of n gets all."
                }
            }
            div.tiles {
                @for group in groups.iter().take(MOST_TILES) {
                    @let class = self.palette.class(dots::leader(self.experiment, &group.flows));
                    @let index = &group.jain_index;
                    (tile(&group.name, class, Style::Index, "jain_index", index.mean, index.ci95))
                }
                @if groups.is_empty() { @for flow in self.summary.flows.iter().take(MOST_TILES) {
                    @let got = &flow.measures.throughput_kbps;
                    (tile(&flow.name, self.palette.class(&flow.protocol), Style::Amount, "throughput_kbps", got.mean, got.ci95))
                } }
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
        self.dots(dots::fairness(self.experiment, self.summary, self.palette), self.summary.groups.len())
    }

    fn throughput(&self) -> Result<Markup, ResultsError> {
        let rows = dots::throughput(self.experiment, self.summary, self.palette);
        let figure = self.dots(rows, self.summary.flows.len())?;
        Ok(html! {
            @if !self.summary.groups.is_empty() && !self.summary.flows.is_empty() { h2 { "Throughput in kbit/s" } }
            (figure)
        })
    }

    fn dots(&self, rows: Dots<'_>, all: usize) -> Result<Markup, ResultsError> {
        if rows.is_empty() {
            return Ok(html! {});
        }
        let svg = rows.svg()?;
        Ok(html! {
            figure {
                (PreEscaped(svg))
                figcaption {
                    "Dots are means"
                    @if self.summary.replications > 1 { ", bars their 95 % confidence intervals" }
                    @if rows.has_paper() { ", diamonds the paper’s numbers" }
                    "."
                    @if all > MOST_ROWS { " The first " (MOST_ROWS) " of " (all) "; the rest is in the table." }
                }
            }
        })
    }

    fn nodes(&self) -> Result<Markup, ResultsError> {
        let nodes = self.experiment.nodes();
        if self.runs.is_empty() || nodes.is_empty() {
            return Ok(html! {});
        }
        let mut plots = Vec::new();
        for node in nodes.iter().take(MOST_NODES) {
            plots.push((node, timeline::node(self.experiment, &self.runs, self.palette, node)?));
        }
        let bins = self.runs.first().and_then(|run| run.series.flows.first()).map_or(0, |flow| flow.bins());
        let point = strands::bins_per_point(bins) as f64 * self.experiment.series_bin_s;
        Ok(html! {
            h2 { "Over time" }
            p.note {
                "The first replication, " (seconds(point)) " to a point. Layered sessions are bold"
                @if self.calculates() { ", dashed is the rate that they calculate" }
                ". Where several flows share a name, each is faint and their mean is strong. Beneath, the "
                "subscription level with its cumulative rate in kbit/s"
                @if self.runs.len() > 1 { ", the other replications faint behind it" }
                ". The shaded time is not measured."
            }
            @for (node, svg) in &plots {
                section {
                    h3 { (node) }
                    (self.strands(node))
                    figure { (PreEscaped(svg)) }
                }
            }
            @if nodes.len() > MOST_NODES {
                p.note { "The first " (MOST_NODES) " of " (nodes.len()) " nodes; all are in the tables and in series.parquet." }
            }
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
