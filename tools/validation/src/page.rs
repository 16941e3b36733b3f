//! The page with the comparisons and their results.

use std::fmt::Write;

use crate::compare::{Comparison, Verdict};
use crate::exact;
use crate::random_loss;
use crate::shared;

mod exact_section;
mod loss_section;
mod shared_section;

const HEAD: &str = include_str!("page/head.txt");
const NUMBERS: &str = include_str!("page/numbers.txt");
const TAIL: &str = include_str!("page/tail.txt");

/// The whole page as Markdown.
pub(crate) fn write(
    loss: &random_loss::Outcome,
    shared: &shared::Outcome,
    exact: &[exact::Result],
) -> String {
    let mut page = String::from(HEAD);
    page.push_str(&summary(loss, shared, exact));
    page.push_str(NUMBERS);
    page.push_str(&exact_section::write(exact));
    page.push_str(&loss_section::write(loss));
    page.push_str(&shared_section::write(shared));
    page.push_str(TAIL);
    page
}

/// The number of rows per section and verdict.
fn summary(loss: &random_loss::Outcome, shared: &shared::Outcome, exact: &[exact::Result]) -> String {
    let mut text = String::from(
        "\n| compared | rows | agree | within tolerance | differ |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    let same = exact.iter().filter(|result| result.parting.is_none()).count();
    row(
        &mut text,
        &[
            "packet by packet",
            &exact.len().to_string(),
            &same.to_string(),
            "",
            &(exact.len() - same).to_string(),
        ],
    );
    let throughput = loss.rows.iter().map(|row| &row.packets_per_round_trip).collect();
    let measures: [(&str, Vec<&Comparison>); 4] = [
        ("one TCP at random loss: throughput", throughput),
        ("shared bottleneck: throughput", shared.rows.iter().map(|row| &row.throughput).collect()),
        ("shared bottleneck: loss", shared.rows.iter().map(|row| &row.loss).collect()),
        ("shared bottleneck: mean queue", shared.rows.iter().map(|row| &row.queue).collect()),
    ];
    for (name, comparisons) in measures {
        let count = |verdict| comparisons.iter().filter(|one| one.verdict == verdict).count().to_string();
        let all = comparisons.len().to_string();
        let counts = [Verdict::Agrees, Verdict::Tolerated, Verdict::Differs].map(count);
        row(&mut text, &[name, &all, &counts[0], &counts[1], &counts[2]]);
    }
    text
}

/// A row of a table.
fn row(text: &mut String, cells: &[&str]) {
    // Writing into a string does not fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// A mean and half its interval with the given number of decimals, scaled.
fn interval(statistic: &layercast_laboratory::results::Statistic, scale: f64, decimals: usize) -> String {
    match (statistic.mean, statistic.ci95) {
        (Some(mean), Some(half)) => format!("{:.decimals$} ± {:.decimals$}", mean * scale, half * scale),
        (Some(mean), None) => format!("{:.decimals$}", mean * scale),
        _ => "-".to_owned(),
    }
}

/// The difference in percent with its interval.
fn difference(comparison: &Comparison) -> String {
    match (comparison.difference, comparison.joint) {
        (Some(difference), Some(joint)) => format!("{:+.1} ± {:.1} %", difference * 100.0, joint * 100.0),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests;
