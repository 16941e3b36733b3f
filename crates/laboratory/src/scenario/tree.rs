//! A TOML document as a tree whose every value knows where it stands and what its path is.
//!
//! Overrides and defaults are worked into this tree before it is read, so that one reader serves
//! all and an error points to the very text that caused it.

use toml_edit::{Document, Item, TableLike, Value as TomlValue};

/// A stretch of text in one of the sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Which source: 0 is the file, the others are overrides in order.
    pub(super) source: usize,
    /// The first byte.
    pub(super) start: usize,
    /// The byte after the last.
    pub(super) end: usize,
    /// The row of a template or of a file that made it, from 1 in the order of
    /// [`Problems::add_row`](super::problems::Problems::add_row); 0 if it stands there as it is.
    pub(super) row: u32,
}

/// A value, where it stands and what it is called.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: At,
    /// The dotted path of keys.
    pub(super) path: String,
    pub(super) value: Value,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A date or time of day, which no key takes.
    Date,
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_at: At,
    pub(super) node: Node,
}

/// Why a text is not TOML.
pub(super) struct SyntaxError {
    pub(super) at: At,
    pub(super) message: String,
}

impl Node {
    /// The entries of a table; none for any other value.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The entry of a key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Gives a new path to a tree.
    pub(super) fn rename(&mut self, path: String) {
        match &mut self.value {
            Value::Table(entries) => {
                entries.iter_mut().for_each(|entry| entry.node.rename(join(&path, &entry.key)));
            }
            Value::List(items) => items.iter_mut().for_each(|item| item.rename(path.clone())),
            _ => {}
        }
        self.path = path;
    }
}

/// The path of a key below a table.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Reads a scenario file.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let document = Document::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        let at = At { start: span.start, end: span.end, ..At::default() };
        SyntaxError { at, message: error.message().to_owned() }
    })?;
    let at = At::default();
    Ok(Node { at, path: String::new(), value: table(document.as_table(), at, "", 0) })
}

/// Reads the value of an override: TOML if it is one, else plain text, so that
/// `duration=60 s` needs no quotes. The paths begin at the value itself.
pub(super) fn parse_override(text: &str, at: At) -> Node {
    const PREFIX: &str = "v=";
    let source = format!("{PREFIX}{text}");
    let parsed = Document::parse(source.as_str()).ok();
    // Text with a line break could bring in further keys; then it is no single value.
    let single = parsed.as_ref().filter(|document| document.as_table().len() == 1);
    match single.and_then(|document| document.as_table().get("v")) {
        Some(item) => {
            let mut node = node(item, at, "", at.source);
            shift(&mut node, at, PREFIX.len());
            node
        }
        None => Node { at, path: String::new(), value: Value::Text(text.to_owned()) },
    }
}

/// Moves positions within a parsed override to where it stands in the whole override.
fn shift(node: &mut Node, whole: At, prefix: usize) {
    let moved = |at: At| At {
        start: (at.start + whole.start).saturating_sub(prefix),
        end: (at.end + whole.start).saturating_sub(prefix),
        ..at
    };
    match &mut node.value {
        Value::Table(entries) => {
            for entry in entries {
                entry.key_at = moved(entry.key_at);
                shift(&mut entry.node, whole, prefix);
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, whole, prefix)),
        _ => {}
    }
    node.at = if node.at == whole { whole } else { moved(node.at) };
}

fn span_or(span: Option<std::ops::Range<usize>>, otherwise: At, source: usize) -> At {
    span.map_or(otherwise, |span| At { source, start: span.start, end: span.end, row: 0 })
}

fn table(table: &dyn TableLike, at: At, path: &str, source: usize) -> Value {
    let entries = table.iter().map(|(key, item)| {
        let key_at = span_or(table.key(key).and_then(toml_edit::Key::span), at, source);
        Entry { key: key.to_owned(), key_at, node: node(item, key_at, &join(path, key), source) }
    });
    Value::Table(entries.collect())
}

/// A tree of an item; what has no place of its own stands at `otherwise`.
fn node(item: &Item, otherwise: At, path: &str, source: usize) -> Node {
    // A table under a header has no text of its own to point to, so its key stands for it.
    let (at, value) = match item {
        Item::Value(value) => return value_node(value, otherwise, path, source),
        Item::Table(inner) => (otherwise, table(inner, otherwise, path, source)),
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().map(|inner| Node {
                at: otherwise,
                path: path.to_owned(),
                value: table(inner, otherwise, path, source),
            });
            (otherwise, Value::List(tables.collect()))
        }
        Item::None => (otherwise, Value::Table(Vec::new())),
    };
    Node { at, path: path.to_owned(), value }
}

fn value_node(value: &TomlValue, otherwise: At, path: &str, source: usize) -> Node {
    let at = span_or(value.span(), otherwise, source);
    let value = match value {
        TomlValue::String(text) => Value::Text(text.value().clone()),
        TomlValue::Integer(integer) => Value::Integer(*integer.value()),
        TomlValue::Float(number) => Value::Number(*number.value()),
        TomlValue::Boolean(flag) => Value::Flag(*flag.value()),
        TomlValue::Datetime(_) => Value::Date,
        TomlValue::Array(items) => {
            Value::List(items.iter().map(|item| value_node(item, at, path, source)).collect())
        }
        TomlValue::InlineTable(inner) => table(inner, at, path, source),
    };
    Node { at, path: path.to_owned(), value }
}
