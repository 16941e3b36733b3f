//! Reads the queues of links.

use layercast_simulator::{QueueKind, RedConfig};

use super::compound::check_keys;
use super::context::Context;
use super::options::set_options;
use super::table::TableReader;
use crate::scenario::plan::QueuePlan;
use crate::scenario::problems::Problem;
use crate::scenario::tables::QUEUE;
use crate::scenario::tree::Node;

/// The queue that a table describes: none without a table. Nothing if what it describes is wrong.
#[allow(clippy::option_option)]
pub(super) fn read_queue(node: Option<&Node>, context: &mut Context<'_>) -> Option<Option<QueuePlan>> {
    let Some(node) = node else { return Some(None) };
    let table = TableReader::open(node, &QUEUE, context)?;
    let kind: String = table.get("kind", context)?;
    let mut queue = QueuePlan::new(QueueKind::named(&kind)?);
    let specs = queue.option_specs();
    let own: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let given_wrong = context.problems.len();
    check_keys(node, &kind, &["kind"], &own, context);
    set_options(node, &specs, |name, value| queue.set_option(name, value), context);
    if let QueuePlan::Red(red) = &queue {
        check_red(node, red, context);
    }
    (context.problems.len() == given_wrong).then_some(Some(queue))
}

/// Reports options of RED that do not fit together.
fn check_red(node: &Node, red: &RedConfig, context: &mut Context<'_>) {
    let mark_key = node.get("mark_probability").or(node.get("use_mark_probability"));
    if let Some(at) = mark_key.filter(|_| !red.ecn) {
        let problem = Problem::of(at, "this queue does not mark, so it has no use for this");
        context.problems.push(problem.allowed("it with `ecn = true`"));
    }
    // An automatic lower threshold depends on the link, and might pass a given upper one.
    if let Some(max) = red.max_threshold
        && red.min_threshold.is_none_or(|min| max <= min)
    {
        let at = node.get("max_threshold").or(node.get("min_threshold")).unwrap_or(node);
        let problem = Problem::of(at, "the thresholds leave no room between them");
        context.problems.push(problem.allowed("a `min_threshold` and a `max_threshold` above it"));
    }
}
