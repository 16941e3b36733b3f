//! The page of a paper in the documentation: its claims, their verdicts, and the figures that matter.

use std::fmt::Write;

use super::figure::{Curve, Panel, Table};
use super::report::Report;
use super::scale::tick_label;
use crate::claims::book::{Claim, Kind};
use crate::claims::evidence::Verdict;
use crate::claims::judge::{self, Judged};
use crate::samples::{Samples, number};

/// What separates the prose above the claims from that below.
const RULE: &str = "\n---\n";

/// The page as Markdown. The same results give the same text.
pub(crate) fn markdown(report: &Report<'_>) -> String {
    let prose = report.paper.prose.trim();
    let (above, below) = prose.split_once(RULE).unwrap_or((prose, ""));
    let mut page = format!("# {}\n\n{}\n\n## Claims\n\n", report.paper.title, above.trim());
    page.push_str(&counts(report));
    page.push_str(&papers_claims(report));
    page.push_str(&other_claims(report));
    page.push_str(&left_out(report));
    page.push_str(&figures(report));
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
    for (variant, judged) in &report.variants {
        row(&format!("the paper's, with {}", variant.with), judged, Kind::Paper);
    }
    for (kind, name) in Kind::ALL.into_iter().skip(1) {
        row(name, &report.judged, kind);
    }
    text
}

/// The claims of some kinds with their verdicts, and the verdicts of variants that differ.
fn rows<'r>(
    report: &'r Report<'_>,
    wanted: fn(Kind) -> bool,
) -> impl Iterator<Item = (&'r Claim, &'r Judged, String)> {
    let all = report.book.claims.iter().zip(&report.judged).enumerate();
    all.filter(move |(_, (claim, _))| wanted(claim.kind)).map(|(index, (claim, judged))| {
        let mut differing = String::new();
        for (variant, others) in &report.variants {
            let other = others.get(index).map(|other| other.verdict).filter(|other| *other != judged.verdict);
            if let Some(other) = other {
                let _ = write!(differing, "; {}: {}", variant.name, other.words());
            }
        }
        (claim, judged, differing)
    })
}

fn papers_claims(report: &Report<'_>) -> String {
    let mut text = String::from("\n| place | claim | verdict: measured (asked) |\n| --- | --- | --- |\n");
    for (claim, judged, differing) in rows(report, |kind| kind == Kind::Paper) {
        let (verdict, measured) = (shown(judged.verdict), judged.short.join("; "));
        let _ = writeln!(text, "| {} | {} | {verdict}: {measured}{differing} |", claim.place, claim.says);
    }
    text
}

/// A claim's words, and the places that ask it.
type Asked<'r> = (&'r str, Vec<&'r str>);

/// What is not the paper's and does not hold: the claims of each kind and verdict. What holds is in the HTML alone.
fn other_claims(report: &Report<'_>) -> String {
    let mut groups: Vec<(String, Vec<Asked<'_>>)> = Vec::new();
    let mut count = 0;
    for (claim, judged, _) in rows(report, |kind| kind != Kind::Paper) {
        count += 1;
        if matches!(judged.verdict, Verdict::Held | Verdict::Observed) {
            continue;
        }
        let name = format!("{}, {}", claim.kind.name(), shown(judged.verdict));
        let says = claim.says.trim_end_matches('.');
        let at = groups.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        // Where several figures ask the same the place distinguishes them.
        match groups[at].1.iter_mut().find(|(other, _)| *other == says) {
            Some((_, places)) => places.push(&claim.place),
            None => groups[at].1.push((says, vec![&claim.place])),
        }
    }
    if count == 0 {
        return String::new();
    }
    let mut text = String::from(
        "\nOur own questions, identities and fitted numbers are in the HTML page. Of these do not hold:",
    );
    if groups.is_empty() {
        return text + " none.\n";
    }
    text.push_str("\n\n");
    for (name, all) in groups {
        let all: Vec<String> =
            all.iter().map(|(says, places)| format!("{says} ({})", places.join("; "))).collect();
        let _ = writeln!(text, "- {name}: {}.", all.join("; "));
    }
    text
}

/// What does not hold is seen at a glance.
fn shown(verdict: Verdict) -> String {
    match verdict {
        Verdict::Held | Verdict::Observed => verdict.words().to_owned(),
        Verdict::Failed | Verdict::Contrary | Verdict::Undecided => format!("**{}**", verdict.words()),
    }
}

fn left_out(report: &Report<'_>) -> String {
    if report.book.left_out.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nNot judged:\n\n");
    for one in &report.book.left_out {
        let _ = writeln!(text, "- {} ({}): {}", one.says, one.place, one.why);
    }
    text
}

fn figures(report: &Report<'_>) -> String {
    let mut text = String::new();
    for key in &report.book.figures {
        let Some(shown) = report.figures.iter().find(|one| one.figure.label.to_string() == key.figure) else {
            continue;
        };
        let Some(panel) = key.panel.checked_sub(1).and_then(|panel| shown.panels.get(panel)) else {
            continue;
        };
        let _ = writeln!(text, "\n**{}**, {}. {}:\n", shown.figure.label, shown.figure.title, panel.title);
        text.push_str(&table(panel, Some(key.rows), |samples| match samples.statistic().mean {
            Some(mean) => number(mean),
            None => "–".to_owned(),
        }));
    }
    if text.is_empty() { text } else { format!("\n## Figures that matter\n{text}") }
}

/// A panel's numbers: a row for each position, or so many of them.
fn table(panel: &Panel, rows: Option<usize>, cell: impl Fn(&Samples) -> String) -> String {
    let positions = positions(panel, rows);
    let names: Vec<&str> = panel.curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut text = format!("| {} | {} |\n", panel.across, names.join(" | "));
    let _ = writeln!(text, "|{}", " ---: |".repeat(names.len() + 1));
    for position in positions {
        let value = |curve: &Curve| cell(&curve.at(position));
        let values: Vec<String> = panel.curves.iter().map(value).collect();
        let _ = writeln!(text, "| {} | {} |", tick_label(position), values.join(" | "));
    }
    text
}

/// The positions of a panel that a table shows: evenly spread ones, both ends among them.
pub(crate) fn positions(panel: &Panel, rows: Option<usize>) -> Vec<f64> {
    let mut positions: Vec<f64> =
        panel.curves.iter().flat_map(|curve| curve.points.iter().map(|(at, _)| *at)).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup_by(|one, other| (*one - *other).abs() <= 1e-9 * other.abs());
    let most = match panel.table {
        Table::Whole => rows.unwrap_or(positions.len()),
        Table::About(count) => rows.unwrap_or(count),
    };
    if positions.len() <= most || most < 2 {
        return positions;
    }
    let last = positions.len() - 1;
    (0..most).filter_map(|row| positions.get(row * last / (most - 1)).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::figure::Style;
    use crate::frame::scale::Scale;

    #[test]
    fn a_short_table_keeps_both_ends() {
        let panel = Panel {
            title: String::new(),
            across: "x",
            across_scale: Scale::Linear,
            up_scale: Scale::Linear,
            curves: vec![Curve::exact("y", Style::Dots(1), (1..=9).map(|x| (f64::from(x), 1.0)))],
            table: Table::Whole,
        };
        assert_eq!(positions(&panel, Some(3)), [1.0, 5.0, 9.0]);
        assert_eq!(positions(&panel, None).len(), 9);
    }
}
