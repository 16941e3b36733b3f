//! The tables of a comparison for the terminal.

use super::candidates::BASELINE;
use super::interval::{self, clock};
use super::receivers::{ReceiverRow, Shows};
use super::row::Row;
use super::rows::Comparison;
use crate::results::Statistic;
use crate::results::layout::{paragraph, table};
use crate::results::table::one_line;
use crate::results::text::{NONE, Style, counted, window};

pub use crate::results::layout::NARROWEST;

/// A column: its heading, its metric, where it is.
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) metric: &'static str,
    pub(super) of: fn(&Row) -> &Statistic,
}

/// What receivers got.
pub(super) const GAINS: [Column; 7] = [
    Column { heading: "kbit/s", metric: "throughput_kbps", of: |row| &row.throughput_kbps },
    Column { heading: "of TCP", metric: "share_of_tcp", of: |row| &row.share_of_tcp },
    Column { heading: "near fair", metric: "fair_share_closeness", of: |row| &row.fair_share_closeness },
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

/// The verdict and the tables as text, in lines of at most so many characters, [`NARROWEST`] at least.
#[must_use]
pub fn render(comparison: &Comparison, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut text = heading(comparison, width);
    text.push('\n');
    text.push_str(&verdict(comparison, width));
    let effects = effects(comparison).map(|(heading, rows)| table(&heading, &rows, width));
    let differences = differences(comparison).map(|(heading, rows)| table(&heading, &rows, width));
    let parts = [
        ("What receivers got", Some(protocols(comparison, &GAINS, false, width))),
        ("When they were complete", completion(comparison, width)),
        ("Other traffic: without multicast, then the change in per cent", effects),
        ("Paired differences to the reference", differences),
        ("What it took", Some(protocols(comparison, &COSTS, true, width))),
        ("Receivers, worst first", receivers(comparison, width)),
    ];
    for (title, part) in parts {
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            text.push_str(&format!("\n{title}\n{part}"));
        }
    }
    text
}

/// What was compared.
pub(super) fn heading(comparison: &Comparison, width: usize) -> String {
    let facts = format!(
        "{} · {} of each · seed {} · measured over {}{}",
        one_line(&comparison.scenario),
        counted(comparison.replications, "replication"),
        comparison.seed,
        window(comparison.window_s),
        intervals(comparison),
    );
    format!("{}{}", paragraph(&one_line(&comparison.title), width, 0), paragraph(&facts, width, 0))
}

/// What stands behind the means.
pub(super) fn intervals(comparison: &Comparison) -> &'static str {
    match comparison.replications {
        1 => "",
        2 => " · 2 replications give no interval: a to b are the two",
        _ => {
            " · mean ± 95 % interval; a to b is the least and the greatest replication, where an interval would mislead"
        }
    }
}

/// The verdict, what each protocol did, and what was refused.
fn verdict(comparison: &Comparison, width: usize) -> String {
    let mut text = paragraph(&one_line(&comparison.verdict.text), width, 0);
    for row in &comparison.protocols {
        text.push_str(&paragraph(&format!("- {}", one_line(&row.verdict)), width, 2));
    }
    for (who, why) in comparison.refusals() {
        text.push_str(&paragraph(&format!("- {}: {}", one_line(&who), one_line(&why)), width, 2));
    }
    text
}

/// A row for each protocol.
fn protocols(comparison: &Comparison, columns: &'static [Column], with_cpu: bool, width: usize) -> String {
    let used: Vec<&Column> = in_use(comparison, columns).collect();
    let mut heading = vec!["protocol".to_owned()];
    heading.extend(used.iter().map(|column| column.heading.to_owned()));
    if with_cpu {
        heading.push("CPU, ms/s".to_owned());
    }
    let rows = comparison.protocols.iter().map(|row| {
        let mut cells = vec![one_line(&row.protocol)];
        cells.extend(used.iter().map(|column| interval::text((column.of)(row), column.metric)));
        if with_cpu {
            cells.push(cpu(row));
        }
        cells
    });
    table(&heading, &rows.collect::<Vec<_>>(), width)
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

/// When receivers completed.
fn completion(comparison: &Comparison, width: usize) -> Option<String> {
    let (heading, rows) = completed(comparison)?;
    Some(table(&heading, &rows, width))
}

/// The rows about completion, if sessions have an end.
pub(super) fn completed(comparison: &Comparison) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    comparison.protocols.iter().find(|row| row.completion.is_some())?;
    let heading = ["protocol", "complete", "median", "last", "all"].map(str::to_owned).to_vec();
    let time = |statistic: &Statistic| match statistic.mean {
        None => NONE.to_owned(),
        Some(mean) => match interval::drawn(statistic, "last_s") {
            Some((low, high)) if statistic.defined() > 1 => {
                format!("{} ({} to {})", clock(mean), clock(low), clock(high))
            }
            _ => clock(mean),
        },
    };
    let row = |row: &Row| {
        let mut cells = vec![one_line(&row.protocol)];
        match &row.completion {
            None => cells.extend(["", "", "", ""].map(|_| NONE.to_owned())),
            Some(done) => cells.extend([
                format!("{} of {}", interval::count(&done.completed), done.receivers),
                time(&done.median_s),
                time(&done.last_s),
                if done.all_complete { "yes".to_owned() } else { "no".to_owned() },
            ]),
        }
        cells
    };
    Some((heading, comparison.protocols.iter().map(row).collect()))
}

