//! What happens at a node over time: throughput above, subscription levels beneath.

use std::ops::Range;

use super::canvas::{Drawn, Plane, Sheet, Side, Tick, Width, both, line, ticks};
use super::causes;
use super::palette::{MUTED, Palette, SHADE};
use super::strands::{self, Curve, Strand};
use super::tooltips::{places, short, value_at};
use crate::results::error::ResultsError;
use crate::results::experiment::Experiment;
use crate::results::replication::Replication;
use crate::results::text::decimal;
use crate::results::why::LevelMark;

/// The space above the first plane, for the unit.
const TOP: f64 = 26.0;
/// The height of the throughput's plane.
const THROUGHPUT: f64 = 250.0;
/// The space between planes.
const GAP: f64 = 30.0;
/// The space for the numbers under the time axis.
const BOTTOM: f64 = 40.0;
/// Replications beyond these are not drawn behind the first.
const MOST_BEHIND: usize = 24;
/// More single flows than these, and only their mean is drawn.
const MOST_THIN: usize = 16;
/// A line that moves by more than this fraction of the scale at each point is drawn thin.
const RESTLESS: f64 = 0.06;
/// The closest that two labels at the right may stand.
const LABEL_STEP: f64 = 16.0;

/// The plot of one node.
struct Timeline<'a> {
    experiment: &'a Experiment,
    replications: &'a [&'a Replication],
    strands: Vec<Strand>,
    /// Protocols that are drawn thin.
    restless: &'a [String],
    across: Range<f64>,
    width: Width,
}

/// Draws a node's plot as SVG for both page widths.
pub(super) fn node(
    experiment: &Experiment,
    replications: &[&Replication],
    palette: &Palette,
    node: &str,
    restless: &[String],
) -> Result<String, ResultsError> {
    let timeline = |width: Width| Timeline {
        experiment,
        replications,
        strands: strands::at(experiment, palette, node),
        restless,
        across: width.pick(64.0..880.0, 46.0..332.0),
        width,
    };
    let label = format!("Throughput and subscription level over time at {node}");
    both(&label, |width| timeline(width).size(), |sheet, width| timeline(width).draw(sheet))
}

