//! Connections that share a bottleneck.

use std::fmt::Write;

use super::{compared, row};
use crate::compare::Verdict;
use crate::shared::{Discipline, Outcome, Row};
use crate::tcps;

const TEXT: &str = include_str!("shared.txt");

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from(TEXT);
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "Measured from {} s to {} s, {} runs each.",
        plan.from_s, plan.until_s, plan.replications
    );
    text.push('\n');
    row(&mut text, &["queue", "TCP", "flows", "throughput, %", "loss, %", "mean queue, packets"]);
    row(&mut text, &["---", "---", "---:", "---:", "---:", "---:"]);
    for (discipline, title) in [
        (Discipline::DropTail, "drop-tail"),
        (Discipline::Red, "RED with given thresholds"),
        (Discipline::RedAuto, "RED, all automatic"),
        (Discipline::Rem, "REM"),
    ] {
        let rows = outcome.rows.iter().filter(|row| row.case.discipline == discipline);
        for one in rows.filter(|row| is_shown(row)) {
            row(
                &mut text,
                &[
                    title,
                    tcps::title(one.case.tcp),
                    &one.case.flows.to_string(),
                    &compared(&one.throughput, 100.0, 2),
                    &compared(&one.loss, 100.0, 3),
                    &compared(&one.queue, 1.0, 2),
                ],
            );
        }
    }
    text
}

/// Whether the page has a row: those of eight flows, and all that do not agree.
fn is_shown(row: &Row) -> bool {
    let agrees = [&row.throughput, &row.loss, &row.queue].iter().all(|one| one.verdict == Verdict::Agrees);
    row.case.flows == 8 || !agrees
}
