//! How values look in the table and in the report: the same in both.

use super::board::{CellRow, ResultRow};
use super::verdict::Verdict;
use crate::results::text::{NONE, Style};

/// The judged value without its interval.
pub(super) fn short(cell: &CellRow, result: &ResultRow) -> String {
    match (result.verdict, result.value.mean) {
        (Verdict::NotRun, _) => "n/a".to_owned(),
        (_, None) => NONE.to_owned(),
        (_, Some(mean)) => value(cell.measure, mean),
    }
}

/// A value of a measure.
pub(super) fn value(measure: &str, value: f64) -> String {
    style(measure).number(value).replace(" %", "%")
}

/// The judged value with its interval.
pub(super) fn long(cell: &CellRow, result: &ResultRow) -> String {
    style(cell.measure).statistic(&result.value)
}

fn style(measure: &str) -> Style {
    match measure {
        "others_loss_rate" => Style::Percent,
        "to_80_percent_s" => Style::Tenths,
        other => Style::of(other),
    }
}

/// A mark for a verdict, so that it can be read without colours.
pub(super) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Best | Verdict::InBand => "✓",
        Verdict::Behind | Verdict::NotRun => "",
        Verdict::BelowHalf | Verdict::OutOfBand => "✗",
        Verdict::Starves => "!",
    }
}

/// `7 of 20`, and the share.
pub(super) fn of(count: usize, all: usize) -> String {
    if all == 0 {
        return NONE.to_owned();
    }
    format!("{count}/{all} ({:.0} %)", count as f64 * 100.0 / all as f64)
}
