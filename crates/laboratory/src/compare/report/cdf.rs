//! The distribution over receivers: which part of them has at most so much.

use std::ops::Range;

use maud::{Markup, PreEscaped, html};

use crate::compare::receivers::Shows;
use crate::compare::row::Row;
use crate::compare::rows::Comparison;
use crate::results::ResultsError;
use crate::results::report::canvas::{Drawn, Sheet, Side, Tick, Width, both, line};
use crate::results::report::palette::{GRID, MUTED, Palette, TEXT};
use crate::results::text::decimal;

/// The space that the plot takes.
const HEIGHT: f64 = 260.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// The least share or rate that has a place of its own on the logarithmic scale, over the greatest.
const DEPTH: f64 = 1e-3;

/// The mean of each receiver, least first.
fn means(row: &Row, shows: Shows) -> Vec<f64> {
    let mut means: Vec<f64> = row.receivers.iter().filter_map(|receiver| shows.of(receiver).mean).collect();
    means.sort_by(f64::total_cmp);
    means
}

/// The figure; none with too few receivers for a distribution.
pub(super) fn figure(
    comparison: &Comparison,
    shows: Shows,
    palette: &Palette,
) -> Result<Option<Markup>, ResultsError> {
    const FEWEST: usize = 4;
    let curves: Vec<(&str, Vec<f64>)> =
        comparison.protocols.iter().map(|row| (row.protocol.as_str(), means(row, shows))).collect();
    let all = || curves.iter().flat_map(|(_, means)| means.iter().copied());
    let greatest = all().fold(if shows == Shows::ShareOfTcp { 1.0 } else { 0.0 }, f64::max);
    if curves.iter().all(|(_, means)| means.len() < FEWEST) || greatest <= 0.0 {
        return Ok(None);
    }
    let floor = greatest * DEPTH;
    let least = all().fold(greatest, f64::min).max(floor);
    let low = least.min(greatest / 10.0);
    let below = all().filter(|&mean| mean < low).count();
    let plot =
        Cdf { curves: &curves, shows, palette, x: libm::log10(low * 0.9)..libm::log10(greatest * 1.1) };
    let label = format!("Distribution of {} over receivers", shows.title());
    let svg = both(
        &label,
        |width| (width.pick(1000.0, 400.0), TOP + HEIGHT + BOTTOM),
        |sheet, width| plot.draw(sheet, width),
    )?;
    Ok(Some(html! {
        ul.strands { @for (name, _) in &curves { li { i.dot.(palette.class(name)) {} (name) } } }
        figure {
            (PreEscaped(svg))
            figcaption {
                "The part of the receivers (mean over replications) that has at most so much; the scale is logarithmic. "
                "The further right a curve, the more its receivers got."
                @if below > 0 { " " (below) " below the scale stand at its left edge." }
            }
        }
    }))
}

struct Cdf<'a> {
    curves: &'a [(&'a str, Vec<f64>)],
    shows: Shows,
    palette: &'a Palette,
    /// In powers of ten.
    x: Range<f64>,
}

impl Cdf<'_> {
    fn draw(&self, sheet: &Sheet<'_>, width: Width) -> Drawn {
        let across = width.pick(64.0..980.0, 48.0..386.0);
        let plane = sheet.plane(across.clone(), TOP..TOP + HEIGHT, self.x.clone(), 0.0..1.0);
        let rows =
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| Tick { at, text: format!("{} %", decimal(at * 100.0, 0)) });
        plane.rows(sheet, &rows)?;
        let marks = marks(&self.x, width.pick(12, 6));
        for mark in &marks {
            plane.line([(mark.at, 0.0), (mark.at, 1.0)], line(GRID.color(), 1.0, 1.0))?;
        }
        if self.shows == Shows::ShareOfTcp && self.x.contains(&0.0) {
            plane.line([(0.0, 0.0), (0.0, 1.0)], line(TEXT.dashed(), 0.6, 1.5))?;
        }
        plane.bottom(sheet, &marks)?;
        let middle = (across.start + across.end) / 2.0;
        sheet.text(self.shows.title(), (middle, TOP + HEIGHT + 34.0), Side::Middle, MUTED)?;
        for (name, means) in self.curves {
            let mut points = vec![(self.x.start, 0.0)];
            for (index, mean) in means.iter().enumerate() {
                let x = libm::log10(mean.max(f64::MIN_POSITIVE)).max(self.x.start);
                let count = means.len() as f64;
                points.extend([(x, index as f64 / count), (x, (index + 1) as f64 / count)]);
            }
            points.push((self.x.end, 1.0));
            plane.line(points, line(self.palette.ink(name).color(), 0.95, 2.25))?;
        }
        Ok(())
    }
}

/// 1, 2 and 5 of each power of ten on the scale, or the powers alone where those would be too many.
fn marks(x: &Range<f64>, most: usize) -> Vec<Tick> {
    let powers = || (-6..=9).map(f64::from);
    let of = |steps: &[f64]| -> Vec<Tick> {
        let values = powers().flat_map(|power| steps.iter().map(move |step| power + libm::log10(*step)));
        let inside = values.filter(|at| x.contains(at));
        inside.map(|at| Tick { at, text: number(libm::exp10(at)) }).collect()
    };
    [[1.0, 2.0, 5.0].as_slice(), &[1.0, 3.0], &[1.0]]
        .into_iter()
        .map(of)
        .find(|marks| marks.len() <= most)
        .unwrap_or_default()
}

/// A round number with as few decimals as it has.
fn number(value: f64) -> String {
    let places = if value > 0.95 {
        0
    } else if value > 0.095 {
        1
    } else if value > 0.0095 {
        2
    } else {
        4
    };
    decimal(value, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_not_too_many() {
        let text = |range: Range<f64>, most| -> Vec<String> {
            marks(&range, most).into_iter().map(|mark| mark.text).collect()
        };
        assert_eq!(text(-1.05..0.5, 12), ["0.1", "0.2", "0.5", "1", "2"]);
        assert_eq!(text(0.0..4.1, 6), ["1", "10", "100", "1000", "10000"]);
    }
}
