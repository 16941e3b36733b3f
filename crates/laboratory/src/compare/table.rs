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

pub(super) const COLUMNS: [Column; 11] = [
    Column { heading: "kbit/s", metric: "throughput_kbps", of: |row| &row.throughput_kbps },
    Column { heading: "of TCP", metric: "share_of_tcp", of: |row| &row.share_of_tcp },
    Column { heading: "Jain", metric: "jain_index", of: |row| &row.jain_index },
    Column { heading: "loss", metric: "loss_rate", of: |row| &row.loss_rate },
    Column { heading: "own lost", metric: "own_lost_per_event", of: |row| &row.own_lost_per_event },
    Column { heading: "others'", metric: "others_lost_per_event", of: |row| &row.others_lost_per_event },
    Column { heading: "changes/min", metric: "level_changes_per_min", of: |row| &row.level_changes_per_min },
    Column { heading: "joins/s", metric: "channel_joins_per_s", of: |row| &row.channel_joins_per_s },
    Column { heading: "leaves/s", metric: "channel_leaves_per_s", of: |row| &row.channel_leaves_per_s },
    Column { heading: "settled, s", metric: "settled_after_s", of: |row| &row.settled_after_s },
    Column { heading: "used", metric: "utilisation", of: |row| &row.utilisation },
];

/// The table as text. Intervals are in the report: the table has no room for them.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut text = format!(
        "{}\n{} · {} of each · seed {} · measured over {}, means over receivers and replications\n\n",
        one_line(&comparison.title),
        one_line(&comparison.scenario),
        counted(comparison.replications, "replication"),
        comparison.seed,
        window(comparison.window_s),
    );
    let used: Vec<&Column> = columns(comparison).collect();
    let mut heading = vec!["protocol".to_owned()];
    heading.extend(used.iter().map(|column| column.heading.to_owned()));
    heading.push("CPU, ms/s".to_owned());
    let rows = comparison.protocols.iter().map(|row| {
        let mut cells = vec![one_line(&row.protocol)];
        cells.extend(used.iter().map(|column| {
            let mean = (column.of)(row).mean;
            mean.map_or_else(|| NONE.to_owned(), |mean| Style::of(column.metric).number(mean))
        }));
        cells.push(row.cpu_ms_per_s.map_or_else(|| NONE.to_owned(), |ms| Style::Amount.number(ms)));
        cells
    });
    text.push_str(&lay_out(heading, rows.collect()));
    text.push('\n');
    text.push_str(&receivers(comparison));
    text
}

/// The columns in which any protocol has a number.
pub(super) fn columns(comparison: &Comparison) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| comparison.protocols.iter().any(|row| (column.of)(row).mean.is_some()))
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
            let statistic = found.map(|found| if with_tcp { &found.share_of_tcp } else { &found.throughput_kbps });
            statistic.map_or_else(|| NONE.to_owned(), |found| Style::Amount.statistic(found))
        }));
        cells
    };
    /// Receivers beyond these are only in the files.
    const MOST: usize = 40;
    lay_out(heading, first.receivers.iter().enumerate().take(MOST).map(line).collect())
}