/// What each kind of other traffic had without multicast, and how each protocol changed that.
pub(super) fn effects(comparison: &Comparison) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let first = comparison.protocols.iter().find(|row| !row.effects.is_empty())?;
    let unit = |metric: &str| match metric {
        "completion_s" => "s",
        "rebuffering" => "stalled",
        "loss_rate" => "loss",
        "delay_ms" => "delay in ms",
        _ => "kbit/s",
    };
    let mut heading = vec!["protocol".to_owned()];
    heading.extend(
        first.effects.iter().map(|effect| format!("{}, {}", one_line(&effect.kind), unit(effect.metric))),
    );
    let mut base = vec![BASELINE.to_owned()];
    base.extend(first.effects.iter().map(|effect| interval::text(&effect.baseline, effect.metric)));
    let row = |row: &Row| {
        let mut cells = vec![one_line(&row.protocol)];
        cells.extend(row.effects.iter().map(|effect| match effect.change_percent.mean {
            Some(_) => effect.words(&effect.change_percent),
            None => NONE.to_owned(),
        }));
        cells
    };
    let rows = std::iter::once(base).chain(comparison.protocols.iter().map(row));
    Some((heading, rows.collect()))
}

/// The differences of each protocol to the reference.
pub(super) fn differences(comparison: &Comparison) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let compared: Vec<&Row> = comparison.protocols.iter().filter(|row| !row.differences.is_empty()).collect();
    let mut columns: Vec<(&str, &str)> = Vec::new();
    for difference in compared.iter().flat_map(|row| &row.differences) {
        if !columns.iter().any(|(metric, _)| *metric == difference.metric) {
            columns.push((difference.metric, difference.heading));
        }
    }
    let mut heading = vec![format!("minus {}", one_line(&comparison.reference))];
    heading.extend(columns.iter().map(|(_, heading)| (*heading).to_owned()));
    let row = |row: &&Row| {
        let mut cells = vec![one_line(&row.protocol)];
        cells.extend(columns.iter().map(|(metric, _)| {
            let found = row.differences.iter().find(|difference| difference.metric == *metric);
            found.map_or_else(
                || NONE.to_owned(),
                |found| {
                    let mark = if found.shown.is_some() { "*" } else { "" };
                    format!("{}{mark}", interval::change(&found.difference))
                },
            )
        }));
        cells
    };
    (!compared.is_empty()).then(|| (heading, compared.iter().map(row).collect()))
}

/// Receivers beyond these are folded into one line with their range.
pub(super) const MOST: usize = 20;

/// Each receiver's share of TCP, or its throughput where there is no TCP: a column for each protocol, the receiver
/// with the least mean over protocols first.
fn receivers(comparison: &Comparison, width: usize) -> Option<String> {
    let first = comparison.protocols.first().filter(|first| first.receivers.len() > 1)?;
    let shows = comparison.shows();
    let names = sorted(comparison, shows, &first.receivers);
    let mut heading = vec![shows.title().to_owned()];
    heading.extend(comparison.protocols.iter().map(|row| one_line(&row.protocol)));
    let number =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |mean| Style::Amount.number(mean));
    let of = |row: &Row, name: &str| {
        let found = row.receivers.iter().find(|receiver| receiver.name == name)?;
        shows.of(found).mean
    };
    // One more than fits would take the line that says so.
    let shown = if names.len() <= MOST + 2 { names.len() } else { MOST };
    let mut rows: Vec<Vec<String>> = names
        .iter()
        .take(shown)
        .map(|receiver| {
            let mut cells = vec![one_line(&receiver.label)];
            cells.extend(comparison.protocols.iter().map(|row| number(of(row, &receiver.name))));
            cells
        })
        .collect();
    let rest = names.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        let folded =
            |what: &str, fold: fn(f64, f64) -> f64| {
                let mut cells = vec![format!("{} more, {what}", rest.len())];
                cells.extend(comparison.protocols.iter().map(|row| {
                    number(rest.iter().filter_map(|receiver| of(row, &receiver.name)).reduce(fold))
                }));
                cells
            };
        rows.push(folded("least", f64::min));
        rows.push(folded("most", f64::max));
    }
    Some(table(&heading, &rows, width))
}

/// The receivers by their mean over protocols, the least first.
fn sorted<'a>(comparison: &Comparison, shows: Shows, receivers: &'a [ReceiverRow]) -> Vec<&'a ReceiverRow> {
    let mean = |receiver: &ReceiverRow| {
        let same = |row: &'_ Row| {
            let found = row.receivers.iter().find(|other| other.name == receiver.name)?;
            shows.of(found).mean
        };
        let means: Vec<f64> = comparison.protocols.iter().filter_map(same).collect();
        crate::results::statistics::mean(&means).unwrap_or(f64::NEG_INFINITY)
    };
    let mut sorted: Vec<(f64, &ReceiverRow)> = receivers.iter().map(|one| (mean(one), one)).collect();
    sorted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    sorted.into_iter().map(|(_, receiver)| receiver).collect()
}
