//! Reads sessions: their receivers, layers and options.

use layercast_protocol::layers::LayerTable;
use layercast_protocol::option::{Kind, OptionError, OptionSpec};
use layercast_protocol::session::SessionPlan as Session;
use layercast_protocol::units::{Rate, Size, Span};

use super::context::Context;
use super::defaults::merge;
use super::flows::{Timing, place, read_start};
use super::table::TableReader;
use super::topology::Topology;
use super::values::Named;
use crate::scenario::field::{FieldKind, quoted_options};
use crate::scenario::nearest::nearest;
use crate::scenario::plan::{Draw, LayersPlan, OptionValue, SessionPlan};
use crate::scenario::problems::Problem;
use crate::scenario::tables::{LAYERS, SESSION};
use crate::scenario::tree::{Entry, Node, Value};

/// What stands for a latency that could not be read; the scenario is refused then.
const NO_TIME: Draw<Span> = Draw::Fixed(Span::ZERO);

/// Reads one session. What is wrong is told and stands in for something plain.
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
    let source: Option<Named> = table.get("source", context);
    let source = source.and_then(|name| topology.find(&name, context));
    let receivers: Option<Vec<Named>> = table.get("receivers", context);
    let receivers = place(&entry.key, receivers.unwrap_or_default(), 1, source, topology, context);
    if let (Some(protocol), Some(node)) = (&protocol, table.node("receivers")) {
        check_receivers(node, protocol, receivers.len(), context);
    }
    let start = read_start(&table, "start", timing, context);
    let receivers_start =
        table.node("receivers_start").map(|_| read_start(&table, "receivers_start", timing, context));
    let latest = receivers_start.filter(|own| own.high() > start.high()).unwrap_or(start);
    let stop = timing.read_stop(&table, latest, context);
    let layers = table.table("layers", &LAYERS, context).and_then(|layers| read_layers(&layers, context));
    let options = match (&protocol, table.node("options")) {
        (Some(protocol), Some(options)) => read_options(options, protocol, context),
        _ => Vec::new(),
    };
    let packet_size: Option<Size> = table.get("packet_size", context);
    if let (Some(protocol), Some(layers), Some(size), Some(node)) =
        (&protocol, &layers, packet_size, table.node("layers"))
    {
        check_plan(node, protocol, layers, size, &options, context);
    }
    Some(SessionPlan {
        name: entry.key.clone(),
        protocol: protocol.unwrap_or_default(),
        source: source.unwrap_or_default(),
        receivers,
        start,
        stop,
        receivers_start,
        layers: layers.unwrap_or(LayersPlan::Explicit { rates: Vec::new() }),
        packet_size: packet_size.unwrap_or_default(),
        join_latency: table.get("join_latency", context).unwrap_or(NO_TIME),
        leave_latency: table.get("leave_latency", context).unwrap_or(NO_TIME),
        ecn: table.get("ecn", context).unwrap_or_default(),
        options,
    })
}

/// Some protocols know one receiver only.
fn check_receivers(node: &Node, protocol: &str, count: usize, context: &mut Context<'_>) {
    let Some(most) = context.catalogue.most_receivers(protocol).filter(|&most| count > most) else { return };
    let message = format!("a session of \"{protocol}\" cannot have {count} receivers");
    let plural = if most == 1 { "" } else { "s" };
    let allowed = format!("at most {most} receiver{plural}; write a session for each of the others");
    context.problems.push(Problem::of(node, message).allowed(allowed));
}

/// Some protocols cannot carry any layers, or packets of any size.
fn check_plan(
    node: &Node,
    protocol: &str,
    layers: &LayersPlan,
    packet_size: Size,
    options: &[(String, OptionValue)],
    context: &mut Context<'_>,
) {
    let Ok(layers) = LayerTable::from_cumulative(layers.cumulative()) else { return };
    let plan = Session { layers, packet_size };
    if let Err(error) = context.catalogue.check_plan(protocol, options, &plan) {
        let message = format!("\"{protocol}\" cannot run so: {error}");
        context.problems.push(Problem::of(node, message));
    }
}

