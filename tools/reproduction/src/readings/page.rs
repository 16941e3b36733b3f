//! The tables of the readings.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::measure::{Reading, Row, Unit};
use super::rhythm::Rhythm;
use crate::common::replaced;
use crate::samples::number;

const BEGIN: &str = "<!-- readings -->";
const END: &str = "<!-- end of readings -->";

/// The compact table: a line for each flow with its throughput. Losses are in the whole one.
pub(crate) fn table(all: &[(Experiment, Vec<Row>)]) -> String {
    let mut text = String::from(
        "| experiment | flow | plain | jittered | together |\n| --- | --- | ---: | ---: | ---: |\n",
    );
    for (experiment, rows) in all.iter().filter(|(experiment, _)| experiment.is_on_page) {
        let lines = rows.iter().filter(|row| matches!(row.unit, Unit::OfTcp | Unit::Kbps | Unit::Index));
        for (line, row) in lines.enumerate() {
            let name = if line == 0 { experiment.name.as_str() } else { "" };
            let unit = if row.unit == Unit::Kbps { ", kbit/s" } else { "" };
            let cells = [row.plain(), row.jittered(), row.together()].map(both).join(" | ");
            // Writing into a string does not fail.
            let _ = writeln!(text, "| {name} | {}{unit} | {cells} |", row.label);
        }
    }
    text
}

/// The whole table: every measure, and each half of the jittered reading by itself.
fn whole(all: &[(Experiment, Vec<Row>)]) -> String {
    let mut text = String::from(
        "| experiment | flow | in | plain: mean | least to most | phase 0 | waits only | dither only | jittered: mean | \
         least to most | together: mean | least to most |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (experiment, rows) in all {
        for row in rows {
            let alone = |rhythm| {
                let mean = row.statistic(rhythm).and_then(|statistic| statistic.mean);
                mean.map_or_else(|| NONE.to_owned(), number)
            };
            let cells = [
                mean(row.plain()),
                range(row.plain()),
                alone(Rhythm::Plain(0)),
                alone(Rhythm::Waits),
                alone(Rhythm::Dither),
                mean(row.jittered()),
                range(row.jittered()),
                mean(row.together()),
                range(row.together()),
            ];
            let (name, unit) = (&experiment.name, row.unit.name());
            let _ = writeln!(text, "| {name} | {} | {unit} | {} |", row.label, cells.join(" | "));
        }
    }
    text
}

/// What stands for no value.
const NONE: &str = "–";

fn mean(reading: Option<Reading>) -> String {
    reading.map_or_else(|| NONE.to_owned(), |reading| number(reading.mean))
}

fn range(reading: Option<Reading>) -> String {
    reading.map_or_else(
        || NONE.to_owned(),
        |reading| format!("{} to {}", number(reading.least), number(reading.most)),
    )
}

/// The mean with the least and the most.
fn both(reading: Option<Reading>) -> String {
    reading.map_or_else(
        || NONE.to_owned(),
        |reading| format!("{} ({}–{})", number(reading.mean), number(reading.least), number(reading.most)),
    )
}

/// The table with what it needs to stand alone.
pub(crate) fn artefact(all: &[(Experiment, Vec<Row>)]) -> String {
    format!(
        "# Readings\n\nWritten by `make readings`. Of each reading the mean over eight phases, the least and the most of \
         their means; phase 0, waits only and dither only at the scenario's delays. `readings.tsv` has each replication.\n\n{}",
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
    replaced(page, BEGIN, END, table)
}
