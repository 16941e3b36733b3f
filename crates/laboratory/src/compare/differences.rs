//! What a protocol does differently from the reference, replication by replication.

use super::paired::{self, Shown};
use super::receivers;
use super::row::{Difference, Row};
use crate::results::Statistic;

/// The differences of a row to that of the reference, of what both have.
pub(super) fn of(row: &Row, reference: &Row) -> Vec<Difference> {
    let percent = |of: fn(&Row) -> Option<&Statistic>| {
        let none = Statistic::default();
        paired::percent(&of(row).unwrap_or(&none).samples, &of(reference).unwrap_or(&none).samples)
    };
    let points = |of: fn(&Row) -> &Statistic, scale: f64| {
        let plain = paired::difference(&of(row).samples, &of(reference).samples);
        Statistic::new(plain.samples.iter().map(|sample| Some((*sample)? * scale)))
    };
    let throughput = paired::percent_over_places(
        &receivers::throughputs(&row.receivers, &reference.receivers),
        row.throughput_kbps.samples.len(),
    );
    let complete = match (&row.completion, &reference.completion) {
        (Some(one), Some(other)) => paired::difference(&one.completed.samples, &other.completed.samples),
        _ => Statistic::default(),
    };
    let all = [
        ("completed", "complete", complete),
        ("last_s", "last, %", percent(|row| row.completion.as_ref().map(|done| &done.last_s))),
        ("median_s", "median, %", percent(|row| row.completion.as_ref().map(|done| &done.median_s))),
        ("throughput_kbps", "throughput, %", throughput),
        ("fair_share_closeness", "near fair, points", points(|row| &row.fair_share_closeness, 100.0)),
        ("loss_rate", "loss, points", points(|row| &row.loss_rate, 100.0)),
        ("utilisation", "used, points", points(|row| &row.utilisation, 100.0)),
        ("harm_percent", "harm, points", points(|row| &row.harm_percent, 1.0)),
    ];
    let defined = all.into_iter().filter(|(_, _, difference)| difference.mean.is_some());
    defined
        .map(|(metric, heading, difference)| {
            let shown = match paired::shown(&difference) {
                Shown::More => Some(true),
                Shown::Less => Some(false),
                Shown::Nothing | Shown::TooFew => None,
            };
            Difference { metric, heading, difference, shown }
        })
        .collect()
}
