//! The page of a paper in the documentation: claims, numbers, verdicts.

use std::fmt::Write;

use super::figure::{Curve, Figure, Panel, Paper, Table};
use super::finding::{Finding, Verdict};
use super::gallery::FigureReport;
use super::samples::format_samples;

/// The page as Markdown. The same results give the same text.
pub(crate) fn markdown(paper: &Paper, all: &[FigureReport<'_>]) -> String {
    let mut page = format!("# {}\n\n{}\n", paper.title, paper.preface.trim());
    page.push_str(&summary(paper, all));
    for one in all {
        page.push_str(&section(one));
    }
    page
}

fn summary(paper: &Paper, all: &[FigureReport<'_>]) -> String {
    let mut text = String::from("\n## All claims\n\n");
    let findings: Vec<&Finding> = all.iter().flat_map(|one| &one.shown.findings).collect();
    // Writing into a string does not fail.
    let _ = writeln!(text, "Of {} claims: {}.\n", findings.len(), counts(&findings));
    let mut headings = vec!["figure", "claim", "verdict"];
    headings.extend(paper.variants.iter().map(|variant| variant.with));
    let _ = writeln!(text, "| {} |\n|{}", headings.join(" | "), " --- |".repeat(headings.len()));
    for one in all {
        for (number, (claim, finding)) in one.figure.claims.iter().zip(&one.shown.findings).enumerate() {
            let anchor = anchor(&heading(one.figure));
            let _ = write!(
                text,
                "| [{}](#{anchor}) | {} | {} |",
                one.figure.label,
                claim.says,
                shown(finding.verdict)
            );
            for variant in &paper.variants {
                let reports = one.variants.iter().find(|(other, _)| other.name == variant.name);
                let finding = reports.and_then(|(_, shown)| shown.findings.get(number));
                let words = finding.map_or_else(String::new, |finding| shown(finding.verdict));
                let _ = write!(text, " {words} |");
            }
            text.push('\n');
        }
    }
    for variant in &paper.variants {
        let reports =
            all.iter().flat_map(|one| &one.variants).filter(|(other, _)| other.name == variant.name);
        let findings: Vec<&Finding> = reports.flat_map(|(_, shown)| &shown.findings).collect();
        let _ =
            writeln!(text, "\nWith {}, of {} claims: {}.", variant.with, findings.len(), counts(&findings));
    }
    text
}

fn counts(findings: &[&Finding]) -> String {
    let counts = Verdict::ALL.map(|verdict| {
        let count = findings.iter().filter(|finding| finding.verdict == verdict).count();
        let words = match verdict {
            Verdict::Holds if count != 1 => "hold",
            Verdict::Fails if count != 1 => "do not hold",
            _ => verdict.words(),
        };
        format!("{count} {words}")
    });
    counts.join(", ")
}

/// What does not hold is seen at a glance.
fn shown(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds => verdict.words().to_owned(),
        Verdict::Fails | Verdict::Open => format!("**{}**", verdict.words()),
    }
}

fn heading(figure: &Figure) -> String {
    format!("{}: {}", figure.label, figure.title)
}

/// The anchor that forges make of a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.to_lowercase().replace(' ', "-");
    heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

fn section(one: &FigureReport<'_>) -> String {
    let mut text = format!(
        "\n## {}\n\nSection {}; {}.\n",
        heading(one.figure),
        one.figure.section,
        one.figure.kind.words()
    );
    for (number, (claim, finding)) in one.figure.claims.iter().zip(&one.shown.findings).enumerate() {
        let Finding { verdict, numbers } = finding;
        let _ = write!(text, "\n- {} *{}.* {numbers}", claim.says, capital(verdict.words()));
        for (variant, shown) in &one.variants {
            if let Some(Finding { verdict, numbers }) = shown.findings.get(number) {
                let _ = write!(text, " With {}: *{}.* {numbers}", variant.with, verdict.words());
            }
        }
    }
    text.push('\n');
    for panel in &one.shown.panels {
        text.push_str(&table(panel));
    }
    text
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A panel's numbers: a row for each position.
fn table(panel: &Panel) -> String {
    let mut positions: Vec<f64> =
        panel.curves.iter().flat_map(|curve| curve.points.iter().map(|(at, _)| *at)).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup_by(|one, other| (*one - *other).abs() <= 1e-9 * other.abs());
    if let Table::About(count) = panel.table {
        let step = positions.len().div_ceil(count.max(1)).max(1);
        positions = positions.into_iter().step_by(step).collect();
    }
    let names: Vec<&str> = panel.curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut text = format!("\n{}:\n\n| {} | {} |\n", panel.title, panel.across, names.join(" | "));
    let _ = writeln!(text, "|{}", " ---: |".repeat(names.len() + 1));
    for position in positions {
        let value = |curve: &Curve| format_samples(&curve.at(position));
        let values: Vec<String> = panel.curves.iter().map(value).collect();
        let _ = writeln!(text, "| {} | {} |", super::scale::tick_label(position), values.join(" | "));
    }
    text
}
