//! Warnings about scenarios: printed once, or errors on request.

use anyhow::{Result, bail};
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;

use crate::arguments::Scenario;
use crate::output::complain;

/// Prints the findings about a scenario to standard error. With `--deny-warnings` they are an error.
pub(crate) fn warn(arguments: &Scenario, findings: &[Finding]) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    complain(lint::render(&arguments.name, findings).trim_end());
    deny(arguments, findings)
}

/// With `--deny-warnings`, findings are an error.
pub(crate) fn deny(arguments: &Scenario, findings: &[Finding]) -> Result<()> {
    if !arguments.deny_warnings || findings.is_empty() {
        return Ok(());
    }
    let count = findings.len();
    let plural = if count == 1 { "" } else { "s" };
    bail!("{count} warning{plural}, which --deny-warnings makes an error; nothing was run")
}

/// The findings of several scenarios, such as those of the cells of a sweep: each lint about each subject once, as
/// it was found first.
pub(crate) fn once(all: impl IntoIterator<Item = Vec<Finding>>) -> Vec<Finding> {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept: Vec<Finding> = all.into_iter().flatten().collect();
    kept.retain(|finding| seen.insert((finding.lint, finding.subject.clone())));
    kept.sort_by_key(|finding| lint::ALL.iter().position(|lint| lint.name == finding.lint));
    kept
}
