//! The table of a comparison for the terminal.

use super::rows::{Comparison, Row};
use crate::results::Statistic;
use crate::results::table::{lay_out, one_line};
use crate::results::text::{NONE, Style, counted, window};

/// A column: its heading, how it is written, where it is.
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) metric: &'static str,
    pub(super) of: fn(&Row) -> &Statistic,
}

/// What receivers got.
pub(super) const GAINS: [Column; 6] = [
    Column { heading: "kbit/s", metric: "throughput_kbps", of: |row| &row.throughput_kbps },
    Column { heading: "of TCP", metric: "share_of_tcp", of: |row| &row.share_of_tcp },
    Column { heading: "Jain index", metric: "jain_index", of: |row| &row.jain_index },
    Column { heading: "loss", metric: "loss_rate", of: |row| &row.loss_rate },
    Column { heading: "used", metric: "utilisation", of: |row| &row.utilisation },
    Column { heading: "settled, s", metric: "settled_after_s", of: |row| &row.settled_after_s },
];

/// What it took.
pub(super) const COSTS: [Column; 5] = [
    Column { heading: "own lost/event", metric: "own_lost_per_event", of: |row| &row.own_lost_per_event },
    Column {
        heading: "others' lost/event",
        metric: "others_lost_per_event",
        of: |row| &row.others_lost_per_event,
    },
    Column { heading: "changes/min", metric: "level_changes_per_min", of: |row| &row.level_changes_per_min },
    Column { heading: "joins/s", metric: "channel_joins_per_s", of: |row| &row.channel_joins_per_s },
    Column { heading: "leaves/s", metric: "channel_leaves_per_s", of: |row| &row.channel_leaves_per_s },
];

/// The tables as text: what receivers got, what it took, and each receiver.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut text = heading(comparison);
    text.push('\n');
    text.push_str(&protocols(comparison, &GAINS, false));
    text.push('\n');
    text.push_str(&protocols(comparison, &COSTS, true));
    let receivers = receivers(comparison);
    if !receivers.is_empty() {
        text.push('\n');
        text.push_str(&receivers);
    }
    text
}

/// What was compared.
pub(super) fn heading(comparison: &Comparison) -> String {
    let interval = if comparison.replications > 1 { ", mean ± 95 % interval" } else { "" };
    format!(
        "{}\n{} · {} of each · seed {} · measured over {}{interval}\n",
        one_line(&comparison.title),
        one_line(&comparison.scenario),
        counted(comparison.replications, "replication"),
        comparison.seed,
        window(comparison.window_s),
    )
}

/// A row for each protocol.
fn protocols(comparison: &Comparison, columns: &'static [Column], with_cpu: bool) -> String {
    let used: Vec<&Column> = in_use(comparison, columns).collect();
    let mut heading = vec!["protocol".to_owned()];
    heading.extend(used.iter().map(|column| column.heading.to_owned()));
    if with_cpu {
        heading.push("CPU, ms/s".to_owned());
    }
    let rows = comparison.protocols.iter().map(|row| {
        let mut cells = vec![one_line(&row.protocol)];
        cells.extend(used.iter().map(|column| Style::of(column.metric).statistic((column.of)(row))));
        if with_cpu {
            cells.push(cpu(row));
        }
        cells
    });
    lay_out(heading, rows.collect())
}

/// Processor time for a simulated second.
pub(super) fn cpu(row: &Row) -> String {
    row.cpu_ms_per_s.map_or_else(|| NONE.to_owned(), |ms| Style::Amount.number(ms))
}

/// The columns in which any protocol has a number.
pub(super) fn in_use(
    comparison: &Comparison,
    columns: &'static [Column],
) -> impl Iterator<Item = &'static Column> {
    columns.iter().filter(|column| comparison.protocols.iter().any(|row| (column.of)(row).mean.is_some()))
}

/// Each receiver's share of TCP, or its throughput where there is no TCP: a column for each protocol.
fn receivers(comparison: &Comparison) -> String {
    let Some(first) = comparison.protocols.first() else { return String::new() };
    if first.receivers.len() < 2 {
        return String::new();
    }
    let with_tcp = comparison.protocols.iter().any(|row| row.share_of_tcp.mean.is_some());
    let mut heading = vec![if with_tcp { "share of TCP" } else { "kbit/s" }.to_owned()];
    heading.extend(comparison.protocols.iter().map(|row| one_line(&row.protocol)));
    let line = |(index, receiver): (usize, &super::ReceiverRow)| {
        let mut cells = vec![one_line(&receiver.name)];
        cells.extend(comparison.protocols.iter().map(|row| {
            let found = row.receivers.get(index);
            let statistic =
                found.map(|found| if with_tcp { &found.share_of_tcp } else { &found.throughput_kbps });
            let mean = statistic.and_then(|found| found.mean);
            mean.map_or_else(|| NONE.to_owned(), |mean| Style::Amount.number(mean))
        }));
        cells
    };
    /// Receivers beyond these are only in the files.
    const MOST: usize = 40;
    lay_out(heading, first.receivers.iter().enumerate().take(MOST).map(line).collect())
}
