//! The table of an agreement, as `layercast agree` prints it.

use super::rows::{Agreement, Row};
use crate::compare::layout::paragraph;
use crate::compare::signed;
use crate::results::table::lay_out;
use crate::results::text::{NONE, window};

/// The width of what is not the table.
const WIDTH: usize = 100;

pub(super) const HEADING: [&str; 6] =
    ["flow or link", "measure", "simulated", "emulated", "difference", "verdict"];

/// The cells of a row, in the order of [`HEADING`]. The name stands in the first row of a flow or link alone.
pub(super) fn cells(rows: &[Row]) -> Vec<[String; 6]> {
    let mut before: Option<(&str, bool)> = None;
    rows.iter()
        .map(|row| {
            let this = (row.name.as_str(), row.is_link);
            let name = if before == Some(this) { String::new() } else { row.name.clone() };
            before = Some(this);
            [
                name,
                row.measure.title().to_owned(),
                row.measure.text(&row.simulated),
                row.measure.text(&row.emulated),
                row.relative
                    .map_or_else(|| NONE.to_owned(), |share| format!("{} %", signed(share * 100.0, 1))),
                row.verdict.word().to_owned(),
            ]
        })
        .collect()
}

/// The table and what it says.
#[must_use]
pub fn render(agreement: &Agreement) -> String {
    let heading = HEADING.map(str::to_owned).to_vec();
    let rows = cells(&agreement.rows).into_iter().map(|row| row.to_vec()).collect();
    let mut text = format!(
        "{} · {} simulated, {} emulated · seed {} · measured over {}\n\n",
        agreement.scenario,
        replications(agreement.simulated_replications),
        agreement.emulated_replications,
        agreement.seed,
        window(agreement.window_s),
    );
    text.push_str(&lay_out(heading, rows));
    text.push('\n');
    text.push_str(&paragraph(&agreement.text, WIDTH, 0));
    if !agreement.lateness.is_empty() {
        text.push_str(&paragraph(&agreement.lateness, WIDTH, 0));
    }
    text
}

fn replications(count: usize) -> String {
    crate::results::text::counted(count, "replication")
}

#[cfg(test)]
mod tests {
    use super::super::testing::agreement;
    use super::*;

    #[test]
    fn a_table_of_all_verdicts() {
        insta::assert_snapshot!(render(&agreement()), @"");
    }
}
