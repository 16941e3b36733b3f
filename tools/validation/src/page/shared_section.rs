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
    for (discipline, title) in [
        (Discipline::DropTail, "Drop-tail"),
        (Discipline::Red, "RED with given thresholds"),
        (Discipline::RedAuto, "RED, all automatic"),
        (Discipline::Rem, "REM"),
    ] {
        let rows: Vec<_> = outcome.rows.iter().filter(|row| row.case.discipline == discipline).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n### {title}\n");
        row(&mut text, &["TCP", "flows", "throughput, %", "loss, %", "mean queue, packets"]);
        row(&mut text, &["---", "---:", "---:", "---:", "---:"]);
        for one in rows.into_iter().filter(|row| is_shown(row)) {
            row(
                &mut text,
                &[
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

/// Whether the page has a row: of each discipline a few, and all that do not agree.
fn is_shown(row: &Row) -> bool {
    let agrees = [&row.throughput, &row.loss, &row.queue].iter().all(|one| one.verdict == Verdict::Agrees);
    matches!(row.case.flows, 1 | 8 | 32) || !agrees
}
