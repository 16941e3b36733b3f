//! Constant rates against TCP.

use std::fmt::Write;

use super::{marked, means, row};
use crate::compare::{Comparison, Verdict};
use crate::constant::{Of, Outcome, Row, SITES};

const TEXT: &str = include_str!("constant.txt");

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from(TEXT);
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "Measured from {} s to {} s, {} runs for each phase.",
        plan.from_s, plan.until_s, plan.replications
    );
    for (title, waits) in [
        ("Senders that answer at once, by phase", false),
        ("Senders that wait up to a packet's time, by phase", true),
    ] {
        let _ = writeln!(text, "\n### {title}\n");
        let rows: Vec<&Row> = outcome.rows.iter().filter(|row| (row.rhythm.wait > 0.0) == waits).collect();
        by_phase(&mut text, &rows);
    }
    text
}

/// A table of rows that differ by phase and receiver: losses in percent, shares.
fn by_phase(text: &mut String, rows: &[&Row]) {
    let is_shown = |row: &&&Row| is_shown(row.rhythm.phase, rows);
    let of_first = rows.iter().filter(|row| row.site.name == SITES[0].name).filter(is_shown);
    let phases: Vec<String> = of_first.map(|row| row.rhythm.phase.to_string()).collect();
    let heads = ["receiver", "measure"].into_iter().chain(phases.iter().map(String::as_str));
    let heads: Vec<&str> = heads.chain(["mean"]).collect();
    row(text, &heads);
    let is_text = |head: &&&str| matches!(**head, "receiver" | "measure");
    let rules: Vec<&str> = heads.iter().map(|head| if is_text(&head) { "---" } else { "---:" }).collect();
    row(text, &rules);
    let measures: [(&str, f64, Of); 3] = [
        ("constant flow, loss %", 100.0, |row| &row.constant_loss),
        ("TCPs, loss %", 100.0, |row| &row.tcp_loss),
        ("constant flow of mean TCP", 1.0, |row| &row.share),
    ];
    for site in SITES {
        let of_site: Vec<&Row> = rows.iter().copied().filter(|row| row.site.name == site.name).collect();
        for (name, scale, of) in measures {
            let mut cells = vec![site.name.to_owned(), name.to_owned()];
            cells.extend(
                of_site.iter().filter(is_shown).map(|row| marked(means(of(row), scale, 2), of(row).verdict)),
            );
            let mean = |of_one: fn(&Comparison) -> Option<f64>| {
                let values: Vec<f64> = of_site.iter().filter_map(|row| of_one(of(row))).collect();
                values.iter().sum::<f64>() * scale / values.len().max(1) as f64
            };
            cells.push(format!("{:.2}/{:.2}", mean(|one| one.ours.mean), mean(|one| one.ns.mean)));
            row(text, &cells.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

/// Whether the page has a phase: the multiples of a quarter, and all that do not agree.
fn is_shown(phase: f64, rows: &[&Row]) -> bool {
    let agrees = |row: &Row| {
        [&row.constant_loss, &row.tcp_loss, &row.share].iter().all(|one| one.verdict == Verdict::Agrees)
    };
    (4.0 * phase).fract() == 0.0 || rows.iter().any(|row| row.rhythm.phase == phase && !agrees(row))
}
