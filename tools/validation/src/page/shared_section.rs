//! Connections that share a bottleneck.

use std::fmt::Write;

use super::{compared, means, row};
use crate::shared::{Discipline, Outcome};
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
        row(
            &mut text,
            &["TCP", "flows", "throughput, %", "loss, %", "mean queue, packets", "spread among flows, %"],
        );
        row(&mut text, &["---", "---:", "---:", "---:", "---:", "---:"]);
        for one in rows {
            let spread = if one.case.flows > 1 { means(&one.spread, 100.0, 1) } else { String::new() };
            row(
                &mut text,
                &[
                    tcps::title(one.case.tcp),
                    &one.case.flows.to_string(),
                    &compared(&one.throughput, 100.0, 2),
                    &compared(&one.loss, 100.0, 3),
                    &compared(&one.queue, 1.0, 2),
                    &spread,
                ],
            );
        }
    }
    text
}
