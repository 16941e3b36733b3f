//! `report.html` of a scoreboard: totals, a matrix of cells and protocols for each part, and the details of each cell.

use maud::{Markup, html};

use super::board::{CellRow, ResultRow, Scoreboard};
use super::markdown::reasons;
use super::number::{long, mark, short, value};
use super::table::{title, totals, totals_heading};
use super::verdict::Verdict;
use crate::results::report::document;
use crate::scenario::suite::{Measure, Part};

/// What this page has in addition to other reports.
const RULES: &str = "
:root { --good: #d5efe6; --poor: #fbeccb; --bad: #f6cdb8; --none: var(--soft) }
@media screen and (prefers-color-scheme: dark) {
  :root { --good: #123f33; --poor: #4a3a10; --bad: #6b2a10 }
}
a { color: inherit; text-decoration: underline; text-decoration-color: var(--rule); text-underline-offset: 3px }
a:hover { text-decoration-color: currentColor }
main { max-width: 1240px }
td.word:first-child { padding-left: 0 }
.matrix { border-collapse: separate; border-spacing: 2px }
.matrix th, .matrix td { padding: 5px 6px; border: 0 }
.matrix tbody th { position: sticky; left: 0; background: var(--page); text-align: left; font-size: 14px; min-width: 170px; max-width: 300px; white-space: normal; overflow-wrap: break-word }
.matrix tbody th span { display: block; color: var(--muted); font-size: 12px }
.matrix tbody td { background: var(--none); border-radius: 4px; min-width: 54px }
.matrix .best, .matrix .in-band, i.best, i.in-band { background: var(--good) }
.matrix .below-half, .matrix .out-of-band, i.below-half, i.out-of-band { background: var(--poor) }
.matrix .starves, i.starves { background: var(--bad); font-weight: 620 }
.matrix .not-run { color: var(--muted) }
i.behind, i.not-run { background: var(--none) }
.key { display: flex; flex-wrap: wrap; gap: 6px 22px; list-style: none; margin: 14px 0 0; padding: 0; font-size: 14px }
.key i { display: inline-block; width: 26px; text-align: center; font-style: normal; border-radius: 4px; margin-right: 8px }
.cell summary { font-size: 15px } .cell .facts { margin-top: 12px; padding-top: 12px; gap: 8px 32px } .cell .facts dd { max-width: 60ch }
.cell details, details.cell { margin: 8px 0 0 }
@media (max-width: 640px) { .matrix tbody th { min-width: 118px; max-width: 130px; font-size: 13px; padding-right: 4px } .matrix tbody th span { font-size: 11px } }
";

/// The verdicts, as the key lists them.
const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Best, "best, within the interval of the best, or in band"),
    (Verdict::Behind, "worse than the best, by less than half"),
    (Verdict::BelowHalf, "below half of the best, or out of band"),
    (Verdict::Starves, "starves, or starves others"),
    (Verdict::NotRun, "n/a: did not take part"),
];

/// What the details of a cell have in addition to the judged value.
const DETAILS: [(Measure, &str); 10] = [
    (Measure::Share, "share"),
    (Measure::LeastShare, "least"),
    (Measure::GreatestShare, "most"),
    (Measure::Throughput, "kbit/s"),
    (Measure::Utilisation, "used"),
    (Measure::Jain, "Jain"),
    (Measure::Loss, "loss"),
    (Measure::OthersLoss, "others' loss"),
    (Measure::LevelChanges, "changes/min"),
    (Measure::ChannelJoins, "joins/s"),
];

/// The page.
pub(super) fn html(board: &Scoreboard) -> Markup {
    let body = html! {
        (head(board))
        section { h2 { "Totals" } (totals_table(board)) (key()) }
        @for part in Part::ALL.into_iter().filter(|part| board.part(*part).next().is_some()) {
            section {
                h2 { (title(part)) }
                p.note { (about(part)) }
                (matrix(board, part))
            }
        }
        section {
            h2 { "Each cell" }
            @for (number, cell) in board.cells.iter().enumerate() { (details(number, cell)) }
        }
        (not_run(board))
        section { h2 { "Again" } pre { code { (board.command) } } }
    };
    document(&board.title, RULES, &body)
}

fn about(part: Part) -> &'static str {
    match part {
        Part::Papers => {
            "Each with its paper's own measure. As good as the best are those of which no difference to it is shown."
        }
        Part::Modern => {
            "A value lies in the band of its cell or not; of shares, 1 is what a TCP flow has. One side starves if a \
             receiver's share leaves the wider band."
        }
    }
}

