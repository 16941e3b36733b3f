//! `report.html` of a comparison: the verdict, what other traffic lost, the shares of receivers, the tables, and how to
//! repeat it.

mod bars;
mod cdf;

use maud::{Markup, html};

use super::BASELINE_DIRECTORY;
use super::completion::Completion;
use super::interval;
use super::receivers::{Shows, worst_first};
use super::row::Row;
use super::rows::Comparison;
use super::table::{COSTS, Column, GAINS, completed, cpu, differences, effects, in_use, intervals};
use crate::results::ResultsError;
use crate::results::Statistic;
use crate::results::report::document;
use crate::results::report::palette::Palette;
use crate::results::text::{NONE, Style, counted, window};
pub(crate) use bars::{Bar, Bars, RULES as BARS};

/// What this page has in addition to other reports.
pub(crate) const RULES: &str = "
a { color: inherit; text-decoration: underline; text-decoration-color: var(--muted); text-underline-offset: 3px }
a:hover { text-decoration-color: currentColor }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
ul.said { list-style: none; margin: 18px 0 0; padding: 0 } ul.said li { margin: 0 0 8px; max-width: 84ch }
td.word a { white-space: nowrap } td.word:first-child { padding-left: 0 }
details > summary { color: var(--muted); font-size: 14px; margin: 4px 0 }
";

/// The page.
pub(super) fn html(comparison: &Comparison) -> Result<Markup, ResultsError> {
    let palette = palette(comparison.protocols.iter().map(|row| row.protocol.as_str()));
    let body = html! {
        (head(comparison, &palette))
        (harm(comparison, &palette))
        (completion(comparison))
        (shares(comparison, &palette)?)
        section { h2 { "What receivers got" } (all(comparison, &palette, &GAINS, false)) (gains()) }
        (paired(comparison, &palette))
        section { h2 { "What it took" } (all(comparison, &palette, &COSTS, true)) (costs()) }
        section { h2 { "Each receiver" } (receivers(comparison, &palette)) }
        (repeat(comparison))
    };
    Ok(document(&comparison.title, &format!("{BARS}{RULES}"), &body))
}

/// The looks of protocols, each its own.
pub(crate) fn palette<'a>(protocols: impl Iterator<Item = &'a str>) -> Palette {
    let things: Vec<(&str, &str)> = protocols.map(|name| (name, name)).collect();
    Palette::of_things(&things)
}

/// What was compared, as terms and values.
pub(super) fn facts(comparison: &Comparison) -> Markup {
    let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
    html! {
        dl.facts {
            (fact("Scenario", &comparison.scenario))
            (fact("Replications of each", &comparison.replications.to_string()))
            (fact("Seed", &comparison.seed.to_string()))
            (fact("Measured over", &window(comparison.window_s)))
            @if !comparison.bottlenecks.is_empty() {
                (fact(if comparison.bottlenecks.len() == 1 { "Bottleneck" } else { "Bottlenecks" }, &few(&comparison.bottlenecks)))
            }
        }
    }
}

/// The first few names and how many more there are.
fn few(names: &[String]) -> String {
    const MOST: usize = 6;
    let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
    let rest = names.len() - shown.len();
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}

fn head(comparison: &Comparison, palette: &Palette) -> Markup {
    html! {
        header {
            p.over { "Layercast comparison" }
            h1 { (comparison.title) }
            p.lead { (comparison.verdict.text) }
            ul.said {
                @for row in &comparison.protocols { li { (dot(palette, &row.protocol)) (row.verdict) } }
                @for (who, why) in comparison.refusals() { li { i.dot {} (who) ": " (why) } }
            }
            (facts(comparison))
        }
    }
}

/// A protocol's mark.
fn dot(palette: &Palette, protocol: &str) -> Markup {
    html! { i.dot.(palette.class(protocol)) {} }
}

/// What the bars of a measure mean.
fn meaning(metric: &str) -> &'static str {
    match metric {
        "completion_s" => "time of one: right is slower",
        "video_kbps" => "rate of the video: left is lower",
        "rebuffering" => "time stalled, in points: right is more",
        "delay_ms" => "delay: right is longer",
        "loss_rate" => "loss, in points: right is more",
        _ => "throughput: left is less",
    }
}

