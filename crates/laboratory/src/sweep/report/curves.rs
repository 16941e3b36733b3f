//! Means over one key, with their confidence intervals: a plot for each node, group or link.

use std::ops::Range;

use super::{Figure, MOST_PANELS, colour_name};
use crate::results::ResultsError;
use crate::results::report::canvas::{Drawn, Plane, Sheet, Side, Tick, Width, both, line, ticks};
use crate::results::report::palette::{Palette, TEXT};
use crate::results::text::Style;
use crate::sweep::axis::Axis;
use crate::sweep::grid::Grid;
use crate::sweep::lines::Line;
use crate::sweep::metric::{Kind, Metric};

/// The space above a plot, for its name.
const TOP: f64 = 34.0;
/// The height of a plot.
const HEIGHT: f64 = 200.0;
/// The space under a plot, for its values.
const BOTTOM: f64 = 36.0;
/// How wide a character is, about.
const CHARACTER: f64 = 7.0;

/// A mean at a place, and half its interval.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    mean: f64,
    half: Option<f64>,
}

/// Where the values of a key lie along the bottom.
struct Places {
    /// By value, in the order of the key's.
    at: Vec<f64>,
    /// Whether intermediate values are meaningful, so that lines connect the points.
    is_scale: bool,
}

impl Places {
    fn of(axis: &Axis) -> Places {
        let Some(scale) = &axis.scale else {
            return Places {
                at: (0..axis.values.len()).map(|index| index as f64).collect(),
                is_scale: false,
            };
        };
        let by_factors = is_by_factors(&scale.numbers);
        let place = |&number: &f64| if by_factors { libm::log2(number) } else { number };
        Places { at: scale.numbers.iter().map(place).collect(), is_scale: true }
    }

    /// The ends of the axis, with some room.
    fn range(&self) -> Range<f64> {
        let low = self.at.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let room = if self.is_scale { 0.04 * (high - low) } else { 0.5 };
        low - room..high + room
    }
}

/// Whether values are spread by factors rather than by steps: they grow apart, and none is zero.
fn is_by_factors(numbers: &[f64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    let most = gaps.iter().copied().fold(0.0, f64::max);
    sorted.first().is_some_and(|&least| least > 0.0) && gaps.len() > 1 && most >= 4.0 * least
}

/// One plot.
struct Panel<'a> {
    title: &'a str,
    lines: Vec<&'a Line>,
}

struct Curves<'a> {
    grid: &'a Grid,
    axis: &'a Axis,
    key: usize,
    places: Places,
    metric: &'a Metric,
    palette: &'a Palette,
    panels: Vec<Panel<'a>>,
}

/// Draws a metric over a key.
pub(super) fn figure(
    grid: &Grid,
    key: usize,
    metric: &Metric,
    lines: &[&Line],
    palette: &Palette,
) -> Result<Figure, ResultsError> {
    let Some(axis) = grid.axes.get(key) else { return Ok(Figure { svg: String::new(), all: None }) };
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for line in lines {
        let title = if metric.kind == Kind::Flow { line.node.as_str() } else { line.name.as_str() };
        match panels.iter_mut().find(|panel| panel.title == title) {
            Some(panel) => panel.lines.push(line),
            None => panels.push(Panel { title, lines: vec![line] }),
        }
    }
    let all = panels.len();
    panels.truncate(MOST_PANELS);
    let curves = Curves { grid, axis, key, places: Places::of(axis), metric, palette, panels };
    let label = format!("{} over {}", metric.title, axis.key);
    let svg = both(&label, |width| curves.size(width), |sheet, width| curves.draw(sheet, width))?;
    Ok(Figure { svg, all: (all > MOST_PANELS).then_some(all) })
}

