//! What a value from a row becomes: that depends on its key.

use layercast_core::option::Kind;

use crate::scenario::field::{FieldKind, OptionOf};
use crate::scenario::tables;
use crate::scenario::tree::{At, Value, parse_override};

/// What stands below a key.
pub(in crate::scenario) fn below(kind: Option<FieldKind>, key: &str) -> Option<FieldKind> {
    match kind? {
        FieldKind::Tables(spec) => Some(FieldKind::Table(spec)),
        FieldKind::Groups => Some(FieldKind::Nodes),
        FieldKind::Options => Some(FieldKind::Options),
        kind => tables::below(&kind)?.field(key).map(|field| field.kind),
    }
}

/// What an item of a list is.
pub(super) fn item_kind(kind: Option<FieldKind>) -> Option<FieldKind> {
    match kind? {
        FieldKind::TableList(spec) => Some(FieldKind::Table(spec)),
        kind @ (FieldKind::Positives | FieldKind::Arrivals) => Some(kind),
        kind if is_number_kind(&kind) => Some(kind),
        _ => None,
    }
}

/// The value that a text means to a key: a number or flag where it takes one, a table or list that is
/// written as TOML, else the text itself. Names that look like numbers stay names.
pub(in crate::scenario) fn coerced(text: &str, kind: Option<FieldKind>, at: At) -> Value {
    let Some(kind) = kind else { return Value::Text(text.to_owned()) };
    let read = parse_override(text, at).value;
    let fits = match &read {
        Value::Integer(_) | Value::Number(_) | Value::Flag(_) => is_number_kind(&kind),
        Value::Table(_) | Value::List(_) => {
            tables::below(&kind).is_some()
                || matches!(
                    kind,
                    FieldKind::NodeOrNodes
                        | FieldKind::Nodes
                        | FieldKind::NodesOrNone
                        | FieldKind::Rates
                        | FieldKind::Outages
                        | FieldKind::Positives
                        | FieldKind::Arrivals
                        | FieldKind::Options
                )
        }
        Value::Text(_) | Value::Date => false,
    };
    if fits { read } else { Value::Text(text.to_owned()) }
}

/// Whether a key takes numbers or flags.
fn is_number_kind(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Seed
        | FieldKind::Count(..)
        | FieldKind::Flag
        | FieldKind::Loss
        | FieldKind::DirectionLoss
        | FieldKind::Factor
        | FieldKind::Probability
        | FieldKind::Chance
        | FieldKind::Share
        | FieldKind::Positive
        | FieldKind::Positives
        | FieldKind::Arrivals
        | FieldKind::Options
        | FieldKind::PaperValue => true,
        FieldKind::Option(options) => options.iter().any(takes_number),
        _ => false,
    }
}

fn takes_number(option: &OptionOf) -> bool {
    let mut kind = option.spec.kind;
    while let Kind::Automatic(inner) = kind {
        kind = *inner;
    }
    matches!(kind, Kind::Number | Kind::Count | Kind::Flag | Kind::Numbers)
}
