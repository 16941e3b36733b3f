//! Values that may be plain or a small table: draws and losses.

use layercast_protocol::units::Span;

use super::context::Context;
use super::table::TableReader;
use super::values::{Read, number, parsed};
use crate::scenario::field::{FieldKind, LOSS, UNIFORM};
use crate::scenario::plan::Draw;
use crate::scenario::tree::{Node, Value};

/// The loss of a link in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    pub(super) forward: f64,
    pub(super) backward: f64,
}

impl Read for Draw<Span> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Draw<Span>> {
        if !matches!(node.value, Value::Table(_)) {
            return parsed(node, kind, context, |_: &Span| true).map(Draw::Fixed);
        }
        let table = TableReader::open(node, &UNIFORM, context)?;
        table.get::<(Span, Span)>("uniform", context).map(|(low, high)| Draw::Uniform { low, high })
    }
}

impl Read for Loss {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Loss> {
        if !matches!(node.value, Value::Table(_)) {
            let forward = number(node, kind, context, |loss| (0.0..1.0).contains(&loss))?;
            return Some(Loss { forward, backward: 0.0 });
        }
        let table = TableReader::open(node, &LOSS, context)?;
        let (forward, backward) = (table.get("forward", context), table.get("backward", context));
        Some(Loss { forward: forward?, backward: backward? })
    }
}
