//! Which receivers have the object of their session, in words: the same in the table and in the report.

use super::statistics::mean;
use super::summary::{FlowSummary, Summary};
use super::text::{self, counted};

/// Receivers beyond these are only in the files.
const MOST_NAMED: usize = 10;

/// Whether any receiver is measured until it has its object.
pub(crate) fn any(summary: &Summary) -> bool {
    summary.flows.iter().any(|flow| flow.measures.complete.is_some())
}

/// The time that is measured.
pub(crate) fn window(summary: &Summary) -> String {
    let until = if any(summary) { ", receivers until they have their object" } else { "" };
    format!("{}{until}", text::window(summary.window_s))
}

/// How many receivers have their object, and which do not. None if no session has one.
pub(crate) fn sentences(summary: &Summary) -> Option<Vec<String>> {
    let receivers: Vec<&FlowSummary> =
        summary.flows.iter().filter(|flow| flow.measures.complete.is_some()).collect();
    if receivers.is_empty() {
        return None;
    }
    let missing: Vec<String> = receivers.iter().filter_map(|flow| missing(flow)).collect();
    let replications = if summary.replications > 1 { " in every replication" } else { "" };
    let complete = receivers.len() - missing.len();
    let total = counted(receivers.len(), "receiver");
    let mut lines = vec![format!("Complete at the end{replications}: {complete} of {total}.")];
    let further = missing.len().saturating_sub(MOST_NAMED);
    lines.extend(missing.into_iter().take(MOST_NAMED));
    if further > 0 {
        lines.push(format!(
            "{} more not complete: see `complete` in summary.json.",
            counted(further, "receiver")
        ));
    }
    Some(lines)
}

/// What a receiver lacks, if it did not always have the object at the end.
fn missing(flow: &FlowSummary) -> Option<String> {
    let complete = flow.measures.complete.as_ref()?;
    let without = |sample: &Option<f64>| sample.is_some_and(|sample| sample < 1.0);
    let incomplete = complete.samples.iter().filter(|sample| without(sample)).count();
    if incomplete == 0 {
        return None;
    }
    let received = flow.measures.object_received.iter().flat_map(|received| &received.samples);
    let parts: Vec<f64> = complete
        .samples
        .iter()
        .zip(received)
        .filter(|(one, _)| without(one))
        .filter_map(|(_, part)| *part)
        .collect();
    // Rounded down: what is not complete is not 100 %.
    let percent = (mean(&parts).unwrap_or(0.0) * 100.0).floor();
    let average = if incomplete > 1 { " on average" } else { "" };
    let in_some = if incomplete < complete.samples.len() {
        format!(" in {incomplete} of {}", counted(complete.samples.len(), "replication"))
    } else {
        String::new()
    };
    Some(format!("{} not complete{in_some}: {percent} % at the end{average}.", flow.name))
}