/// What each kind of other traffic lost.
fn harm(comparison: &Comparison, palette: &Palette) -> Markup {
    let Some((heading, rows)) = effects(comparison) else { return html! {} };
    let kinds = comparison.protocols.first().map(|row| row.effects.as_slice()).unwrap_or_default();
    let bars = |number: usize| Bars {
        metric: "change",
        line: Some(0.0),
        least: 0.0,
        bars: comparison
            .protocols
            .iter()
            .filter_map(|row| {
                let effect = row.effects.get(number)?;
                Some(Bar {
                    label: &row.protocol,
                    class: palette.class(&row.protocol),
                    statistic: &effect.change_percent,
                    text: effect.words(&effect.change_percent),
                })
            })
            .collect(),
    };
    let worst = |row: &Row| -> Vec<String> {
        let worst = row.effects.iter().filter_map(|effect| Some((effect, effect.worst.as_ref()?)));
        let several = worst.filter(|(effect, _)| effect.nodes > 1);
        several
            .map(|(effect, worst)| {
                format!("{} at {} {}", effect.kind, worst.node, effect.words(&worst.change_percent))
            })
            .collect()
    };
    html! {
        section {
            h2 { "What other traffic lost" }
            p.note {
                "The change from the same replication without multicast, at each node, mean over nodes: of throughput, of "
                "the time that transfers take, or of what users see of the traffic library. Lines are intervals; one that crosses zero shows no change."
            }
            @for (number, effect) in kinds.iter().enumerate() {
                h3 { (effect.kind) ", " (meaning(effect.metric)) }
                (bars(number).markup())
            }
            (plain(&heading, &rows))
            @if comparison.protocols.iter().any(|row| !worst(row).is_empty()) {
                details { summary { "The node that lost most, of each" }
                    ul.said { @for row in &comparison.protocols { li { (dot(palette, &row.protocol)) (row.protocol) ": " (worst(row).join("; ")) } } }
                }
            }
        }
    }
}

/// When receivers completed, if they could.
fn completion(comparison: &Comparison) -> Markup {
    let Some((heading, rows)) = completed(comparison) else { return html! {} };
    let missing = |done: &Completion| [done.never.clone(), done.not_always.clone()].concat();
    html! {
        section {
            h2 { "When they were complete" }
            (plain(&heading, &rows))
            ul.said { @for row in &comparison.protocols { @if let Some(done) = &row.completion { @if !done.all_complete {
                li { (row.protocol) ": not always, or never: " (missing(done).join(", ")) }
            } } } }
        }
    }
}

/// Receivers beyond these are folded, with their range.
const MOST: usize = 12;

/// The distribution over receivers, and each of them, worst first.
fn shares(comparison: &Comparison, palette: &Palette) -> Result<Markup, ResultsError> {
    let shows = comparison.shows();
    let with_tcp = shows == Shows::ShareOfTcp;
    let figure = cdf::figure(comparison, shows, palette)?;
    let all = comparison.protocols.iter().flat_map(|row| &row.receivers);
    let greatest = all.filter_map(|row| {
        interval::drawn(shows.of(row), shows.metric()).map(|(_, high)| high).or(shows.of(row).mean)
    });
    let least = greatest.fold(if with_tcp { 1.25 } else { 0.0 }, f64::max);
    let bars = |row: &Row, receivers: &[&super::ReceiverRow]| {
        let bars = receivers.iter().map(|receiver| Bar {
            label: &receiver.label,
            class: palette.class(&row.protocol),
            statistic: shows.of(receiver),
            text: interval::text(shows.of(receiver), shows.metric()),
        });
        Bars { metric: shows.metric(), line: with_tcp.then_some(1.0), least, bars: bars.collect() }.markup()
    };
    let range = |receivers: &[&super::ReceiverRow]| {
        let means: Vec<f64> = receivers.iter().filter_map(|row| shows.of(row).mean).collect();
        let (low, high) = (means.iter().copied().reduce(f64::min), means.iter().copied().reduce(f64::max));
        low.zip(high).map_or_else(String::new, |(low, high)| {
            let (low, high) = (Style::Amount.number(low), Style::Amount.number(high));
            if low == high { format!(", all at {low}") } else { format!(", all between {low} and {high}") }
        })
    };
    Ok(html! {
        section {
            h2 { @if with_tcp { "Share of TCP" } @else { "Throughput in kbit/s" } }
            @if with_tcp { p.note {
                "A receiver's throughput over the mean of the competing TCP. The dashed line is an equal share."
            } }
            @if let Some(figure) = figure { (figure) }
            @for row in &comparison.protocols {
                @let sorted = worst_first(&row.receivers, shows);
                // One more than fits would take the line that says so.
                @let shown = if sorted.len() <= MOST + 1 { sorted.len() } else { MOST };
                @let (first, rest) = sorted.split_at(shown);
                h3 { (dot(palette, &row.protocol)) (row.protocol) @if sorted.len() > 1 { ", worst first" } }
                (bars(row, first))
                @if !rest.is_empty() { details {
                    summary { (rest.len()) " more" (range(rest)) }
                    (bars(row, rest))
                } }
            }
        }
    })
}

