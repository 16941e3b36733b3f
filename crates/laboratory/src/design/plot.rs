//! A plot of curves with logarithmic scales in both directions, as a file of its own.

use std::ops::Range;

use layercast_core::math;
use libm::log10;

use crate::results::ResultsError;
use crate::results::report::canvas::{self, Side, Tick, line};
use crate::results::report::palette::{MUTED, Palette, TEXT};

/// The picture's size, and the plane in it, in pixels.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
const ACROSS: Range<f64> = 64.0..620.0;
const DOWN: Range<f64> = 40.0..370.0;

/// A curve through points above zero.
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) points: Vec<(f64, f64)>,
    /// The protocol whose colour it has.
    pub(super) protocol: &'a str,
}

/// Draws curves in one plane, with their names above it.
pub(super) fn logarithmic(x: &str, y: &str, curves: &[Curve<'_>]) -> Result<String, ResultsError> {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values
            .fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| (low.min(value), high.max(value)));
        // One point alone still has room around it.
        let (low, high) = (log10(low.max(f64::MIN_POSITIVE)), log10(high));
        if high - low > 1e-9 { low..high } else { low - 0.5..low + 0.5 }
    };
    let across = range(&mut all().map(|&(x, _)| x));
    let up = range(&mut all().map(|&(_, y)| y));
    let up = up.start - 0.05..up.end + 0.05;
    let names: Vec<(&str, &str)> = curves.iter().map(|curve| (curve.name, curve.protocol)).collect();
    let hues = Palette::of_things(&names);
    canvas::alone(&format!("{y} over {x}"), WIDTH, HEIGHT, |sheet| {
        let plane = sheet.plane(ACROSS, DOWN, across.clone(), up.clone());
        plane.rows(sheet, &decades(&up))?;
        plane.bottom(sheet, &decades(&across))?;
        let mut at = ACROSS.start;
        for curve in curves {
            let ink = hues.ink(curve.name);
            let points = curve.points.iter().map(|&(x, y)| (log10(x), log10(y)));
            plane.line(points, line(ink.color(), 1.0, 2.0))?;
            sheet.text(curve.name, (at, DOWN.start - 14.0), Side::Start, ink)?;
            at += 24.0 + 7.0 * curve.name.chars().count() as f64;
        }
        sheet.text(y, (8.0, 12.0), Side::Start, MUTED)?;
        sheet.text(x, ((ACROSS.start + ACROSS.end) / 2.0, HEIGHT - 14.0), Side::Middle, TEXT)
    })
}

/// 1, 2 and 5 times the powers of ten within a range of logarithms.
fn decades(range: &Range<f64>) -> Vec<Tick> {
    let powers = range.start.floor() as i32..=range.end.ceil() as i32;
    let steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step: f64| (step, power)));
    steps
        .map(|(step, power)| (log10(step) + f64::from(power), step, power))
        .filter(|(at, _, _)| (range.start - 1e-9..=range.end + 1e-9).contains(at))
        .map(|(at, step, power)| {
            let decimals = usize::try_from(-power).unwrap_or(0);
            Tick { at, text: format!("{:.decimals$}", step * math::pow(10.0, f64::from(power))) }
        })
        .collect()
}
