//! Reads the queues of links.

use layercast_core::units::Size;
use layercast_simulator::{
    CoDelConfig, DualPi2Config, FairConfig, FqCoDelConfig, PieConfig, RedConfig, RedVictim, RedWeight,
    RemConfig,
};

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
        "fq-codel" => QueuePlan::FqCoDel(fq_codel(&keys, context)),
        "dualpi2" => QueuePlan::DualPi2(dualpi2(&keys, context)),
        "fair" => QueuePlan::Fair(fair(&keys, context)),
        _ => drop_tail(&keys, context),
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
            "ecn",
            "mark_probability",
            "use_mark_probability",
        ],
        "codel" => &["target", "interval", "max_packet", "ecn"],
        "rem" => {
            &["gamma", "phi", "input_weight", "target_packets", "update", "mean_packet", "byte_mode", "ecn"]
        }
        "pie" => &["target", "update", "max_burst", "alpha", "beta", "mean_packet", "ecn"],
        "fq-codel" => &["target", "interval", "max_packet", "quantum", "queues", "ecn"],
        "dualpi2" => {
            &["target", "update", "alpha", "beta", "coupling", "ramp_start", "ramp_range", "low_delay_weight"]
        }
        "fair" => &["quantum"],
        _ => &["ns2_compat", "drop_front"],
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

fn drop_tail(keys: &Keys<'_>, context: &mut Context<'_>) -> QueuePlan {
    let limit = keys.or("limit", QueueLimit::Unlimited, context);
    let ns2_compat = keys.or("ns2_compat", true, context);
    if keys.or("drop_front", false, context) {
        QueuePlan::DropFront { limit, ns2_compat }
    } else {
        QueuePlan::DropTail { limit, ns2_compat }
    }
}

fn red(node: &Node, keys: &Keys<'_>, context: &mut Context<'_>) -> RedConfig {
    let profile: Option<String> = keys.maybe("profile", context);
    let usual = if profile.as_deref() == Some("classic") { RedConfig::classic() } else { RedConfig::ns2() };
    let victim: Option<String> = keys.maybe("victim", context);
    let mark_probability: Option<f64> = keys.maybe("mark_probability", context);
    let use_mark_probability = keys.or("use_mark_probability", true, context);
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
        ecn: keys.or("ecn", usual.ecn, context),
        mark_probability: mark_probability.filter(|_| use_mark_probability),
        victim: match victim.as_deref() {
            Some("random") => RedVictim::Random,
            Some("front") => RedVictim::Front,
            _ => RedVictim::Last,
        },
    };
    let mark_key = keys.table.node("mark_probability").or(keys.table.node("use_mark_probability"));
    if let Some(at) = mark_key.filter(|_| !config.ecn) {
        let problem = Problem::of(at, "this queue does not mark, so it has no use for this");
        context.problems.push(problem.allowed("it beside `ecn = true`"));
    }
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
        ecn: keys.or("ecn", usual.ecn, context),
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
        ecn: keys.or("ecn", usual.ecn, context),
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
        ecn: keys.or("ecn", usual.ecn, context),
    }
}

fn fq_codel(keys: &Keys<'_>, context: &mut Context<'_>) -> FqCoDelConfig {
    let usual = FqCoDelConfig::default();
    let max_packet: Option<Size> = keys.maybe("max_packet", context);
    FqCoDelConfig {
        limit: keys.or("limit", usual.limit, context),
        queues: keys.or("queues", usual.queues, context),
        quantum: keys.or("quantum", usual.quantum, context),
        target: keys.or("target", usual.target, context),
        interval: keys.or("interval", usual.interval, context),
        max_packet_bytes: max_packet.map_or(usual.max_packet_bytes, Size::as_bytes),
        ecn: keys.or("ecn", usual.ecn, context),
    }
}

fn dualpi2(keys: &Keys<'_>, context: &mut Context<'_>) -> DualPi2Config {
    let usual = DualPi2Config::default();
    DualPi2Config {
        limit: keys.maybe("limit", context),
        target: keys.or("target", usual.target, context),
        update: keys.or("update", usual.update, context),
        alpha: keys.or("alpha", usual.alpha, context),
        beta: keys.or("beta", usual.beta, context),
        coupling: keys.or("coupling", usual.coupling, context),
        ramp_start: keys.or("ramp_start", usual.ramp_start, context),
        ramp_range: keys.or("ramp_range", usual.ramp_range, context),
        low_delay_weight: keys.or("low_delay_weight", usual.low_delay_weight, context),
    }
}

fn fair(keys: &Keys<'_>, context: &mut Context<'_>) -> FairConfig {
    let usual = FairConfig::default();
    FairConfig {
        limit: keys.or("limit", usual.limit, context),
        quantum: keys.or("quantum", usual.quantum, context),
    }
}
