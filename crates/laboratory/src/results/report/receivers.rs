//! Why receivers have their rates: text under their plots, and a table of all.

use maud::{Markup, html};

use super::palette::Palette;
use crate::results::explanation_text::{changes, lines};
use crate::results::summary::{FlowSummary, Summary};
use crate::results::text::{NONE, Style, decimal};

/// What is known of the receivers at a node.
pub(super) fn at_node(summary: &Summary, palette: &Palette, node: &str) -> Markup {
    let flows: Vec<&FlowSummary> =
        summary.flows.iter().filter(|flow| flow.node == node && flow.why.is_some()).collect();
    html! { @for flow in &flows {
        details.why open[flows.len() <= 3] {
            summary { i.dot.(palette.class(&flow.protocol)) {} "Why " (flow.name) " has its rate" }
            dl { @for (about, line) in lines(flow, summary.replications) { div { dt { (about) } dd { (line) } } } }
        }
    } }
}

/// The part of its fair share that a receiver got.
fn part(flow: &FlowSummary) -> Option<f64> {
    let share = flow.why.as_ref()?.bottleneck.as_ref()?.fair_share_kbps.filter(|share| *share > 0.0)?;
    Some(flow.measures.throughput_kbps.mean? / share)
}

/// All receivers, those with the smallest part of their fair share first.
pub(super) fn table(summary: &Summary, palette: &Palette) -> Markup {
    let mut flows: Vec<&FlowSummary> = summary.flows.iter().filter(|flow| flow.why.is_some()).collect();
    flows.sort_by(|a, b| part(a).unwrap_or(f64::INFINITY).total_cmp(&part(b).unwrap_or(f64::INFINITY)));
    let percent =
        |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| Style::Percent.number(value));
    let ms = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| decimal(value, 0));
    html! {
        div.scroll tabindex="0" { table.wraps {
            thead { tr {
                th { "Receiver" } th { "kbit/s" } th { "Fair share" } th { "Part" } th.word { "Bottleneck" }
                th { "Loss" } th { "its estimate" } th { "Round trip, ms" } th { "its estimate" }
                th { "Slow start, s" } th.word { "Held back mostly by" } th.word { "Changes of level" }
            } }
            tbody { @for flow in flows { @if let Some(why) = &flow.why { tr {
                @let bottleneck = why.bottleneck.as_ref();
                th scope="row" { i.dot.(palette.class(&flow.protocol)) {} (flow.name) }
                td { (flow.measures.throughput_kbps.mean.map_or_else(|| NONE.to_owned(), |v| Style::Amount.number(v))) }
                td { (bottleneck.and_then(|b| b.fair_share_kbps).map_or_else(|| NONE.to_owned(), |v| Style::Amount.number(v))) }
                td { (part(flow).map_or_else(|| NONE.to_owned(), |part| decimal(part, 2))) }
                td.word { (bottleneck.map_or("none", |bottleneck| bottleneck.link.as_str())) }
                td { (percent(flow.measures.loss_rate.mean)) }
                td { (percent(why.estimated_loss.as_ref().and_then(|s| s.mean))) }
                td { (ms(why.rtt_ms.mean)) }
                td { (ms(why.estimated_rtt_ms.as_ref().and_then(|s| s.mean))) }
                td { (why.slow_start_s.as_ref().and_then(|s| s.mean).map_or_else(|| NONE.to_owned(), |s| decimal(s, 1))) }
                td.word { (why.held_back.first().map_or(NONE, |held| held.by.short())) }
                td.word { (changes(&why.causes)) }
            } } } }
        } }
    }
}

/// Whether any receiver has an explanation.
pub(super) fn any(summary: &Summary) -> bool {
    summary.flows.iter().any(|flow| flow.why.is_some())
}
