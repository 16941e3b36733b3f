//! The table of an agreement, as `layercast agree` prints it.

use super::rows::{Agreement, Row};
use crate::compare::signed;
use crate::results::layout::{paragraph, table};
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
    let rows: Vec<Vec<String>> = cells(&agreement.rows).into_iter().map(|row| row.to_vec()).collect();
    let mut text = format!(
        "{} · {} simulated, {} emulated · seed {} · measured over {}\n\n",
        agreement.scenario,
        replications(agreement.simulated_replications),
        agreement.emulated_replications,
        agreement.seed,
        window(agreement.window_s),
    );
    text.push_str(&table(&heading, &rows, usize::MAX));
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
        insta::assert_snapshot!(render(&agreement()), @"
        two.toml · 3 replications simulated, 3 emulated · seed 1 · measured over 20–60 s

        flow or link         measure        simulated         emulated   difference   verdict
        ───────────────────────────────────────────────────────────────────────────────────────
        elm@R1                kbit/s        950 ± 124         970 ± 90       +2.1 %    agrees
                                loss    1.10 ± 0.25 %    3.10 ± 0.25 %     +181.8 %   differs
                       level changes        4.0 ± 0.0    4.0 (4.0–4.0)        0.0 %   unknown
        tcp@R1                kbit/s        1005 ± 12        1205 ± 12      +19.9 %   differs
                                loss    0.00 ± 0.00 %    0.05 ± 0.00 %            –    agrees
        G-R1                    busy   91.00 ± 2.48 %   91.00 ± 2.48 %        0.0 %    agrees
                                loss    0.99 ± 0.00 %    1.48 ± 0.00 %      +49.3 %   differs
                          mean queue       21.0 ± 2.5       27.5 ± 1.2      +31.0 %   differs

        Of 8 rows, 3 agree within 15 % or by their intervals, 4 differ, and 1 is unknown. Farthest apart:
        loss of elm@R1, 1.10 % simulated and 3.10 % emulated.
        ");
    }
}