impl Curves<'_> {
    fn columns(&self, width: Width) -> usize {
        width.pick(self.panels.len().clamp(1, 2), 1)
    }

    fn size(&self, width: Width) -> (f64, f64) {
        let rows = self.panels.len().div_ceil(self.columns(width)).max(1) as f64;
        (width.pick(1000.0, 400.0), rows * (TOP + HEIGHT + BOTTOM))
    }

    fn draw(&self, sheet: &Sheet<'_>, width: Width) -> Drawn {
        let columns = self.columns(width);
        for (index, panel) in self.panels.iter().enumerate() {
            let across = match (width, columns, index % columns) {
                (Width::Narrow, _, _) => 52.0..392.0,
                (Width::Wide, 1, _) => 64.0..980.0,
                (Width::Wide, _, 0) => 64.0..484.0,
                (Width::Wide, _, _) => 564.0..984.0,
            };
            let top = (index / columns) as f64 * (TOP + HEIGHT + BOTTOM) + TOP;
            self.panel(sheet, panel, across, top)?;
        }
        Ok(())
    }

    fn panel(&self, sheet: &Sheet<'_>, panel: &Panel<'_>, across: Range<f64>, top: f64) -> Drawn {
        let curves: Vec<(&Line, Vec<Point>)> =
            panel.lines.iter().map(|line| (*line, self.points(line))).collect();
        let y = self.range(curves.iter().flat_map(|(_, points)| points));
        let plane = sheet.plane(across.clone(), top..top + HEIGHT, self.places.range(), y);
        plane.rows(sheet, &ticks(&plane.y, 5))?;
        plane.bottom(sheet, &self.values(&plane))?;
        sheet.text(panel.title, (across.start, top - 16.0), Side::Start, TEXT)?;
        for (number, (curve, points)) in curves.iter().enumerate() {
            let color = self.palette.ink(colour_name(curve)).color();
            if self.places.is_scale {
                self.bands(&plane, points, color)?;
                plane.line(points.iter().map(|point| (point.x, point.mean)), line(color, 0.9, 2.0))?;
            }
            // Side by side where nothing leads from one value to the next.
            let aside = if self.places.is_scale {
                0.0
            } else {
                (number as f64 - (curves.len() - 1) as f64 / 2.0) * 0.5 / curves.len() as f64
            };
            for point in points.iter().filter(|point| point.mean.is_finite()) {
                let x = point.x + aside;
                if let (false, Some(half)) = (self.places.is_scale, point.half) {
                    let bar = [(x, point.mean - half), (x, point.mean + half)];
                    plane.line(bar, line(color, 0.55, 3.0))?;
                }
                plane.dot((x, point.mean), 3.0, color)?;
            }
        }
        Ok(())
    }

    fn bands(&self, plane: &Plane<'_>, points: &[Point], color: plotters::style::RGBColor) -> Drawn {
        let ends = |point: &Point| {
            let half = point.half.filter(|_| point.mean.is_finite())?;
            Some((point.x, point.mean - half, point.mean + half))
        };
        for piece in points.split(|point| ends(point).is_none()).filter(|piece| piece.len() > 1) {
            let band: Vec<(f64, f64, f64)> = piece.iter().filter_map(ends).collect();
            plane.between(&band, color, 0.16)?;
        }
        Ok(())
    }

    /// A line's points from left to right; unknown where it has no value.
    fn points(&self, curve: &Line) -> Vec<Point> {
        let scale = Style::of(self.metric.name).scale();
        let cells = self.grid.cells.iter().enumerate();
        let mut points: Vec<Point> = cells
            .filter_map(|(index, cell)| {
                let x = *self.places.at.get(*cell.at.get(self.key)?)?;
                let statistic = curve.statistic(index, self.metric);
                let mean =
                    statistic.and_then(|statistic| statistic.mean).map_or(f64::NAN, |mean| mean * scale);
                let half = statistic.and_then(|statistic| statistic.ci95).map(|half| half * scale);
                Some(Point { x, mean, half })
            })
            .collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        points
    }

    /// From zero, or below the lowest; an index that lies close under 1 begins at the tenth below it.
    fn range<'p>(&self, points: impl Iterator<Item = &'p Point>) -> Range<f64> {
        let ends: Vec<f64> = points
            .filter(|point| point.mean.is_finite())
            .flat_map(|point| {
                [point.mean - point.half.unwrap_or(0.0), point.mean + point.half.unwrap_or(0.0)]
            })
            .collect();
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.metric.kind == Kind::Group {
            return ((low.min(1.0) * 10.0 - 0.2).floor() / 10.0).clamp(0.0, 0.9)..1.0;
        }
        // Most measures cannot be negative, whatever an interval says.
        let is_signed = self.metric.name == "mean_level";
        let low = if is_signed { low.clamp(-1.0, 0.0) } else { 0.0 };
        let high = if high > 0.0 { high * 1.05 } else { 1.0 };
        low..high
    }

    /// The key's values, as many as fit next to each other.
    fn values(&self, plane: &Plane<'_>) -> Vec<Tick> {
        let mut all: Vec<Tick> = self
            .places
            .at
            .iter()
            .zip(&self.axis.values)
            .map(|(&at, text)| Tick { at, text: text.clone() })
            .collect();
        all.sort_by(|one, other| one.at.total_cmp(&other.at));
        let mut end = f64::NEG_INFINITY;
        all.retain(|tick| {
            let half = tick.text.chars().count() as f64 * CHARACTER / 2.0;
            let (x, _) = plane.pixel((tick.at, plane.y.start));
            let fits = x - half > end + CHARACTER;
            if fits {
                end = x + half;
            }
            fits
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_grow_by_factors_lie_on_a_scale_of_factors() {
        assert!(is_by_factors(&[1.0, 2.0, 4.0, 8.0]));
        assert!(is_by_factors(&[0.1, 0.001, 0.01]));
        assert!(!is_by_factors(&[5.0, 10.0, 15.0, 20.0]));
        assert!(!is_by_factors(&[0.0, 1.0, 10.0]));
        assert!(!is_by_factors(&[1.0, 100.0]));
    }
}
