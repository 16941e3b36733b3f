//! Reads how links change: changes, outages, traces.

use std::path::Path;
use std::sync::Arc;

use layercast_core::units::{Duration, Rate, Time};

use super::compound::Loss;
use super::context::Context;
use super::table::TableReader;
use super::values::{Read, list};
use crate::scenario::field::FieldKind;
use crate::scenario::plan::{DeliveryTrace, LinkChange, LinkVariation, Outage};
use crate::scenario::problems::Problem;
use crate::scenario::tables::{CHANGE, DownQueue};
use crate::scenario::text_file::load;
use crate::scenario::tree::Node;

mod rates;

use self::rates::read_rates;

/// The trace that a key names.
pub(super) fn read_trace(
    link: &TableReader<'_>,
    key: &str,
    context: &mut Context<'_>,
) -> Option<Arc<DeliveryTrace>> {
    let written: String = link.get(key, context)?;
    let path = context.folder.join(&written);
    let trace = context.traces.entry(path).or_insert_with_key(|path| load_trace(path)).clone();
    let reason = match trace {
        Ok(trace) => return Some(trace),
        Err(reason) => reason,
    };
    let node = link.node(key)?;
    let problem = Problem::of(node, format!("the trace `{written}` cannot be used: {reason}"));
    context.problems.push(problem.allowed(
        "a file with a time in whole milliseconds on each line, its path relative to the scenario file",
    ));
    None
}

fn load_trace(path: &Path) -> Result<Arc<DeliveryTrace>, String> {
    let text = load(path)?;
    DeliveryTrace::parse(&text).map(Arc::new).map_err(|error| error.to_string())
}

/// How both directions of a link change. Mistakes are reported.
pub(super) fn read_variations(
    link: &TableReader<'_>,
    trace: Option<Arc<DeliveryTrace>>,
    trace_backward: Option<Arc<DeliveryTrace>>,
    context: &mut Context<'_>,
) -> (LinkVariation, LinkVariation) {
    let mut both = read_changes(link, context);
    both.extend(read_rates(link, context));
    // Changes that are given are in order; at one time those of the table come first.
    both.sort_by_key(|(change, _)| change.at);
    let repeat = read_repeat(link, both.last().map(|(change, _)| change.at), context);
    let (mut changes, mut changes_backward): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    for changes in [&mut changes, &mut changes_backward] {
        changes.retain(|change| change.rate.is_some() || change.delay.is_some() || change.loss.is_some());
    }
    let outages: Option<Vec<Outage>> = link.get("down", context);
    let down_queue: Option<DownQueue> = link.choice("down_queue", context);
    if let (Some(node), None) = (link.node("down_queue"), link.node("down")) {
        let problem = Problem::of(node, "the link is never down");
        context.problems.push(problem.allowed("`down_queue` together with `down`"));
    }
    let forward = LinkVariation {
        changes,
        repeat,
        avoid_reordering: link.get("avoid_reordering", context).unwrap_or_default(),
        trace,
        outages: outages.unwrap_or_default(),
        flushes_queue: down_queue == Some(DownQueue::Flush),
    };
    let backward = LinkVariation { changes: changes_backward, trace: trace_backward, ..forward.clone() };
    (forward, backward)
}

fn read_repeat(link: &TableReader<'_>, last: Option<Time>, context: &mut Context<'_>) -> Option<Duration> {
    let repeat: Duration = link.get("changes_repeat", context)?;
    let node = link.node("changes_repeat")?;
    let message = match last {
        Some(last) if last < Time::ZERO + repeat => return Some(repeat),
        Some(last) => format!("the changes repeat after {repeat}, but the last is at {last}"),
        // Changes that are wrong have been reported.
        None if link.node("changes").is_some() || link.node("rates").is_some() => return None,
        None => "there is nothing to repeat".to_owned(),
    };
    context.problems.push(Problem::of(node, message).allowed("a time after the last of `changes`"));
    None
}

/// A change in both directions.
type Both = (LinkChange, LinkChange);

/// The changes that could be read.
fn read_changes(link: &TableReader<'_>, context: &mut Context<'_>) -> Vec<Both> {
    let Some(node) = link.node("changes") else { return Vec::new() };
    let items = list(node, &FieldKind::TableList(&CHANGE), context).unwrap_or_default();
    let mut changes: Vec<Both> = Vec::new();
    for item in items {
        let Some((change, at_node)) = read_change(item, link, context) else { continue };
        if let Some((last, _)) = changes.last().filter(|(last, _)| change.0.at < last.at) {
            let message = format!("the change at {} comes after that at {}", change.0.at, last.at);
            context.problems.push(Problem::of(at_node, message).allowed("changes in the order of time"));
        }
        changes.push(change);
    }
    changes
}

/// A change in both directions, and where its time stands.
fn read_change<'n>(
    node: &'n Node,
    link: &TableReader<'_>,
    context: &mut Context<'_>,
) -> Option<(Both, &'n Node)> {
    let table = TableReader::open(node, &CHANGE, context)?;
    if !node.entries().iter().any(|entry| entry.key != "at") {
        let problem = Problem::of(node, "this changes nothing");
        context.problems.push(problem.allowed("a `rate`, a `delay` or a `loss` together with `at`"));
    }
    for (rate, trace) in [("rate", "trace"), ("rate_backward", "trace_backward")] {
        if let (Some(node), Some(_)) = (table.node(rate), link.node(trace)) {
            let message = format!("the link has no `{rate}`, since `{trace}` says when it delivers");
            let problem = Problem::of(node, message);
            context.problems.push(problem.allowed(format!("a change without `{rate}`, or no `{trace}`")));
        }
    }
    let at: Option<Duration> = table.get("at", context);
    let (rate, own_rate): (Option<Rate>, Option<Rate>) =
        (table.get("rate", context), table.get("rate_backward", context));
    let (delay, own_delay): (Option<Duration>, Option<Duration>) =
        (table.get("delay", context), table.get("delay_backward", context));
    let loss: Option<Loss> = table.get("loss", context);
    let (loss, loss_backward) = match loss {
        Some(Loss { forward, backward }) => {
            (Some((forward.model, forward.place)), Some((backward.model, backward.place)))
        }
        None => (None, None),
    };
    let at = Time::ZERO + at?;
    let forward = LinkChange { at, rate, delay, loss };
    // What holds for both directions does not reach one that a trace drives.
    let rate = own_rate.or(rate).filter(|_| link.node("trace_backward").is_none());
    let backward = LinkChange { at, rate, delay: own_delay.or(delay), loss: loss_backward };
    Some(((forward, backward), table.node("at")?))
}

impl Read for Vec<Outage> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<Outage>> {
        let mut outages: Vec<Outage> = Vec::new();
        for item in list(node, kind, context)? {
            let (start, end) = <(Duration, Duration)>::read(item, &FieldKind::Range, context)?;
            let (start, end) = (Time::ZERO + start, Time::ZERO + end);
            let reason = if start == end {
                "it ends when it begins"
            } else if outages.last().is_some_and(|last| start <= last.end) {
                "it does not begin after the end of the one before"
            } else {
                outages.push(Outage { start, end });
                continue;
            };
            context.wrong(item, kind, Some(reason.to_owned()));
            return None;
        }
        Some(outages)
    }
}
