//! The table for the terminal: the results of each flow and group, next to the paper's numbers.
//!
//! It is plain text that reads without colour and fits the width it is given. Many flows are shown together.

use std::collections::BTreeSet;

use super::aggregates::{Aggregate, MOST_SINGLE, aggregates, over_flows};
use super::completion;
use super::experiment::Experiment;
use super::layout::table;
use super::limited::Limited;
use super::paper::{self, Comparison};
use super::statistics::Statistic;
use super::summary::{FlowStatistics, FlowSummary, GroupSummary, Summary};
use super::text::{NONE, Style, counted, verdict, window};

pub use super::layout::WIDTH;

/// The tables of an experiment as text, in lines of at most so many characters, [`NARROWEST`](super::layout::NARROWEST)
/// at least.
#[must_use]
pub fn render(experiment: &Experiment, summary: &Summary, width: usize) -> String {
    let mut text = heading(experiment, summary);
    text.push('\n');
    let has_paper = |flow: &FlowSummary| {
        MEASURES.iter().any(|measure| paper::find(experiment, summary, &flow.name, measure.metric).is_some())
    };
    let is_many = summary.flows.len() > MOST_SINGLE && !summary.flows.iter().any(has_paper);
    text.push_str(&if is_many {
        together(experiment, summary, width)
    } else {
        flows(experiment, summary, width)
    });
    if !summary.groups.is_empty() {
        text.push('\n');
        text.push_str(&groups(experiment, summary, width));
    }
    text.push_str(&notes(experiment, summary));
    text
}

/// Many flows in few rows: the mean over those of one table and protocol, with the least and the greatest by name.
fn together(experiment: &Experiment, summary: &Summary, width: usize) -> String {
    fn rate(flow: &FlowStatistics) -> &Statistic {
        &flow.throughput_kbps
    }
    fn loss(flow: &FlowStatistics) -> &Statistic {
        &flow.loss_rate
    }
    let heading = ["flows", "kbit/s", "lowest", "highest", "loss", "worst loss"].map(str::to_owned);
    let row = |all: &Aggregate<'_>| {
        let named = |style: Style, end: Option<&FlowSummary>, of: fn(&FlowStatistics) -> &Statistic| {
            let value = end.and_then(|flow| Some((of(&flow.measures).mean?, flow)));
            value.map_or_else(
                || NONE.to_owned(),
                |(mean, flow)| format!("{} ({})", style.number(mean), one_line(&flow.name)),
            )
        };
        let (rates, losses) = (all.ends(|flow| Some(rate(flow))), all.ends(|flow| Some(loss(flow))));
        vec![
            one_line(&all.label()),
            Style::Amount.statistic(&all.throughput_kbps),
            named(Style::Amount, rates.map(|(least, _)| least), rate),
            named(Style::Amount, rates.map(|(_, most)| most), rate),
            Style::Percent.statistic(&over_flows(&all.flows, |flow| Some(loss(flow)))),
            named(Style::Percent, losses.map(|(_, most)| most), loss),
        ]
    };
    let rows: Vec<Vec<String>> = aggregates(experiment, summary, MOST_SINGLE).iter().map(row).collect();
    let note = "Each row is the mean over its flows; `--csv` prints every flow.";
    format!("{}\n{note}\n", table(&heading, &rows, width))
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

fn flows(experiment: &Experiment, summary: &Summary, width: usize) -> String {
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
    table(&heading, &rows, width)
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

fn groups(experiment: &Experiment, summary: &Summary, width: usize) -> String {
    let mut heading = vec!["group".to_owned(), "flows".to_owned(), "Jain index".to_owned()];
    let mut shown: Vec<&GroupSummary> = summary.groups.iter().collect();
    let mut rest = String::new();
    if shown.len() > MOST_SINGLE {
        shown.sort_by(|a, b| {
            let index = |group: &GroupSummary| group.jain_index.mean.unwrap_or(f64::INFINITY);
            index(a).total_cmp(&index(b))
        });
        rest = format!("The {MOST_SINGLE} lowest of {} groups; `--csv` prints every group.\n", shown.len());
        shown.truncate(MOST_SINGLE);
    }
    let mut rows: Vec<Vec<String>> = shown
        .iter()
        .map(|group| {
            vec![
                one_line(&group.name),
                group.flows.len().to_string(),
                Style::Index.statistic(&group.jain_index),
            ]
        })
        .collect();
    let names = shown.iter().map(|group| group.name.as_str());
    add_paper(experiment, summary, names, "jain_index", &mut heading, &mut rows);
    table(&heading, &rows, width) + &rest
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
