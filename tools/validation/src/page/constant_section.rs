//! Constant rates against TCP.

use std::fmt::Write;

use super::{difference, interval, row};
use crate::compare::Comparison;
use crate::constant::{Outcome, Row, SITES};

const TEXT: &str = include_str!("constant.txt");

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from(TEXT);
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "Measured from {} s to {} s, {} runs for each phase and with waits.",
        plan.from_s, plan.until_s, plan.replications
    );
    let plain: Vec<&Row> = outcome.rows.iter().filter(|row| row.rhythm.wait <= 0.0).collect();
    let _ = writeln!(text, "\n### Senders that answer at once: loss of the constant flow by phase, %\n");
    let phases: Vec<String> = plain
        .iter()
        .filter(|row| row.site.name == SITES[0].name)
        .map(|row| row.rhythm.phase.to_string())
        .collect();
    let heads = ["receiver", "simulator"].into_iter().chain(phases.iter().map(String::as_str));
    let heads: Vec<&str> = heads.chain(["mean", "least to most"]).collect();
    row(&mut text, &heads);
    let rules: Vec<&str> =
        heads.iter().map(|head| if *head == "simulator" { "---" } else { "---:" }).collect();
    row(&mut text, &rules);
    for site in SITES {
        let of_site: Vec<&&Row> = plain.iter().filter(|row| row.site.name == site.name).collect();
        let kinds: [(&str, fn(&Row) -> Option<f64>); 3] = [
            ("layercast", |row| row.constant_loss.ours.mean),
            ("ns-2", |row| row.constant_loss.ns.mean),
            ("ns-2, the TCPs", |row| row.tcp_loss.ns.mean),
        ];
        for (simulator, of) in kinds {
            let losses: Vec<f64> =
                of_site.iter().filter_map(|row| of(row)).map(|loss| loss * 100.0).collect();
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            let (least, most) = losses
                .iter()
                .fold((f64::MAX, f64::MIN), |(least, most), &loss| (least.min(loss), most.max(loss)));
            let mut cells = vec![site.name.to_owned(), simulator.to_owned()];
            cells.extend(losses.iter().map(|loss| format!("{loss:.2}")));
            cells.extend([format!("{mean:.2}"), format!("{least:.2} to {most:.2}")]);
            row(&mut text, &cells.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    let _ = writeln!(text, "\n### Senders that wait up to a packet's time\n");
    row(&mut text, &["receiver", "measure", "layercast", "ns-2", "difference", "verdict"]);
    row(&mut text, &["---", "---", "---:", "---:", "---:", "---"]);
    for one in outcome.rows.iter().filter(|row| row.rhythm.wait > 0.0) {
        let mut measure = |name: &str, compared: &Comparison, scale, decimals| {
            let ours = interval(&compared.ours, scale, decimals);
            let ns = interval(&compared.ns, scale, decimals);
            let verdict = compared.verdict.text();
            row(&mut text, &[one.site.name, name, &ours, &ns, &difference(compared), verdict]);
        };
        measure("loss of the constant flow, %", &one.constant_loss, 100.0, 3);
        measure("loss of the TCPs, %", &one.tcp_loss, 100.0, 3);
        measure("constant flow over mean TCP", &one.share, 1.0, 3);
    }
    text
}
