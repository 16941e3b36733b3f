//! Draws a figure's panels, as SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::{Curve, Panel, Style};
use super::scale::{Scale, tick_label};

/// The size of a panel's plot, without what is around it.
const WIDTH: i32 = 440;
const HEIGHT: i32 = 270;
/// The margins of a plot.
const LEFT: i32 = 64;
const RIGHT: i32 = 24;
const BOTTOM: i32 = 52;
/// The space above a plot for its title, and for each row of its legend.
const TITLE: i32 = 34;
const LEGEND_ROW: i32 = 20;

const TEXT: RGBColor = RGBColor(0x1C, 0x23, 0x2B);
const MUTED: RGBColor = RGBColor(0x5F, 0x6B, 0x7A);
const GRID: RGBColor = RGBColor(0xE3, 0xE7, 0xEC);
/// Colours that colour-blind readers can distinguish; the first is for TCP.
const HUES: [RGBColor; 8] = [
    RGBColor(0x5F, 0x6B, 0x7A),
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x9C, 0x8B, 0x00),
];

/// A figure that cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("a figure cannot be drawn: {0}")]
pub(crate) struct PlotError(String);

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), PlotError>;

/// How many panels stand side by side.
const COLUMNS: usize = 2;

/// The panels, two in a row.
pub(crate) fn svg(panels: &[Panel]) -> Result<String, PlotError> {
    let rows = panels.iter().map(|panel| legend_rows(panel).len()).max().unwrap_or(0) as i32;
    let top = TITLE + rows * LEGEND_ROW;
    let (width, height) = (LEFT + WIDTH + RIGHT, top + HEIGHT + BOTTOM);
    let mut text = String::new();
    {
        let columns = panels.len().clamp(1, COLUMNS);
        let lines = panels.len().div_ceil(columns).max(1);
        let size = (width as u32 * columns as u32, height as u32 * lines as u32);
        let sheet = SVGBackend::with_string(&mut text, size).into_drawing_area();
        sheet.fill(&WHITE).map_err(failed)?;
        for (panel, part) in panels.iter().zip(sheet.split_evenly((lines, columns))) {
            Plane::new(panel, top)?.draw(&part)?;
        }
        sheet.present().map_err(failed)?;
    }
    Ok(text)
}

fn failed(reason: impl std::fmt::Display) -> PlotError {
    PlotError(reason.to_string())
}

/// How wide a text is, about.
fn text_width(text: &str) -> i32 {
    7 * text.chars().count() as i32
}

/// The curves with their position in the legend, row by row.
fn legend_rows(panel: &Panel) -> Vec<Vec<(i32, &Curve)>> {
    let mut rows: Vec<Vec<(i32, &Curve)>> = Vec::new();
    let mut x = WIDTH;
    for curve in &panel.curves {
        let width = 30 + text_width(&curve.name) + 14;
        if x + width > WIDTH + RIGHT || rows.is_empty() {
            rows.push(Vec::new());
            x = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, curve));
        }
        x += width;
    }
    rows
}

/// A panel and where its values lie.
struct Plane<'p> {
    panel: &'p Panel,
    top: i32,
    across: Range<f64>,
    up: Range<f64>,
    across_ticks: Vec<f64>,
    up_ticks: Vec<f64>,
}

