//! Means with their confidence intervals, row by row, next to the paper's values.

use std::borrow::Cow;
use std::ops::Range;

use super::canvas::{Drawn, Sheet, Side, Width, both, line, ticks};
use super::palette::{GRID, Ink, MUTED, PAGE, Palette, TEXT};
use crate::results::aggregates::Aggregate;
use crate::results::error::ResultsError;
use crate::results::experiment::Experiment;
use crate::results::paper;
use crate::results::reported::Relation;
use crate::results::statistics::{Spread, Statistic};
use crate::results::summary::{FlowSummary, GroupSummary, Summary};
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
    name: Cow<'a, str>,
    ink: Ink,
    ours: Cow<'a, Statistic>,
    /// The least and the greatest of what a row stands for, if it stands for several.
    ends: Option<(f64, f64)>,
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

/// The throughput of every flow; where they are too many, of the receivers of sessions, the lowest first.
pub(super) fn throughput<'a>(experiment: &Experiment, summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let mut flows: Vec<&FlowSummary> = summary.flows.iter().collect();
    let too_many = flows.len() > MOST_ROWS;
    if too_many {
        flows.retain(|flow| flow.session.is_some());
        let mean = |flow: &FlowSummary| flow.measures.throughput_kbps.mean.unwrap_or(f64::INFINITY);
        flows.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        flows.truncate(MOST_ROWS);
    }
    let mut node = flows.first().map(|flow| flow.node.as_str());
    let rows: Vec<Dot<'a>> = flows
        .into_iter()
        .map(|flow| Dot {
            fresh: node.replace(&flow.node) != Some(&flow.node) && !too_many,
            name: Cow::Borrowed(&flow.name),
            ink: palette.ink(&flow.protocol),
            ours: Cow::Borrowed(&flow.measures.throughput_kbps),
            ends: None,
            paper: figure(experiment, summary, &flow.name, "throughput_kbps"),
        })
        .collect();
    of_throughput("Throughput of each flow in kbit/s", rows)
}

/// The throughput of flows that belong together: the mean over them, and the least and the greatest.
pub(super) fn aggregated(all: &[Aggregate<'_>], palette: &Palette) -> Dots<'static> {
    let ends = |aggregate: &Aggregate<'_>| {
        let (least, greatest) = aggregate.ends(|measures| Some(&measures.throughput_kbps))?;
        let mean = |flow: &FlowSummary| flow.measures.throughput_kbps.mean;
        (aggregate.flows.len() > 1).then_some((mean(least)?, mean(greatest)?))
    };
    let row = |aggregate: &Aggregate<'_>| Dot {
        fresh: false,
        name: Cow::Owned(aggregate.label()),
        ink: palette.ink(aggregate.protocol),
        ours: Cow::Owned(aggregate.throughput_kbps.clone()),
        ends: ends(aggregate),
        paper: None,
    };
    of_throughput("Throughput of flows together in kbit/s", all.iter().take(MOST_ROWS).map(row).collect())
}

fn of_throughput<'a>(label: &'static str, rows: Vec<Dot<'a>>) -> Dots<'a> {
    let top = rows.iter().flat_map(ends).fold(0.0_f64, f64::max);
    let scale = 0.0..if top > 0.0 { top * 1.05 } else { 1.0 };
    Dots { label, style: Style::Amount, rows, scale }
}

/// When every receiver of an object had it.
pub(super) fn completion<'a>(summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let with_object = summary.flows.iter().filter(|flow| flow.measures.complete.is_some());
    let rows: Vec<Dot<'a>> = with_object
        .filter_map(|flow| {
            let ours = Cow::Borrowed(flow.measures.completion_s.as_ref()?);
            let (name, ink) = (Cow::Borrowed(flow.name.as_str()), palette.ink(&flow.protocol));
            Some(Dot { fresh: false, name, ink, ours, ends: None, paper: None })
        })
        .take(MOST_ROWS)
        .collect();
    let top = rows.iter().flat_map(ends).fold(0.0_f64, f64::max);
    let scale = 0.0..if top > 0.0 { top * 1.05 } else { 1.0 };
    Dots { label: "Completion of each receiver in s from its start", style: Style::Amount, rows, scale }
}

/// The Jain index of every group.
pub(super) fn fairness<'a>(experiment: &Experiment, summary: &'a Summary, palette: &Palette) -> Dots<'a> {
    let mut groups: Vec<&GroupSummary> = summary.groups.iter().collect();
    if groups.len() > MOST_ROWS {
        let mean = |group: &GroupSummary| group.jain_index.mean.unwrap_or(f64::INFINITY);
        groups.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    }
    let rows: Vec<Dot<'a>> = groups
        .into_iter()
        .take(MOST_ROWS)
        .map(|group| Dot {
            fresh: false,
            name: Cow::Borrowed(&group.name),
            ink: palette.ink(leader(experiment, &group.flows)),
            ours: Cow::Borrowed(&group.jain_index),
            ends: None,
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
    let spread = match dot.ours.spread(&Style::Amount.possible()) {
        Spread::Unknown => None,
        Spread::Interval(low, high) | Spread::Range(low, high) => Some([low, high]),
    };
    let ends = dot.ends.map(|(least, greatest)| [least, greatest]);
    let ours = dot.ours.mean.into_iter().chain(spread.into_iter().chain(ends).flatten());
    ours.chain(dot.paper).filter(|value| value.is_finite())
}

impl Dots<'_> {
    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether a row shows the least and the greatest in place of an interval.
    pub(super) fn has_ranges(&self) -> bool {
        let possible = self.style.possible();
        self.rows.iter().any(|row| matches!(row.ours.spread(&possible), Spread::Range(..)))
    }

    /// Whether a row stands for several flows.
    pub(super) fn has_ends(&self) -> bool {
        self.rows.iter().any(|row| row.ends.is_some())
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
                &shortened(&row.name, width.pick(18, 13)),
                (across.start - 12.0, y),
                Side::End,
                TEXT,
            )?;
            let value = if width == Width::Wide {
                self.style.statistic(&row.ours)
            } else {
                row.ours.mean.map_or_else(String::new, |mean| self.style.number(mean))
            };
            sheet.text(&value, (across.end + 14.0, y), Side::Start, MUTED)?;
            if width == Width::Wide {
                let text = format!("{}: {}", row.name, self.style.statistic(&row.ours));
                sheet.title(0.0..across.end + 140.0, y - 0.5 * ROW..y + 0.5 * ROW, &text);
            }
            if let Some(paper) = row.paper {
                plane.diamond(sheet, (paper, height), 6.0, TEXT, PAGE)?;
            }
            if let Some(mean) = row.ours.mean {
                let across = |low: f64, high: f64| {
                    [(low.max(self.scale.start), height), (high.min(self.scale.end), height)]
                };
                if let Some((least, greatest)) = row.ends {
                    plane.line(across(least, greatest), line(row.ink.color(), 0.35, 1.25))?;
                }
                match row.ours.spread(&self.style.possible()) {
                    Spread::Interval(low, high) => {
                        plane.line(across(low, high), line(row.ink.color(), 0.55, 3.0))?;
                    }
                    Spread::Range(low, high) => {
                        plane.line(across(low, high), line(row.ink.color(), 0.8, 1.25))?;
                    }
                    Spread::Unknown => {}
                }
                plane.dot((mean, height), 4.0, row.ink.color())?;
            }
        }
        Ok(())
    }
}

/// The name, or its beginning if it is longer than there is room.
pub(super) fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room - 1).chain(['…']).collect()
}
