//! The table of a sweep for the terminal: a row for each cell and flow, then for groups and links.

use super::grid::Grid;
use super::lines::{Line, lines};
use super::metric::{Kind, Metric};
use super::runner::Outcome;
use crate::results::layout::table;
use crate::results::table::one_line;
use crate::results::text::{NONE, Style, counted};

/// Rows beyond these are only in the files.
const MOST_ROWS: usize = 200;

/// The tables of a sweep as text, in lines of at most so many characters.
#[must_use]
pub fn render(outcome: &Outcome<'_>, width: usize) -> String {
    let grid = outcome.grid;
    let lines = lines(outcome);
    let interval = if grid.replications > 1 { " · mean ± 95 % interval" } else { "" };
    let mut text = format!(
        "{}\n{} · {} · {} each · seed {} · first window{interval}\n",
        one_line(grid.title()),
        one_line(&grid.scenario),
        counted(grid.cells.len(), "cell"),
        counted(grid.replications as usize, "replication"),
        grid.seed,
    );
    for kind in [Kind::Flow, Kind::Group, Kind::Link] {
        let of_kind: Vec<&Line> = lines.iter().filter(|line| line.kind == kind).collect();
        let metrics: Vec<&Metric> =
            grid.metrics.iter().filter(|metric| of_kind.iter().any(|line| line.has(metric))).collect();
        if !metrics.is_empty() {
            text.push('\n');
            text.push_str(&of_one_kind(grid, kind, &of_kind, &metrics, width));
        }
    }
    text
}

fn of_one_kind(grid: &Grid, kind: Kind, lines: &[&Line], metrics: &[&Metric], width: usize) -> String {
    let mut heading: Vec<String> = grid.axes.iter().map(|axis| one_line(&axis.key)).collect();
    heading.push(kind.name().to_owned());
    heading.extend(metrics.iter().map(|metric| metric.heading.to_owned()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (index, cell) in grid.cells.iter().enumerate() {
        for line in lines {
            let Some(Some(found)) = line.cells.get(index) else { continue };
            let mut row: Vec<String> = grid.values(cell).into_iter().map(one_line).collect();
            row.push(match found.flows {
                1 => one_line(&line.name),
                flows => format!("{} × {flows}", one_line(&line.name)),
            });
            row.extend(metrics.iter().map(|metric| {
                let statistic = found.statistics.get(metric.name);
                statistic.map_or_else(|| NONE.to_owned(), |found| Style::of(metric.name).statistic(found))
            }));
            rows.push(row);
        }
    }
    let all = rows.len();
    rows.truncate(MOST_ROWS);
    let mut text = table(&heading, &rows, width);
    if all > MOST_ROWS {
        text.push_str(&format!("The first {MOST_ROWS} of {all} rows; the rest is in sweep.json.\n"));
    }
    text
}
