//! The table for the terminal: the results of each flow and group, next to the paper's numbers.
//!
//! It is plain text that reads without colour and stays within [`WIDTH`] columns.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::completion;
use super::experiment::Experiment;
use super::limited::Limited;
use super::paper::{self, Comparison};
use super::statistics::Statistic;
use super::summary::{FlowStatistics, FlowSummary, Summary};
use super::text::{NONE, Style, counted, verdict, window};

/// The widest line.
pub const WIDTH: u16 = 120;

/// The tables of an experiment as text.
#[must_use]
pub fn render(experiment: &Experiment, summary: &Summary) -> String {
    let mut text = heading(experiment, summary);
    text.push('\n');
    text.push_str(&flows(experiment, summary));
    if !summary.groups.is_empty() {
        text.push('\n');
        text.push_str(&groups(experiment, summary));
    }
    text.push_str(&notes(experiment, summary));
    text
}

fn heading(experiment: &Experiment, summary: &Summary) -> String {
    let interval = match summary.replications {
        0 | 1 => "",
        2 => ", mean (least–greatest)",
        _ => ", mean ± 95 % interval",
    };
    // What is simulated, as nearly all is, needs no word.
    let world = match experiment.world {
        "simulated" => String::new(),
        other => format!("{other} · "),
    };
    format!(
        "{}\n{} · {world}{} · seed {} · measured over {}{interval}\n",
        one_line(&experiment.title),
        one_line(&experiment.scenario),
        counted(summary.replications, "replication"),
        summary.seed,
        completion::window(summary),
    )
}

/// Text from outside must not break the table's lines or steer the terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A column of the flow table: its heading and what stands in it.
struct Measure {
    heading: &'static str,
    metric: &'static str,
    of: fn(&FlowSummary) -> Option<&Statistic>,
}

impl Measure {
    /// The mean and its interval; of transfers the mean alone, for which there is room.
    fn cell(&self, style: Style, statistic: &Statistic) -> String {
        match statistic.mean {
            Some(mean) if matches!(self.heading, "transfers" | "s each") => style.number(mean),
            _ => style.statistic(statistic),
        }
    }
}

const MEASURES: [Measure; 7] = [
    Measure { heading: "kbit/s", metric: "throughput_kbps", of: |flow| Some(&flow.measures.throughput_kbps) },
    Measure { heading: "loss", metric: "loss_rate", of: |flow| Some(&flow.measures.loss_rate) },
    Measure {
        heading: "level changes",
        metric: "level_changes",
        of: |flow| flow.measures.level_changes.as_ref(),
    },
    Measure {
        heading: "settled, s",
        metric: "settled_after_s",
        of: |flow| flow.measures.settled_after_s.as_ref(),
    },
    Measure {
        heading: "complete, s",
        metric: "completion_s",
        of: |flow| flow.measures.complete.as_ref().and(flow.measures.completion_s.as_ref()),
    },
    Measure { heading: "transfers", metric: "transfers", of: |flow| flow.measures.transfers.as_ref() },
    Measure {
        heading: "s each",
        metric: "completion_s",
        of: |flow| flow.measures.transfers.as_ref().and(flow.measures.completion_s.as_ref()),
    },
];

/// Metrics that only receivers with levels have.
const OF_LEVELS: [&str; 2] = ["level_changes", "settled_after_s"];

fn flows(experiment: &Experiment, summary: &Summary) -> String {
    let mut heading = vec!["flow".to_owned()];
    let mut rows: Vec<Vec<String>> = summary.flows.iter().map(|flow| vec![one_line(&flow.name)]).collect();
    let level_less: BTreeSet<&str> =
        experiment.flows.iter().filter(|info| !info.has_levels()).map(|info| info.name.as_str()).collect();
    for measure in &MEASURES {
        let of = |flow| statistic_of(measure, flow, &level_less);
        // A column of nothing but dashes only takes room.
        if summary.flows.iter().all(|flow| of(flow).is_none()) {
            continue;
        }
        let style = Style::of(measure.metric);
        heading.push(measure.heading.to_owned());
        for (row, flow) in rows.iter_mut().zip(&summary.flows) {
            row.push(of(flow).map_or_else(|| NONE.to_owned(), |statistic| measure.cell(style, statistic)));
        }
        let names = summary.flows.iter().map(|flow| flow.name.as_str());
        add_paper(experiment, summary, names, measure.metric, &mut heading, &mut rows);
    }
    if summary.flows.iter().any(|flow| seen(&flow.measures).is_some()) {
        heading.push("seen by users".to_owned());
        for (row, flow) in rows.iter_mut().zip(&summary.flows) {
            row.push(seen(&flow.measures).unwrap_or_else(|| NONE.to_owned()));
        }
    }
    if summary.flows.iter().any(|flow| flow.measures.limited.is_some()) {
        heading.push("limited by".to_owned());
        for (row, flow) in rows.iter_mut().zip(&summary.flows) {
            let main = flow.measures.limited.as_ref().and_then(Limited::main);
            row.push(main.unwrap_or_else(|| NONE.to_owned()));
        }
    }
    lay_out(heading, rows)
}

