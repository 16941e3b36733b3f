//! The tables of a report, in Markdown.

use comfy_table::{CellAlignment, Table, presets};

use crate::case::Case;
use crate::measurement::Measurement;
use crate::row::{Column, Row};

/// An empty table; all columns but the first are numbers.
pub(crate) fn plain(head: impl IntoIterator<Item = impl Into<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(head.into_iter().map(Into::<String>::into));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Millions of packet hops per second of processor time.
fn speed(column: &Column, digits: usize) -> String {
    let spread = column.spread(|run| run.hops_per_s() / 1e6);
    spread.map_or(String::new(), |spread| spread.text(digits))
}

/// Our own measurements, a line for each case and build.
pub(crate) fn own(rows: &[Row]) -> Table {
    let mut table = plain([
        "case",
        "build",
        "M hops / CPU s",
        "ns a hop",
        "instructions a hop",
        "M deliveries / CPU s",
        "set-up, s",
        "memory, MB",
        "bytes a receiver",
    ]);
    for row in rows {
        for column in row.columns.iter().filter(|column| column.ours) {
            table.add_row(own_cells(row.case, column));
        }
    }
    table
}

fn own_cells(case: Case, column: &Column) -> [String; 9] {
    let receivers = match case {
        Case::Tree { leaves, per_leaf, .. } => Some(f64::from(leaves) * f64::from(per_leaf)),
        Case::Dumbbell { .. } | Case::Scenario { .. } | Case::Delivery { .. } => None,
    };
    let median = |measure: &dyn Fn(&Measurement) -> f64| column.spread(measure).map(|spread| spread.median);
    let text =
        |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let deliveries = receivers.and(median(&|run| run.deliveries as f64 / run.run_s / 1e6));
    let peak = column.peak_bytes().map(|bytes| bytes as f64);
    [
        case.to_string(),
        column.name.to_owned(),
        speed(column, 2),
        text(median(&|run| 1e9 / run.hops_per_s()), 0),
        text(column.instructions_per_hop, 0),
        text(deliveries, 1),
        text(median(&|run| run.set_up_s), 3),
        text(peak.map(|bytes| bytes / 1e6), 1),
        text(receivers.zip(peak).map(|(count, bytes)| bytes / count), 0),
    ]
}

/// Ours and the peers: speeds, then how many times as fast each build of ours is, then set-up and memory.
/// None if no row has a peer.
pub(crate) fn peers(rows: &[Row]) -> Option<[Table; 3]> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.columns.iter().any(|column| !column.ours)).collect();
    let first = rows.first()?;
    let pairs = |row: &Row| -> Vec<(usize, usize)> {
        let of = |ours| (0..row.columns.len()).filter(move |&at| row.columns[at].ours == ours);
        of(false).flat_map(|peer| of(true).map(move |own| (own, peer))).collect()
    };
    let names = || first.columns.iter().map(|column| column.name);
    let mut speeds = plain(std::iter::once("M hops / CPU s").chain(names()));
    let mut ratios = plain(
        std::iter::once("times as fast".to_owned()).chain(
            pairs(first)
                .into_iter()
                .map(|(own, peer)| format!("{} / {}", first.columns[own].name, first.columns[peer].name)),
        ),
    );
    let mut sizes = plain(std::iter::once("set-up in s, memory in MB").chain(names()));
    for row in rows {
        let line = |cell: &dyn Fn(&Column) -> String| {
            std::iter::once(row.case.to_string()).chain(row.columns.iter().map(cell)).collect::<Vec<_>>()
        };
        speeds.add_row(line(&|column| speed(column, 2)));
        let times = pairs(row).into_iter().map(|(own, peer)| {
            row.columns[own].times(&row.columns[peer]).map_or(String::new(), |spread| spread.text(1))
        });
        ratios.add_row(std::iter::once(row.case.to_string()).chain(times));
        sizes.add_row(line(&|column| {
            let set_up = column.spread(|run| run.set_up_s).map_or(0.0, |spread| spread.median);
            let memory =
                column.peak_bytes().map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
            format!("{set_up:.3}, {memory}")
        }));
    }
    Some([speeds, ratios, sizes])
}
