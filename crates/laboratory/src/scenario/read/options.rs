//! Sets options by their declarations: those of protocols, queues and TCPs alike.

use layercast_core::option::{Kind, OptionError, OptionSpec, RawValue};
use layercast_core::units::{Duration, Rate, Size};

use super::context::Context;
use crate::scenario::nearest::nearest;
use crate::scenario::problems::Problem;
use crate::scenario::quantity::meant;
use crate::scenario::tree::{Node, Value};

/// Sets the options that a table gives, in the order of their declaration: a profile comes first. Returns
/// whether all are allowed; keys that are not options are left alone.
pub(super) fn set_options(
    table: &Node,
    specs: &[OptionSpec],
    mut set: impl FnMut(&str, RawValue<'_>) -> Result<(), OptionError>,
    context: &mut Context<'_>,
) -> bool {
    let given = specs.iter().filter_map(|spec| Some((spec, table.get(spec.name)?)));
    // All are tried, so that all errors are reported.
    given.filter(|(spec, node)| !set_option(node, spec, |value| set(spec.name, value), context)).count() == 0
}

/// Whether a text is a quantity of this kind.
fn is_quantity(kind: &Kind, text: &str) -> bool {
    match kind {
        Kind::Number => text.parse::<f64>().is_ok(),
        Kind::Duration => text.parse::<Duration>().is_ok(),
        Kind::Rate => text.parse::<Rate>().is_ok(),
        Kind::Size => text.parse::<Size>().is_ok(),
        Kind::Automatic(kind) => is_quantity(kind, text),
        _ => false,
    }
}

/// Sets an option to a value. Returns whether that is allowed.
pub(super) fn set_option(
    node: &Node,
    spec: &OptionSpec,
    set: impl FnOnce(RawValue<'_>) -> Result<(), OptionError>,
    context: &mut Context<'_>,
) -> bool {
    let value = match &node.value {
        Value::Text(text) => RawValue::Text(text),
        Value::Integer(integer) => RawValue::Integer(*integer),
        Value::Number(number) => RawValue::Number(*number),
        Value::Flag(flag) => RawValue::Flag(*flag),
        Value::List(_) | Value::Table(_) | Value::Date => {
            let problem = Problem::of(node, "an option is a number, true or false, or text");
            context.problems.push(problem.allowed(spec.takes()));
            return false;
        }
    };
    let Err(error) = set(value) else { return true };
    let reason = error.to_string();
    let choices: &[&str] = match spec.kind {
        Kind::Choice(names) | Kind::OwnChoice(names) => names,
        _ => &[],
    };
    let nearest = node.text().and_then(|text| {
        nearest(text, choices.iter().copied()).or_else(|| meant(text, |text| is_quantity(&spec.kind, text)))
    });
    // The allowed values follow on a line of their own.
    let reason = reason.strip_prefix(&format!("expected {}", spec.kind)).unwrap_or(&reason);
    let reason = reason.trim_start_matches(": ");
    let bounds = spec.bounds.as_ref().map(|bounds| format!("must be {bounds}"));
    let written = context.problems.written(node);
    // Whole numbers have a largest one that no bound names.
    let too_large =
        matches!((spec.kind, &node.value), (Kind::Count, Value::Integer(n)) if *n > i64::from(u32::MAX));
    let message = match reason.is_empty() || bounds.as_deref() == Some(reason) {
        true if too_large => format!("{written} is not allowed: the largest whole number is {}", u32::MAX),
        true => format!("{written} is not allowed"),
        false => format!("{written} is not allowed: {reason}"),
    };
    context.problems.push(Problem::of(node, message).allowed(spec.takes()).nearest(nearest));
    false
}
