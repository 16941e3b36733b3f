//! How numbers look in the table and in the report: the same in both.

use super::paper::Comparison;
use super::reported::{Metric, PaperValue, Relation};
use std::ops::RangeInclusive;

use super::statistics::{Spread, Statistic};

/// What stands for a number that does not exist.
pub(crate) const NONE: &str = "–";

/// How a measure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As many decimals as leave about three digits.
    Amount,
    /// A fraction shown in percent.
    Percent,
    /// Four decimals, as papers give fairness indices.
    Index,
    /// One decimal.
    Tenths,
}

impl Style {
    /// The style of a metric of the summary.
    pub(crate) fn of(metric: &str) -> Self {
        match metric {
            "loss_rate" | "utilisation" | "loss" | "complete" | "object_received" => Self::Percent,
            "rebuffering" | "over_150ms" => Self::Percent,
            _ if metric.starts_with("limited_by_") => Self::Percent,
            _ if metric.ends_with("_loss") => Self::Percent,
            "jain_index" => Self::Index,
            "level_changes" | "mean_queue_packets" => Self::Tenths,
            "settled_after_s" | "fair_level_after_s" | "fell_after_s" | "recovered_after_s" => Self::Tenths,
            "loss_events_per_min" | "own_lost_per_event" | "others_lost_per_event" => Self::Tenths,
            _ => Self::Amount,
        }
    }

    /// What a value is multiplied with before it is written.
    pub(crate) fn scale(self) -> f64 {
        if self == Self::Percent { 100.0 } else { 1.0 }
    }

    fn unit(self) -> &'static str {
        if self == Self::Percent { " %" } else { "" }
    }

    fn decimals(self, value: f64) -> usize {
        match self {
            Self::Index => 4,
            Self::Tenths => 1,
            Self::Percent => 2,
            Self::Amount if value.abs() >= 99.5 => 0,
            Self::Amount if value.abs() >= 9.95 => 1,
            Self::Amount => 2,
        }
    }

    /// A number with its unit.
    pub(crate) fn number(self, value: f64) -> String {
        format!("{}{}", self.bare(value), self.unit())
    }

    /// A number without its unit, for where the unit is shown separately.
    pub(crate) fn bare(self, value: f64) -> String {
        decimal(value * self.scale(), self.decimals(value * self.scale()))
    }

    /// The values that a measure of this style can have.
    pub(crate) fn possible(self) -> RangeInclusive<f64> {
        match self {
            Self::Percent | Self::Index => 0.0..=1.0,
            Self::Amount | Self::Tenths => 0.0..=f64::INFINITY,
        }
    }

    /// The mean, its interval or else the least and the greatest, and how many replications have a value if not
    /// all do.
    pub(crate) fn statistic(self, statistic: &Statistic) -> String {
        let Some(mean) = statistic.mean.map(|mean| mean * self.scale()) else {
            return NONE.to_owned();
        };
        let decimals = self.decimals(mean);
        let mut text = decimal(mean, decimals);
        let shown = |value: f64| decimal(value * self.scale(), decimals);
        match (statistic.spread(&self.possible()), statistic.ci95) {
            (Spread::Interval(..), Some(half_width)) => {
                text.push_str(" ± ");
                text.push_str(&shown(half_width));
            }
            (Spread::Range(least, greatest), _) => {
                text.push_str(&format!(" ({}–{})", shown(least), shown(greatest)));
            }
            _ => {}
        }
        text.push_str(self.unit());
        if statistic.defined() < statistic.samples.len() {
            text.push_str(&format!(" ({}/{})", statistic.defined(), statistic.samples.len()));
        }
        text
    }

    /// The paper's number as the paper words it. Trailing zeros go, since the paper did not print them.
    pub(crate) fn paper(self, paper: &PaperValue) -> String {
        let value = self.number(paper.value);
        let value = match self {
            Self::Amount | Self::Tenths => {
                let short = value.trim_end_matches('0').trim_end_matches('.');
                if value.contains('.') { short.to_owned() } else { value }
            }
            Self::Percent | Self::Index => value,
        };
        match paper.relation {
            Relation::Equal => value,
            Relation::About => format!("≈ {value}"),
            Relation::Below => format!("< {value}"),
            Relation::Above => format!("> {value}"),
        }
    }
}

/// The ratio, or for a bound whether it holds.
pub(crate) fn verdict(comparison: &Comparison<'_>) -> String {
    match (comparison.ratio(), comparison.agrees()) {
        (Some(ratio), _) => decimal(ratio, if comparison.paper.metric == Metric::JainIndex { 3 } else { 2 }),
        (None, Some(true)) => "holds".to_owned(),
        (None, Some(false)) => "no".to_owned(),
        (None, None) => NONE.to_owned(),
    }
}

/// A plain decimal without a negative zero.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// A time or a length of time, without needless decimals.
pub(crate) fn seconds(value: f64) -> String {
    format!("{value} s")
}

/// A window of time.
pub(crate) fn window([from, to]: [f64; 2]) -> String {
    format!("{from}–{to} s")
}

/// `1 replication`, `2 replications`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_about_three_digits() {
        assert_eq!(Style::Amount.number(1429.4), "1429");
        assert_eq!(Style::Amount.number(12.345), "12.3");
        assert_eq!(Style::Amount.number(9.96), "10.0");
        assert_eq!(Style::Amount.number(-0.001), "0.00");
        assert_eq!(Style::Percent.number(0.0199), "1.99 %");
        assert_eq!(Style::Index.number(1.0), "1.0000");
    }

    #[test]
    fn a_statistic_says_how_many_replications_have_it() {
        let of = |samples: &[Option<f64>]| Style::Tenths.statistic(&Statistic::new(samples.iter().copied()));
        assert_eq!(of(&[None, None]), NONE);
        assert_eq!(of(&[Some(2.0)]), "2.0");
        assert_eq!(of(&[Some(2.0), Some(2.0), Some(2.0)]), "2.0 ± 0.0");
        assert_eq!(of(&[Some(2.0), Some(2.0), Some(2.0), None]), "2.0 ± 0.0 (3/4)");
    }

    #[test]
    fn an_interval_that_cannot_be_gives_way_to_the_extremes() {
        let of = |style: Style, samples: &[f64]| {
            style.statistic(&Statistic::new(samples.iter().map(|s| Some(*s))))
        };
        assert_eq!(of(Style::Amount, &[411.0, 2015.0]), "1213 (411–2015)", "of two the interval is ± 10191");
        assert_eq!(of(Style::Index, &[0.99, 0.5, 0.98]), "0.8233 (0.5000–0.9900)", "no index is beyond 1");
        assert_eq!(of(Style::Amount, &[10.0, 0.0, 0.0]), "3.33 (0.00–10.00)", "no throughput is negative");
        assert_eq!(
            of(Style::Amount, &[-5.0, -6.0, -7.0]),
            "-6.00 ± 2.48",
            "a measure with negative values is none"
        );
    }
}
