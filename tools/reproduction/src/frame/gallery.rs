//! All of a paper on one HTML page that needs no other file: claims with their numbers, drawings, tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::figure::{Panel, Paper, Table};
use super::page::otherwise;
use super::plot::{self, PlotError};
use super::report::{Report, Shown};
use super::scale::tick_label;
use crate::claims::book::{Claim, Kind};
use crate::claims::evidence::Verdict;
use crate::claims::judge::{self, Judged};
use crate::samples::format_samples;

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #1c232b; max-width: 1100px; margin: 32px auto; padding: 0 16px }
figure { margin: 8px 0 } svg { max-width: 100%; height: auto } section { margin-top: 48px } h2 { margin-bottom: 0 }
.where { color: #5f6b7a; margin-top: 0 } li { margin: 6px 0 } .numbers { color: #5f6b7a; display: block }
table { border-collapse: collapse; font-size: 14px } td, th { padding: 2px 10px; text-align: right }
td:first-child, th:first-child { text-align: left } tr { border-bottom: 1px solid #e3e7ec }
.claims td, .claims th { text-align: left; vertical-align: top } summary { color: #5f6b7a }
b.held, b.observed { color: #007a55 } b.failed { color: #b3261e } b.undecided { color: #8a6d00 }
";

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Observed => "observed",
        Verdict::Failed | Verdict::Contrary => "failed",
        Verdict::Undecided => "undecided",
    }
}

fn whole(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } style { (PreEscaped(STYLE)) } }
            body { h1 { (title) } (body) }
        }
    };
    page.into_string()
}

/// The heading of the claims of a kind.
fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Paper => "The paper's",
        Kind::Own => "Our own questions",
        Kind::Identity => "Identities",
        Kind::Fitted => "Fitted numbers",
    }
}

/// The page of a paper.
///
/// # Errors
/// A figure that cannot be drawn.
pub(crate) fn html(report: &Report<'_>) -> Result<String, PlotError> {
    let figures = report.figures.iter().map(|shown| figure(report, shown)).collect::<Result<Vec<_>, _>>()?;
    let body = html! {
        p { "Numbers are means over replications; ± and bars are 95 % confidence intervals (Student t)." }
        h2 { "Claims" }
        @for (kind, _) in Kind::ALL {
            @let counts = judge::counts(&report.book, &report.judged, kind);
            @if counts.iter().sum::<usize>() > 0 {
                h3 { (heading(kind)) }
                p { (Verdict::ALL.iter().zip(counts).map(|(verdict, count)| format!("{count} {}", verdict.words())).collect::<Vec<_>>().join(", ")) "." }
                table.claims {
                    tr { th { "place" } th { "claim" } th { "verdict" } th { "otherwise read" } }
                    @for (index, (claim, judged)) in report.book.claims.iter().zip(&report.judged).enumerate().filter(|(_, (claim, _))| claim.kind == kind) {
                        tr {
                            td { a href=(format!("#{}", slug(&claim.figure))) { (claim.place) } }
                            td { (claim.says) }
                            td { b.(class(judged.verdict)) { (judged.verdict.words()) } }
                            td { (otherwise(report, index, judged.verdict)) }
                        }
                    }
                }
            }
        }
        @if !report.book.left_out.is_empty() {
            h3 { "Not judged" }
            ul { @for one in &report.book.left_out { li { (one.says) " (" (one.place) "): " (one.why) } } }
        }
        @for one in &figures { (one) }
    };
    Ok(whole(report.paper.title, &body))
}

/// The anchor of a figure.
fn slug(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    label.chars().map(plain).collect()
}

fn figure(report: &Report<'_>, shown: &Shown<'_>) -> Result<Markup, PlotError> {
    let figure = shown.figure;
    let svg = plot::svg(&shown.panels)?;
    let variants = shown.variants.iter().map(|(variant, panels)| Ok((variant, plot::svg(panels)?)));
    let variants = variants.collect::<Result<Vec<_>, PlotError>>()?;
    Ok(html! {
        section id=(figure.label.slug()) {
            h2 { (figure.label.to_string()) ": " (figure.title) }
            p.where { "Section " (figure.section) ", " (figure.kind.words()) }
            figure { (PreEscaped(&svg)) }
            ul { @for (claim, judged) in report.of_figure(figure.label) { (one_claim(report, claim, judged)) } }
            details {
                summary { "Numbers" }
                @for panel in &shown.panels { (table(panel)) }
            }
            @for (variant, svg) in &variants {
                h3 { "With " (variant.with) }
                figure { (PreEscaped(svg)) }
                ul { @for (claim, judged) in with(report, variant.name, &claim_names(report, shown)) { (one_claim(report, claim, judged)) } }
            }
        }
    })
}

fn claim_names(report: &Report<'_>, shown: &Shown<'_>) -> Vec<String> {
    report.of_figure(shown.figure.label).map(|(claim, _)| claim.id.clone()).collect()
}

/// Claims by their names, with a variant's verdicts.
fn with<'r>(report: &'r Report<'_>, variant: &str, names: &[String]) -> Vec<(&'r Claim, &'r Judged)> {
    let judged = report.variants.iter().find(|(other, _)| other.name == variant);
    let judged = judged.map_or(&[][..], |(_, judged)| judged);
    report.book.claims.iter().zip(judged).filter(|(claim, _)| names.contains(&claim.id)).collect()
}

fn one_claim(report: &Report<'_>, claim: &Claim, judged: &Judged) -> Markup {
    html! {
        li {
            (claim.says) " " b.(class(judged.verdict)) { (judged.verdict.words()) }
            @if claim.kind != Kind::Paper { " (" (claim.kind.name()) ")" }
            @for numbers in &judged.long { span.numbers { (numbers) } }
            @if let Some(reason) = report.book.reason(claim) { span.numbers { "Bound: " (reason) } }
            @if let Some(note) = &claim.note { span.numbers { (note) } }
        }
    }
}

fn table(panel: &Panel) -> Markup {
    html! {
        p { (panel.title) }
        table {
            tr { th { (panel.across) } @for curve in &panel.curves { th { (curve.name) } } }
            @for position in positions(panel) {
                tr {
                    td { (tick_label(position)) }
                    @for curve in &panel.curves { td { (format_samples(&curve.at(position))) } }
                }
            }
        }
    }
}

/// The page that leads to those of these papers.
pub(crate) fn index(papers: &[Paper]) -> String {
    let body = html! {
        p { "Each page has a paper's claims, their verdicts, and all figures with their numbers." }
        ul { @for paper in papers { li { a href=(format!("{}.html", paper.name)) { (paper.title) } } } }
    };
    whole("Reproduction", &body)
}

/// The positions of a panel that a table shows: evenly spread ones, both ends among them.
fn positions(panel: &Panel) -> Vec<f64> {
    let mut positions: Vec<f64> =
        panel.curves.iter().flat_map(|curve| curve.points.iter().map(|(at, _)| *at)).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup_by(|one, other| (*one - *other).abs() <= 1e-9 * other.abs());
    let most = match panel.table {
        Table::Whole => positions.len(),
        Table::About(count) => count,
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
    use crate::frame::figure::{Curve, Style};
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
        let short = Panel { table: Table::About(3), ..panel.clone() };
        assert_eq!(positions(&short), [1.0, 5.0, 9.0]);
        assert_eq!(positions(&panel).len(), 9);
    }
}
