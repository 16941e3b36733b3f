//! `report.html` of a comparison: bars, the table with intervals, each receiver, and how to repeat it.

use maud::{Markup, html};

use super::rows::{Comparison, Row};
use super::table::{COSTS, Column, GAINS, cpu, in_use};
use crate::results::Statistic;
use crate::results::report::document;
use crate::results::report::palette::Palette;
use crate::results::text::{NONE, Style, counted, window};

/// Bars of the shares of TCP: a line at 1, and one bar for each receiver.
const RULES: &str = "
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 5px 12px; align-items: center; margin: 18px 0 }
.bars h3 { grid-column: 1 / -1; margin: 14px 0 2px }
.bars .track { position: relative; height: 14px; background: var(--shade, transparent); border-left: 1px solid var(--rule) }
.bars .bar { position: absolute; inset: 2px auto 2px 0; background: currentColor; border-radius: 0 3px 3px 0 }
.bars .one { position: absolute; top: -3px; bottom: -3px; width: 0; border-left: 2px dashed var(--muted) }
.bars span { font-size: 14px } .bars .value { text-align: right; font-variant-numeric: tabular-nums }
td.word a { white-space: nowrap }
";

/// The page.
pub(super) fn html(comparison: &Comparison) -> Markup {
    let things: Vec<(&str, &str)> =
        comparison.protocols.iter().map(|row| (row.protocol.as_str(), row.protocol.as_str())).collect();
    let palette = Palette::of_things(&things);
    let body = html! {
        (head(comparison))
        (bars(comparison, &palette))
        section { h2 { "What receivers got" } (all(comparison, &GAINS, false)) }
        section { h2 { "What it took" } (all(comparison, &COSTS, true)) (meaning()) }
        section { h2 { "Each receiver" } (receivers(comparison)) }
        (repeat(comparison))
    };
    document(&comparison.title, RULES, &body)
}

fn head(comparison: &Comparison) -> Markup {
    let fact = |term: &str, text: &str| html! { div { dt { (term) } dd { (text) } } };
    html! {
        header {
            p.over { "Layercast comparison" }
            h1 { (comparison.title) }
            p.lead { "The same network and traffic, with each protocol in turn." }
            dl.facts {
                (fact("Scenario", &comparison.scenario))
                (fact("Replications of each", &comparison.replications.to_string()))
                (fact("Seed", &comparison.seed.to_string()))
                (fact("Measured over", &window(comparison.window_s)))
                @if !comparison.bottlenecks.is_empty() { (fact("Bottlenecks", &comparison.bottlenecks.join(", "))) }
            }
        }
    }
}

/// The share of TCP of each receiver, or the throughput where there is no TCP.
fn bars(comparison: &Comparison, palette: &Palette) -> Markup {
    let with_tcp = comparison.protocols.iter().any(|row| row.share_of_tcp.mean.is_some());
    let of = |row: &super::ReceiverRow| {
        if with_tcp { row.share_of_tcp.clone() } else { row.throughput_kbps.clone() }
    };
    let all = comparison.protocols.iter().flat_map(|row| row.receivers.iter());
    let least = if with_tcp { 1.25 } else { 0.0 };
    let longest = all.filter_map(|row| of(row).mean).fold(least, f64::max).max(f64::MIN_POSITIVE);
    let title = if with_tcp { "Share of TCP" } else { "Throughput in kbit/s" };
    /// Receivers beyond these are in the table.
    const MOST: usize = 12;
    html! {
        section {
            h2 { (title) }
            @if with_tcp { p.note {
                "A receiver's throughput over the mean of the competing TCP. The dashed line is an equal share."
            } }
            div.bars {
                @for row in &comparison.protocols {
                    h3 { (row.protocol) }
                    @for receiver in row.receivers.iter().take(MOST) {
                        @let share = of(receiver);
                        span { (receiver.name) }
                        div.track class=(palette.class(&row.protocol)) {
                            @if let Some(mean) = share.mean {
                                div.bar style=(format!("width:{:.2}%", mean / longest * 100.0)) {}
                            }
                            @if with_tcp { div.one style=(format!("left:{:.2}%", 100.0 / longest)) {} }
                        }
                        span.value { (Style::Amount.statistic(&share)) }
                    }
                }
            }
        }
    }
}

fn all(comparison: &Comparison, columns: &'static [Column], with_cpu: bool) -> Markup {
    let used: Vec<&Column> = in_use(comparison, columns).collect();
    let cell = |statistic: &Statistic, metric: &str| Style::of(metric).statistic(statistic);
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Protocol" }
                @for column in &used { th { (column.heading) } }
                @if with_cpu { th { "CPU, ms/s" } }
            } }
            tbody { @for row in &comparison.protocols { tr {
                td.word { a href=(format!("{}/report.html", row.protocol)) { (row.protocol) } }
                @for column in &used { td { (cell((column.of)(row), column.metric)) } }
                @if with_cpu { td { (cpu(row)) } }
            } } }
        } }
    }
}

fn meaning() -> Markup {
    html! {
        p.note {
            "Means over the receivers of each replication, with 95 % intervals over replications. "
            "Lost/event: packets that a queue dropped in a loss event which followed a rise of the receiver's level, "
            "of its own session and of everybody else. Joins and leaves are of channels, each receiver by itself. "
            "Used: how busy the bottlenecks were. CPU: processor time for a simulated second."
        }
    }
}

fn receivers(comparison: &Comparison) -> Markup {
    let line = |row: &Row| {
        html! {
            @for receiver in &row.receivers { tr {
                td.word { (row.protocol) }
                td.word { (receiver.name) }
                td { (Style::Amount.statistic(&receiver.throughput_kbps)) }
                td { (Style::Amount.statistic(&receiver.share_of_tcp)) }
                td { (receiver.mean_level.as_ref().map_or_else(|| NONE.to_owned(), |level| Style::Amount.statistic(level))) }
                td { (receiver.level_changes_per_min.as_ref().map_or_else(|| NONE.to_owned(), |changes| Style::Amount.statistic(changes))) }
            } }
        }
    };
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Protocol" } th.word { "Receiver" } th { "kbit/s" } th { "of TCP" } th { "mean level" } th { "changes/min" }
            } }
            tbody { @for row in &comparison.protocols { (line(row)) } }
        } }
    }
}

fn repeat(comparison: &Comparison) -> Markup {
    html! {
        section {
            h2 { "Again" }
            pre { code { (comparison.command) } }
            p.note { "One protocol alone, " (counted(comparison.protocols.len(), "command")) ":" }
            @for row in &comparison.protocols { pre { code { (row.command) } } }
        }
    }
}
