//! Means with their confidence intervals, row by row, next to the paper's values.

use std::ops::Range;

use super::canvas::{Drawn, Sheet, Side, Width, both, line, ticks};
use super::palette::{GRID, Ink, MUTED, PAGE, Palette, TEXT};
use crate::results::error::ResultsError;
use crate::results::experiment::Experiment;
use crate::results::paper;
use crate::results::reported::Relation;
use crate::results::statistics::Statistic;
use crate::results::summary::Summary;
use crate::results::text::Style;

/// The height of a row.
const ROW: f64 = 25.0;
/// The space between the rows of one node and those of the next, in rows.
const BREAK: f64 = 0.5;
/// The space above the rows.
const TOP: f64 = 6.0;
/// The space for the numbers under the axis.
const BOTTOM: f64 = 34.0;
/// Rows beyond these are only in the table.
pub(super) const MOST_ROWS: usize = 48;

/// One row: a name, our statistic, and the paper's number if it has one.
pub(super) struct Dot<'a> {
    name: &'a str,
    ink: Ink,
    ours: &'a Statistic,
    paper: Option<f64>,
    /// Whether it begins a new node.
    fresh: bool,
}

/// What a plot of rows shows.
pub(super) struct Dots<'a> {
    label: &'static str,
    style: Style,
    rows: Vec<Dot<'a>>,
    scale: Range<f64>,
}

/// The throughput of every flow.
pub(super) fn throughput<'a>(experiment: &Experiment, summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let mut node = summary.flows.first().map(|flow| flow.node.as_str());
    let rows: Vec<Dot<'a>> = summary
        .flows
        .iter()
        .take(MOST_ROWS)
        .map(|flow| Dot {
            fresh: node.replace(&flow.node) != Some(&flow.node),
            name: &flow.name,
            ink: palette.ink(&flow.protocol),
            ours: &flow.measures.throughput_kbps,
            paper: figure(experiment, summary, &flow.name, "throughput_kbps"),
        })
        .collect();
    let top = rows.iter().flat_map(ends).fold(0.0_f64, f64::max);
    let scale = 0.0..if top > 0.0 { top * 1.05 } else { 1.0 };
    Dots { label: "Throughput of each flow in kbit/s", style: Style::Amount, rows, scale }
}

/// When every receiver of an object had it.
pub(super) fn completion<'a>(summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let with_object = summary.flows.iter().filter(|flow| flow.measures.complete.is_some());
    let rows: Vec<Dot<'a>> = with_object
        .filter_map(|flow| {
            let ours = flow.measures.completion_s.as_ref()?;
            let (name, ink) = (flow.name.as_str(), palette.ink(&flow.protocol));
            Some(Dot { fresh: false, name, ink, ours, paper: None })
        })
        .take(MOST_ROWS)
        .collect();
    let top = rows.iter().flat_map(ends).fold(0.0_f64, f64::max);
    let scale = 0.0..if top > 0.0 { top * 1.05 } else { 1.0 };
    Dots { label: "Completion of each receiver in s from its start", style: Style::Amount, rows, scale }
}

/// The Jain index of every group.
pub(super) fn fairness<'a>(experiment: &Experiment, summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let rows: Vec<Dot<'a>> = summary
        .groups
        .iter()
        .take(MOST_ROWS)
        .map(|group| Dot {
            fresh: false,
            name: &group.name,
            ink: palette.ink(leader(experiment, &group.flows)),
            ours: &group.jain_index,
            paper: figure(experiment, summary, &group.name, "jain_index"),
        })
        .collect();
    // The index often lies close under 1: begin at the tenth below the lowest.
    let lowest = rows.iter().flat_map(ends).fold(1.0_f64, f64::min);
    let scale = ((lowest * 10.0 - 0.2).floor() / 10.0).clamp(0.0, 0.9)..1.0;
    Dots { label: "Jain index of each group", style: Style::Index, rows, scale }
}

/// The protocol that a group is about: its layered one, or else its first.
pub(super) fn leader<'a>(experiment: &'a Experiment, names: &[String]) -> &'a str {
    let mut flows = experiment.flows.iter().filter(|flow| names.contains(&flow.name));
    let first = flows.clone().next();
    flows.find(|flow| flow.is_layered()).or(first).map_or("", |flow| flow.protocol.as_str())
}

/// The paper's number, if it is a number and not a bound.
fn figure(experiment: &Experiment, summary: &Summary, subject: &str, metric: &str) -> Option<f64> {
    let paper = paper::find(experiment, summary, subject, metric)?.paper;
    matches!(paper.relation, Relation::Equal | Relation::About).then_some(paper.value)
}

/// Everything that a row's scale must hold.
fn ends(dot: &Dot<'_>) -> impl Iterator<Item = f64> {
    let half = dot.ours.ci95.unwrap_or(0.0);
    let ours = dot.ours.mean.into_iter().flat_map(move |mean| [mean - half, mean + half]);
    ours.chain(dot.paper).filter(|value| value.is_finite())
}

impl Dots<'_> {
    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the paper has a number in any row.
    pub(super) fn has_paper(&self) -> bool {
        self.rows.iter().any(|row| row.paper.is_some())
    }

    /// The middle of each row, counted in rows from the top, and where the last one ends.
    fn middles(&self) -> (Vec<f64>, f64) {
        let mut end = 0.0;
        let mut middles = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            end += if row.fresh { BREAK } else { 0.0 };
            middles.push(end + 0.5);
            end += 1.0;
        }
        (middles, end)
    }

    /// Draws the rows as SVG for both page widths.
    pub(super) fn svg(&self) -> Result<String, ResultsError> {
        let height = TOP + ROW * self.middles().1 + BOTTOM;
        both(self.label, |width| (width.pick(1000.0, 400.0), height), |sheet, width| self.draw(sheet, width))
    }

    fn draw(&self, sheet: &Sheet<'_>, width: Width) -> Drawn {
        let across = width.pick(130.0..850.0, 96.0..286.0);
        let (middles, end) = self.middles();
        let plane = sheet.plane(across.clone(), TOP..TOP + ROW * end, self.scale.clone(), 0.0..end);
        let marks = ticks(&self.scale, width.pick(8, 3));
        for mark in &marks {
            plane.line([(mark.at, plane.y.start), (mark.at, plane.y.end)], line(GRID.color(), 1.0, 1.0))?;
        }
        plane.bottom(sheet, &marks)?;
        for (row, middle) in self.rows.iter().zip(middles) {
            let height = end - middle;
            let (_, y) = plane.pixel((self.scale.start, height));
            sheet.text(
                &shortened(row.name, width.pick(18, 13)),
                (across.start - 12.0, y),
                Side::End,
                TEXT,
            )?;
            let value = if width == Width::Wide {
                self.style.statistic(row.ours)
            } else {
                row.ours.mean.map_or_else(String::new, |mean| self.style.number(mean))
            };
            sheet.text(&value, (across.end + 14.0, y), Side::Start, MUTED)?;
            if let Some(paper) = row.paper {
                plane.diamond(sheet, (paper, height), 6.0, TEXT, PAGE)?;
            }
            if let Some(mean) = row.ours.mean {
                if let Some(half) = row.ours.ci95 {
                    let low = (mean - half).max(self.scale.start);
                    let high = (mean + half).min(self.scale.end);
                    plane.line([(low, height), (high, height)], line(row.ink.color(), 0.55, 3.0))?;
                }
                plane.dot((mean, height), 4.0, row.ink.color())?;
            }
        }
        Ok(())
    }
}

/// The name, or its beginning if it is longer than there is room.
fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room - 1).chain(['…']).collect()
}
