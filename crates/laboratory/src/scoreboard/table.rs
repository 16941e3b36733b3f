//! The scoreboard for the terminal.

use super::board::{Scoreboard, Total};
use super::number::{mark, of, short};
use crate::results::layout::{NARROWEST, paragraph, table};
use crate::results::table::one_line;
use crate::results::text::counted;
use crate::scenario::suite::Part;

/// What the marks mean.
const LEGEND: &str = "✓ best or within the interval of the best, or in band; ✗ below half of the best, or out of band; \
                      ! starves or starves others; n/a did not take part";

/// The totals and the verdicts as text, in lines of at most so many characters, [`NARROWEST`] at least.
#[must_use]
pub fn render(board: &Scoreboard, width: usize) -> String {
    let width = width.max(NARROWEST);
    let facts = format!(
        "{} · {} · {} · seed {}{}",
        one_line(&board.suite),
        counted(board.cells.len(), "cell"),
        counted(board.protocols.len(), "protocol"),
        board.seed,
        if board.brief { " · brief version" } else { "" },
    );
    let mut text = format!("{}{}", paragraph(&one_line(&board.title), width, 0), paragraph(&facts, width, 0));
    text.push_str(&format!(
        "\nTotals\n{}",
        table(&totals_heading(), &board.totals.iter().map(totals).collect::<Vec<_>>(), width)
    ));
    for part in Part::ALL {
        let rows: Vec<Vec<String>> = board
            .part(part)
            .map(|cell| {
                let name = format!("{}: {}", one_line(&cell.name), cell.measure);
                let values = cell
                    .results
                    .iter()
                    .map(|result| format!("{}{}", short(cell, result), mark(result.verdict)));
                std::iter::once(name).chain(values).collect()
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        let mut heading = vec!["cell: measure".to_owned()];
        heading.extend(board.protocols.iter().map(|protocol| one_line(protocol)));
        text.push_str(&format!("\n{}\n{}", title(part), table(&heading, &rows, width)));
    }
    text.push('\n');
    text.push_str(&paragraph(LEGEND, width, 0));
    text
}

/// What a part is called.
pub(super) fn title(part: Part) -> &'static str {
    match part {
        Part::Papers => "Experiments of papers",
        Part::Modern => "Networks of today",
    }
}

/// The columns of the totals.
pub(super) fn totals_heading() -> Vec<String> {
    ["protocol", "papers: best", "below half", "n/a", "today: in band", "starves", "n/a"]
        .map(str::to_owned)
        .to_vec()
}

/// The totals of a protocol.
pub(super) fn totals(total: &Total) -> Vec<String> {
    let Total { protocol, papers, modern } = total;
    vec![
        one_line(protocol),
        of(papers.best, papers.cells),
        papers.below_half.len().to_string(),
        papers.not_run.to_string(),
        of(modern.in_band, modern.cells),
        modern.starves.len().to_string(),
        modern.not_run.to_string(),
    ]
}
