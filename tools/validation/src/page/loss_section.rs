//! One TCP at random loss.

use std::fmt::Write;

use layercast_simulator::tcp::TcpVariant;

use super::{compared, interval, row};
use crate::random_loss::Outcome;
use crate::tcps;

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from("\n## One TCP at random loss\n\n");
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "One connection, 100 Mbit/s, 50 ms each way, window 5000, Bernoulli loss of data packets alone. Packets per round trip of\n\
         100 ms, by what was acknowledged from {} s to {} s. {} runs each. Tolerance 5 %. ns-2 has neither RFC 6675 nor CUBIC.\n",
        plan.from_s, plan.until_s, plan.replications
    );
    cells(&mut text, "TCP", plan.losses.iter().map(|loss| percent(*loss)));
    cells(&mut text, "---", plan.losses.iter().map(|_| "---:".to_owned()));
    for tcp in variants(outcome.rows.iter().map(|one| one.tcp)) {
        let of_it = outcome.rows.iter().filter(|one| one.tcp == tcp);
        cells(&mut text, tcps::title(tcp), of_it.map(|one| compared(&one.packets_per_round_trip, 1.0, 2)));
    }
    for tcp in variants(outcome.alone.iter().map(|one| one.tcp)) {
        let of_it = outcome.alone.iter().filter(|one| one.tcp == tcp);
        cells(&mut text, tcps::title(tcp), of_it.map(|one| interval(&one.packets_per_round_trip, 2)));
    }
    text
}

/// The variants in the order in which they come.
fn variants(all: impl Iterator<Item = TcpVariant>) -> Vec<TcpVariant> {
    let mut variants: Vec<TcpVariant> = all.collect();
    variants.dedup();
    variants
}

/// A row with a name in front.
fn cells(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
    row(text, &cells.iter().map(String::as_str).collect::<Vec<_>>());
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}
