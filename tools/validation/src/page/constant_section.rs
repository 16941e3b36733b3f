//! Constant rates against TCP.

use std::fmt::Write;

use super::{marked, row};
use crate::compare::{Comparison, Verdict};
use crate::constant::{Of, Outcome, Row, SITES, Sending, Setting, settings};

const TEXT: &str = include_str!("constant.txt");
const WHY: &str = include_str!("constant_why.txt");

pub(super) fn write(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut text = String::from(TEXT);
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "Measured from {} s to {} s, {} runs for each phase.\n",
        plan.from_s, plan.until_s, plan.replications
    );
    let heads = SITES.map(|site| site.name).map(|site| [site.to_owned(), format!("TCPs at {site}")]);
    let [rates, tcps] = [0, 1].map(|which| heads.each_ref().map(|head| head[which].as_str()));
    row(&mut text, &[&["loss, %"][..], &rates, &tcps].concat());
    row(&mut text, &[&["---"][..], &["---:"; 6]].concat());
    for setting in settings() {
        let rates = SITES.map(|site| phases(outcome, setting, site.name, |row| &row.constant_loss));
        let tcps = SITES.map(|site| phases(outcome, setting, site.name, |row| &row.tcp_loss));
        let rates = rates.map(|phases| cell(&phases, true));
        let cells = rates.into_iter().chain(tcps.map(|phases| cell(&phases, false)));
        let cells: Vec<String> = std::iter::once(title(setting)).chain(cells).collect();
        row(&mut text, &cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text.push_str(WHY);
    text
}

fn title(setting: Setting) -> String {
    let sending = match setting.sending {
        Sending::One => "one flow",
        Sending::Apart => "layers apart",
        Sending::Together => "layers together",
    };
    let waits = if setting.wait > 0.0 { "waits" } else { "at once" };
    let longer =
        if setting.longer_ms > 0.0 { format!(", {} ms longer", setting.longer_ms) } else { String::new() };
    format!("{sending}, {waits}{longer}")
}

/// A measure at a receiver, by phase.
fn phases<'a>(outcome: &'a Outcome, setting: Setting, site: &str, of: Of) -> Vec<&'a Comparison> {
    let is_meant = |row: &&Row| row.rhythm.setting == setting && row.site.name == site;
    outcome.rows.iter().filter(is_meant).map(of).collect()
}

/// The mean of the phases, in percent, and the least and the most of them. It is marked where not all agree.
fn cell(phases: &[&Comparison], with_range: bool) -> String {
    let values = |of_one: fn(&Comparison) -> Option<f64>| -> Vec<f64> {
        phases.iter().filter_map(|phase| of_one(phase)).collect()
    };
    let both = [values(|one| one.ours.mean), values(|one| one.ns.mean)];
    if both.iter().any(Vec::is_empty) {
        return "-".to_owned();
    }
    let pair = |summary: fn(&[f64]) -> f64| both.each_ref().map(|values| summary(values) * 100.0);
    let [ours, ns] = pair(|values| values.iter().sum::<f64>() / values.len() as f64);
    let least = pair(|values| values.iter().copied().fold(f64::INFINITY, f64::min));
    let most = pair(|values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let mut text = format!("{ours:.2}/{ns:.2}");
    if with_range {
        let [range, range_ns] = [0, 1].map(|which| format!("{:.2}–{:.2}", least[which], most[which]));
        text.push_str(&format!(" ({range}/{range_ns})"));
    }
    let has = |verdict| phases.iter().any(|phase| phase.verdict == verdict);
    let worst = [Verdict::Differs, Verdict::Tolerated].into_iter().find(|&verdict| has(verdict));
    marked(text, worst.unwrap_or(Verdict::Agrees))
}
