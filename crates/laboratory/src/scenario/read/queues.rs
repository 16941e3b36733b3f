//! Reads the queues of links.

use layercast_protocol::units::Size;
use layercast_simulator::{CoDelConfig, PieConfig, RedConfig, RedVictim, RedWeight, RemConfig};

use super::compound::check_keys;
use super::context::Context;
use super::table::TableReader;
use super::values::Read;
use crate::scenario::plan::{QueueLimit, QueuePlan};
use crate::scenario::problems::Problem;
use crate::scenario::tables::QUEUE;
use crate::scenario::tree::Node;

/// The queue that a table describes; unlimited if there is none.
pub(super) fn read_queue(node: Option<&Node>, context: &mut Context<'_>) -> Option<QueuePlan> {
    let Some(node) = node else { return Some(QueuePlan::default()) };
    let table = TableReader::open(node, &QUEUE, context)?;
    let kind: String = table.get("kind", context)?;
    check_keys(node, &kind, &["kind", "limit"], own_keys(&kind), context);
    let given_wrong = context.problems.len();
    let keys = Keys { table };
    let plan = match kind.as_str() {
        "red" => QueuePlan::Red(red(node, &keys, context)),
        "codel" => QueuePlan::CoDel(codel(&keys, context)),
        "rem" => QueuePlan::Rem(rem(&keys, context)),
        "pie" => QueuePlan::Pie(pie(&keys, context)),
        _ => QueuePlan::DropTail {
            limit: keys.or("limit", QueueLimit::Unlimited, context),
            ns2_compat: keys.or("ns2_compat", true, context),
        },
    };
    (context.problems.len() == given_wrong).then_some(plan)
}

fn own_keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "red" => &[
            "profile",
            "min_threshold",
            "max_threshold",
            "weight",
            "max_probability",
            "gentle",
            "wait",
            "byte_mode",
            "average_bytes",
            "mean_packet",
            "target",
            "adaptive",
            "victim",
        ],
        "codel" => &["target", "interval", "max_packet"],
        "rem" => &["gamma", "phi", "input_weight", "target_packets", "update", "mean_packet", "byte_mode"],
        "pie" => &["target", "update", "max_burst", "alpha", "beta", "mean_packet"],
        _ => &["ns2_compat"],
    }
}

/// A table whose absent keys have defaults of their own.
struct Keys<'t> {
    table: TableReader<'t>,
}

impl Keys<'_> {
    /// The value of a key; a wrong one is told and then stands as the default.
    fn or<T: Read>(&self, key: &str, default: T, context: &mut Context<'_>) -> T {
        self.maybe(key, context).unwrap_or(default)
    }

    fn maybe<T: Read>(&self, key: &str, context: &mut Context<'_>) -> Option<T> {
        self.table.get(key, context)
    }
}

fn red(node: &Node, keys: &Keys<'_>, context: &mut Context<'_>) -> RedConfig {
    let profile: Option<String> = keys.maybe("profile", context);
    let usual = if profile.as_deref() == Some("classic") { RedConfig::classic() } else { RedConfig::ns2() };
    let victim: Option<String> = keys.maybe("victim", context);
    let config = RedConfig {
        limit: keys.maybe("limit", context),
        min_threshold: keys.maybe("min_threshold", context).or(usual.min_threshold),
        max_threshold: keys.maybe("max_threshold", context).or(usual.max_threshold),
        weight: keys.maybe("weight", context).map_or(usual.weight, RedWeight::Fixed),
        max_probability: keys.or("max_probability", usual.max_probability, context),
        gentle: keys.or("gentle", usual.gentle, context),
        wait: keys.or("wait", usual.wait, context),
        byte_mode: keys.or("byte_mode", usual.byte_mode, context),
        average_bytes: keys.or("average_bytes", usual.average_bytes, context),
        mean_packet: keys.or("mean_packet", usual.mean_packet, context),
        target_delay: keys.or("target", usual.target_delay, context),
        adaptive: keys.or("adaptive", usual.adaptive, context),
        victim: match victim.as_deref() {
            Some("random") => RedVictim::Random,
            Some("front") => RedVictim::Front,
            _ => RedVictim::Last,
        },
        ..usual
    };
    // An automatic lower threshold depends on the link, and might pass a given upper one.
    if let Some(max) = config.max_threshold
        && config.min_threshold.is_none_or(|min| max <= min)
    {
        let at = keys.table.node("max_threshold").or(keys.table.node("min_threshold")).unwrap_or(node);
        let problem = Problem::of(at, "the thresholds leave no room between them");
        context.problems.push(problem.allowed("a `min_threshold` and a `max_threshold` above it"));
    }
    config
}

fn codel(keys: &Keys<'_>, context: &mut Context<'_>) -> CoDelConfig {
    let usual = CoDelConfig::default();
    let max_packet: Option<Size> = keys.maybe("max_packet", context);
    CoDelConfig {
        limit: keys.or("limit", usual.limit, context),
        target: keys.or("target", usual.target, context),
        interval: keys.or("interval", usual.interval, context),
        max_packet_bytes: max_packet.map_or(usual.max_packet_bytes, Size::as_bytes),
        ..usual
    }
}

fn rem(keys: &Keys<'_>, context: &mut Context<'_>) -> RemConfig {
    let usual = RemConfig::default();
    RemConfig {
        limit: keys.or("limit", usual.limit, context),
        gamma: keys.or("gamma", usual.gamma, context),
        phi: keys.or("phi", usual.phi, context),
        input_weight: keys.or("input_weight", usual.input_weight, context),
        target_packets: keys.or("target_packets", usual.target_packets, context),
        update: keys.or("update", usual.update, context),
        mean_packet: keys.or("mean_packet", usual.mean_packet, context),
        byte_mode: keys.or("byte_mode", usual.byte_mode, context),
        ..usual
    }
}

fn pie(keys: &Keys<'_>, context: &mut Context<'_>) -> PieConfig {
    let usual = PieConfig::default();
    PieConfig {
        limit: keys.or("limit", usual.limit, context),
        target: keys.or("target", usual.target, context),
        update: keys.or("update", usual.update, context),
        max_burst: keys.or("max_burst", usual.max_burst, context),
        alpha: keys.or("alpha", usual.alpha, context),
        beta: keys.or("beta", usual.beta, context),
        mean_packet: keys.or("mean_packet", usual.mean_packet, context),
        ..usual
    }
}
