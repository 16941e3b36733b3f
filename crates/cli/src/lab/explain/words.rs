//! Summaries and decisions in words, 80 columns wide.

use std::fmt::Write as _;

use layercast_core::units::Rate;

use super::summary::{Changes, Summary};
use super::track::{Before, Decision, Entry};
use crate::output::in_bytes;

/// The width of the text.
const WIDTH: usize = 80;
/// The columns of the times of a chain.
const INDENT: usize = 12;
/// The share of time from which the top level is worth a word, and from which it is the usual one.
const NOTABLE: f64 = 0.1;
const MOSTLY: f64 = 0.9;

/// A text in lines that begin with so many spaces.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    // A number and its unit stay together.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width <= WIDTH {
            lines.push(' ');
            column += 1;
        } else {
            if column > 0 {
                lines.push('\n');
            }
            lines.push_str(&" ".repeat(indent));
            column = indent;
        }
        lines.push_str(&word.replace('\u{a0}', " "));
        column += width;
    }
    lines.push('\n');
    lines
}

/// A rate with three digits.
pub(super) fn rate(bps: f64) -> String {
    let mut unit = 1.0;
    while bps.abs() / unit >= 1000.0 {
        unit *= 10.0;
    }
    Rate::from_bps((bps / unit).round() * unit).to_string()
}

