//! Pulls values out of a table by its description.

use layercast_core::option::{OptionType, RawValue};

use super::context::Context;
use super::values::Read;
use crate::scenario::field::{Absent, Field, FieldKind, TableSpec, quoted};
use crate::scenario::problems::Problem;
use crate::scenario::renamed;
use crate::scenario::tree::{self, At, Entry, Node, Value};

/// A table whose unknown keys have been reported, ready to be read key by key.
pub(super) struct TableReader<'t> {
    node: &'t Node,
    spec: &'static TableSpec,
}

impl<'t> TableReader<'t> {
    /// Opens a value as a table of a kind. Unknown keys are reported at once.
    pub(super) fn open(
        node: &'t Node,
        spec: &'static TableSpec,
        context: &mut Context<'_>,
    ) -> Option<TableReader<'t>> {
        let Value::Table(entries) = &node.value else {
            context.wrong(node, &FieldKind::Table(spec), None);
            return None;
        };
        for entry in entries.iter().filter(|entry| spec.field(&entry.key).is_none()) {
            let (at, path, key) = (entry.key_at, &entry.node.path, &entry.key);
            context.problems.push(match renamed::renamed(key, spec.keys()) {
                Some(new) => renamed::problem(at, path, key, new),
                None => Problem::at(at, path, format!("a {} has no key `{key}`", spec.name))
                    .allowed(quoted(spec.keys()))
                    .nearest(spec.nearest(key)),
            });
        }
        Some(TableReader { node, spec })
    }

    /// The table itself, as the file gives it.
    pub(super) fn own(&self) -> &'t Node {
        self.node
    }

    /// The value of a key as the file gives it.
    pub(super) fn node(&self, key: &str) -> Option<&'t Node> {
        self.node.get(key)
    }

    /// The value of a key; none if it is absent and has no default, or wrong, which is then reported.
    pub(super) fn get<T: Read>(&self, key: &str, context: &mut Context<'_>) -> Option<T> {
        let field = self.field(key)?;
        match (self.node(key), field.absent) {
            (Some(node), _) => T::read(node, &field.kind, context),
            (None, Absent::Default(text)) => {
                T::read(&tree::parse_override(text, At::default()), &field.kind, context)
            }
            (None, Absent::Required) => {
                self.missing(key, context);
                None
            }
            (None, Absent::Means(_)) => None,
        }
    }

    /// One of the choices under a key, by its name.
    pub(super) fn choice<T: OptionType>(&self, key: &str, context: &mut Context<'_>) -> Option<T> {
        let name: String = self.get(key, context)?;
        let choice = T::read(RawValue::Text(&name));
        debug_assert!(choice.is_ok(), "`{key}` in {} allows `{name}`, which is no choice", self.spec.name);
        choice.ok()
    }

    /// The table under a key.
    pub(super) fn table(
        &self,
        key: &str,
        spec: &'static TableSpec,
        context: &mut Context<'_>,
    ) -> Option<TableReader<'t>> {
        match (self.node(key), self.field(key)?.absent) {
            (Some(node), _) => TableReader::open(node, spec, context),
            (None, Absent::Required) => {
                self.missing(key, context);
                None
            }
            (None, _) => None,
        }
    }

    /// The named entries under a key, each a table or list of its own.
    pub(super) fn entries(&self, key: &str, context: &mut Context<'_>) -> &'t [Entry] {
        let Some(field) = self.field(key) else { return &[] };
        match self.node(key) {
            Some(Node { value: Value::Table(entries), .. }) => entries,
            Some(node) => {
                context.wrong(node, &field.kind, None);
                &[]
            }
            None => {
                if field.absent == Absent::Required {
                    self.missing(key, context);
                }
                &[]
            }
        }
    }

    /// Tells that a key is missing.
    pub(super) fn missing(&self, key: &str, context: &mut Context<'_>) {
        let Some(field) = self.field(key) else { return };
        // A key under its old name has been answered.
        let has_old = |entry: &Entry| renamed::renamed(&entry.key, std::iter::once(key)).is_some();
        if self.node.entries().iter().any(has_old) {
            return;
        }
        let message = match self.node.path.is_empty() {
            true => format!("the file must give `{key}`"),
            false => format!("`{key}` is missing"),
        };
        let path = tree::join(&self.node.path, key);
        context.problems.push(Problem::at(self.node.at, &path, message).allowed(field.kind.describe()));
    }

    fn field(&self, key: &str) -> Option<&'static Field> {
        let field = self.spec.field(key);
        debug_assert!(field.is_some(), "`{key}` is read but not described in {}", self.spec.name);
        field
    }
}