impl Timeline<'_> {
    fn layered(&self) -> impl Iterator<Item = &Strand> {
        self.strands.iter().filter(|strand| strand.is_layered())
    }

    fn size(&self) -> (f64, f64) {
        let levels: f64 = self.layered().map(|strand| GAP + self.level_height(strand) + causes::SPACE).sum();
        (self.width.pick(1000.0, 400.0), TOP + THROUGHPUT + levels + BOTTOM)
    }

    /// The highest level that any replication ever held, and one more to show what was not taken.
    fn top_level(&self, strand: &Strand) -> i32 {
        let series = self.replications.iter().flat_map(|run| {
            strand
                .flows
                .iter()
                .filter_map(|&flow| run.series.flows.get(flow))
                .flat_map(|series| &series.level)
        });
        let highest = series.flatten().copied().max().unwrap_or(0);
        let last = i32::try_from(strand.rates.len()).unwrap_or(i32::MAX) - 1;
        (highest + 1).min(last).max(1)
    }

    fn level_height(&self, strand: &Strand) -> f64 {
        (f64::from(self.top_level(strand) + 2) * 17.0).clamp(68.0, 140.0)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Drawn {
        let mut down = TOP..TOP + THROUGHPUT;
        self.throughput(sheet, down.clone(), self.layered().next().is_none())?;
        let count = self.layered().count();
        for (index, strand) in self.layered().enumerate() {
            down = down.end + GAP..down.end + GAP + self.level_height(strand);
            self.levels(sheet, strand, down.clone(), index + 1 == count)?;
            down.end += causes::SPACE;
        }
        Ok(())
    }

    fn times(&self) -> Range<f64> {
        0.0..self.experiment.duration_s.max(f64::MIN_POSITIVE)
    }

    /// The part of a plane that all have in common: shading outside the window, and the time axis.
    fn ground(&self, sheet: &Sheet<'_>, plane: &Plane<'_>, last: bool, space: f64) -> Drawn {
        let [from, to] = self.experiment.main_window_s();
        plane.band(0.0, from.min(plane.x.end), SHADE)?;
        plane.band(to, plane.x.end, SHADE)?;
        plane.bottom(sheet, &[])?;
        if last { self.time_axis(sheet, plane, space) } else { Ok(()) }
    }

    /// The numbers along the bottom, this far below the plane, and what they are.
    fn time_axis(&self, sheet: &Sheet<'_>, plane: &Plane<'_>, space: f64) -> Drawn {
        let foot = plane.pixel((plane.x.start, plane.y.start)).1 + space;
        for tick in ticks(&plane.x, self.width.pick(10, 4)) {
            let x = plane.pixel((tick.at, plane.y.start)).0;
            sheet.text(&tick.text, (x, foot + 14.0), Side::Middle, MUTED)?;
        }
        sheet.text("time, s", (self.across.end, foot + 30.0), Side::End, MUTED)
    }

    fn throughput(&self, sheet: &Sheet<'_>, down: Range<f64>, last: bool) -> Drawn {
        let Some(run) = self.replications.first() else { return Ok(()) };
        let curves: Vec<Vec<Curve>> = self
            .strands
            .iter()
            .map(|strand| {
                strand.flows.iter().map(|&flow| strands::throughput(self.experiment, run, flow)).collect()
            })
            .collect();
        let top = ceiling(curves.iter().flatten());
        let plane = sheet.plane(self.across.clone(), down.clone(), self.times(), 0.0..top);
        self.ground(sheet, &plane, last, 0.0)?;
        plane.rows(sheet, &ticks(&plane.y, 5))?;
        sheet.text("kbit/s", (self.across.start - 8.0, down.start - 14.0), Side::End, MUTED)?;

        // What is studied lies over what it is measured against, and the calm over the restless.
        let mut order: Vec<(&Strand, &Vec<Curve>)> = self.strands.iter().zip(&curves).collect();
        order.sort_by_key(|(strand, curves)| {
            (strand.is_session, std::cmp::Reverse((restlessness(curves, top) * 1e6) as u64))
        });
        let mut labels = Vec::new();
        let mut means = Vec::new();
        for (strand, curves) in order {
            let mean = self.strand(&plane, strand, curves)?;
            means.push((strand.label(), mean.clone()));
            match last_sign(&mean) {
                // A strand that ended long before the end is labelled where it ended.
                Some((time, height)) if time < 0.9 * plane.x.end => {
                    let (x, y) = plane.pixel((time, height.min(top)));
                    sheet.text(&strand.label(), (x + 6.0, y), Side::Start, strand.ink)?;
                }
                last => {
                    labels.push((plane.pixel((plane.x.end, last.map_or(0.0, |(_, y)| y.min(top)))).1, strand))
                }
            }
        }
        if self.width == Width::Wide {
            titles(sheet, &plane, &down, &means);
        }
        self.labels(sheet, down, labels)
    }

    /// Draws one strand and returns its mean.
    fn strand(&self, plane: &Plane<'_>, strand: &Strand, curves: &[Curve]) -> Drawn<Curve> {
        let color = strand.ink.color();
        if curves.len() > 1 && curves.len() <= MOST_THIN {
            for curve in curves {
                plane.line(curve.iter().copied(), line(color, 0.28, 1.0))?;
            }
        }
        let mean = strands::mean_curve(curves);
        if strand.is_session {
            self.calculated(plane, strand)?;
            // A bold line that jumps at every point would hide all others.
            let restless = self.restless.contains(&strand.protocol);
            let (opacity, width) = if restless { (0.75, 1.25) } else { (1.0, 2.25) };
            plane.line(mean.iter().copied(), line(color, opacity, width))?;
        } else {
            plane.line(mean.iter().copied(), line(color, if curves.len() > 1 { 0.95 } else { 0.8 }, 1.25))?;
        }
        Ok(mean)
    }

    /// The rate that the strand's first flow decides by, dashed.
    fn calculated(&self, plane: &Plane<'_>, strand: &Strand) -> Drawn {
        let series = self.replications.first().and_then(|run| run.series.flows.get(*strand.flows.first()?));
        let Some(series) = series else { return Ok(()) };
        let known = |values: &[f64]| values.iter().any(|value| value.is_finite());
        let values = [&series.rate_kbps, &series.smoothed_rate_kbps].into_iter().find(|values| known(values));
        let Some(values) = values else { return Ok(()) };
        plane.line(strands::curve(self.experiment, values), line(strand.ink.dashed(), 0.9, 1.25))
    }

    /// Names at the right end of the lines, pushed apart where they would touch.
    fn labels(&self, sheet: &Sheet<'_>, down: Range<f64>, mut labels: Vec<(f64, &Strand)>) -> Drawn {
        labels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let heights = spread(&labels.iter().map(|&(y, _)| y).collect::<Vec<_>>(), down);
        for ((_, strand), y) in labels.iter().zip(heights) {
            sheet.text(&strand.label(), (self.across.end + 8.0, y), Side::Start, strand.ink)?;
        }
        Ok(())
    }

    fn levels(&self, sheet: &Sheet<'_>, strand: &Strand, down: Range<f64>, last: bool) -> Drawn {
        let top = f64::from(self.top_level(strand));
        let plane = sheet.plane(self.across.clone(), down.clone(), self.times(), -1.3..top + 0.3);
        self.ground(sheet, &plane, last, causes::SPACE)?;
        plane.rows(sheet, &level_ticks(&strand.rates, top, down.end - down.start))?;
        let label = format!("{} level", strand.name);
        sheet.text(&label, (self.across.end + 8.0, down.start + 8.0), Side::Start, strand.ink)?;

        let color = strand.ink.color();
        // A telephone has no room for the crowd behind.
        let behind = self.width.pick(MOST_BEHIND, 0);
        for run in self.replications.iter().skip(1).take(behind) {
            for &flow in &strand.flows {
                plane.line(strands::steps(self.experiment, run, flow), line(color, 0.16, 1.0))?;
            }
        }
        for run in self.replications.iter().take(1) {
            for &flow in &strand.flows {
                plane.line(strands::steps(self.experiment, run, flow), line(color, 1.0, 1.75))?;
            }
            let series = strand.flows.iter().filter_map(|&flow| run.series.flows.get(flow));
            let changes: Vec<&LevelMark> = series.flat_map(|series| &series.changes).collect();
            causes::strip(sheet, &plane, &self.across, down.end, &changes, self.width == Width::Wide)?;
        }
        Ok(())
    }
}

