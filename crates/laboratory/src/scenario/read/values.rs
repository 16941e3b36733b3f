//! Reads single values: each type says what it takes and why a value is not one.

use std::fmt::Display;
use std::str::FromStr;

use layercast_core::units::{DataSize, Duration, Rate, Size};

use super::context::Context;
use crate::scenario::field::{FieldKind, quoted};
use crate::scenario::nearest::nearest;
use crate::scenario::quantity::meant;
use crate::scenario::tree::{Node, Value};

/// A type that a value of a scenario file can have.
pub(super) trait Read: Sized {
    /// Reads a value as its key's kind asks; reports what is wrong otherwise.
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Self>;
}

/// A name and the place where it is written.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) text: String,
    pub(super) node: Node,
}

/// Text that a type parses, with a further condition.
pub(super) fn parsed<T: FromStr<Err: Display>>(
    node: &Node,
    kind: &FieldKind,
    context: &mut Context<'_>,
    fits: impl Fn(&T) -> bool,
) -> Option<T> {
    let reason = match node.text().map(T::from_str) {
        Some(Ok(value)) if fits(&value) => return Some(value),
        Some(Err(reason)) => Some(reason.to_string()),
        // A number without a unit is the commonest slip.
        None if matches!(node.value, Value::Integer(_) | Value::Number(_)) => {
            Some(match node.at.source {
                0 => "it needs a unit, in quotes".to_owned(),
                // Where the shell takes quotes away, none are needed.
                _ => "it needs a unit behind the number, with or without a space".to_owned(),
            })
        }
        _ => None,
    };
    let right = |text: &str| text.parse::<T>().is_ok_and(|value| fits(&value));
    let meant = node.text().and_then(|text| meant(text, right));
    context.wrong_value(node, kind, reason, meant);
    None
}

/// A number, with a further condition.
pub(super) fn number(
    node: &Node,
    kind: &FieldKind,
    context: &mut Context<'_>,
    fits: impl Fn(f64) -> bool,
) -> Option<f64> {
    let value = match node.value {
        Value::Integer(integer) => integer as f64,
        Value::Number(number) => number,
        _ => f64::NAN,
    };
    if value.is_finite() && fits(value) {
        return Some(value);
    }
    let right = |text: &str| text.parse().is_ok_and(&fits);
    let meant = node.text().and_then(|text| meant(text, right));
    context.wrong_value(node, kind, None, meant);
    None
}

impl Read for String {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<String> {
        let text = node.text().filter(|text| !text.trim().is_empty());
        let Some(text) = text else {
            context.wrong(node, kind, None);
            return None;
        };
        let names = match kind {
            FieldKind::Choice(names) => names.to_vec(),
            FieldKind::Protocol => context.catalogue.names(),
            _ => return Some(text.to_owned()),
        };
        if names.contains(&text) {
            return Some(text.to_owned());
        }
        let allowed = format!("one of {}", quoted(names.iter().copied()));
        let nearest = nearest(text, names.iter().copied());
        context.wrong_name(node, allowed, nearest);
        None
    }
}

impl Read for u64 {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<u64> {
        if let Value::Integer(integer) = node.value
            && let Ok(value) = u64::try_from(integer)
        {
            return Some(value);
        }
        context.wrong(node, kind, None);
        None
    }
}

impl Read for u32 {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<u32> {
        let (least, most) = match kind {
            FieldKind::Count(least, most) => (*least, *most),
            _ => (0, u32::MAX),
        };
        if let Value::Integer(integer) = node.value
            && let Ok(value) = u32::try_from(integer)
            && (least..=most).contains(&value)
        {
            return Some(value);
        }
        let too_large = matches!(node.value, Value::Integer(integer) if integer > i64::from(u32::MAX));
        let reason = format!("the largest whole number is {}", u32::MAX);
        context.wrong(node, kind, (too_large && most == u32::MAX).then_some(reason));
        None
    }
}

impl Read for bool {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<bool> {
        if let Value::Flag(flag) = node.value {
            return Some(flag);
        }
        context.wrong(node, kind, None);
        None
    }
}

impl Read for f64 {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<f64> {
        match kind {
            FieldKind::Factor => number(node, kind, context, |factor| factor > 1.0),
            FieldKind::Positive => number(node, kind, context, |number| number > 0.0),
            FieldKind::Chance => number(node, kind, context, |chance| (0.0..=1.0).contains(&chance)),
            FieldKind::Share => number(node, kind, context, |share| share > 0.0 && share <= 1.0),
            _ => number(node, kind, context, |loss| (0.0..1.0).contains(&loss)),
        }
    }
}

impl Read for Duration {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Duration> {
        let period = matches!(kind, FieldKind::Period);
        parsed(node, kind, context, |span: &Duration| !(period && span.is_zero()))
    }
}

impl Read for Size {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Size> {
        parsed(node, kind, context, |size: &Size| size.as_bytes() > 0)
    }
}

impl Read for DataSize {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<DataSize> {
        parsed(node, kind, context, |size: &DataSize| size.as_bytes() > 0)
    }
}

impl Read for Vec<Rate> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<Rate>> {
        let items = list(node, kind, context)?;
        let rates: Vec<Option<Rate>> =
            items.iter().map(|item| Rate::read(item, &FieldKind::Rate, context)).collect();
        let rates: Vec<Rate> = rates.into_iter().collect::<Option<_>>()?;
        let falls = rates.windows(2).position(|pair| pair[0].as_bps() >= pair[1].as_bps());
        if let Some(item) = falls.and_then(|at| items.get(at + 1)) {
            context.wrong(item, kind, Some("it is not above the rate before it".to_owned()));
            return None;
        }
        Some(rates)
    }
}

impl Read for Vec<f64> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<f64>> {
        let items = list(node, kind, context)?;
        let numbers: Vec<Option<f64>> =
            items.iter().map(|item| f64::read(item, &FieldKind::Positive, context)).collect();
        numbers.into_iter().collect()
    }
}

/// The items of a list that has at least one.
pub(super) fn list<'n>(node: &'n Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<&'n [Node]> {
    match &node.value {
        Value::List(items) if !items.is_empty() => Some(items),
        _ => {
            context.wrong(node, kind, None);
            None
        }
    }
}

impl Read for Named {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Named> {
        String::read(node, kind, context).map(|text| Named { text, node: node.clone() })
    }
}

impl Read for Vec<Named> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<Named>> {
        if matches!(kind, FieldKind::NodeOrNodes | FieldKind::Routers) && node.text().is_some() {
            return Named::read(node, kind, context).map(|name| vec![name]);
        }
        let items = match (&node.value, kind) {
            (Value::List(items), FieldKind::NodesOrNone) => items.as_slice(),
            _ => list(node, kind, context)?,
        };
        let names: Vec<Option<Named>> =
            items.iter().map(|item| Named::read(item, &FieldKind::Node, context)).collect();
        names.into_iter().collect()
    }
}

impl Read for (Duration, Duration) {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<(Duration, Duration)> {
        let Some([low, high]) = list(node, kind, context)?.get(..).filter(|items| items.len() == 2) else {
            context.wrong(node, kind, None);
            return None;
        };
        let (first, second) = (
            Duration::read(low, &FieldKind::Duration, context),
            Duration::read(high, &FieldKind::Duration, context),
        );
        let (first, second) = (first?, second?);
        if first > second {
            context.wrong(node, kind, Some("the range ends before it begins".to_owned()));
            return None;
        }
        Some((first, second))
    }
}
