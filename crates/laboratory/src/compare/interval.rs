//! Numbers with their intervals, in words and for plots: never an interval that cannot be.

use std::ops::RangeInclusive;

use crate::results::Statistic;
use crate::results::statistics::Spread;
use crate::results::text::{NONE, Style, decimal};

/// The values that a metric can have.
fn possible(metric: &str) -> RangeInclusive<f64> {
    match metric {
        "jain_index" | "loss_rate" | "rebuffering" | "utilisation" | "fair_share_closeness" => 0.0..=1.0,
        "mean_level" => -1.0..=f64::INFINITY,
        "change" => f64::NEG_INFINITY..=f64::INFINITY,
        _ => 0.0..=f64::INFINITY,
    }
}

/// What to draw next to the mean: the interval, or where there is none the least and the greatest replication.
pub(super) fn drawn(statistic: &Statistic, metric: &str) -> Option<(f64, f64)> {
    match statistic.spread(&possible(metric)) {
        Spread::Interval(low, high) | Spread::Range(low, high) => Some((low, high)),
        Spread::Unknown => None,
    }
}

/// The least and the greatest replication where they stand in place of an interval: with too few replications,
/// or where the interval holds values that the metric cannot have.
fn range(statistic: &Statistic, metric: &str) -> Option<(f64, f64)> {
    match statistic.spread(&possible(metric)) {
        Spread::Range(low, high) => Some((low, high)),
        Spread::Interval(..) | Spread::Unknown => None,
    }
}

/// The mean with its interval, or the least and the greatest replication.
pub(super) fn text(statistic: &Statistic, metric: &str) -> String {
    if metric == "change" {
        return change(statistic);
    }
    let style = Style::of(if metric == "fair_share_closeness" { "share_of_tcp" } else { metric });
    let Some((low, high)) = range(statistic, metric) else { return style.statistic(statistic) };
    let missing = statistic.samples.len() - statistic.defined();
    let (one, other) = (style.bare(low), style.number(high));
    let text = if one == style.bare(high) { other } else { format!("{one} to {other}") };
    if missing == 0 { text } else { format!("{text} ({}/{})", statistic.defined(), statistic.samples.len()) }
}

/// A number of things: the same in every replication, or the least and the greatest.
pub(super) fn count(statistic: &Statistic) -> String {
    let whole = |value: f64| decimal(value, 0);
    match (statistic.extremes(), statistic.mean) {
        (Some((low, high)), _) if low < high => format!("{} to {}", whole(low), whole(high)),
        (_, Some(mean)) => whole(mean),
        (_, None) => NONE.to_owned(),
    }
}

/// A change in per cent with its sign, or points: `+4.0 ± 2.1`.
pub(super) fn change(statistic: &Statistic) -> String {
    written(statistic, usize::from(statistic.mean.is_some_and(|mean| mean.abs() < 99.5)))
}

/// A change of a share in percentage points, with as many decimals as shares have.
pub(super) fn points(statistic: &Statistic) -> String {
    written(statistic, 2)
}

fn written(statistic: &Statistic, places: usize) -> String {
    let Some(mean) = statistic.mean else { return NONE.to_owned() };
    let text = if let Some((low, high)) = range(statistic, "change") {
        format!("{} to {}", signed(low, places), signed(high, places))
    } else if let Some(half) = statistic.ci95 {
        format!("{} ± {}", signed(mean, places), decimal(half, places))
    } else {
        signed(mean, places)
    };
    let (defined, all) = (statistic.defined(), statistic.samples.len());
    if defined < all { format!("{text} ({defined}/{all})") } else { text }
}

/// A number with its sign.
pub(crate) fn signed(value: f64, places: usize) -> String {
    let text = decimal(value, places);
    if value > 0.0 && text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        format!("+{text}")
    } else {
        text
    }
}

/// A length of time in seconds as one reads it: `41.2 s`, `2:10 min`, `1:02:10 h`.
pub(super) fn clock(seconds: f64) -> String {
    if seconds < 59.95 {
        return format!("{} s", decimal(seconds, 1));
    }
    let whole = seconds.round().max(0.0) as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours == 0 { format!("{minutes}:{rest:02} min") } else { format!("{hours}:{minutes:02}:{rest:02} h") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[f64]) -> Statistic {
        Statistic::new(samples.iter().copied().map(Some))
    }

    #[test]
    fn an_interval_that_cannot_be_is_not_given() {
        assert_eq!(text(&of(&[1000.0, 1100.0]), "throughput_kbps"), "1000 to 1100", "two replications");
        assert_eq!(text(&of(&[0.99, 1.0, 0.9]), "jain_index"), "0.9000 to 1.0000", "beyond 1");
        assert_eq!(drawn(&of(&[0.99, 1.0, 0.9]), "jain_index"), Some((0.9, 1.0)));
        assert_eq!(text(&of(&[0.1, 2.0, 0.6]), "share_of_tcp"), "0.10 to 2.00", "below 0");
        assert_eq!(text(&of(&[0.5, 0.5, 0.5]), "jain_index"), "0.5000 ± 0.0000");
        assert_eq!(text(&of(&[5.0]), "throughput_kbps"), "5.00");
        assert_eq!(
            text(&Statistic::new([Some(1.0), Some(2.0), None]), "throughput_kbps"),
            "1.00 to 2.00 (2/3)"
        );
        assert_eq!(
            text(&of(&[1.0, 1.0, 1.0]), "jain_index"),
            "1.0000 ± 0.0000",
            "the bound itself is possible"
        );
    }

    #[test]
    fn a_change_has_a_sign() {
        assert_eq!(change(&of(&[4.0, 4.0, 4.0])), "+4.0 ± 0.0");
        assert_eq!(change(&of(&[-4.0, 4.5])), "-4.0 to +4.5");
        assert_eq!(change(&of(&[0.01])), "0.0");
        assert_eq!(change(&of(&[])), "–");
        assert_eq!(points(&of(&[0.15, 0.15, 0.15])), "+0.15 ± 0.00");
        assert_eq!([count(&of(&[29.0, 29.0])), count(&of(&[28.0, 30.0, 29.0]))], ["29", "28 to 30"]);
    }

    #[test]
    fn times_are_written_as_one_reads_them() {
        assert_eq!(
            [clock(41.24), clock(130.0), clock(59.97), clock(3730.0)],
            ["41.2 s", "2:10 min", "1:00 min", "1:02:10 h"]
        );
    }
}
