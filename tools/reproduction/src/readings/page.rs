//! The tables of both readings.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::measure::{Plain, Row, Unit};
use super::rhythm::Rhythm;
use crate::frame::samples::number;

const BEGIN: &str = "<!-- readings -->";
const END: &str = "<!-- end of readings -->";

/// The compact table: a line for each flow, with its throughput and losses.
pub(crate) fn table(all: &[(Experiment, Vec<Row>)]) -> String {
    let mut text = String::from(
        "| experiment | flow | plain, mean | least to most | jittered | in | loss, plain | loss, jittered | TCP's loss, jittered |\n\
         | --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n",
    );
    for (experiment, rows) in all {
        let lines = rows.iter().enumerate().filter(|(_, row)| matches!(row.unit, Unit::OfTcp | Unit::Kbps));
        for (line, (place, row)) in lines.enumerate() {
            let name = if line == 0 { experiment.name.as_str() } else { "" };
            // The losses of a flow follow its throughput.
            let loss = |unit: Unit| rows[place + 1..].iter().take(2).find(|row| row.unit == unit);
            let (own, tcp) = (loss(Unit::LossPercent), loss(Unit::TcpLossPercent));
            let plain = row.plain();
            let jittered =
                |row: Option<&Row>| row.map_or_else(|| "–".to_owned(), |row| mean(row, Rhythm::Jittered));
            // Writing into a string does not fail.
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.label,
                plain.map_or_else(|| "–".to_owned(), |plain| number(plain.mean)),
                plain.map_or_else(|| "–".to_owned(), range),
                shown(row, Rhythm::Jittered),
                row.unit.name(),
                own.and_then(Row::plain).map_or_else(|| "–".to_owned(), range),
                jittered(own),
                jittered(tcp.filter(|_| row.unit == Unit::OfTcp)),
            );
        }
    }
    text
}

/// The whole table: every measure, and each half of the jittered reading by itself.
fn whole(all: &[(Experiment, Vec<Row>)]) -> String {
    let mut text = String::from(
        "| experiment | flow | in | plain, mean | plain, least to most | waits only | dither only | jittered |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (experiment, rows) in all {
        for row in rows {
            let plain = row.plain();
            let cells = [Rhythm::Waits, Rhythm::Dither, Rhythm::Jittered].map(|rhythm| shown(row, rhythm));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                experiment.name,
                row.label,
                row.unit.name(),
                plain.map_or_else(|| "–".to_owned(), |plain| number(plain.mean)),
                plain.map_or_else(|| "–".to_owned(), range),
                cells.join(" | ")
            );
        }
    }
    text
}

fn mean(row: &Row, rhythm: Rhythm) -> String {
    row.statistic(rhythm).and_then(|statistic| statistic.mean).map_or_else(|| "–".to_owned(), number)
}

fn range(plain: Plain) -> String {
    format!("{} to {}", number(plain.least), number(plain.most))
}

/// The mean, and for the jittered reading half of its interval.
fn shown(row: &Row, rhythm: Rhythm) -> String {
    let statistic = row.statistic(rhythm);
    let Some(mean) = statistic.as_ref().and_then(|statistic| statistic.mean) else { return "–".to_owned() };
    match statistic.and_then(|statistic| statistic.ci95).filter(|_| rhythm == Rhythm::Jittered) {
        Some(half) => format!("{} ± {}", number(mean), number(half)),
        None => number(mean),
    }
}

/// The table with what it needs to stand alone.
pub(crate) fn artefact(all: &[(Experiment, Vec<Row>)]) -> String {
    format!(
        "# Readings\n\nWritten by `make readings`. Plain: the mean over eight phases, the least and the most of their \
         means. `readings.tsv` has each replication.\n\n{}",
        whole(all)
    )
}

/// Every replication: tab-separated, a line each.
pub(crate) fn values(all: &[(Experiment, Vec<Row>)]) -> String {
    let mut text = String::from("experiment\tflow\tin\treading\treplication\tvalue\n");
    for (experiment, rows) in all {
        for row in rows {
            for (rhythm, samples) in &row.samples {
                for (replication, value) in samples.0.iter().enumerate() {
                    let value = value.map_or_else(String::new, |value| value.to_string());
                    // Writing into a string does not fail.
                    let _ = writeln!(
                        text,
                        "{}\t{}\t{}\t{}\t{replication}\t{value}",
                        experiment.name,
                        row.label,
                        row.unit.name(),
                        rhythm.name()
                    );
                }
            }
        }
    }
    text
}

/// A page with another table between its marks; none if it has no marks.
pub(crate) fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("{BEGIN}\n"))?;
    let (_, after) = rest.split_once(&format!("{END}\n"))?;
    Some(format!("{before}{BEGIN}\n{table}{END}\n{after}"))
}
