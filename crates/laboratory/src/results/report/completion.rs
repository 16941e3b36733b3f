//! When receivers had the object of their session: the share of them over time.

use std::collections::BTreeMap;

use super::canvas::{Drawn, Sheet, Side, Width, both, line, ticks};
use super::palette::{Ink, MUTED, Palette};
use crate::results::error::ResultsError;
use crate::results::summary::{FlowSummary, Summary};

const HEIGHT: f64 = 240.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// The curve of one session.
struct Curve<'a> {
    session: &'a str,
    ink: Ink,
    /// When a receiver had the object, in seconds since the start of the source, rising.
    times: Vec<f64>,
    /// How many could have it, over all replications.
    total: usize,
}

/// The share of each session's receivers that have the object, over time since the source's start. None if no
/// session has one.
pub(super) fn cdf(summary: &Summary, palette: &Palette) -> Result<Option<String>, ResultsError> {
    let curves = curves(summary, palette);
    if curves.is_empty() {
        return Ok(None);
    }
    let last = curves.iter().filter_map(|curve| curve.times.last()).copied().fold(0.0, f64::max);
    // To the end where some never have it, else a little beyond the last.
    let all = curves.iter().all(|curve| curve.times.len() == curve.total);
    let end = if all && last > 0.0 { (last * 1.05).min(summary.duration_s) } else { summary.duration_s };
    let label = "Share of receivers with the object over time";
    let draw = |sheet: &Sheet<'_>, width: Width| draw(sheet, width, &curves, end);
    both(label, |width| (width.pick(1000.0, 400.0), HEIGHT), draw).map(Some)
}

fn curves<'a>(summary: &'a Summary, palette: &Palette) -> Vec<Curve<'a>> {
    let mut sessions: BTreeMap<&str, Vec<&FlowSummary>> = BTreeMap::new();
    for flow in summary.flows.iter().filter(|flow| flow.measures.complete.is_some()) {
        sessions.entry(flow.session.as_deref().unwrap_or_default()).or_default().push(flow);
    }
    let curve = |(session, flows): (&'a str, Vec<&'a FlowSummary>)| {
        let all = flows.iter().filter_map(|flow| flow.measures.completion_since_source_s.as_ref());
        let samples: Vec<Option<f64>> = all.flat_map(|statistic| statistic.samples.iter().copied()).collect();
        let mut times: Vec<f64> = samples.iter().copied().flatten().collect();
        times.sort_by(f64::total_cmp);
        let ink = palette.ink(flows.first().map_or("", |flow| flow.protocol.as_str()));
        Curve { session, ink, times, total: samples.len() }
    };
    sessions.into_iter().map(curve).collect()
}

fn draw(sheet: &Sheet<'_>, width: Width, curves: &[Curve<'_>], end: f64) -> Drawn {
    let across = width.pick(60.0..850.0, 44.0..330.0);
    let plane = sheet.plane(across.clone(), TOP..HEIGHT - BOTTOM, 0.0..end, 0.0..100.0);
    plane.rows(sheet, &ticks(&plane.y, 5))?;
    plane.bottom(sheet, &ticks(&plane.x, width.pick(8, 4)))?;
    let middle = (across.start + across.end) / 2.0;
    sheet.text("s since the source’s start", (middle, HEIGHT - 10.0), Side::Middle, MUTED)?;
    for curve in curves {
        let mut points = vec![(0.0, 0.0)];
        let mut share = 0.0;
        for (number, &time) in curve.times.iter().enumerate() {
            points.push((time, share));
            share = (number + 1) as f64 * 100.0 / curve.total.max(1) as f64;
            points.push((time, share));
        }
        points.push((end, share));
        plane.line(points, line(curve.ink.color(), 1.0, 2.0))?;
        if width == Width::Wide {
            let (x, y) = plane.pixel((end, share));
            sheet.text(curve.session, (x + 12.0, y), Side::Start, MUTED)?;
        }
    }
    Ok(())
}
