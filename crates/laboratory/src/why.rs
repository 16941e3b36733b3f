//! Why a receiver of a finished run has its rate: the answer to a question by name.

use crate::results::Summary;
use crate::results::explanation_text::page;
use crate::results::summary::FlowSummary;
use crate::scenario::nearest;

/// How many receivers an error names.
const SHOWN: usize = 8;

/// Why a receiver of a run has its rate. It is named as a flow (`elm@R1`), or by its node if that is enough.
///
/// # Errors
/// A sentence that says what is missing, and names the nearest receiver.
pub fn answer(summary: &Summary, receiver: &str) -> Result<String, String> {
    let named =
        |flow: &&FlowSummary| flow.name == receiver || (flow.session.is_some() && flow.node == receiver);
    let found: Vec<&FlowSummary> = summary.flows.iter().filter(named).collect();
    let receivers = || summary.flows.iter().filter(|flow| flow.session.is_some());
    let Some(first) = found.first() else {
        let names = || receivers().flat_map(|flow| [flow.name.as_str(), flow.node.as_str()]);
        let help = nearest(receiver, names())
            .map_or(String::new(), |nearest| format!("\n  = help: did you mean `{nearest}`?"));
        let shown: Vec<&str> = receivers().take(SHOWN).map(|flow| flow.name.as_str()).collect();
        let more = receivers().count().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let known = if shown.is_empty() {
            "it has no receivers of sessions".to_owned()
        } else {
            format!("its receivers are {}{more}", shown.join(", "))
        };
        return Err(format!("there is no receiver `{receiver}` in this result: {known}{help}"));
    };
    if first.session.is_none() {
        return Err(format!(
            "`{receiver}` is not a receiver of a session but a flow of {}: the table of the run has what is known of it",
            first.protocol
        ));
    }
    if found.iter().all(|flow| flow.why.is_none()) {
        return Err(
            "this result was written by a version that did not store why receivers have their rates; \
                    run the scenario again"
                .to_owned(),
        );
    }
    let pages: Vec<String> = found.iter().map(|flow| page(summary, flow)).collect();
    Ok(pages.join("\n"))
}