fn head(board: &Scoreboard) -> Markup {
    let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
    let replications = board.cells.iter().map(|cell| cell.replications);
    let (fewest, most) = (replications.clone().min().unwrap_or(0), replications.max().unwrap_or(0));
    let replications = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    html! {
        header {
            p.over { "Layercast scoreboard" }
            h1 { (board.title) }
            @if let Some(description) = &board.description { p.lead { (description) } }
            @if board.brief {
                p.note { "The brief version: fewer cells, shorter runs and few replications, so small differences mean nothing." }
            }
            dl.facts {
                (fact("Suite", &board.suite))
                (fact("Cells", &board.cells.len().to_string()))
                (fact("Protocols", &board.protocols.len().to_string()))
                (fact("Replications of each", &replications))
                (fact("Seed", &board.seed.to_string()))
                (fact("Layercast", &board.layercast))
            }
        }
    }
}

fn totals_table(board: &Scoreboard) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr { @for heading in totals_heading() { th { (heading) } } } }
            tbody { @for total in &board.totals { tr {
                @for (column, text) in totals(total).into_iter().enumerate() {
                    @if column == 0 { td.word { (text) } } @else { td { (text) } }
                }
            } } }
        } }
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Best => "best",
        Verdict::Behind => "behind",
        Verdict::BelowHalf => "below-half",
        Verdict::InBand => "in-band",
        Verdict::OutOfBand => "out-of-band",
        Verdict::Starves => "starves",
        Verdict::NotRun => "not-run",
    }
}

fn matrix(board: &Scoreboard, part: Part) -> Markup {
    let rows = board.cells.iter().enumerate().filter(|(_, cell)| cell.part == part.name());
    html! {
        div.scroll tabindex="0" { table.matrix {
            thead { tr { th { "cell" } @for protocol in &board.protocols { th { (protocol) } } } }
            tbody { @for (number, cell) in rows { tr {
                th scope="row" {
                    a href=(format!("#cell-{number}")) { (cell.name) }
                    span { (judged(cell)) }
                }
                @for result in &cell.results {
                    td class=(class(result.verdict)) title=(hint(cell, result)) {
                        (short(cell, result)) " " (mark(result.verdict))
                    }
                }
            } } }
        } }
    }
}

/// The measure with its unit.
fn judged(cell: &CellRow) -> String {
    let measure = cell.measure.replace('_', " ");
    format!("{measure}; {}", cell.criterion)
}

fn hint(cell: &CellRow, result: &ResultRow) -> String {
    match &result.reason {
        Some(reason) => reason.clone(),
        None => format!("{}: {}, {}", result.protocol, long(cell, result), result.verdict.words()),
    }
}

fn key() -> Markup {
    html! {
        ul.key { @for (verdict, words) in VERDICTS {
            li { i class=(class(verdict)) { (mark(verdict)) "\u{a0}" } (words) }
        } }
    }
}

fn details(number: usize, cell: &CellRow) -> Markup {
    let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
    let in_use: Vec<&(Measure, &str)> = DETAILS
        .iter()
        .filter(|(measure, _)| measure.name() != cell.measure)
        .filter(|(measure, _)| cell.results.iter().any(|result| result.measures.contains_key(measure.name())))
        .collect();
    let has_best = cell.results.iter().any(|result| result.of_best.is_some());
    let unit = if cell.unit.is_empty() { String::new() } else { format!(", {}", cell.unit) };
    html! {
        details.cell {
            summary { b { (cell.name) } @if let Some(about) = &cell.about { ": " (about) } }
            div id=(format!("cell-{number}")) {
                dl.facts {
                    (fact("Source", &cell.source))
                    (fact("Scenario", &cell.scenario))
                    (fact("Good", &cell.criterion))
                    (fact("Replications", &cell.replications.to_string()))
                }
                @if !cell.set.is_empty() { pre { code { @for set in &cell.set { "--set '" (set) "'\n" } } } }
                div.scroll tabindex="0" { table {
                    thead { tr {
                        th { "protocol" }
                        th { (cell.measure.replace('_', " ")) (unit) }
                        @if has_best { th { "of the best" } }
                        th { "verdict" }
                        @for (_, heading) in &in_use { th { (heading) } }
                    } }
                    tbody { @for result in cell.results.iter().filter(|result| result.reason.is_none()) { tr {
                        td.word { (result.protocol) }
                        td { (long(cell, result)) }
                        @if has_best { td { @if let Some(share) = result.of_best { (value("share", share)) } } }
                        td { (class(result.verdict).replace('-', " ")) }
                        @for (measure, _) in &in_use {
                            td { @if let Some(mean) = result.measures.get(measure.name()) { (value(measure.name(), *mean)) } }
                        }
                    } } }
                } }
                @for result in &cell.results {
                    @if let Some(reason) = &result.reason { p.note { (result.protocol) " did not take part: " (reason) } }
                }
            }
        }
    }
}

fn not_run(board: &Scoreboard) -> Markup {
    let reasons = reasons(board);
    html! {
        @if !reasons.is_empty() {
            section {
                h2 { "Not run" }
                @for (protocol, reason, cells) in reasons {
                    p.note { b { (protocol) } ", in " (cells.join(", ")) ": " (reason) }
                }
            }
        }
    }
}
