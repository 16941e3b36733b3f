//! Works `[defaults]` into the tables that they hold for.

use layercast_core::units::{DataSize, Duration, Rate, Size};

use super::compound::{DirectionLoss, Loss};
use super::context::Context;
use super::options::set_option;
use super::table::TableReader;
use super::values::{Named, Read, list};
use crate::scenario::field::{Field, FieldKind, LOSS, OptionOf, TableSpec};
use crate::scenario::plan::{Distribution, Draw, Outage};
use crate::scenario::tree::{Entry, Node, Value};

/// A table with what it does not say taken from its defaults. Tables within are merged key by key
/// too, unless they make another choice.
pub(super) fn merge(own: &Node, defaults: Option<&Node>, spec: &'static TableSpec) -> Node {
    let mut merged = own.clone();
    let (Value::Table(entries), Some(defaults)) = (&mut merged.value, defaults) else { return merged };
    for field in spec.fields() {
        let Some(default) = defaults.entry(field.key) else { continue };
        match entries.iter_mut().find(|entry| entry.key == field.key) {
            None => entries.push(default.clone()),
            Some(entry) => entry.node = merge_value(&entry.node, &default.node, &field.kind),
        }
    }
    merged
}

fn merge_value(own: &Node, default: &Node, kind: &FieldKind) -> Node {
    match kind {
        FieldKind::Table(spec) => {
            let unstated = spec.choice.and_then(|key| spec.field(key)).and_then(Field::default);
            let (chosen, usual) = (choice(own, spec), choice(default, spec).or(unstated));
            let differs = chosen.is_some() && usual.is_some() && chosen != usual;
            if differs { own.clone() } else { merge(own, Some(default), spec) }
        }
        FieldKind::Loss => match default.value {
            Value::Table(_) => merge(own, Some(default), &LOSS),
            // A plain number is the forward direction.
            _ if own.get("forward").is_none() => with_entry(own, "forward", default),
            _ => own.clone(),
        },
        FieldKind::Options => default.entries().iter().fold(own.clone(), |merged, entry| {
            if merged.get(&entry.key).is_some() {
                return merged;
            }
            with_entry(&merged, &entry.key, &entry.node)
        }),
        _ => own.clone(),
    }
}

/// What a table chose, if its kind has a choice.
fn choice<'n>(node: &'n Node, spec: &TableSpec) -> Option<&'n str> {
    spec.choice.and_then(|key| node.get(key)).and_then(Node::text)
}

/// A table with one entry more; any other value as it is.
fn with_entry(own: &Node, key: &str, node: &Node) -> Node {
    let mut own = own.clone();
    if let Value::Table(entries) = &mut own.value {
        entries.push(Entry { key: key.to_owned(), key_at: node.at, node: node.clone() });
    }
    own
}

/// Checks all that a table of defaults gives, whether or not anything uses it.
pub(super) fn check_defaults(node: &Node, spec: &'static TableSpec, context: &mut Context<'_>) {
    if TableReader::open(node, spec, context).is_none() {
        return;
    }
    for field in spec.fields() {
        let Some(value) = node.get(field.key) else { continue };
        match field.kind {
            FieldKind::Table(inner) => check_defaults(value, inner, context),
            FieldKind::TableList(inner) => {
                let items = list(value, &field.kind, context).unwrap_or_default();
                items.iter().for_each(|item| check_defaults(item, inner, context));
            }
            _ => check(value, &field.kind, context),
        }
    }
}

/// Checks a value without keeping it.
fn check(node: &Node, kind: &FieldKind, context: &mut Context<'_>) {
    match kind {
        FieldKind::Text | FieldKind::Node | FieldKind::Choice(_) | FieldKind::Protocol => {
            drop(String::read(node, kind, context));
        }
        FieldKind::Seed => drop(u64::read(node, kind, context)),
        FieldKind::Count(..) => drop(u32::read(node, kind, context)),
        FieldKind::Flag => drop(bool::read(node, kind, context)),
        FieldKind::Duration | FieldKind::Period => drop(Duration::read(node, kind, context)),
        FieldKind::Draw => drop(Draw::<Duration>::read(node, kind, context)),
        FieldKind::Rate => drop(Rate::read(node, kind, context)),
        FieldKind::Rates => drop(Vec::<Rate>::read(node, kind, context)),
        FieldKind::Factor
        | FieldKind::Probability
        | FieldKind::Chance
        | FieldKind::Share
        | FieldKind::Positive => drop(f64::read(node, kind, context)),
        FieldKind::DirectionLoss => drop(DirectionLoss::read(node, kind, context)),
        FieldKind::SizeDistribution | FieldKind::TimeDistribution => {
            _ = Distribution::read(node, kind, context);
        }
        FieldKind::Positives => drop(Vec::<f64>::read(node, kind, context)),
        FieldKind::Arrivals => drop(Vec::<u64>::read(node, kind, context)),
        FieldKind::Size => drop(Size::read(node, kind, context)),
        FieldKind::DataSize => drop(DataSize::read(node, kind, context)),
        FieldKind::Loss => drop(Loss::read(node, kind, context)),
        FieldKind::Option(options) => check_option(node, options, context),
        FieldKind::Outages => drop(Vec::<Outage>::read(node, kind, context)),
        FieldKind::Range => drop(<(Duration, Duration)>::read(node, kind, context)),
        FieldKind::Nodes | FieldKind::NodesOrNone | FieldKind::NodeOrNodes | FieldKind::Routers => {
            drop(Vec::<Named>::read(node, kind, context));
        }
        // Options are checked where the protocol is known; the others do not occur in defaults.
        FieldKind::Options
        | FieldKind::Windows
        | FieldKind::Texts
        | FieldKind::TextsOrNone
        | FieldKind::Band
        | FieldKind::Groups
        | FieldKind::Each
        | FieldKind::Templates
        | FieldKind::PaperValue
        | FieldKind::TableList(_)
        | FieldKind::Table(_)
        | FieldKind::Subject
        | FieldKind::Quantities
        | FieldKind::Tables(_) => {}
    }
}

/// Reports a value that no choice of the table takes, as the first of them does.
fn check_option(node: &Node, options: &[OptionOf], context: &mut Context<'_>) {
    let problems = context.problems.len();
    let fits = options.iter().any(|option| set_option(node, &option.spec, option.spec.check, context));
    context.problems.truncate(if fits { problems } else { problems + 1 });
}