/// How a video was played, or how the packets of a call came: means, for which there is room.
fn seen(measures: &FlowStatistics) -> Option<String> {
    let number = |metric: &str, statistic: &Statistic| {
        statistic.mean.map_or_else(|| NONE.to_owned(), |mean| Style::of(metric).number(mean))
    };
    if let Some(video) = &measures.video {
        let rate = number("video_kbps", &video.video_kbps);
        return Some(format!("{rate} kbit/s, stalled {}", number("rebuffering", &video.rebuffering)));
    }
    let call = measures.call.as_ref()?;
    let (mean, most) = (number("delay_ms", &call.delay_ms), number("delay_p99_ms", &call.delay_p99_ms));
    Some(format!("{mean} ms, 99 % in {most} ms"))
}

/// The measure of a flow; none of levels for flows that have none to choose from.
fn statistic_of<'f>(
    measure: &Measure,
    flow: &'f FlowSummary,
    level_less: &BTreeSet<&str>,
) -> Option<&'f Statistic> {
    if OF_LEVELS.contains(&measure.metric) && level_less.contains(flow.name.as_str()) {
        return None;
    }
    (measure.of)(flow)
}

fn groups(experiment: &Experiment, summary: &Summary) -> String {
    let mut heading = vec!["group".to_owned(), "flows".to_owned(), "Jain index".to_owned()];
    let mut rows: Vec<Vec<String>> = summary
        .groups
        .iter()
        .map(|group| {
            vec![
                one_line(&group.name),
                group.flows.len().to_string(),
                Style::Index.statistic(&group.jain_index),
            ]
        })
        .collect();
    let names = summary.groups.iter().map(|group| group.name.as_str());
    add_paper(experiment, summary, names, "jain_index", &mut heading, &mut rows);
    lay_out(heading, rows)
}

/// Adds the paper's numbers and the ratio, if the paper has any of this metric.
fn add_paper<'a>(
    experiment: &Experiment,
    summary: &Summary,
    subjects: impl Iterator<Item = &'a str>,
    metric: &str,
    heading: &mut Vec<String>,
    rows: &mut [Vec<String>],
) {
    let found: Vec<Option<Comparison<'_>>> =
        subjects.map(|subject| paper::find(experiment, summary, subject, metric)).collect();
    if found.iter().all(Option::is_none) {
        return;
    }
    heading.extend(["paper".to_owned(), "ratio".to_owned()]);
    for (row, comparison) in rows.iter_mut().zip(found) {
        match comparison {
            Some(comparison) => {
                row.extend([Style::of(metric).paper(comparison.paper), verdict(&comparison)]);
            }
            None => row.extend([String::new(), String::new()]),
        }
    }
}

pub(crate) fn lay_out(heading: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(heading)
        .add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(names) = table.column_mut(0) {
        names.set_cell_alignment(CellAlignment::Left);
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn notes(experiment: &Experiment, summary: &Summary) -> String {
    let mut text = String::new();
    for remark in &experiment.remarks {
        text.push_str(&format!("\n{}\n", one_line(remark)));
    }
    if let Some(lateness) = &summary.lateness {
        text.push_str(&format!("\n{}\n", lateness.sentence()));
    }
    let compared = paper::compare(experiment, summary);
    if !compared.is_empty() {
        let agree = compared.iter().filter(|comparison| comparison.agrees() == Some(true)).count();
        text.push_str(&format!(
            "\n{agree} of {} agree with the paper:\n{}.\n",
            counted(compared.len(), "number"),
            paper::criterion(),
        ));
    }
    if let Some(sentences) = completion::sentences(summary) {
        text.push('\n');
        sentences.iter().for_each(|sentence| {
            text.push_str(&one_line(sentence));
            text.push('\n');
        });
    }
    if !summary.windows.is_empty() {
        let windows: Vec<String> = summary.windows.iter().map(|further| window(further.window_s)).collect();
        text.push_str(&format!("\nAlso measured over {}: see the report.\n", windows.join(", ")));
    }
    text
}
