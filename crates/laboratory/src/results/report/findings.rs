//! What makes the results doubtful, at the top of the report.

use maud::{Markup, html};

use super::prose::coded;
use crate::results::finding::Finding;

/// So many are shown; the others are counted.
const MOST: usize = 20;

/// The findings with their remedies; nothing if there are none.
pub(super) fn section(findings: &[Finding]) -> Markup {
    html! { @if !findings.is_empty() {
        h2 { "Doubts about these results" }
        @for finding in findings.iter().take(MOST) {
            p.note {
                b { (finding.subject) } ": " (coded(&finding.message)) ". "
                "Remedy: " (coded(&finding.remedy)) ". (" code { (finding.lint) } ")"
            }
        }
        @if findings.len() > MOST { p.note { "And " (findings.len() - MOST) " more." } }
    } }
}
