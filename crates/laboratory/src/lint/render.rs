//! Findings as text.

use std::fmt::Write as _;

use crate::results::Finding;

/// So many findings of a lint are shown; the others are counted.
const MOST: usize = 8;

/// The findings in plain text: a line each, and the remedy indented below. `name` is that of the scenario.
#[must_use]
pub fn render(name: &str, findings: &[Finding]) -> String {
    let mut text = String::new();
    for of_lint in findings.chunk_by(|one, next| one.lint == next.lint) {
        for finding in of_lint.iter().take(MOST) {
            let place = finding.line.map_or(name.to_owned(), |line| format!("{name}:{line}"));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "warning: {place}: {}: {} [{}]\n  = help: {}",
                finding.subject, finding.message, finding.lint, finding.remedy
            );
        }
        if let Some(more) = of_lint.len().checked_sub(MOST).filter(|more| *more > 0) {
            let _ = writeln!(text, "warning: ... and {more} more of this kind [{}]", of_lint[0].lint);
        }
    }
    text
}
