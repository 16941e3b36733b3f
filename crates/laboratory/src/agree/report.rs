//! `report.html` of an agreement.

use maud::{Markup, html};

use super::DIRECTORIES;
use super::measure::Measure;
use super::rows::{Agreement, Row};
use super::table::{HEADING, cells};
use super::verdict::Verdict;
use crate::compare::report::{BARS, Bar, Bars, RULES, palette};
use crate::results::report::document;
use crate::results::text::{decimal, window};

/// The page.
pub(super) fn html(agreement: &Agreement) -> Markup {
    let body = html! {
        (head(agreement))
        (throughput(agreement))
        section {
            h2 { "Flows and links" }
            (table(&agreement.rows))
            p.note {
                "Means over replications with 95 % intervals, or the least and the greatest replication where an interval says "
                "nothing. A row agrees where the emulated mean is within " (per_cent(agreement)) " of the simulated one, where both "
                "intervals overlap, or where the difference is too small to count: 1 kbit/s, 0.1 points of loss or of busy time, "
                "half a packet in the queue, one level change. Wide intervals overlap easily: that no difference is shown does not "
                "show that there is none. Loss of a link is what it dropped of all that came."
            }
        }
        (again(agreement))
    };
    document(&agreement.title, &format!("{BARS}{RULES}"), &body)
}

fn per_cent(agreement: &Agreement) -> String {
    format!("{} %", decimal(agreement.tolerance * 100.0, 0))
}

fn head(agreement: &Agreement) -> Markup {
    let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
    html! {
        header {
            p.over { "Layercast: both worlds" }
            h1 { (agreement.title) }
            p.lead { (agreement.text) }
            @if !agreement.lateness.is_empty() { p { (agreement.lateness) } }
            dl.facts {
                (fact("Scenario", &agreement.scenario))
                (fact("Simulated replications", &agreement.simulated_replications.to_string()))
                (fact("Emulated replications", &agreement.emulated_replications.to_string()))
                (fact("Seed", &agreement.seed.to_string()))
                (fact("Measured over", &window(agreement.window_s)))
                (fact("Tolerance", &per_cent(agreement)))
            }
        }
    }
}

/// The throughput of each flow in both worlds, as bars.
fn throughput(agreement: &Agreement) -> Markup {
    let palette = palette(DIRECTORIES.into_iter());
    let rows: Vec<&Row> =
        agreement.rows.iter().filter(|row| row.measure == Measure::ThroughputKbps).collect();
    let labels: Vec<[String; 2]> =
        rows.iter().map(|row| DIRECTORIES.map(|world| format!("{}, {world}", row.name))).collect();
    let bars = rows.iter().zip(&labels).flat_map(|(row, labels)| {
        let worlds = labels.iter().zip(DIRECTORIES).zip([&row.simulated, &row.emulated]);
        worlds.map(|((label, world), statistic)| Bar {
            label,
            class: palette.class(world),
            statistic,
            text: row.measure.text(statistic),
        })
    });
    let bars = Bars { metric: "throughput_kbps", line: None, least: 0.0, bars: bars.collect() };
    html! {
        @if !rows.is_empty() { section {
            h2 { "Throughput in kbit/s" }
            (bars.markup())
        } }
    }
}

fn table(rows: &[Row]) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr { @for (number, cell) in HEADING.iter().enumerate() {
                @if is_word(number) { th.word { (cell) } } @else { th { (cell) } }
            } } }
            tbody { @for (row, cells) in rows.iter().zip(cells(rows)) { tr {
                @for (number, cell) in cells.iter().enumerate() {
                    @if number + 1 == HEADING.len() && row.verdict == Verdict::Differs { td.word { strong { (cell) } } }
                    @else if is_word(number) { td.word { (cell) } }
                    @else { td { (cell) } }
                }
            } } }
        } }
    }
}

/// Whether a column has words.
fn is_word(column: usize) -> bool {
    column < 2 || column + 1 == HEADING.len()
}

fn again(agreement: &Agreement) -> Markup {
    html! {
        section {
            h2 { "Again" }
            pre { code { (agreement.command) } }
            p.note {
                "The results of each world: "
                a href=(format!("{}/report.html", DIRECTORIES[0])) { (DIRECTORIES[0]) } ", "
                a href=(format!("{}/report.html", DIRECTORIES[1])) { (DIRECTORIES[1]) } "."
            }
        }
    }
}