impl<'p> Plane<'p> {
    fn new(panel: &'p Panel, top: i32) -> Result<Plane<'p>, PlotError> {
        let points = || panel.curves.iter().flat_map(|curve| &curve.points);
        let positions: Vec<f64> = points().map(|(at, _)| *at).collect();
        let values = points().flat_map(|(_, samples)| {
            let statistic = samples.statistic();
            let half = statistic.ci95.unwrap_or(0.0);
            statistic.mean.into_iter().flat_map(move |mean| [mean, mean - half, mean + half])
        });
        let values: Vec<f64> =
            values.filter(|value| panel.up_scale == Scale::Linear || *value > 0.0).collect();
        let (Some((first, last)), Some((low, high))) = (ends(&positions), ends(&values)) else {
            return Err(PlotError(format!("`{}` has no values", panel.title)));
        };
        // What was measured is shown from zero, unless it goes by factors; a time_series with little change is not.
        let is_course = panel.curves.iter().all(|curve| matches!(curve.look, Style::Line(_)));
        let is_narrow = is_course && low > 0.5 * high;
        let low = if panel.up_scale == Scale::Linear && !is_narrow { low.min(0.0) } else { low };
        let across = widened(panel.across_scale, first, last);
        let up = widened(panel.up_scale, low, high);
        let up = if panel.up_scale == Scale::Linear && low == 0.0 { 0.0..up.end } else { up };
        let mut known = positions;
        known.sort_by(f64::total_cmp);
        known.dedup_by(|one, other| (*one - *other).abs() <= 1e-9 * other.abs());
        // If there are few positions, such as a factor's levels, they are the ticks.
        let is_levels = known.len() <= 9 && panel.across_scale == Scale::Logarithmic;
        Ok(Plane {
            across_ticks: if is_levels { known } else { panel.across_scale.ticks(first, last) },
            up_ticks: panel
                .up_scale
                .ticks(unscaled(panel.up_scale, up.start), unscaled(panel.up_scale, up.end)),
            panel,
            top,
            across,
            up,
        })
    }

    fn x(&self, at: f64) -> i32 {
        let share = (self.panel.across_scale.position(at) - self.across.start)
            / (self.across.end - self.across.start);
        LEFT + (share * f64::from(WIDTH)).round() as i32
    }

    fn y(&self, value: f64) -> i32 {
        let share = (self.panel.up_scale.position(value) - self.up.start) / (self.up.end - self.up.start);
        self.top + HEIGHT - (share.clamp(-0.01, 1.01) * f64::from(HEIGHT)).round() as i32
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Drawn {
        let bottom = self.top + HEIGHT;
        for &tick in &self.up_ticks {
            let y = self.y(tick);
            line(sheet, &[(LEFT, y), (LEFT + WIDTH, y)], GRID, 1)?;
            words(sheet, &tick_label(tick), (LEFT - 8, y), 13, MUTED, HPos::Right, VPos::Center)?;
        }
        for &tick in &self.across_ticks {
            let x = self.x(tick);
            line(sheet, &[(x, self.top), (x, bottom)], GRID, 1)?;
            words(sheet, &tick_label(tick), (x, bottom + 8), 13, MUTED, HPos::Center, VPos::Top)?;
        }
        line(sheet, &[(LEFT, bottom), (LEFT + WIDTH, bottom)], MUTED, 1)?;
        words(sheet, &self.panel.title, (LEFT, 10), 15, TEXT, HPos::Left, VPos::Top)?;
        let middle = LEFT + WIDTH / 2;
        words(sheet, self.panel.across, (middle, bottom + 30), 13, TEXT, HPos::Center, VPos::Top)?;
        self.legend(sheet)?;
        self.panel.curves.iter().try_for_each(|curve| self.curve(sheet, curve))
    }

    fn legend(&self, sheet: &Sheet<'_>) -> Drawn {
        for (number, row) in legend_rows(self.panel).iter().enumerate() {
            let y = TITLE + number as i32 * LEGEND_ROW + 4;
            for (x, curve) in row {
                let x = LEFT + x;
                if has_line(curve.look) {
                    line(sheet, &[(x, y), (x + 22, y)], color(curve.look), stroke(curve.look))?;
                }
                if has_dots(curve.look) {
                    dot(sheet, (x + 11, y), curve.look)?;
                }
                words(sheet, &curve.name, (x + 28, y), 13, TEXT, HPos::Left, VPos::Center)?;
            }
        }
        Ok(())
    }

    fn curve(&self, sheet: &Sheet<'_>, curve: &Curve) -> Drawn {
        let (ink, width) = (color(curve.look), stroke(curve.look));
        let mut polyline: Vec<(i32, i32)> = Vec::new();
        for (at, samples) in &curve.points {
            let statistic = samples.statistic();
            let drawn = statistic.mean.filter(|mean| self.panel.up_scale == Scale::Linear || *mean > 0.0);
            let Some(mean) = drawn else {
                line(sheet, &polyline, ink, width)?;
                polyline.clear();
                continue;
            };
            let x = self.x(*at);
            if has_line(curve.look) {
                polyline.push((x, self.y(mean)));
            }
            if let Some(half) = statistic.ci95 {
                // An interval that reaches below what can be drawn ends at the frame.
                let ends = [mean - half, mean + half].map(|end| self.y(end));
                line(sheet, &[(x, ends[0]), (x, ends[1])], ink, 1)?;
                for end in ends {
                    line(sheet, &[(x - 3, end), (x + 3, end)], ink, 1)?;
                }
            }
        }
        line(sheet, &polyline, ink, width)?;
        if has_dots(curve.look) {
            for (at, samples) in &curve.points {
                if let Some(mean) = samples.statistic().mean {
                    dot(sheet, (self.x(*at), self.y(mean)), curve.look)?;
                }
            }
        }
        Ok(())
    }
}

/// The least and the largest, if there are any.
fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let low = finite().min_by(f64::total_cmp)?;
    Some((low, finite().max_by(f64::total_cmp)?))
}

/// The range between two values, with a margin.
fn widened(scale: Scale, low: f64, high: f64) -> Range<f64> {
    let (low, high) = (scale.position(low), scale.position(high));
    let room = if high > low { 0.04 * (high - low) } else { 0.5 };
    low - room..high + room
}

/// The value at a position.
fn unscaled(scale: Scale, position: f64) -> f64 {
    match scale {
        Scale::Linear => position,
        Scale::Logarithmic => libm::pow(10.0, position),
    }
}

fn has_dots(look: Style) -> bool {
    matches!(look, Style::Dots(_) | Style::Marks(_) | Style::Family { .. })
}

fn has_line(look: Style) -> bool {
    !matches!(look, Style::Marks(_))
}

fn stroke(look: Style) -> u32 {
    if look == Style::Guide { 1 } else { 2 }
}

fn color(look: Style) -> RGBColor {
    match look {
        Style::Dots(hue) | Style::Marks(hue) | Style::Line(hue) => {
            HUES.get(hue % HUES.len()).copied().unwrap_or(TEXT)
        }
        Style::Guide => MUTED,
        // From light blue over violet to dark red, so that neighbours differ and the order is seen.
        Style::Family { index, of } => {
            let share = index as f64 / (of.max(2) - 1) as f64;
            let between = |from: f64, to: f64| (from + (to - from) * share).round() as u8;
            RGBColor(between(96.0, 150.0), between(176.0, 10.0), between(232.0, 50.0))
        }
    }
}

fn line(sheet: &Sheet<'_>, polyline: &[(i32, i32)], ink: RGBColor, width: u32) -> Drawn {
    if polyline.len() < 2 {
        return Ok(());
    }
    sheet.draw(&PathElement::new(polyline.to_vec(), ink.stroke_width(width))).map_err(failed)
}

fn dot(sheet: &Sheet<'_>, at: (i32, i32), look: Style) -> Drawn {
    sheet.draw(&Circle::new(at, 3, color(look).filled())).map_err(failed)
}

fn words(
    sheet: &Sheet<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    ink: RGBColor,
    across: HPos,
    up: VPos,
) -> Drawn {
    let style = ("sans-serif", size).into_text_style(sheet).color(&ink).pos(Pos::new(across, up));
    sheet.draw(&Text::new(text.to_owned(), at, style)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::figure::Table;
    use crate::samples::Samples;

    fn panel(curves: Vec<Curve>) -> Panel {
        Panel {
            title: "Loss in %".to_owned(),
            across: "packets per round trip",
            across_scale: Scale::Logarithmic,
            up_scale: Scale::Linear,
            curves,
            table: Table::Whole,
        }
    }

    #[test]
    fn means_intervals_and_levels_are_drawn() {
        let points = [1.0, 2.0, 4.0].map(|at| (at, Samples::of([at, at + 1.0])));
        let curve = Curve { name: "LIP".to_owned(), look: Style::Dots(1), points: points.to_vec() };
        let text = svg(&[panel(vec![curve.clone()]), panel(vec![curve])]).unwrap();
        assert_eq!(text.matches("<circle").count(), 2 * (3 + 1), "a dot for each mean and one in the legend");
        for label in ["LIP", "Loss in %", "packets per round trip", "\n1\n", "\n2\n", "\n4\n"] {
            assert!(text.contains(label), "{label}: {text}");
        }
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn marks_have_no_line() {
        let points = [1.0, 2.0].map(|at| (at, Samples::exactly(at)));
        let drawn = |look| {
            let curve = Curve { name: "lost".to_owned(), look, points: points.to_vec() };
            let text = svg(&[panel(vec![curve])]).unwrap();
            (text.matches("<circle").count(), text.matches("<polyline").count())
        };
        let (marks, dots) = (drawn(Style::Marks(2)), drawn(Style::Dots(2)));
        assert_eq!((marks.0, marks.1 + 2), dots, "a line less in the plot and in the legend");
    }

    #[test]
    fn a_panel_without_values_is_no_picture() {
        let nothing =
            Curve { name: "LIP".to_owned(), look: Style::Guide, points: vec![(1.0, Samples::default())] };
        assert!(svg(&[panel(vec![nothing])]).unwrap_err().to_string().contains("has no values"));
    }
}