/// A table of words and numbers as they are.
fn plain(heading: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr { @for cell in heading { th { (cell) } } } }
            tbody { @for row in rows { tr { @for (number, cell) in row.iter().enumerate() {
                @if number == 0 { td.word { (cell) } } @else { td { (cell) } }
            } } } }
        } }
    }
}

fn all(comparison: &Comparison, palette: &Palette, columns: &'static [Column], with_cpu: bool) -> Markup {
    let used: Vec<&Column> = in_use(comparison, columns).collect();
    let cell = |statistic: &Statistic, metric: &str| interval::text(statistic, metric);
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Protocol" }
                @for column in &used { th { (column.heading) } }
                @if with_cpu { th { "CPU, ms/s" } }
            } }
            tbody { @for row in &comparison.protocols { tr {
                td.word { (dot(palette, &row.protocol)) a href=(format!("{}/report.html", row.protocol)) { (row.protocol) } }
                @for column in &used { td { (cell((column.of)(row), column.metric)) } }
                @if with_cpu { td { (cpu(row)) } }
            } } }
        } }
        @if !intervals(comparison).is_empty() { p.note { (intervals(comparison).trim_start_matches(" · ")) "." } }
    }
}

fn gains() -> Markup {
    html! {
        p.note {
            "Means over the receivers of each replication. Near fair: the share of TCP, or its inverse where that is less, so "
            "that half and twice an equal share count the same. Used: how busy the links were that limited the receivers, or else the fullest of their paths."
        }
    }
}

fn costs() -> Markup {
    html! {
        p.note {
            "Lost/event: packets that a queue dropped in a loss event which followed a rise of the receiver's level, "
            "of its own session and of everybody else. Joins and leaves are of channels, each receiver by itself. "
            "CPU: processor time for a simulated second."
        }
    }
}

/// The paired differences to the reference.
fn paired(comparison: &Comparison, palette: &Palette) -> Markup {
    let Some((heading, rows)) = differences(comparison) else { return html! {} };
    html! {
        section {
            h2 { "Differences to " (dot(palette, &comparison.reference)) (comparison.reference) }
            (plain(&heading, &rows))
            p.note {
                "Paired by replication, which have the same seed. * marks differences whose 95 % interval does not hold zero. "
                "Throughput counts each receiver the same."
            }
        }
    }
}

fn receivers(comparison: &Comparison, palette: &Palette) -> Markup {
    let optional = |statistic: Option<&Statistic>, metric: &str| {
        statistic.map_or_else(|| NONE.to_owned(), |statistic| interval::text(statistic, metric))
    };
    let with_end = comparison.protocols.iter().any(|row| row.completion.is_some());
    let shows = comparison.shows();
    let line = |row: &Row| {
        html! {
            @for receiver in worst_first(&row.receivers, shows) { tr {
                td.word { (dot(palette, &row.protocol)) (row.protocol) }
                td.word { (receiver.label) }
                td { (interval::text(&receiver.throughput_kbps, "throughput_kbps")) }
                td { (interval::text(&receiver.share_of_tcp, "share_of_tcp")) }
                @if with_end { td { (optional(receiver.completion_s.as_ref(), "completion_s")) } }
                td { (optional(receiver.mean_level.as_ref(), "mean_level")) }
                td { (optional(receiver.level_changes_per_min.as_ref(), "level_changes_per_min")) }
            } }
        }
    };
    let count = comparison.protocols.iter().map(|row| row.receivers.len()).sum::<usize>();
    let table = html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Protocol" } th.word { "Receiver" } th { "kbit/s" } th { "of TCP" }
                @if with_end { th { "complete, s" } }
                th { "mean level" } th { "changes/min" }
            } }
            tbody { @for row in &comparison.protocols { (line(row)) } }
        } }
    };
    html! { @if count > 60 { details { summary { (counted(count, "row")) ", worst first" } (table) } } @else { (table) } }
}

fn repeat(comparison: &Comparison) -> Markup {
    html! {
        section {
            h2 { "Again" }
            pre { code { (comparison.command) } }
            p.note { "One column alone:" }
            @for row in &comparison.protocols { pre { code { (row.command) } } }
            @if let Some(baseline) = &comparison.baseline {
                p.note { a href=(format!("{BASELINE_DIRECTORY}/report.html")) { "Without multicast" } ":" }
                pre { code { (baseline.command) } }
            }
        }
    }
}
