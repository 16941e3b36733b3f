//! Warnings about scenarios: printed once, or errors on request.

use anyhow::{Result, bail};
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;

use crate::arguments::Scenario;
use crate::output::complain_lines;

/// Prints the findings about a scenario to standard error. With `--deny-warnings` they are an error.
pub(crate) fn warn(arguments: &Scenario, findings: &[Finding]) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    complain_lines(lint::render(&arguments.name, findings).trim_end());
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
