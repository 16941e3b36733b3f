//! The table of all papers in the documentation: a row for each, which its own run rewrites.

use super::report::Report;
use crate::claims::book::{Claim, Kind};
use crate::claims::evidence::Verdict;
use crate::claims::judge::{self, Judged};

const BEGIN: &str = "<!-- claims -->\n";
const END: &str = "<!-- end of claims -->\n";

/// The page with a paper's row in its table, in the order of names; none if it has no marks.
pub(crate) fn with_row(page: &str, report: &Report<'_>, names: &[&str]) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (table, after) = rest.split_once(END)?;
    let own = report.paper.name;
    let row = |name: &str| {
        let start = start(name);
        if name == own {
            Some(own_row(report))
        } else {
            table.lines().find(|line| line.contains(&start)).map(str::to_owned)
        }
    };
    let headings = Verdict::ALL.map(Verdict::words).join(" | ");
    let mut lines = vec![
        format!("| paper | claims | {headings} | otherwise read |"),
        format!("| --- |{}", " ---: |".repeat(Verdict::ALL.len() + 2)),
    ];
    lines.extend(names.iter().filter_map(|name| row(name)));
    Some(format!("{before}{BEGIN}{}\n{END}{after}", lines.join("\n")))
}

/// The link by which a row is recognised.
fn start(name: &str) -> String {
    format!("](reproduction/{name}.md)")
}

fn own_row(report: &Report<'_>) -> String {
    let counts = judge::counts(&report.book, &report.judged, Kind::Paper);
    let all: usize = counts.iter().sum();
    let counts = counts.map(|count| count.to_string()).join(" | ");
    let judged = report.book.claims.iter().zip(&report.judged).enumerate();
    let is_otherwise = |&(index, (claim, judged)): &(usize, (&Claim, &Judged))| {
        let each = report.in_readings(index).unwrap_or_default();
        claim.kind == Kind::Paper && each.iter().any(|(_, verdict)| *verdict != judged.verdict)
    };
    let otherwise = judged.filter(is_otherwise).count();
    format!("| [{}{} | {all} | {counts} | {otherwise} |", report.paper.title, start(report.paper.name))
}
