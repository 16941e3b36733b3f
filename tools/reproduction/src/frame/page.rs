//! The page of a paper in the documentation: its claims and their verdicts. Figures are in the HTML alone.

use std::fmt::Write;

use super::figure::Variant;
use super::report::Report;
use crate::claims::book::{Claim, Kind};
use crate::claims::evidence::Verdict;
use crate::claims::judge::{self, Judged};

/// What separates the prose above the claims from that below.
const RULE: &str = "\n---\n";

/// The page as Markdown. The same results give the same text.
pub(crate) fn markdown(report: &Report<'_>) -> String {
    let prose = report.paper.prose.trim();
    let (above, below) = prose.split_once(RULE).unwrap_or((prose, ""));
    let mut page = format!("# {}\n\n{}\n\n## Claims\n\n", report.paper.title, above.trim());
    page.push_str(&counts(report));
    page.push_str(&papers_claims(report));
    page.push_str(other_claims(report));
    if !below.trim().is_empty() {
        let _ = write!(page, "\n{}\n", below.trim());
    }
    page
}

/// How many claims of each kind have which verdict: a table.
fn counts(report: &Report<'_>) -> String {
    let names = Verdict::ALL.map(Verdict::words).join(" | ");
    let mut text = format!("| claims | {names} |\n| --- |{}\n", " ---: |".repeat(Verdict::ALL.len()));
    let mut row = |name: &str, judged: &[Judged], kind| {
        let counts = judge::counts(&report.book, judged, kind);
        if counts.iter().sum::<usize>() > 0 {
            // Writing into a string does not fail.
            let _ = writeln!(text, "| {name} | {} |", counts.map(|count| count.to_string()).join(" | "));
        }
    };
    row("**the paper's**", &report.judged, Kind::Paper);
    for (reading, judged) in &report.readings {
        row(&format!("the paper's, {}", reading.name()), judged, Kind::Paper);
    }
    for (variant, judged) in &report.variants {
        row(&format!("the paper's, with {}", variant.with), judged, Kind::Paper);
    }
    for (kind, name) in Kind::ALL.into_iter().skip(1) {
        row(name, &report.judged, kind);
    }
    text
}

/// The claims of some kinds with their verdicts and their places in the book.
fn rows<'r>(
    report: &'r Report<'_>,
    wanted: fn(Kind) -> bool,
) -> impl Iterator<Item = (usize, &'r Claim, &'r Judged)> {
    let all = report.book.claims.iter().zip(&report.judged).enumerate();
    all.filter(move |(_, (claim, _))| wanted(claim.kind))
        .map(|(index, (claim, judged))| (index, claim, judged))
}

/// The verdicts that differ from a claim's own, each after a name.
fn differing<'n>(own: Verdict, others: impl Iterator<Item = (&'n str, Verdict)>) -> String {
    let named = |(name, verdict): (&str, Verdict)| format!("{name}: {}", verdict.words());
    others.filter(|(_, verdict)| *verdict != own).map(named).collect::<Vec<_>>().join(", ")
}

/// The readings that decide otherwise; a dash without a drop-tail queue, nothing where all agree.
pub(crate) fn otherwise(report: &Report<'_>, index: usize, own: Verdict) -> String {
    match report.in_readings(index) {
        None => "–".to_owned(),
        Some(each) => differing(own, each.into_iter().map(|(reading, verdict)| (reading.name(), verdict))),
    }
}

fn papers_claims(report: &Report<'_>) -> String {
    let has_readings = !report.readings.is_empty();
    let (heading, rule) = if has_readings { (" otherwise read |", " --- |") } else { ("", "") };
    let mut text = format!("\n| claim | verdict: measured (asked) |{heading}\n| --- | --- |{rule}\n");
    for (index, claim, judged) in rows(report, |kind| kind == Kind::Paper) {
        let (own, measured) = (judged.verdict, judged.short.join("; "));
        let of_variant =
            |(variant, all): &(&Variant, Vec<Judged>)| Some((variant.name, all.get(index)?.verdict));
        let variants = differing(own, report.variants.iter().filter_map(of_variant));
        let variants = if variants.is_empty() { variants } else { format!("; {variants}") };
        let says = claim.says.trim_end_matches('.');
        let _ = write!(text, "| {says} ({}) | {}: {measured}{variants} |", claim.place, shown(own));
        let _ = match has_readings {
            true => writeln!(text, " {} |", otherwise(report, index, own)),
            false => writeln!(text),
        };
    }
    text
}

/// Where what is not the paper's is judged.
fn other_claims(report: &Report<'_>) -> &'static str {
    match rows(report, |kind| kind != Kind::Paper).next() {
        None => "",
        Some(_) => {
            "\nOur own questions, identities, fitted numbers and what is not judged are in the HTML page.\n"
        }
    }
}

/// What does not hold is seen at a glance.
fn shown(verdict: Verdict) -> String {
    match verdict {
        Verdict::Held | Verdict::Observed => verdict.words().to_owned(),
        Verdict::Failed | Verdict::Contrary | Verdict::Undecided => format!("**{}**", verdict.words()),
    }
}
