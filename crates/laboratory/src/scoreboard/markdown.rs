//! The scoreboard as a page of Markdown.

use super::board::{CellRow, Scoreboard};
use super::number::{mark, of, short};
use super::table::title;
use super::verdict::Verdict;
use crate::results::table::one_line;
use crate::scenario::suite::Part;

/// The page.
#[must_use]
pub fn render(board: &Scoreboard) -> String {
    let mut text = format!("# {}\n\n", cell_text(&board.title));
    if let Some(description) = &board.description {
        text.push_str(&format!("{}\n\n", one_line(description)));
    }
    text.push_str(&format!(
        "Made by `{}` with Layercast {}{}. A value in bold is best or within the interval of the best, or in band; one in \
         italics is below half of the best, or out of band; `!` marks cells in which one side starves the other.\n\n",
        board.command,
        board.layercast,
        if board.brief { ", in the brief version" } else { "" },
    ));
    let totals: Vec<[String; 5]> = board
        .totals
        .iter()
        .map(|total| {
            [
                total.protocol.clone(),
                of(total.papers.best, total.papers.cells),
                total.papers.below_half.len().to_string(),
                of(total.modern.in_band, total.modern.cells),
                total.modern.starves.len().to_string(),
            ]
        })
        .collect();
    let heading = ["protocol", "papers: best", "below half of the best", "today: in band", "starves"]
        .map(str::to_owned);
    push_table(&mut text, &heading, totals.iter().map(<[String; 5]>::as_slice));
    for part in Part::ALL.into_iter().filter(|part| board.part(*part).next().is_some()) {
        text.push_str(&format!("\n## {}\n\n", title(part)));
        let mut heading = vec!["cell".to_owned(), "measure".to_owned(), "good".to_owned()];
        heading.extend(board.protocols.iter().cloned());
        let rows: Vec<Vec<String>> = board.part(part).map(row).collect();
        push_table(&mut text, &heading, rows.iter().map(Vec::as_slice));
    }
    let reasons = reasons(board);
    if !reasons.is_empty() {
        text.push_str("\n## Not run\n\n");
        for (protocol, reason, cells) in reasons {
            text.push_str(&format!("- {protocol}, in {}: {}\n", cells.join(", "), cell_text(&reason)));
        }
    }
    text
}

fn row(cell: &CellRow) -> Vec<String> {
    let unit = if cell.unit.is_empty() { String::new() } else { format!(", {}", cell.unit) };
    let mut row =
        vec![cell_text(&cell.name), format!("`{}`{unit}", cell.measure), cell_text(&cell.criterion)];
    row.extend(cell.results.iter().map(|result| {
        let value = short(cell, result);
        match result.verdict {
            Verdict::Best | Verdict::InBand => format!("**{value}**"),
            Verdict::BelowHalf | Verdict::OutOfBand => format!("*{value}*"),
            Verdict::Starves => format!("*{value}* {}", mark(result.verdict)),
            Verdict::Behind | Verdict::NotRun => value,
        }
    }));
    row
}

/// Why protocols did not take part: each protocol and reason once, with its cells.
pub(super) fn reasons(board: &Scoreboard) -> Vec<(String, String, Vec<String>)> {
    let mut all: Vec<(String, String, Vec<String>)> = Vec::new();
    for cell in &board.cells {
        for result in &cell.results {
            let Some(reason) = &result.reason else { continue };
            let same = |(protocol, known, _): &&mut (String, String, Vec<String>)| {
                *protocol == result.protocol && known == reason
            };
            match all.iter_mut().find(same) {
                Some((_, _, cells)) => cells.push(cell.name.clone()),
                None => all.push((result.protocol.clone(), reason.clone(), vec![cell.name.clone()])),
            }
        }
    }
    all.sort();
    all
}

fn push_table<'a>(text: &mut String, heading: &[String], rows: impl Iterator<Item = &'a [String]>) {
    text.push_str(&format!("| {} |\n|{}\n", heading.join(" | "), " --- |".repeat(heading.len())));
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
}

/// Text that breaks no table.
fn cell_text(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}
