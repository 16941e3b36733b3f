//! Files of rates: a time and a rate on each line.

use layercast_core::units::{Duration, Rate, Time};

use super::Both;
use crate::scenario::plan::LinkChange;
use crate::scenario::problems::Problem;
use crate::scenario::read::context::Context;
use crate::scenario::read::table::TableReader;
use crate::scenario::text_file::load;

/// How many rates a file may have.
const MOST: usize = 100_000;

/// The changes of rate that a link's file gives, in both directions. Mistakes are reported.
pub(super) fn read_rates(link: &TableReader<'_>, context: &mut Context<'_>) -> Vec<Both> {
    let Some(node) = link.node("rates") else { return Vec::new() };
    let Some(written) = link.get::<String>("rates", context) else { return Vec::new() };
    let (message, allowed) = if link.node("trace").or(link.node("trace_backward")).is_some() {
        (
            "the link has no rate to change, since a trace says when it delivers".to_owned(),
            "`rates` or a trace",
        )
    } else {
        let rates = load(&context.folder.join(&written)).and_then(|text| parse(&text));
        match rates {
            Ok(changes) => return changes.into_iter().map(|change| (change.clone(), change)).collect(),
            Err(reason) => (
                format!("the rates `{written}` cannot be used: {reason}"),
                "a file with a time and a rate on each line, its path relative to the scenario file",
            ),
        }
    };
    context.problems.push(Problem::of(node, message).allowed(allowed));
    Vec::new()
}

/// The rates of a file, or what is wrong with it.
fn parse(text: &str) -> Result<Vec<LinkChange>, String> {
    let mut changes: Vec<LinkChange> = Vec::new();
    for (written, number) in text.lines().zip(1..) {
        if number > MOST {
            return Err(format!("it has more than {MOST} lines; cut it, or repeat it with `changes_repeat`"));
        }
        let words: Vec<&str> = written.split_whitespace().collect();
        let (time, rate) = words.split_at(words.len() / 2);
        let change = time.concat().parse::<Duration>().ok().zip(rate.concat().parse::<Rate>().ok());
        let Some((at, rate)) = change.filter(|(_, rate)| !rate.is_zero()) else {
            return Err(format!(
                "line {number} is not a time and a rate above zero, such as `10 s 2 Mbit/s`"
            ));
        };
        let at = Time::ZERO + at;
        if changes.last().is_some_and(|last| at < last.at) {
            return Err(format!("line {number} is earlier than the line before; sort the times"));
        }
        changes.push(LinkChange { at, rate: Some(rate), ..LinkChange::default() });
    }
    if changes.is_empty() {
        return Err("there is nothing in it; write a time and a rate on each line".to_owned());
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lines_are_reported_with_their_number() {
        let rate = |at_ms, mbps| LinkChange {
            at: Time::ZERO + Duration::from_ms(at_ms),
            rate: Some(Rate::from_mbps(mbps)),
            ..LinkChange::default()
        };
        assert_eq!(parse("0s 1Mbit/s\n1500 ms  2 Mbit/s\r\n"), Ok(vec![rate(0, 1.0), rate(1500, 2.0)]));
        let refused = |text: &str, why: &str| {
            let reported = parse(text).unwrap_err();
            assert!(reported.contains(why), "{reported}");
        };
        refused("0 s 1 Mbit/s\n2 Mbit/s", "line 2 is not a time and a rate");
        refused("0 s 0 Mbit/s", "line 1 is not");
        refused("1 s 1 Mbit/s\n\n", "line 2 is not");
        refused("1 s 1 Mbit/s\n0 s 1 Mbit/s", "line 2 is earlier");
        refused("", "there is nothing in it");
        refused(&"1 s 1 Mbit/s\n".repeat(MOST + 1), "more than 100000 lines");
    }
}
