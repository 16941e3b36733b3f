//! Reads which routers of a session take part.

use layercast_core::units::{Duration, Time};

use super::context::Context;
use super::table::TableReader;
use super::topology::Topology;
use super::values::Named;
use crate::scenario::field::FieldKind;
use crate::scenario::plan::{RouterFailure, RouterPlan};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::ProtocolPlan;

/// Reads the routers of a session of `protocol`.
pub(super) fn read(
    table: &TableReader<'_>,
    protocol: Option<&ProtocolPlan>,
    topology: &Topology,
    context: &mut Context<'_>,
) -> RouterPlan {
    if let Some(protocol) = protocol.filter(|protocol| !protocol.requirements().has_routers()) {
        let message = format!("routers take no part in \"{}\"", protocol.name());
        let allowed = "a protocol with routers, or no `routers`";
        context.problems.push(Problem::of(table.own(), message).allowed(allowed));
    }
    let named: Vec<Named> = table.get("active", context).unwrap_or_default();
    let find = |names: &[Named], context: &mut Context<'_>| -> Vec<usize> {
        names.iter().filter_map(|name| topology.find(name, context)).collect()
    };
    let active = match named.as_slice() {
        [only] if only.text == "all" => None,
        [only] if only.text == "none" => Some(Vec::new()),
        [only] if table.node("active").is_some_and(|node| node.text().is_some()) => {
            context.wrong(&only.node, &FieldKind::Routers, None);
            None
        }
        names => Some(find(names, context)),
    };
    let fail: Option<Duration> = table.get("fail", context);
    let back: Option<Duration> = table.get("back", context);
    let failing: Option<Vec<Named>> = table.get("failing", context);
    let failing = failing.map(|names| find(&names, context));
    if fail.is_none() {
        for node in ["failing", "back"].into_iter().filter_map(|key| table.node(key)) {
            context.problems.push(Problem::of(node, "no router fails").allowed("`fail` with it, or neither"));
        }
    }
    let Some(fail) = fail else { return RouterPlan { active, failure: None } };
    if let Some(node) = table.node("back").filter(|_| back.is_some_and(|back| back < fail)) {
        let message = format!("they are back before they fail at {fail}");
        context.problems.push(Problem::of(node, message).allowed("a time not before `fail`"));
    }
    let (at, back) = (Time::ZERO + fail, Time::ZERO + back.unwrap_or(fail));
    RouterPlan { active, failure: Some(RouterFailure { at, back, failing }) }
}