/// A fair rate. Without losses it is computed far above what a session can show.
fn fair_rate(bps: f64, top_bps: Option<f64>) -> String {
    match top_bps {
        Some(top) if bps > top => format!("at least {}", rate(top)),
        _ => rate(bps),
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn level(level: i32) -> String {
    if level < 0 { "no level".to_owned() } else { format!("level {level}") }
}

/// The summary of a receiver.
pub(super) fn summary(of: &Summary) -> String {
    let protocol = of.protocol.as_ref().map_or(String::new(), |protocol| format!(" ({protocol})"));
    let mut text = format!(
        "{}{protocol}, replication {}, from {:.1} to {:.1} s\n\n",
        of.flow, of.replication, of.begin_s, of.end_s
    );
    let total: u64 = of.changes.iter().map(|changes| changes.count).sum();
    if let Some(mean) = of.mean_level {
        let at = match of.mean_bps {
            Some(bps) if of.is_counted => format!(", {} received", rate(bps)),
            Some(bps) => format!(", whose layers sent {}", rate(bps)),
            None => String::new(),
        };
        text.push_str(&wrapped(
            &format!(
                "Level {mean:.2} on average{at}. {}, {}.",
                if total == 1 { "1 change of level".to_owned() } else { format!("{total} changes of level") },
                counted(of.loss_events, "loss event")
            ),
            0,
        ));
    }
    for sentence in reasons(of) {
        text.push_str(&wrapped(&sentence, 0));
    }
    levels(of, &mut text);
    if !of.changes.is_empty() {
        text.push_str("\nchanges  cause\n");
        for Changes { up, cause, count } in &of.changes {
            let _ = writeln!(text, "{count:>7}  {}: {cause}", if *up { "up" } else { "down" });
        }
    }
    text
}

fn levels(of: &Summary, text: &mut String) {
    let held_s: f64 = of.levels.iter().map(|at| at.held_s).sum();
    if held_s <= 0.0 {
        return;
    }
    let heading = if of.is_counted { "received" } else { "sent in it" };
    let _ = writeln!(text, "\n  level            rate       time  share   {heading:>12}");
    for at in of.levels.iter().rev() {
        let _ = writeln!(
            text,
            "{:>7}  {:>14}  {:>7.1} s  {:>3.0} %   {:>12}",
            at.level,
            at.rate_bps.map_or(String::new(), rate),
            at.held_s,
            at.held_s / held_s * 100.0,
            at.bytes.map_or(String::new(), |bytes| in_bytes(bytes as u64)),
        );
    }
}

/// Why it was at its rate, in sentences.
fn reasons(of: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    if of.changes.is_empty() {
        sentences.push("The trace has no change of level: the receiver got no packet, or the protocol has one rate and no levels.".to_owned());
        return sentences;
    }
    let held_s: f64 = of.levels.iter().map(|at| at.held_s).sum();
    let top = of.levels.iter().find(|at| of.layers > 0 && at.level as usize + 1 == of.layers);
    let at_top = top.map_or(0.0, |at| at.held_s / held_s.max(1e-9));
    if at_top >= NOTABLE {
        sentences.push(format!(
            "It had all {} layers for {:.0} % of the time: then the session was the limit, and not the path.{}",
            of.layers,
            at_top * 100.0,
            if at_top >= MOSTLY { " A faster top layer would be used." } else { "" },
        ));
    }
    // What held it back where it had fewer.
    let limit = if at_top >= NOTABLE { "At the lower levels the path was" } else { "The path was" };
    let own =
        |changes: &&Changes| !changes.up && !matches!(changes.cause.as_str(), "stopped" | "session ended");
    let downs: u64 = of.changes.iter().filter(own).map(|changes| changes.count).sum();
    match of.changes.iter().filter(own).max_by_key(|changes| changes.count) {
        None if at_top < MOSTLY => {
            let when = if at_top < NOTABLE { "it was still" } else { "before, it was" };
            sentences
                .push(format!("It never had to leave a layer: {when} on its way up, one join at a time."));
        }
        None => {}
        Some(Changes { cause, .. }) if downs == 1 => {
            sentences.push(format!("It left a layer once: {}", held_back(cause, limit)));
        }
        Some(Changes { cause, count, .. }) => {
            sentences.push(format!("{count} of its {downs} steps down: {}", held_back(cause, limit)));
        }
    }
    if of.refused_joins > 0 {
        sentences.push(format!(
            "{} of {} to join were given up.",
            of.refused_joins,
            counted(of.refused_joins + of.joined_attempts, "attempt")
        ));
    }
    if of.late_leaves > 0 {
        sentences.push(format!(
            "{} took effect too late: packets of a layer that was left kept coming, and took capacity.",
            counted(of.late_leaves, "leave")
        ));
    }
    if of.marked > 0 {
        sentences.push(format!("Routers marked {} (ECN).", counted(of.marked, "packet")));
    }
    if let Some(fair) = of.belief.fair_bps {
        sentences.push(format!(
            "It computed a fair rate of {} on average{}.",
            fair_rate(fair, of.top_bps),
            from_path(of.belief.loss, of.belief.rtt_ms)
        ));
    }
    if let Some((time_s, at)) = of.slow_start_ended {
        sentences.push(format!("Slow start ended after {:.1} s at {}.", time_s - of.begin_s, level(at)));
    }
    sentences
}

fn from_path(loss: Option<f64>, rtt_ms: Option<f64>) -> String {
    let loss = loss.map(|loss| format!("a loss rate of {:.2} %", loss * 100.0));
    let rtt = rtt_ms.map(|rtt| format!("a round-trip time of {rtt:.1} ms"));
    match (loss, rtt) {
        (Some(loss), Some(rtt)) => format!(", from {loss} and {rtt}"),
        (Some(one), None) | (None, Some(one)) => format!(", from {one}"),
        (None, None) => String::new(),
    }
}

/// What a cause of leaving layers says of the path.
fn held_back(cause: &str, limit: &str) -> String {
    let of_path = |what: &str| format!("{what}. {limit} the limit.");
    let why = match cause {
        "rate below level" => {
            return of_path(
                "its fair rate, which the congestion control computes from the path's losses and round-trip time, fell below the rate of the level",
            );
        }
        "loss" => return of_path("packets were lost"),
        "congestion mark" => return of_path("a congested router marked packets"),
        "silence" => "packets stopped arriving: the source or the path failed for a while.",
        "silent layer" => {
            "a layer that it had joined carried no packets: the network did not deliver that group (multicast routing, IGMP or MLD, a switch)."
        }
        "join failed" => "this host could not join a group: see its limits of memberships and of memory.",
        "experiment" => "a join experiment failed: the path did not carry the next layer.",
        "wave ended" => "a wave ended, as the protocol intends.",
        _ => "see the causes below.",
    };
    why.to_owned()
}

/// An entry of the chain.
pub(super) fn entry(entry: &Entry, top_bps: Option<f64>) -> String {
    let (time_s, text) = match entry {
        Entry::Decision(decision) => (decision.time_s, sentence(decision, top_bps)),
        Entry::Remark { time_s, text } => (*time_s, text.clone()),
    };
    let text = wrapped(&text, INDENT);
    let time = format!("{time_s:>8.2} s");
    format!("{time:<INDENT$}{}", text.trim_start())
}

fn sentence(decision: &Decision, top_bps: Option<f64>) -> String {
    let Decision { from, to, belief, .. } = decision;
    let direction = if to > from { "up" } else { "down" };
    let rate_of = decision.to_bps.map_or(String::new(), |bps| format!(" ({})", rate(bps)));
    let fair = belief.fair_bps.map_or(String::new(), |fair| format!(", {},", fair_rate(fair, top_bps)));
    let why = match decision.cause.as_str() {
        "start" => "the session began".to_owned(),
        "slow start" => "slow start joined the next layer".to_owned(),
        "rate above next layer" => format!("its fair rate{fair} carried the next level"),
        "rate below level" => format!("its fair rate{fair} was below the level"),
        "loss" => "packets were lost".to_owned(),
        "congestion mark" => "a router marked packets".to_owned(),
        "synchronisation point" => "a synchronisation point allowed it".to_owned(),
        "experiment" => "a join experiment".to_owned(),
        "increase signal" => "the slot's increase signal allowed it".to_owned(),
        "silence" => "packets stopped arriving".to_owned(),
        "silent layer" => "the layer that was joined carried no packets".to_owned(),
        "join failed" => "this host could not join".to_owned(),
        "session ended" => "the source ended the session".to_owned(),
        "stopped" => "it was stopped".to_owned(),
        other => other.to_owned(),
    };
    let path = match (belief.loss, belief.rtt_ms) {
        (None, None) => String::new(),
        (loss, rtt_ms) => from_path(loss, rtt_ms).replacen(", from ", " It computed with ", 1) + ".",
    };
    let path = if decision.cause == "start" { String::new() } else { path };
    format!("{direction} to {}{rate_of}: {why}.{path}{}", level(*to), preceded(*from, &decision.before))
}

/// What preceded a change.
fn preceded(from: i32, before: &Before) -> String {
    if from < 0 || before.held_s <= 0.0 {
        return String::new();
    }
    let mut parts = vec![format!(" Before: {:.1} s at {}", before.held_s, level(from))];
    parts.extend(before.bytes.filter(|&count| count > 0).map(in_bytes));
    match (before.loss_events, before.last_loss_s) {
        (0, _) | (_, None) => parts.push("no loss event".to_owned()),
        (count, Some(ago)) => {
            let last = if count == 1 { "" } else { "the last " };
            parts.push(format!("{}, {last}{ago:.2} s before", counted(count, "loss event")));
        }
    }
    if before.marked > 0 {
        parts.push(counted(before.marked, "marked packet"));
    }
    if before.refused_joins > 0 {
        parts.push(counted(before.refused_joins, "refused join"));
    }
    format!("{}.", parts.join(", "))
}

/// Several receivers, a line each.
pub(super) fn table(all: &[Summary]) -> String {
    let mut text = format!(
        "{:<20} {:>4} {:>6} {:>11} {:>7} {:>6}  main cause down\n",
        "receiver", "repl", "level", "rate", "changes", "losses"
    );
    for of in all {
        let total: u64 = of.changes.iter().map(|changes| changes.count).sum();
        let down = of.changes.iter().find(|changes| !changes.up).map_or("", |changes| changes.cause.as_str());
        let _ = writeln!(
            text,
            "{:<20} {:>4} {:>6} {:>11} {total:>7} {:>6}  {down}",
            of.flow,
            of.replication,
            of.mean_level.map_or(String::new(), |mean| format!("{mean:.2}")),
            of.mean_bps.map_or(String::new(), rate),
            of.loss_events,
        );
    }
    text
}
