//! Reads unicast flows, and what flows and sessions share: times and places.

use layercast_core::option::OptionSet as _;
use layercast_core::units::{Duration, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};

use super::context::Context;
use super::defaults::merge;
use super::demand::{read_demand, read_udp};
use super::options::set_options;
use super::table::TableReader;
use super::topology::Topology;
use super::values::Named;
use super::{library, limits};
use crate::results::TrafficKind;
use crate::scenario::naming::flow_names;
use crate::scenario::plan::{DemandPlan, Draw, FlowEnd, FlowPlan, Traffic};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::UDP;
use crate::scenario::tables::FLOW;
use crate::scenario::tree::{Entry, Node};

/// The length of the run, if it could be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) duration: Option<Duration>,
}

impl Timing {
    /// When something stops.
    pub(super) fn read_stop(
        self,
        table: &TableReader<'_>,
        start: Draw<Time>,
        context: &mut Context<'_>,
    ) -> Option<Time> {
        let stop: Duration = table.get("stop", context)?;
        let stop = Time::ZERO + stop;
        if let Some(node) = table.node("stop").filter(|_| stop <= start.high()) {
            let message = format!("it stops at {stop}, but may start as late as {}", start.high());
            context.problems.push(Problem::of(node, message).allowed("a time after the start"));
        }
        Some(stop)
    }
}

/// When something starts; the start of the run if that is wrong, which is then reported.
pub(super) fn read_start(
    table: &TableReader<'_>,
    key: &str,
    timing: Timing,
    context: &mut Context<'_>,
) -> Draw<Time> {
    let start: Option<Draw<Duration>> = table.get(key, context);
    let start = start.unwrap_or(Draw::Fixed(Duration::ZERO));
    if let (Some(node), Some(duration)) = (table.node(key), timing.duration)
        && start.high() >= duration
    {
        let message = format!("it may start as late as {}, but the run ends at {duration}", start.high());
        context.problems.push(Problem::of(node, message).allowed("a time before the end of the run"));
    }
    start.map(|span| Time::ZERO + span)
}

/// The places where the flows called `name` end, `count` at each of `nodes`.
pub(super) fn place(
    name: &str,
    nodes: Vec<Named>,
    count: usize,
    source: Option<usize>,
    topology: &Topology,
    context: &mut Context<'_>,
) -> Vec<FlowEnd> {
    let mut places = Vec::new();
    for node in &nodes {
        for index in topology.find_all(node, source, context) {
            topology.check_way(source, index, node, context);
            let text = index.and_then(|index| topology.nodes.get(index)).unwrap_or(&node.text);
            places.extend(std::iter::repeat_n((text.as_str(), index.unwrap_or_default()), count));
        }
    }
    let texts: Vec<&str> = places.iter().map(|(text, _)| *text).collect();
    let named = flow_names(name, &texts).into_iter().zip(&places);
    named.map(|(flow, (_, node))| FlowEnd { flow, node: *node }).collect()
}

/// Reads one entry of `[flows]`. What is wrong is reported and replaced by something plain.
pub(super) fn read(
    entry: &Entry,
    defaults: Option<&Node>,
    topology: &Topology,
    timing: Timing,
    context: &mut Context<'_>,
) -> Option<FlowPlan> {
    let node = merge(&entry.node, defaults, &FLOW);
    let table = TableReader::open(&node, &FLOW, context)?;
    let from: Option<Named> = table.get("from", context);
    let from = from.and_then(|name| topology.find(&name, context));
    let count: Option<u32> = table.get("count", context);
    let to: Option<Vec<Named>> = table.get("to", context);
    let count = count.unwrap_or(1) as usize;
    let to = place(&entry.key, to.unwrap_or_default(), count, from, topology, context);
    let start = read_start(&table, "start", timing, context);
    let (kind, traffic) = read_traffic(&table, &entry.node, context).unzip();
    limits::check_starts(&table, traffic.as_ref(), timing.duration, context);
    // A call has a size of its own.
    if kind.flatten() != Some(TrafficKind::Call) {
        limits::check_packet_size(&table, !matches!(traffic, Some(Traffic::Udp { .. })), context);
    }
    Some(FlowPlan {
        name: entry.key.clone(),
        from: from.unwrap_or_default(),
        to,
        start,
        stop: timing.read_stop(&table, start, context),
        traffic: traffic.unwrap_or_else(|| {
            debug_assert!(!context.problems.is_empty(), "`{}` was not read, but nothing is wrong", entry.key);
            stand_in()
        }),
        kind: kind.flatten(),
    })
}

/// What stands for traffic that could not be read; the scenario is rejected then.
fn stand_in() -> Traffic {
    let options = TcpOptions::new(TcpVariant::Sack, TcpProfile::Linux);
    Traffic::Tcp { options, demand: DemandPlan::Endless }
}

/// What the flows send, and of which kind of the library that is. `entries` are what the file gives for them alone,
/// without defaults.
fn read_traffic(
    table: &TableReader<'_>,
    entries: &Node,
    context: &mut Context<'_>,
) -> Option<(Option<TrafficKind>, Traffic)> {
    if library::is_of_library(table, entries) {
        let read = library::read(table, entries, |context| read_tcp(table, context), context);
        return read.map(|(kind, traffic)| (Some(kind), traffic));
    }
    let protocol = table.node("protocol").and_then(Node::text);
    if protocol == Some(UDP) {
        return read_udp(table, entries, context).map(|traffic| (None, traffic));
    }
    library::check_outside(entries, context);
    let options = read_tcp(table, context);
    // The rest is checked in any case.
    let demand = read_demand(table, context);
    options.map(|options| (None, Traffic::Tcp { options, demand }))
}

/// The TCP of a table.
fn read_tcp(table: &TableReader<'_>, context: &mut Context<'_>) -> Option<TcpOptions> {
    let protocol: Option<String> = table.get("protocol", context);
    let variant = protocol.as_deref().and_then(TcpVariant::named);
    let mut options = TcpOptions::new(variant.unwrap_or(TcpVariant::Sack), TcpProfile::Linux);
    let specs = options.option_specs();
    let fit = set_options(table.own(), &specs, |name, value| options.set_option(name, value), context);
    variant.filter(|_| fit).map(|_| options)
}
