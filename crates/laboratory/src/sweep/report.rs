//! `report.html` of a sweep: curves over one key, maps over two, and all numbers.

mod curves;
mod maps;

use maud::{Markup, PreEscaped, html};

use super::axis::Axis;
use super::lines::{Line, lines};
use super::metric::{Kind, Metric};
use super::runner::Outcome;
use super::summary::SweepSummary;
use crate::results::ResultsError;
use crate::results::report::document;
use crate::results::report::palette::Palette;
use crate::results::text::{NONE, Style, counted, window};

/// Plots of one metric beyond these are left to the tables.
const MOST_PANELS: usize = 24;
/// Rows of a table beyond these are only in `sweep.json`.
const MOST_ROWS: usize = 1000;

/// Numbers on tiles have no outline.
const RULES: &str = ".how { margin-top: 36px } .maps .plot text { stroke: none }\n";

/// The page's text.
///
/// # Errors
/// When a plot cannot be drawn.
pub(super) fn html(outcome: &Outcome<'_>, summary: &SweepSummary) -> Result<String, ResultsError> {
    let lines = lines(outcome);
    let page = Page { outcome, summary, lines: &lines };
    Ok(page.whole()?.into_string())
}

/// What is drawn of one metric.
struct Figure {
    /// The drawing.
    svg: String,
    /// How many plots there would be, if not all are drawn.
    all: Option<usize>,
}

struct Page<'a> {
    outcome: &'a Outcome<'a>,
    summary: &'a SweepSummary,
    lines: &'a [Line],
}

