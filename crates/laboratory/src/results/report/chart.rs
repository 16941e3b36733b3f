//! A plot of a few named curves over a common scale.

use std::ops::Range;

use super::canvas::{Drawn, Plane, Sheet, Side, Width, both, line, ticks};
use super::palette::{Ink, MUTED, SHADE};
use super::strands::Curve;
use super::timeline::{ceiling, spread};
use super::tooltips::{places, short, value_at};
use crate::results::error::ResultsError;

/// The space above the plane, for the unit.
const TOP: f64 = 26.0;
/// The height of the plane.
const HEIGHT: f64 = 230.0;
/// The space for numbers and the name of the axis under the plane.
const BOTTOM: f64 = 44.0;
/// A curve and its name.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) ink: Ink,
    pub(super) curve: Curve,
}

/// A plot of curves.
pub(super) struct Chart<'a> {
    /// What it shows, for those who cannot see it.
    pub(super) label: &'a str,
    /// The names of the axes, with units.
    pub(super) axes: (&'a str, &'a str),
    pub(super) x: Range<f64>,
    /// From zero to what nearly all values need, if absent.
    pub(super) y: Option<Range<f64>>,
    /// What is not measured along the bottom, if any: shaded before and after.
    pub(super) measured: Option<[f64; 2]>,
    /// Whether a value holds until the next point.
    pub(super) is_steps: bool,
    pub(super) curves: Vec<Named>,
}

impl Chart<'_> {
    /// Draws the plot as SVG for both page widths.
    pub(super) fn svg(&self) -> Result<String, ResultsError> {
        let height = TOP + HEIGHT + BOTTOM;
        both(self.label, |width| (width.pick(1000.0, 400.0), height), |sheet, width| self.draw(sheet, width))
    }

    fn draw(&self, sheet: &Sheet<'_>, width: Width) -> Drawn {
        let across = width.pick(64.0..800.0, 46.0..286.0);
        let down = TOP..TOP + HEIGHT;
        let y = self.y.clone().unwrap_or_else(|| 0.0..ceiling(self.curves.iter().map(|named| &named.curve)));
        let plane = sheet.plane(across.clone(), down.clone(), self.x.clone(), y);
        if let Some([from, to]) = self.measured {
            plane.band(self.x.start, from.min(self.x.end), SHADE)?;
            plane.band(to, self.x.end, SHADE)?;
        }
        plane.rows(sheet, &ticks(&plane.y, 5))?;
        plane.bottom(sheet, &ticks(&plane.x, width.pick(8, 4)))?;
        sheet.text(self.axes.0, (across.end, down.end + 31.0), Side::End, MUTED)?;
        sheet.text(self.axes.1, (0.0, TOP - 14.0), Side::Start, MUTED)?;
        let mut labels: Vec<(f64, &Named)> = Vec::new();
        for named in &self.curves {
            let points = if self.is_steps { steps(&named.curve, self.x.end) } else { named.curve.clone() };
            let last = points.iter().rev().find(|(_, y)| y.is_finite()).map_or(0.0, |&(_, y)| y);
            labels.push((plane.pixel((self.x.end, last.clamp(plane.y.start, plane.y.end))).1, named));
            plane.line(points, line(named.ink.color(), 0.95, 1.75))?;
        }
        labels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let heights = spread(&labels.iter().map(|&(y, _)| y).collect::<Vec<_>>(), down.clone());
        for ((_, named), y) in labels.iter().zip(heights) {
            let name = super::dots::shortened(&named.name, width.pick(26, 14));
            sheet.text(&name, (across.end + 8.0, y), Side::Start, named.ink)?;
        }
        if width == Width::Wide {
            self.titles(sheet, &plane, down);
        }
        Ok(())
    }

    /// The values of all curves as tooltips, at places along the bottom.
    fn titles(&self, sheet: &Sheet<'_>, plane: &Plane<'_>, down: Range<f64>) {
        for (from, to) in places(&self.x) {
            let at = 0.5 * (from + to);
            let values: Vec<String> = self
                .curves
                .iter()
                .filter_map(|named| {
                    Some(format!("{} {}", named.name, short(value_at(&named.curve, at, self.is_steps)?)))
                })
                .collect();
            if !values.is_empty() {
                let text = format!("{} {}: {}", self.axes.0, short(at), values.join(", "));
                let (left, right) =
                    (plane.pixel((from, plane.y.start)).0, plane.pixel((to, plane.y.start)).0);
                sheet.title(left..right, down.clone(), &text);
            }
        }
    }
}

/// Two points at each change, and one at the end.
fn steps(curve: &Curve, end: f64) -> Curve {
    let mut points: Curve = Vec::with_capacity(2 * curve.len() + 1);
    for &(x, y) in curve {
        if let Some(&(_, before)) = points.last() {
            points.push((x, before));
        }
        points.push((x, y));
    }
    if let Some(&(_, last)) = points.last() {
        points.push((end, last));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_until_the_next() {
        assert_eq!(
            steps(&vec![(0.0, 1.0), (2.0, 3.0)], 5.0),
            [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0), (5.0, 3.0)]
        );
    }
}
