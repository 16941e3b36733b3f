//! Writes a tree as TOML.

use std::fmt::Write as _;

use super::tree::{Entry, Node, Value};

/// The text of a whole scenario: plain keys, then a section for each table.
pub(super) fn toml(root: &Node) -> String {
    let mut text = String::new();
    plain(&mut text, root.entries());
    for entry in root.entries().iter().filter(|entry| is_table(entry)) {
        // Sessions, flows and defaults have keys that are worth a line each.
        let is_long = matches!(entry.key.as_str(), "sessions" | "flows" | "defaults");
        let (long, short): (Vec<&Entry>, Vec<&Entry>) =
            entry.node.entries().iter().partition(|inner| is_long && is_table(inner));
        if !short.is_empty() || long.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n[{}]", key(&entry.key));
            short.iter().for_each(|inner| line(&mut text, inner));
        }
        for inner in long {
            let _ = writeln!(text, "\n[{}.{}]", key(&entry.key), key(&inner.key));
            inner.node.entries().iter().for_each(|inner| line(&mut text, inner));
        }
    }
    text
}

fn is_table(entry: &Entry) -> bool {
    matches!(entry.node.value, Value::Table(_))
}

fn plain(text: &mut String, entries: &[Entry]) {
    entries.iter().filter(|entry| !is_table(entry)).for_each(|entry| line(text, entry));
}

fn line(text: &mut String, entry: &Entry) {
    let _ = writeln!(text, "{} = {}", key(&entry.key), value(&entry.node.value));
}

/// A key, in quotes if it needs them.
fn key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_bare { key.to_owned() } else { quoted(key) }
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(integer) => integer.to_string(),
        // With a point or an exponent, so that it stays a number that is not whole.
        Value::Number(number) => format!("{number:?}"),
        Value::Flag(flag) => flag.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| self::value(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| format!("{} = {}", key(&entry.key), self::value(&entry.node.value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        // No key takes one, so no scenario that was read has one.
        Value::Date => quoted(""),
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