/// The means of all strands as tooltips.
fn titles(sheet: &Sheet<'_>, plane: &Plane<'_>, down: &Range<f64>, means: &[(String, Curve)]) {
    for (from, to) in places(&plane.x) {
        let at = 0.5 * (from + to);
        let values: Vec<String> = means
            .iter()
            .filter_map(|(name, curve)| Some(format!("{name} {}", short(value_at(curve, at, false)?))))
            .collect();
        if !values.is_empty() {
            let (left, right) = (plane.pixel((from, 0.0)).0, plane.pixel((to, 0.0)).0);
            sheet.title(left..right, down.clone(), &format!("{} s: {} kbit/s", short(at), values.join(", ")));
        }
    }
}

/// Whether a bold line would hide all others.
pub(super) fn is_restless(curves: &[Curve], top: f64) -> bool {
    restlessness(curves, top) > RESTLESS
}

/// When a curve was last above nothing, and how high it was on average in the last tenth before that:
/// a single bin may be anywhere.
fn last_sign(curve: &Curve) -> Option<(f64, f64)> {
    let last = curve.iter().rposition(|&(_, value)| value > 0.0)?;
    let tail: Vec<f64> = curve[..=last]
        .iter()
        .rev()
        .take(curve.len() / 10 + 1)
        .map(|&(_, value)| value)
        .filter(|value| value.is_finite())
        .collect();
    Some((curve[last].0, crate::results::statistics::mean(&tail)?))
}

/// How far a strand's first curve moves from point to point on average, as a fraction of the scale.
fn restlessness(curves: &[Curve], top: f64) -> f64 {
    let curve = curves.first().map(Vec::as_slice).unwrap_or_default();
    let moves = curve.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).filter(|step| step.is_finite());
    moves.sum::<f64>() / (top * curve.len().max(1) as f64)
}

/// The scale's end: above nearly everything, so that one burst of a start does not flatten the rest.
pub(super) fn ceiling<'a>(curves: impl Iterator<Item = &'a Curve>) -> f64 {
    let mut values: Vec<f64> =
        curves.flatten().map(|&(_, value)| value).filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * 0.995) as usize;
    let top = values.get(rank).or(values.last()).copied().unwrap_or(0.0);
    if top > 0.0 { top * 1.08 } else { 1.0 }
}

/// The cumulative rates along the levels, with some left out where they would touch.
fn level_ticks(rates: &[f64], top: f64, height: f64) -> Vec<Tick> {
    let step = ((top + 2.6) * 15.0 / height).ceil().max(1.0) as usize;
    let mut ticks = vec![Tick { at: -1.0, text: "none".to_owned() }];
    for (level, rate) in rates.iter().enumerate().skip(step - 1).step_by(step) {
        if level as f64 <= top {
            ticks.push(Tick { at: level as f64, text: decimal(*rate, 0) });
        }
    }
    ticks
}

/// Moves sorted heights apart until none is nearer than [`LABEL_STEP`] to the next, within the bounds.
pub(super) fn spread(heights: &[f64], bounds: Range<f64>) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::with_capacity(heights.len());
    for &height in heights {
        let lowest = placed.last().map_or(bounds.start, |last| last + LABEL_STEP);
        placed.push(height.max(lowest));
    }
    let mut limit = bounds.end;
    for height in placed.iter_mut().rev() {
        *height = height.min(limit);
        limit = *height - LABEL_STEP;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let placed = spread(&[10.0, 11.0, 12.0, 249.0], 0.0..250.0);
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_STEP - 1e-9), "{placed:?}");
        assert_eq!(placed.first(), Some(&10.0));
        assert!(placed.last().is_some_and(|last| *last <= 250.0));
    }

    #[test]
    fn one_burst_does_not_set_the_scale() {
        let mut curve: Curve = (0..999).map(|i| (f64::from(i), 100.0)).collect();
        curve.push((999.0, 1e6));
        assert!(ceiling([curve].iter()) < 200.0);
        assert_eq!(ceiling([].iter()), 1.0);
    }
}