impl Page<'_> {
    fn whole(&self) -> Result<Markup, ResultsError> {
        let body = html! {
            (self.head())
            (self.figures()?)
            (self.tables())
            (self.settings())
        };
        Ok(document(self.outcome.grid.title(), RULES, &body))
    }

    fn head(&self) -> Markup {
        let (grid, summary) = (self.outcome.grid, self.summary);
        let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
        let first = grid.cells.first().map(|cell| &cell.experiment);
        let measured = first.map(|first| first.main_window_s());
        let measured = measured
            .filter(|window| grid.cells.iter().all(|cell| cell.experiment.main_window_s() == *window));
        html! {
            header {
                p.over { "Layercast sweep" }
                h1 { (grid.title()) }
                @if let Some(description) = first.and_then(|first| first.description.as_ref()) { p.lead { (description) } }
                dl.facts {
                    (fact("Scenario", &summary.scenario))
                    (fact("World", &summary.world))
                    @for axis in &grid.axes { (fact(&axis.key, &axis.values.join(", "))) }
                    (fact("Cells", &grid.cells.len().to_string()))
                    (fact("Replications of each", &summary.replications.to_string()))
                    (fact("Seed", &summary.seed.to_string()))
                    @if let Some(measured) = measured { (fact("Measured over", &window(measured))) }
                    (fact("Scenario hash", &summary.scenario_hash))
                }
            }
        }
    }

    /// The keys with several values, by their numbers. Others are not drawn.
    fn varied(&self) -> Vec<usize> {
        let axes = self.outcome.grid.axes.iter().enumerate();
        axes.filter(|(_, axis)| axis.values.len() > 1).map(|(index, _)| index).collect()
    }

    fn figures(&self) -> Result<Markup, ResultsError> {
        let varied = self.varied();
        let note = match varied.as_slice() {
            [] => return Ok(html! {}),
            [key] => self.curves_note(*key),
            [down, across, rest @ ..] => self.maps_note(*down, *across, rest),
        };
        let mut figures: Vec<(&Metric, Markup, Figure)> = Vec::new();
        for metric in &self.outcome.grid.metrics {
            let lines: Vec<&Line> = self.lines.iter().filter(|line| line.has(metric)).collect();
            if lines.is_empty() {
                continue;
            }
            // A subject has one colour in all figures.
            let kin: Vec<&Line> = self.lines.iter().filter(|line| line.kind == metric.kind).collect();
            let palette = palette(&kin);
            let figure = match varied.as_slice() {
                [key] => curves::figure(self.outcome.grid, *key, metric, &lines, &palette)?,
                _ => maps::figure(self.outcome.grid, &varied, metric, &lines, &palette)?,
            };
            figures.push((metric, legend(metric, &lines, &palette), figure));
        }
        Ok(html! {
            p.note.how { (note) }
            @for (metric, legend, figure) in &figures {
                section {
                    h2 { (metric.title) }
                    (legend)
                    figure.maps[varied.len() > 1] { (PreEscaped(&figure.svg)) }
                    @if let Some(all) = figure.all {
                        p.note { "The first " (MOST_PANELS) " of " (all) " plots; the rest is in the table." }
                    }
                }
            }
        })
    }

    fn key(&self, index: usize) -> &str {
        self.outcome.grid.axes.get(index).map_or("", |axis: &Axis| axis.key.as_str())
    }

    fn curves_note(&self, key: usize) -> Markup {
        let is_scale = self.outcome.grid.axes.get(key).is_some_and(|axis| axis.scale.is_some());
        html! {
            "Along the bottom: " code { (self.key(key)) } ". Dots are means"
            @if self.summary.replications > 1 {
                " over " (counted(self.summary.replications, "replication")) ", and "
                @if is_scale { "what is shaded around them is" } @else { "the bars are" }
                " the 95 % confidence interval"
            }
            ". Where several flows share a name at a node, their mean is shown."
        }
    }

    fn maps_note(&self, down: usize, across: usize, rest: &[usize]) -> Markup {
        html! {
            "From top to bottom: " code { (self.key(down)) } ". From left to right: " code { (self.key(across)) } ". "
            @if !rest.is_empty() {
                "A map for each combination of "
                @for (number, &key) in rest.iter().enumerate() { @if number > 0 { ", " } code { (self.key(key)) } }
                ". "
            }
            "Numbers are means" @if self.summary.replications > 1 { " over " (counted(self.summary.replications, "replication")) }
            ", the stronger the colour, the higher, on one scale for all maps of a metric; the range of each is next to it. "
            @if self.summary.replications > 1 {
                "A tile is faded where its confidence interval overlaps those of the lowest and the highest of its map. "
            }
            "The confidence intervals are in the tables. Where several flows share a name at a node, their mean is shown."
        }
    }

    fn tables(&self) -> Markup {
        let grid = self.outcome.grid;
        html! {
            h2 { "All numbers" }
            @if self.summary.replications > 1 {
                p.note {
                    "Mean ± half the 95 % Student-t interval over " (counted(self.summary.replications, "replication"))
                    ", in the first measurement window. (k/n): only k of n replications have a value."
                }
            }
            @for kind in [Kind::Flow, Kind::Group, Kind::Link] {
                @let lines: Vec<&Line> = self.lines.iter().filter(|line| line.kind == kind).collect();
                @let metrics: Vec<&Metric> = grid.metrics.iter().filter(|metric| lines.iter().any(|line| line.has(metric))).collect();
                @if !metrics.is_empty() { (self.table(kind, &lines, &metrics)) }
            }
        }
    }

    fn table(&self, kind: Kind, lines: &[&Line], metrics: &[&Metric]) -> Markup {
        let grid = self.outcome.grid;
        let palette = palette(lines);
        let cells = grid.cells.iter().enumerate();
        let rows: Vec<_> = cells
            .flat_map(|(index, cell)| {
                let of_cell = move |line: &&'_ Line| line.cells.get(index).is_some_and(Option::is_some);
                lines.iter().copied().filter(of_cell).map(move |line| (index, cell, line))
            })
            .collect();
        html! {
            div.scroll tabindex="0" { table {
                thead { tr {
                    th { "Cell" }
                    @for axis in &grid.axes { th { (axis.key) } }
                    th.word { (kind.name()) }
                    @for metric in metrics { th { (metric.heading) } }
                } }
                tbody { @for &(index, cell, line) in rows.iter().take(MOST_ROWS) { tr {
                    th scope="row" { (cell.number) }
                    @for value in grid.values(cell) { td { (value) } }
                    td.word {
                        i.dot.(palette.class(colour_name(line))) {}
                        (line.name)
                        @if let Some(Some(found)) = line.cells.get(index) { @if found.flows > 1 { " × " (found.flows) } }
                    }
                    @for metric in metrics {
                        td { (line.statistic(index, metric).map_or_else(|| NONE.to_owned(), |found| Style::of(metric.name).statistic(found))) }
                    }
                } } }
            } }
            @if rows.len() > MOST_ROWS {
                p.note { "The first " (MOST_ROWS) " of " (rows.len()) " rows; the rest is in sweep.json." }
            }
        }
    }

    fn settings(&self) -> Markup {
        html! {
            h2 { "To repeat this" }
            pre { (self.outcome.grid.command) }
            details {
                summary { "The scenario that was varied" }
                pre { (self.outcome.grid.scenario_text) }
            }
        }
    }
}

/// Flows of one name have one colour at all nodes, as their protocol has in other reports; a group has that
/// of the protocol it is about, and links have none.
fn colour_name(line: &Line) -> &str {
    match line.kind {
        Kind::Flow => &line.family,
        Kind::Group | Kind::Link => &line.protocol,
    }
}

fn palette(lines: &[&Line]) -> Palette {
    let things: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| !line.protocol.is_empty())
        .map(|line| (colour_name(line), line.protocol.as_str()))
        .collect();
    Palette::of_things(&things)
}

/// The legend: each colour once.
fn legend(metric: &Metric, lines: &[&Line], palette: &Palette) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for name in lines.iter().map(|line| colour_name(line)) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    html! { @if !names.is_empty() {
        ul.strands aria-label=(metric.title) { @for name in names.iter().take(MOST_PANELS) {
            li { i.dot.(palette.class(name)) {} (name) }
        } }
    } }
}
