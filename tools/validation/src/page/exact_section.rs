//! One connection packet by packet.

use std::fmt::Write;

use super::row;
use crate::exact::{Parting, Result};
use crate::tcps;

const TEXT: &str = include_str!("exact.txt");

pub(super) fn write(results: &[Result]) -> String {
    let mut text = String::from(TEXT);
    text.push('\n');
    let partings: Vec<_> =
        results.iter().filter_map(|result| Some((&result.case, result.parting.as_ref()?))).collect();
    if partings.is_empty() {
        let states: usize = results.iter().map(|result| result.states).sum();
        let drops: usize = results.iter().map(|result| result.drops).sum();
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "All are identical: {states} states and {drops} drops in {} cases.",
            results.len()
        );
        return text;
    }
    row(&mut text, &["TCP", "cases", "identical", "states compared", "drops of the queue compared"]);
    row(&mut text, &["---", "---:", "---:", "---:", "---:"]);
    for tcp in tcps::IN_NS {
        let of_it: Vec<&Result> = results.iter().filter(|result| result.case.tcp == tcp).collect();
        let same = of_it.iter().filter(|result| result.parting.is_none()).count();
        let states: usize = of_it.iter().map(|result| result.states).sum();
        let drops: usize = of_it.iter().map(|result| result.drops).sum();
        let numbers = [of_it.len(), same, states, drops].map(|number| number.to_string());
        row(&mut text, &[tcps::title(tcp), &numbers[0], &numbers[1], &numbers[2], &numbers[3]]);
    }
    text.push_str("\nThe others, and where they part first:\n\n");
    for (case, parting) in partings {
        let _ = writeln!(text, "- {}: {}", case.text(), describe(parting));
    }
    text
}

fn describe(parting: &Parting) -> String {
    match parting {
        Parting::State { seconds, ours, ns } => {
            let state = |state: &crate::exact::State| {
                format!(
                    "window {}, threshold {}, acknowledged {}, duplicates {}, highest {}, next {}, back-off {}, sent {}",
                    state.cwnd,
                    state.ssthresh,
                    state.highest_ack,
                    state.duplicates,
                    state.highest_sent,
                    state.next,
                    state.backoff,
                    state.sent
                )
            };
            format!("at {seconds:.3} s ours has {}; ns-2 has {}", state(ours), state(ns))
        }
        Parting::Drop { place, ours, ns } => {
            let number = |packet: &Option<u64>| packet.map_or("none".to_owned(), |number| number.to_string());
            format!("drop {place} is packet {} in ours and {} in ns-2", number(ours), number(ns))
        }
        Parting::Length { ours, ns } => format!("{ours} states in ours, {ns} in ns-2"),
    }
}
