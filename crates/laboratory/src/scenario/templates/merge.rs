//! Joins what is made with what the file has.

use std::collections::BTreeMap;

use super::coerce::below;
use crate::scenario::field::FieldKind;
use crate::scenario::problems::{Problem, Problems};
use crate::scenario::tables::SCENARIO;
use crate::scenario::tree::{At, Entry, Node, Value};

/// What happens if a value is there already and is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scenario) enum Collision {
    /// It is reported.
    IsMistake,
    /// What is there stays.
    FirstHolds,
}

/// Adds tables to the named tables of a scenario, such as `links`.
#[derive(Debug)]
pub(in crate::scenario) struct Merger {
    tables: BTreeMap<String, Named>,
    /// The tables in the order of their first entry.
    order: Vec<String>,
}

/// Tables under names.
#[derive(Debug)]
struct Named {
    entry: Entry,
    positions: BTreeMap<String, usize>,
}

impl Merger {
    /// Takes the tables of a file out of its tree until [`Merger::finish`].
    pub(in crate::scenario) fn new(root: &mut Node) -> Merger {
        let mut merger = Merger { tables: BTreeMap::new(), order: Vec::new() };
        let Value::Table(entries) = &mut root.value else { return merger };
        let is_named = |entry: &Entry| {
            let kind = SCENARIO.field(&entry.key).map(|field| field.kind);
            matches!(kind, Some(FieldKind::Tables(_) | FieldKind::Groups))
                && matches!(entry.node.value, Value::Table(_))
        };
        for entry in entries.extract_if(.., |entry| is_named(entry)) {
            let names = entry.node.entries().iter().enumerate();
            let positions = names.map(|(index, entry)| (entry.key.clone(), index)).collect();
            merger.order.push(entry.key.clone());
            merger.tables.insert(entry.key.clone(), Named { entry, positions });
        }
        merger
    }

    /// Adds an entry to a table that is made if there is none.
    pub(in crate::scenario) fn add(
        &mut self,
        table: &str,
        at: At,
        made: Entry,
        collision: Collision,
        problems: &mut Problems,
    ) {
        let kind = SCENARIO.field(table).map(|field| field.kind);
        let kind = below(kind, &made.key);
        if !self.tables.contains_key(table) {
            let node = Node { at, path: table.to_owned(), value: Value::Table(Vec::new()) };
            let entry = Entry { key: table.to_owned(), key_at: at, node };
            self.order.push(table.to_owned());
            self.tables.insert(table.to_owned(), Named { entry, positions: BTreeMap::new() });
        }
        let Some(named) = self.tables.get_mut(table) else { return };
        let Value::Table(entries) = &mut named.entry.node.value else { return };
        match named.positions.get(&made.key).and_then(|&position| entries.get_mut(position)) {
            Some(present) => merge(&mut present.node, made.node, kind, collision, problems),
            None => {
                named.positions.insert(made.key.clone(), entries.len());
                entries.push(made);
            }
        }
    }

    /// Puts the tables back into the tree.
    pub(in crate::scenario) fn finish(mut self, root: &mut Node) {
        let Value::Table(entries) = &mut root.value else { return };
        for name in &self.order {
            entries.extend(self.tables.remove(name).map(|named| named.entry));
        }
    }
}

/// Tables are joined key by key, lists of names one after the other.
fn merge(
    present: &mut Node,
    made: Node,
    kind: Option<FieldKind>,
    collision: Collision,
    problems: &mut Problems,
) {
    let is_names = matches!(
        kind,
        Some(FieldKind::Nodes | FieldKind::NodesOrNone | FieldKind::NodeOrNodes | FieldKind::Routers)
    );
    if is_names && let Value::Text(_) = present.value {
        present.value = Value::List(vec![present.clone()]);
    }
    match (&mut present.value, made.value) {
        (Value::Table(entries), Value::Table(added)) => {
            for entry in added {
                match entries.iter_mut().find(|present| present.key == entry.key) {
                    Some(present) => {
                        let kind = below(kind, &entry.key);
                        merge(&mut present.node, entry.node, kind, collision, problems);
                    }
                    None => entries.push(entry),
                }
            }
        }
        (Value::List(items), Value::List(added)) if is_names => items.extend(added),
        (Value::List(items), value @ Value::Text(_)) if is_names => {
            items.push(Node { value, at: made.at, path: made.path });
        }
        (present, value) if collision == Collision::IsMistake && !same(present, &value) => {
            let made = Node { value, at: made.at, path: made.path };
            let problem = Problem::of(&made, "this key has another value already");
            problems
                .push(problem.allowed("one value for each key; only lists of nodes and flows are added up"));
        }
        _ => {}
    }
}

/// Whether two values are equal wherever they stand.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Integer(one), Value::Integer(other)) => one == other,
        (Value::Number(one), Value::Number(other)) => one.to_bits() == other.to_bits(),
        (Value::Flag(one), Value::Flag(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| same(&one.value, &other.value))
        }
        (Value::Table(one), Value::Table(other)) => {
            let has = |entry: &Entry| {
                other.iter().any(|known| known.key == entry.key && same(&known.node.value, &entry.node.value))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => false,
    }
}
