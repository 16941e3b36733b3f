//! Constant rates against TCP.

use std::fmt::Write;

use super::{marked, row};
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

/// A table of receivers: of the means by phase the least, their mean and the most, of losses in percent. It is
/// marked where not all phases agree.
fn by_phase(text: &mut String, rows: &[&Row]) {
    row(text, &["receiver", "measure", "least", "mean", "most"]);
    row(text, &["---", "---", "---:", "---:", "---:"]);
    let measures: [(&str, f64, Of); 2] = [
        ("constant flow, loss %", 100.0, |row| &row.constant_loss),
        ("TCPs, loss %", 100.0, |row| &row.tcp_loss),
    ];
    for site in SITES {
        let of_site: Vec<&Row> = rows.iter().copied().filter(|row| row.site.name == site.name).collect();
        for (name, scale, of) in measures {
            let values = |of_one: fn(&Comparison) -> Option<f64>| -> Vec<f64> {
                of_site.iter().filter_map(|row| of_one(of(row))).collect()
            };
            let both = [values(|one| one.ours.mean), values(|one| one.ns.mean)];
            let cell = |summary: fn(&[f64]) -> f64| {
                let [ours, ns] = both.each_ref().map(|values| summary(values) * scale);
                format!("{ours:.2}/{ns:.2}")
            };
            let least = cell(|values| values.iter().copied().fold(f64::INFINITY, f64::min));
            let mean = cell(|values| values.iter().sum::<f64>() / values.len().max(1) as f64);
            let most = cell(|values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let verdicts = of_site.iter().map(|row| of(row).verdict);
            let worst = [Verdict::Differs, Verdict::Tolerated]
                .into_iter()
                .find(|one| verdicts.clone().any(|v| v == *one));
            let mean = marked(mean, worst.unwrap_or(Verdict::Agrees));
            row(text, &[site.name, name, &least, &mean, &most]);
        }
    }
}
