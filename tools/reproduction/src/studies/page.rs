//! The tables of studies and their places in the page.

use std::fmt::Write as _;

use crate::common::replaced;
use crate::samples::{Samples, number};

/// Markdown, line by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text(pub(crate) String);

/// What a study gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// What its place in the page has.
    pub(crate) page: Text,
    /// Further tables, which only the results have.
    pub(crate) more: Text,
    /// Every sample: tab-separated, a line each.
    pub(crate) values: String,
}

impl Report {
    /// A report with the heading of its values.
    pub(crate) fn new() -> Report {
        let values = "experiment\tvariant\tquantity\tsample\tvalue\n".to_owned();
        Report { values, ..Report::default() }
    }

    /// All tables.
    pub(crate) fn whole(&self) -> String {
        format!("{}\n{}", self.page.0, self.more.0)
    }

    /// Keeps samples.
    pub(crate) fn keep(&mut self, experiment: &str, variant: &str, quantity: &str, samples: &Samples) {
        for (sample, value) in samples.0.iter().enumerate() {
            let value = value.map_or_else(String::new, |value| value.to_string());
            // Writing into a string does not fail.
            let _ = writeln!(self.values, "{experiment}\t{variant}\t{quantity}\t{sample}\t{value}");
        }
    }
}

impl Text {
    /// A line of text.
    pub(crate) fn say(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// The heading of a table; cells with a `:` at their end stand to the right.
    pub(crate) fn heading(&mut self, cells: &[&str]) {
        let names: Vec<&str> = cells.iter().map(|cell| cell.trim_end_matches(':')).collect();
        let rules = cells.iter().map(|cell| if cell.ends_with(':') { "---:" } else { "---" });
        self.say(&format!("| {} |", names.join(" | ")));
        self.say(&format!("| {} |", rules.collect::<Vec<_>>().join(" | ")));
    }

    /// A row of a table.
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.say(&format!("| {} |", cells.join(" | ")));
    }
}

/// A page with another table at the place of a study; none if it has no such place.
pub(crate) fn with_table(page: &str, study: &str, table: &str) -> Option<String> {
    replaced(page, &format!("<!-- study: {study} -->"), &format!("<!-- end of {study} -->"), table)
}

/// What a conclusion does that another value takes away.
pub(crate) const CHANGES: &str = "**changes**";

/// On which side of a bound all of a 95 % interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    Below,
    /// The interval holds the bound, or there is nothing.
    Open,
}

/// The side, and whether it is seen only: one value, or equal ones, have no interval and are never certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) side: Side,
    pub(crate) is_observed: bool,
}

impl Placed {
    /// Where these samples lie.
    pub(crate) fn of(samples: &Samples, bound: f64) -> Placed {
        let statistic = samples.statistic();
        let half = statistic.ci95.unwrap_or(0.0);
        let side = match statistic.mean {
            Some(mean) if mean - half > bound => Side::Above,
            Some(mean) if mean + half < bound => Side::Below,
            _ => Side::Open,
        };
        Placed { side, is_observed: half == 0.0 && side != Side::Open }
    }

    /// Its name in tables.
    pub(crate) fn name(self, bound: f64) -> String {
        let bound = number(bound);
        let side = match self.side {
            Side::Above => format!("above {bound}"),
            Side::Below => format!("below {bound}"),
            Side::Open => "undecided".to_owned(),
        };
        if self.is_observed { format!("{side} (observed)") } else { side }
    }

    /// What becomes of a conclusion that was drawn from a base.
    pub(crate) fn against(self, base: Placed) -> &'static str {
        if self.side == base.side { "stays" } else { CHANGES }
    }
}
