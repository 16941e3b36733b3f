//! What every part of the reader needs: the protocols, and a place for what is wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::scenario::field::FieldKind;
use crate::scenario::plan::DeliveryTrace;
use crate::scenario::problems::{Problem, Problems};
use crate::scenario::protocols::Catalogue;
use crate::scenario::tree::{Node, Value};

/// What every part of the reader needs.
pub(super) struct Context<'c> {
    pub(super) catalogue: &'c Catalogue,
    pub(super) problems: Problems,
    /// What the paths of files are relative to.
    pub(super) folder: PathBuf,
    /// The texts of the files that templates have read.
    pub(super) files: Vec<String>,
    /// The nodes of a topology from which an edge led to themselves.
    pub(super) self_loops: Vec<String>,
    /// The traces that were read, each once, or why they cannot be.
    pub(super) traces: BTreeMap<PathBuf, Result<Arc<DeliveryTrace>, String>>,
    /// Whether sessions are to get other protocols.
    pub(super) is_outline: bool,
}

impl Context<'_> {
    /// Tells that a value is not what its key takes.
    pub(super) fn wrong(&mut self, node: &Node, kind: &FieldKind, reason: Option<String>) {
        self.wrong_value(node, kind, reason, None);
    }

    /// The same, with what was probably meant.
    pub(super) fn wrong_value(
        &mut self,
        node: &Node,
        kind: &FieldKind,
        reason: Option<String>,
        meant: Option<String>,
    ) {
        let written = self.problems.written(node);
        let message = match (&node.value, reason) {
            (Value::Table(_), _) if written.is_empty() => "a table is not allowed here".to_owned(),
            (_, Some(reason)) => format!("{written} is not allowed: {reason}"),
            (_, None) => format!("{written} is not allowed"),
        };
        self.problems.push(Problem::of(node, message).allowed(kind.describe()).nearest(meant));
    }

    /// Tells that a value is none of the names that its key takes.
    pub(super) fn wrong_name(&mut self, node: &Node, allowed: String, nearest: Option<String>) {
        let message = format!("{} is not known", self.problems.written(node));
        self.problems.push(Problem::of(node, message).allowed(allowed).nearest(nearest));
    }
}
