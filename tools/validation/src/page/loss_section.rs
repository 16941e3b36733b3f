//! One TCP at random loss.

use std::fmt::Write;

use super::{difference, interval, row};
use crate::random_loss::Outcome;
use crate::tcps;

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from("\n## One TCP at random loss\n\n");
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "One connection, 100 Mbit/s, 50 ms each way, window 5000, Bernoulli loss of data packets and of nothing else. Packets \
         per\nround trip of 100 ms, by what was acknowledged from {} s to {} s. {} runs each. Tolerance 5 %.\n",
        plan.from_s, plan.until_s, plan.replications
    );
    row(&mut text, &["TCP", "loss", "layercast", "ns-2", "difference", "verdict"]);
    row(&mut text, &["---", "---:", "---:", "---:", "---:", "---"]);
    for one in &outcome.rows {
        let measured = &one.packets_per_round_trip;
        row(
            &mut text,
            &[
                tcps::title(one.tcp),
                &percent(one.loss),
                &interval(&measured.ours, 1.0, 2),
                &interval(&measured.ns, 1.0, 2),
                &difference(measured),
                measured.verdict.text(),
            ],
        );
    }
    text.push_str("\nns-2 has none of these; they are listed for comparison with the others:\n\n");
    row(&mut text, &["TCP", "loss", "layercast"]);
    row(&mut text, &["---", "---:", "---:"]);
    for one in &outcome.alone {
        let measured = interval(&one.packets_per_round_trip, 1.0, 2);
        row(&mut text, &[tcps::title(one.tcp), &percent(one.loss), &measured]);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}
