//! Reads what flows have to send: distributions, and the demand that they make up.

use layercast_core::units::{Duration, Size};

use super::compound::{check_keys, needed};
use super::context::Context;
use super::table::TableReader;
use super::values::{Read, parsed};
use crate::scenario::field::{FieldKind, TableSpec};
use crate::scenario::plan::{DemandPlan, Distribution, Traffic};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::{UDP, UDP_KEYS};
use crate::scenario::tables::{DistributionKind, SIZE_DISTRIBUTION, TIME_DISTRIBUTION};
use crate::scenario::tree::{Node, Value};

/// The packets of a stream whose table does not say how large they are.
const UDP_PACKET_SIZE: Size = Size::from_bytes(1000);

impl Read for Distribution {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Distribution> {
        let sizes = matches!(kind, FieldKind::SizeDistribution);
        if !matches!(node.value, Value::Table(_)) {
            let size =
                |context: &mut Context<'_>| parsed(node, kind, context, |size: &Size| size.as_bytes() > 0);
            let fixed = if sizes {
                f64::from(size(context)?.as_bytes())
            } else {
                parsed(node, kind, context, |span: &Duration| !span.is_zero())?.as_secs_f64()
            };
            return Some(Distribution::Fixed(fixed));
        }
        read_distribution(node, if sizes { &SIZE_DISTRIBUTION } else { &TIME_DISTRIBUTION }, sizes, context)
    }
}

fn read_distribution(
    node: &Node,
    spec: &'static TableSpec,
    sizes: bool,
    context: &mut Context<'_>,
) -> Option<Distribution> {
    let table = TableReader::open(node, spec, context)?;
    let kind: DistributionKind = table.choice("distribution", context)?;
    let own: &[&str] = match kind {
        DistributionKind::Uniform => &["low", "high"],
        DistributionKind::Pareto | DistributionKind::Weibull => &["mean", "shape"],
        DistributionKind::LogNormal => &["mean", "sigma"],
        DistributionKind::Exponential => &["mean"],
    };
    check_keys(node, kind.name(), &["distribution"], own, context);
    let quantity = |key: &str, context: &mut Context<'_>| {
        if sizes {
            needed::<Size>(&table, key, context).map(|size| f64::from(size.as_bytes()))
        } else {
            needed::<Duration>(&table, key, context).map(Duration::as_secs_f64)
        }
    };
    match kind {
        DistributionKind::Uniform => {
            let (low, high) = (quantity("low", context), quantity("high", context));
            let (low, high) = (low?, high?);
            if low > high {
                let at = table.node("high").unwrap_or(node);
                let problem = Problem::of(at, "the range ends before it begins");
                context.problems.push(problem.allowed("`high` above `low`"));
                return None;
            }
            Some(Distribution::Uniform { low, high })
        }
        DistributionKind::Exponential => Some(Distribution::Exponential { mean: quantity("mean", context)? }),
        DistributionKind::LogNormal => {
            let (mean, sigma) = (quantity("mean", context), needed(&table, "sigma", context));
            Some(Distribution::LogNormal { mean: mean?, sigma: sigma? })
        }
        DistributionKind::Pareto => {
            let mean = quantity("mean", context);
            let shape: f64 = needed(&table, "shape", context)?;
            if shape <= 1.0 {
                let at = table.node("shape").unwrap_or(node);
                let problem = Problem::of(at, format!("a `pareto` of shape {shape} has no mean"));
                context.problems.push(problem.allowed("a number above 1"));
                return None;
            }
            Some(Distribution::Pareto { mean: mean?, shape })
        }
        DistributionKind::Weibull => {
            let (mean, shape) = (quantity("mean", context), needed(&table, "shape", context));
            Some(Distribution::Weibull { mean: mean?, shape: shape? })
        }
    }
}

/// What the flows of a table have to send. A wrong combination is an error.
pub(super) fn read_demand(table: &TableReader<'_>, context: &mut Context<'_>) -> DemandPlan {
    let drawn = |key: &str, context: &mut Context<'_>| -> Option<Distribution> { table.get(key, context) };
    let (size, gap, arrivals) = (drawn("size", context), drawn("gap", context), drawn("arrivals", context));
    let pauses = read_pauses(table, context);
    if let Some(rate) = table.node("rate") {
        let protocol = table.node("protocol").and_then(Node::text).unwrap_or_default();
        let problem = Problem::of(rate, format!("`{protocol}` does not use `rate`"));
        context.problems.push(problem.allowed("`rate` with `protocol = \"udp\"`"));
    }
    let has = |key: &str| table.node(key).is_some();
    let reject = |key: &str, message: &str, allowed: &str, context: &mut Context<'_>| {
        if let Some(at) = table.node(key) {
            context.problems.push(Problem::of(at, message.to_owned()).allowed(allowed.to_owned()));
        }
    };
    if has("size") && has("gap") == has("arrivals") {
        reject(
            "size",
            "transfers need one rule for their starts",
            "`size` with either `gap` or `arrivals`",
            context,
        );
    }
    for key in ["gap", "arrivals"].into_iter().filter(|_| !has("size")) {
        reject(key, "there are no transfers whose starts this could set", "it with `size`", context);
    }
    if has("size") {
        reject("on", "flows that make transfers do not pause", "`on` and `off` without `size`", context);
    }
    match (size, gap, arrivals, pauses) {
        (Some(size), Some(gap), _, _) => DemandPlan::Transfers { size, gap },
        (Some(size), _, Some(gap), _) => DemandPlan::Arrivals { size, gap },
        (_, _, _, Some((on, off))) => DemandPlan::OnOff { on, off },
        _ => DemandPlan::Endless,
    }
}

/// How long flows send and pause.
pub(super) fn read_pauses(
    table: &TableReader<'_>,
    context: &mut Context<'_>,
) -> Option<(Distribution, Distribution)> {
    let (on, off) = (table.get("on", context), table.get("off", context));
    for (key, other) in [("on", "off"), ("off", "on")] {
        if let (Some(at), None) = (table.node(key), table.node(other)) {
            context.problems.push(Problem::of(at, "`on` and `off` need each other").allowed("both or none"));
        }
    }
    on.zip(off)
}

/// A constant rate. Other keys than those of `udp`, among `entries` as the file gives them, are errors.
pub(super) fn read_udp(
    table: &TableReader<'_>,
    entries: &Node,
    context: &mut Context<'_>,
) -> Option<Traffic> {
    check_keys(entries, UDP, &UDP_KEYS, &[], context);
    let rate = needed(table, "rate", context);
    // The defaults of the table are those of TCP's profiles.
    let packet_size = match table.node("packet_size") {
        Some(_) => table.get("packet_size", context),
        None => Some(UDP_PACKET_SIZE),
    };
    let pauses = read_pauses(table, context);
    Some(Traffic::Udp { rate: rate?, packet_size: packet_size?, pauses })
}
