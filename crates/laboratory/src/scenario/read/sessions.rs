//! Reads sessions: their receivers, layers and options.

use layercast_core::layers::{LayerTable, Phases};
use layercast_core::session::SessionPlan as Session;
use layercast_core::units::{Duration, Rate, Size};

use super::context::Context;
use super::defaults::merge;
use super::flows::{Timing, place, read_start};
use super::table::TableReader;
use super::topology::Topology;
use super::values::Named;
use super::{layers, limits, objects, options, routers};
use crate::scenario::field::{FieldKind, quoted_options};
use crate::scenario::nearest::nearest;
use crate::scenario::plan::{Draw, SessionPlan};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::ProtocolPlan;
use crate::scenario::renamed;
use crate::scenario::tables::{LAYERS, ROUTERS, SESSION};
use crate::scenario::tree::{Entry, Node, Value};

/// What stands for a latency that could not be read; the scenario is refused then.
const NO_TIME: Draw<Duration> = Draw::Fixed(Duration::ZERO);

/// Reads one session. A mistake is reported, and a plain value stands in for it.
pub(super) fn read(
    entry: &Entry,
    defaults: Option<&Node>,
    topology: &Topology,
    timing: Timing,
    context: &mut Context<'_>,
) -> Option<SessionPlan> {
    let node = merge(&entry.node, defaults, &SESSION);
    let table = TableReader::open(&node, &SESSION, context)?;
    let protocol: Option<String> = table.get("protocol", context);
    let mut protocol = protocol.and_then(|name| context.catalogue.named(&name).cloned());
    let source: Option<Named> = table.get("source", context);
    let source = source.and_then(|name| topology.find(&name, context));
    let receivers: Option<Vec<Named>> = table.get("receivers", context);
    let count: Option<u32> = table.get("count", context);
    let count = count.unwrap_or(1) as usize;
    let receivers = place(&entry.key, receivers.unwrap_or_default(), count, source, topology, context);
    if let (Some(protocol), Some(node)) = (&protocol, table.node("receivers")) {
        check_receivers(node, protocol, receivers.len(), context);
    }
    let start = read_start(&table, "start", timing, context);
    let receivers_start =
        table.node("receivers_start").map(|_| read_start(&table, "receivers_start", timing, context));
    let latest = receivers_start.filter(|own| own.high() > start.high()).unwrap_or(start);
    let stop = timing.read_stop(&table, latest, context);
    let layers = table.table("layers", &LAYERS, context).and_then(|layers| layers::read(&layers, context));
    let routers = table
        .table("routers", &ROUTERS, context)
        .map(|routers| routers::read(&routers, protocol.as_ref(), topology, context));
    let relays = read_relays(&table, source, topology, context);
    let mut all_allowed = true;
    if let (Some(protocol), Some(options)) = (&mut protocol, table.node("options")) {
        all_allowed = set_options(options, protocol, context);
    }
    let packet_size: Option<Size> = table.get("packet_size", context);
    limits::check_packet_size(&table, false, context);
    limits::check_packets(&table, protocol.as_ref(), context);
    if let (Some(protocol), Some(layers), Some(size), Some(node)) =
        (&protocol, &layers, packet_size, table.node("layers"))
    {
        // A wrong option is reported where it stands.
        if all_allowed {
            check_plan(node, protocol, layers, size, context);
        }
    }
    let ecn: bool = table.get("ecn", context).unwrap_or_default();
    let is_final = all_allowed && !receivers.is_empty() && !context.is_outline;
    if let Some(protocol) = protocol.as_ref().filter(|_| ecn && is_final) {
        limits::check_marks(&table, protocol, context);
    }
    let object = objects::read(&table, packet_size, context);
    Some(SessionPlan {
        name: entry.key.clone(),
        protocol: protocol.or_else(|| context.catalogue.stand_in())?,
        source: source.unwrap_or_default(),
        receivers,
        start,
        stop,
        receivers_start,
        layers: layers.or_else(stand_in_layers)?,
        packet_size: packet_size.unwrap_or_default(),
        join_latency: table.get("join_latency", context).unwrap_or(NO_TIME),
        leave_latency: table.get("leave_latency", context).unwrap_or(NO_TIME),
        ecn,
        packets: table.get("packets", context),
        object,
        routers: routers.unwrap_or_default(),
        relays,
    })
}

