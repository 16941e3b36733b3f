//! Puts the values of a row into a template.

use super::coerce::{below, coerced, item_kind};
use super::row::Row;
use crate::scenario::field::{FieldKind, quoted};
use crate::scenario::nearest::nearest;
use crate::scenario::problems::{Problem, Problems};
use crate::scenario::tree::{At, Entry, Node, Value, join};

/// Replaces the variables of a template by the values of a row.
pub(super) struct Substitution<'s, 'p> {
    pub(super) row: &'s Row,
    pub(super) problems: &'p mut Problems,
}

impl Substitution<'_, '_> {
    /// An entry with its variables replaced; none if something is wrong, or the value is an empty cell.
    pub(super) fn entry(&mut self, entry: &Entry, path: &str, kind: Option<FieldKind>) -> Option<Entry> {
        let key_at = self.row.at(entry.key_at);
        let key = self.text(&entry.key, key_at, &entry.node.path)?;
        let path = join(path, &key);
        let node = self.node(&entry.node, &path, below(kind, &key))?;
        Some(Entry { key, key_at, node })
    }

    fn node(&mut self, template: &Node, path: &str, kind: Option<FieldKind>) -> Option<Node> {
        let at = self.row.at(template.at);
        let value = match &template.value {
            Value::Text(text) => self.value(text, template, kind)?,
            Value::List(items) => {
                let inner = item_kind(kind);
                Value::List(items.iter().filter_map(|item| self.node(item, path, inner)).collect())
            }
            Value::Table(entries) => {
                Value::Table(entries.iter().filter_map(|entry| self.entry(entry, path, kind)).collect())
            }
            other => other.clone(),
        };
        Some(Node { at, path: path.to_owned(), value })
    }

    /// A text with its variables replaced. One that is a variable and nothing else becomes what its key
    /// takes: a number where that is a number.
    fn value(&mut self, text: &str, template: &Node, kind: Option<FieldKind>) -> Option<Value> {
        let alone = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(name) = alone.filter(|name| !name.contains(['{', '}'])) else {
            return self.text(text, self.row.at(template.at), &template.path).map(Value::Text);
        };
        let cell = self.variable(name, self.row.at(template.at), &template.path)?;
        (!cell.is_empty()).then(|| coerced(&cell, kind, self.row.at(template.at)))
    }

    fn variable(&mut self, name: &str, at: At, path: &str) -> Option<String> {
        if let Some((_, value)) = self.row.values.iter().find(|(known, _)| known == name) {
            return Some(value.clone());
        }
        let names = || self.row.values.iter().map(|(name, _)| name.as_str());
        let problem = Problem::at(at, path, format!("there is no variable `{name}`"));
        let problem = problem.allowed(quoted(names())).nearest(nearest(name, names()));
        self.problems.push(problem);
        None
    }

    /// A text with `{variable}` replaced; `{{` and `}}` are braces.
    fn text(&mut self, text: &str, at: At, path: &str) -> Option<String> {
        let mut made = String::new();
        let mut rest = text;
        while let Some(position) = rest.find(['{', '}']) {
            made.push_str(&rest[..position]);
            let (brace, after) = rest[position..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                made.push_str(brace);
                rest = after;
                continue;
            }
            let end = after.find(['{', '}']).filter(|&end| brace == "{" && after[end..].starts_with('}'));
            let Some(end) = end else {
                let problem = Problem::at(at, path, format!("a `{brace}` stands alone in a template"));
                self.problems.push(problem.allowed("`{variable}`; write `{{` or `}}` for a brace"));
                return None;
            };
            made.push_str(&self.variable(&after[..end], at, path)?);
            rest = &after[end + 1..];
        }
        made.push_str(rest);
        Some(made)
    }
}
