//! The page with the comparisons and their results.

use std::fmt::Write;

use crate::compare::{Comparison, Verdict};
use crate::constant::{self, Sending};
use crate::results::Results;

mod constant_section;
mod exact_section;
mod loss_section;
mod shared_section;

const HEAD: &str = include_str!("page/head.txt");
const NUMBERS: &str = include_str!("page/numbers.txt");
const TAIL: &str = include_str!("page/tail.txt");

/// The whole page as Markdown.
pub(crate) fn write(results: &Results) -> String {
    let mut page = String::from(HEAD);
    page.push_str(&summary(results));
    page.push_str(NUMBERS);
    page.push_str(&exact_section::write(&results.exact));
    page.push_str(&loss_section::write(&results.random_loss));
    page.push_str(&shared_section::write(&results.shared));
    page.push_str(&constant_section::write(&results.constant));
    page.push_str(TAIL);
    page
}

/// The number of rows per section and verdict.
fn summary(results: &Results) -> String {
    let Results { random_loss: loss, shared, constant, exact } = results;
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
        (BEFORE_CONSTANT, shared.rows.iter().map(|row| &row.queue).collect()),
    ];
    for (name, comparisons) in measures {
        count(&mut text, name, &comparisons);
    }
    text.push_str(&constant_rows(constant));
    text
}

/// The last measure of the summary before those of constant rates.
const BEFORE_CONSTANT: &str = "shared bottleneck: mean queue";

/// The rows of the summary about constant rates.
fn constant_rows(outcome: &constant::Outcome) -> String {
    let measures: [(&str, constant::Of); 3] = [
        ("its loss", |row| &row.constant_loss),
        ("TCP's loss", |row| &row.tcp_loss),
        ("its share", |row| &row.share),
    ];
    let mut text = String::new();
    for (what, is_layered) in [("one flow", false), ("layers", true)] {
        let is_meant = |row: &&constant::Row| (row.rhythm.setting.sending != Sending::One) == is_layered;
        for (name, of) in measures {
            let rows: Vec<_> = outcome.rows.iter().filter(is_meant).map(of).collect();
            count(&mut text, &format!("constant rate, {what}: {name}"), &rows);
        }
    }
    text
}

/// A row of the summary.
fn count(text: &mut String, name: &str, comparisons: &[&Comparison]) {
    let count = |verdict| comparisons.iter().filter(|one| one.verdict == verdict).count().to_string();
    let all = comparisons.len().to_string();
    let counts = [Verdict::Agrees, Verdict::Tolerated, Verdict::Differs].map(count);
    row(text, &[name, &all, &counts[0], &counts[1], &counts[2]]);
}

/// A page of a full run with other results for constant rates; none if it is no such page.
pub(crate) fn with_constant(page: &str, outcome: &constant::Outcome) -> Option<String> {
    let section = constant_section::write(outcome);
    let heading = section.trim_start().lines().next()?;
    let (before, rest) = match page.split_once(&format!("\n{heading}\n")) {
        Some((before, old)) => (before, &old[old.find("\n## ")?..]),
        None => page.split_at(page.find("\n## Not compared\n")?),
    };
    let is_old = |line: &&str| line.starts_with("| constant rate");
    let mut text = String::new();
    for line in before.lines().filter(|line| !is_old(line)) {
        text.push_str(line);
        text.push('\n');
        if line.starts_with(&format!("| {BEFORE_CONSTANT} |")) {
            text.push_str(&constant_rows(outcome));
        }
    }
    Some(text + &section + rest)
}

/// A row of a table.
fn row(text: &mut String, cells: &[&str]) {
    // Writing into a string does not fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// A mean and half its interval with the given number of decimals.
fn interval(statistic: &layercast_laboratory::results::Statistic, decimals: usize) -> String {
    match (statistic.mean, statistic.ci95) {
        (Some(mean), Some(half)) => format!("{mean:.decimals$} ± {half:.decimals$}"),
        _ => number(statistic.mean, 1.0, decimals),
    }
}

/// A number with the given number of decimals, scaled.
fn number(value: Option<f64>, scale: f64, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{:.decimals$}", value * scale))
}

/// Both means, scaled: ours/ns-2's.
fn means(comparison: &Comparison, scale: f64, decimals: usize) -> String {
    let [ours, ns] = [&comparison.ours, &comparison.ns].map(|one| number(one.mean, scale, decimals));
    format!("{ours}/{ns}")
}

/// Both means with their difference and its interval in percent, and a mark unless they agree.
fn compared(comparison: &Comparison, scale: f64, decimals: usize) -> String {
    let mut text = means(comparison, scale, decimals);
    if let (Some(difference), Some(joint)) = (comparison.difference, comparison.joint) {
        text.push_str(&format!(" ({:+.1}±{:.1})", difference * 100.0, joint * 100.0));
    }
    marked(text, comparison.verdict)
}

/// A cell as its verdict shows it.
fn marked(text: String, verdict: Verdict) -> String {
    match verdict {
        Verdict::Agrees => text,
        Verdict::Tolerated => text + " *",
        Verdict::Differs => format!("**{text}**"),
    }
}

#[cfg(test)]
mod tests;