/// The nodes where relays run.
fn read_relays(
    table: &TableReader<'_>,
    source: Option<usize>,
    topology: &Topology,
    context: &mut Context<'_>,
) -> Vec<usize> {
    let named: Vec<Named> = table.get("relays", context).unwrap_or_default();
    let mut relays = Vec::new();
    for name in &named {
        let Some(node) = topology.find(name, context) else { continue };
        let message = if Some(node) == source {
            format!("`{}` is the node of the source, which serves relays itself", name.text)
        } else if relays.contains(&node) {
            format!("`{}` has two relays of the session", name.text)
        } else {
            topology.check_way(source, Some(node), name, context);
            relays.push(node);
            continue;
        };
        context.problems.push(Problem::of(&name.node, message).allowed("other nodes, each once"));
    }
    relays
}

/// What stands for layers that could not be read; the scenario is rejected then.
fn stand_in_layers() -> Option<LayerTable> {
    LayerTable::equal(Rate::from_kbps(1.0), 1).ok()
}

/// Some protocols have one receiver only.
fn check_receivers(node: &Node, protocol: &ProtocolPlan, count: usize, context: &mut Context<'_>) {
    let most = protocol.requirements().most_receivers();
    let Some(most) = most.filter(|&most| count > most) else { return };
    let message = format!("a session of \"{}\" cannot have {count} receivers", protocol.name());
    let plural = if most == 1 { "" } else { "s" };
    let allowed = format!("at most {most} receiver{plural}; write a session for each of the others");
    context.problems.push(Problem::of(node, message).allowed(allowed));
}

/// Some protocols cannot carry any layers, or packets of any size.
fn check_plan(
    node: &Node,
    protocol: &ProtocolPlan,
    layers: &LayerTable,
    packet_size: Size,
    context: &mut Context<'_>,
) {
    if layers.phases() != Phases::default() && !protocol.requirements().has_phases() {
        let message = format!("`phases` has no effect: \"{}\" has no clock for each layer", protocol.name());
        context.problems.push(Problem::of(node, message).allowed("no `phases`"));
    }
    let plan = Session { layers: layers.clone(), packet_size };
    if let Err(error) = protocol.requirements().check(&plan) {
        let message = format!("\"{}\" cannot run so: {error}", protocol.name());
        context.problems.push(Problem::of(node, message));
    }
}

/// Sets the options of a protocol. Returns whether all are allowed.
fn set_options(node: &Node, protocol: &mut ProtocolPlan, context: &mut Context<'_>) -> bool {
    let Value::Table(entries) = &node.value else {
        context.wrong(node, &FieldKind::Options, None);
        return false;
    };
    let specs = protocol.option_specs();
    let mut all_known = true;
    for entry in entries.iter().filter(|entry| specs.iter().all(|spec| spec.name != entry.key)) {
        all_known = false;
        let (at, path, key) = (entry.key_at, &entry.node.path, &entry.key);
        let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
        context.problems.push(match renamed::renamed(key, names.iter().copied()) {
            Some(new) => renamed::problem(at, path, key, new),
            None => unknown_option(entry, protocol.name(), &names),
        });
    }
    options::set_options(node, &specs, |name, value| protocol.set(name, value), context) && all_known
}

fn unknown_option(entry: &Entry, protocol: &str, names: &[&str]) -> Problem {
    let message = format!("the protocol \"{protocol}\" has no option `{}`", entry.key);
    Problem::at(entry.key_at, &entry.node.path, message)
        .allowed(quoted_options(std::iter::empty(), protocol, names))
        .nearest(nearest(&entry.key, names.iter().copied()))
}