fn read_layers(table: &TableReader<'_>, context: &mut Context<'_>) -> Option<LayersPlan> {
    let scheme: String = table.get("scheme", context)?;
    let needed: &[&str] = match scheme.as_str() {
        "multiplicative" => &["base", "factor", "count"],
        "explicit" => &["rates"],
        _ => &["base", "count"],
    };
    for key in LAYERS.keys().filter(|key| *key != "scheme") {
        match (table.node(key), needed.contains(&key)) {
            (None, true) => table.missing(key, context),
            (Some(node), false) => {
                let message = format!("the scheme \"{scheme}\" does not use `{key}`");
                let allowed = format!("it uses {}", needed.join(", "));
                context.problems.push(Problem::of(node, message).allowed(allowed));
            }
            _ => {}
        }
    }
    if scheme == "explicit" {
        return table.get("rates", context).map(|rates| LayersPlan::Explicit { rates });
    }
    let (base, count) = (table.get("base", context), table.get("count", context));
    let factor = if scheme == "multiplicative" { table.get("factor", context) } else { Some(2.0) };
    let (base, count, factor): (Rate, u32, f64) = (base?, count?, factor?);
    let plan = match scheme.as_str() {
        "multiplicative" => LayersPlan::Multiplicative { base, factor, count },
        "equal" => LayersPlan::Equal { base, count },
        _ => LayersPlan::Doubling { base, count },
    };
    // A petabit per second: whoever asks for more has the count of layers wrong.
    const FASTEST_BPS: f64 = 1e15;
    let top = plan.cumulative().last().map_or(0.0, |rate| rate.as_bps());
    if top > FASTEST_BPS
        && let Some(node) = table.node("count")
    {
        let problem = Problem::of(node, format!("with {count} layers the highest has {top:.3e} bit/s"));
        context.problems.push(problem.allowed("layers of at most 1000000 Gbit/s"));
        return None;
    }
    Some(plan)
}

fn read_options(node: &Node, protocol: &str, context: &mut Context<'_>) -> Vec<(String, OptionValue)> {
    let Value::Table(entries) = &node.value else {
        context.wrong(node, &FieldKind::Options, None);
        return Vec::new();
    };
    let specs = context.catalogue.options(protocol);
    entries.iter().filter_map(|entry| read_option(entry, protocol, &specs, context)).collect()
}

fn read_option(
    entry: &Entry,
    protocol: &str,
    specs: &[OptionSpec],
    context: &mut Context<'_>,
) -> Option<(String, OptionValue)> {
    let spec = specs.iter().find(|spec| spec.name == entry.key);
    let value = match &entry.node.value {
        Value::Text(text) => OptionValue::Text(text.clone()),
        Value::Integer(integer) => OptionValue::Integer(*integer),
        Value::Number(number) => OptionValue::Number(*number),
        Value::Flag(flag) => OptionValue::Flag(*flag),
        Value::List(_) | Value::Table(_) | Value::Date => {
            let problem = Problem::of(&entry.node, "an option is a number, true or false, or text");
            context.problems.push(problem.allowed(spec.map_or(String::new(), allowed)));
            return None;
        }
    };
    let problem = match context.catalogue.check(protocol, &entry.key, value.raw()) {
        Ok(()) => return Some((entry.key.clone(), value)),
        Err(OptionError::Unknown) => {
            let message = format!("the protocol \"{protocol}\" has no option `{}`", entry.key);
            let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            Problem::at(entry.key_at, &entry.node.path, message)
                .allowed(quoted_options(std::iter::empty(), protocol, &names))
                .nearest(nearest(&entry.key, names.iter().copied()))
        }
        Err(OptionError::Value(reason)) => {
            let choices: &[&str] = match spec.map(|spec| spec.kind) {
                Some(Kind::Choice(names) | Kind::OwnChoice(names)) => names,
                _ => &[],
            };
            let nearest = entry.node.text().and_then(|text| nearest(text, choices.iter().copied()));
            let written = context.problems.written(&entry.node);
            // The allowed values follow on a line of their own.
            let message = match spec.is_some_and(|spec| reason == format!("expected {}", spec.kind)) {
                true => format!("{written} is not allowed"),
                false => format!("{written} is not allowed: {reason}"),
            };
            Problem::of(&entry.node, message).allowed(spec.map_or(String::new(), allowed)).nearest(nearest)
        }
    };
    context.problems.push(problem);
    None
}

/// What an option takes, in words.
fn allowed(spec: &OptionSpec) -> String {
    match &spec.bounds {
        Some((low, high)) => format!("{} from {low} to {high}", spec.kind),
        None => spec.kind.to_string(),
    }
}
