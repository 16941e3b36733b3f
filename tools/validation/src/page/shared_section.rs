//! Connections that share a bottleneck.

use std::fmt::Write;

use super::{difference, interval, row};
use crate::compare::Comparison;
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
        row(&mut text, &["TCP", "flows", "measure", "layercast", "ns-2", "difference", "verdict"]);
        row(&mut text, &["---", "---:", "---", "---:", "---:", "---:", "---"]);
        for one in rows {
            let (tcp, flows) = (tcps::title(one.case.tcp), one.case.flows.to_string());
            let mut measure = |name: &str, compared: &Comparison, scale, decimals, verdict: &str| {
                let ours = interval(&compared.ours, scale, decimals);
                let ns = interval(&compared.ns, scale, decimals);
                row(&mut text, &[tcp, &flows, name, &ours, &ns, &difference(compared), verdict]);
            };
            let compared = &one.throughput;
            measure("throughput, %", compared, 100.0, 2, compared.verdict.text());
            measure("loss, %", &one.loss, 100.0, 3, one.loss.verdict.text());
            measure("mean queue, packets", &one.queue, 1.0, 2, one.queue.verdict.text());
            if one.case.flows > 1 {
                measure("spread among flows, %", &one.spread, 100.0, 1, "");
            }
        }
    }
    text
}
