//! Takes links from a topology in a file, before the scenario is read.
//!
//! What the file does not say of a link comes from `[links]` and `[defaults.link]`: an imported value
//! holds where the scenario has none of its own for that link.

mod edges;
mod geography;
mod graphml;

use std::collections::BTreeMap;
use std::path::Path;

use self::edges::{Edge, combine, link_name};
use layercast_core::option::{OptionType, RawValue};

use super::field::{FieldKind, quoted};
use super::problems::{Problem, Problems};
use super::tables::{LINK, Parallel, TOPOLOGY};
use super::templates::coerce::{below, coerced};
use super::templates::columns::{Columns, read_csv};
use super::templates::merge::{Collision, Merger};
use super::text_file::load;
use super::tree::{At, Entry, Node, Value, join};

/// Replaces `[topology]` by the links of its file. The file's text is added to `files`. Returns the nodes from which
/// an edge leads to themselves.
pub(super) fn import(
    root: &mut Node,
    folder: &Path,
    problems: &mut Problems,
    files: &mut Vec<String>,
) -> Vec<String> {
    let mut loops = Vec::new();
    let Value::Table(entries) = &mut root.value else { return loops };
    let Some(position) = entries.iter().position(|entry| entry.key == "topology") else { return loops };
    let table = entries.remove(position);
    let Value::Table(keys) = &table.node.value else {
        problems.push(Problem::of(&table.node, "a table is needed").allowed(TOPOLOGY.example));
        return loops;
    };
    for entry in keys.iter().filter(|entry| TOPOLOGY.field(&entry.key).is_none()) {
        let message = format!("a topology has no key `{}`", entry.key);
        let problem = Problem::at(entry.key_at, &entry.node.path, message);
        problems.push(problem.allowed(quoted(TOPOLOGY.keys())).nearest(TOPOLOGY.nearest(&entry.key)));
    }
    let made = match (table.node.entry("graphml"), table.node.entry("csv")) {
        (Some(graphml), None) => from_graphml(&table.node, graphml, folder, problems, files, &mut loops),
        (None, Some(csv)) => {
            let only = ["names", "parallel"].into_iter().filter_map(|key| table.node.entry(key));
            for entry in only {
                let problem =
                    Problem::at(entry.key_at, &entry.node.path, "a file of links has no such choice");
                problems.push(problem.allowed("it with `graphml`"));
            }
            read_csv(csv, folder, problems, files).and_then(|columns| from_columns(csv, &columns, problems))
        }
        _ => {
            let problem = Problem::at(table.key_at, "topology", "a topology comes from one file");
            problems.push(problem.allowed("`graphml = \"net.graphml\"` or `csv = \"links.csv\"`"));
            None
        }
    };
    let mut merger = Merger::new(root);
    for link in made.unwrap_or_default() {
        merger.add("links", link.key_at, link, Collision::FirstHolds, problems);
    }
    merger.finish(root);
    loops
}

/// One of the choices under a key, or the first of them.
fn choice<T: OptionType + Default>(table: &Node, key: &str, problems: &mut Problems) -> T {
    let Some(node) = table.get(key) else { return T::default() };
    if let Some(Ok(choice)) = node.text().map(|text| T::read(RawValue::Text(text))) {
        return choice;
    }
    let kind = TOPOLOGY.field(key).map_or(String::new(), |field| field.kind.describe());
    let message = format!("{} is not allowed", problems.written(node));
    problems.push(Problem::of(node, message).allowed(kind));
    T::default()
}

fn from_graphml(
    table: &Node,
    source: &Entry,
    folder: &Path,
    problems: &mut Problems,
    files: &mut Vec<String>,
    loops: &mut Vec<String>,
) -> Option<Vec<Entry>> {
    let names = choice(table, "names", problems);
    let parallel: Parallel = choice(table, "parallel", problems);
    let written = source.node.text().unwrap_or_default();
    let parsed = load(&folder.join(written)).and_then(|text| {
        let parsed = graphml::parse(&text, names);
        files.push(text);
        parsed
    });
    let edges = parsed.and_then(|edges| combine(edges, parallel, loops));
    match edges {
        Ok(edges) => Some(edges.iter().map(|edge| link(source, edge, written, problems)).collect()),
        Err(reason) => {
            let message = format!("the topology `{written}` cannot be used: {reason}");
            let problem = Problem::of(&source.node, message);
            problems.push(problem.allowed("a file of GraphML, its path relative to the scenario file"));
            None
        }
    }
}

/// The link of an edge.
fn link(source: &Entry, edge: &Edge, file: &str, problems: &mut Problems) -> Entry {
    let row = problems.add_row(format!("{} ({file})", edge.title()));
    let at = At { row, ..source.node.at };
    let values = [
        ("rate", edge.bit_per_s.map(|rate| format!("{} Mbit/s", rate / 1e6))),
        ("delay", edge.delay_us.map(|delay| format!("{delay} us"))),
    ];
    let values = values.into_iter().filter_map(|(key, value)| Some((key, value?)));
    entry(&edge.from, &edge.to, values.map(|(key, value)| (key.to_owned(), value)), at)
}

/// A link as the scenario file would have it. Keys may have parts, such as `queue.kind`.
fn entry(from: &str, to: &str, values: impl Iterator<Item = (String, String)>, at: At) -> Entry {
    let (key, needs_ends) = link_name(from, to);
    let path = join("links", &key);
    let mut node = Node { at, path, value: Value::Table(Vec::new()) };
    if needs_ends {
        insert(&mut node, "from", from, Some(FieldKind::Table(&LINK)), at);
        insert(&mut node, "to", to, Some(FieldKind::Table(&LINK)), at);
    }
    values.for_each(|(key, value)| insert(&mut node, &key, &value, Some(FieldKind::Table(&LINK)), at));
    Entry { key, key_at: at, node }
}

fn insert(node: &mut Node, key: &str, text: &str, kind: Option<FieldKind>, at: At) {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let kind = below(kind, first);
    let path = join(&node.path, first);
    let Value::Table(entries) = &mut node.value else { return };
    let position = entries.iter().position(|entry| entry.key == first).unwrap_or_else(|| {
        let node = Node { at, path, value: Value::Table(Vec::new()) };
        entries.push(Entry { key: first.to_owned(), key_at: at, node });
        entries.len() - 1
    });
    let Some(entry) = entries.get_mut(position) else { return };
    match rest {
        Some(rest) => insert(&mut entry.node, rest, text, kind, at),
        None => entry.node.value = coerced(text, kind, at),
    }
}

/// The links of a table whose columns are `from`, `to` and keys of a link.
fn from_columns(source: &Entry, columns: &Columns, problems: &mut Problems) -> Option<Vec<Entry>> {
    let column = |name: &str| columns.names.iter().position(|known| known == name);
    let (Some(from), Some(to)) = (column("from"), column("to")) else {
        let message = "the links have no columns `from` and `to`";
        let found = quoted(columns.names.iter().map(String::as_str));
        let allowed = format!("the columns `from`, `to` and keys of a link; there are {found}");
        problems.push(Problem::of(&source.node, message).allowed(allowed));
        return None;
    };
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut links = Vec::new();
    for row in &columns.rows {
        let cell = |index: usize| row.cells.get(index).map_or("", String::as_str);
        let line = row.line.clone().unwrap_or_default();
        let number = problems.add_row(format!("{} to {} ({line})", cell(from), cell(to)));
        let at = At { row: number, ..columns.at };
        let mut pair = [cell(from).to_owned(), cell(to).to_owned()];
        pair.sort();
        let [one, other] = pair;
        if let Some(first) = seen.insert((one, other), line) {
            let message = format!("`{}` and `{}` have a link already, at {first}", cell(from), cell(to));
            problems.push(Problem::at(at, &source.node.path, message).allowed("one link between two nodes"));
            continue;
        }
        let values = columns.names.iter().zip(&row.cells).enumerate();
        let values = values.filter(|(index, (_, cell))| ![from, to].contains(index) && !cell.is_empty());
        links.push(entry(
            cell(from),
            cell(to),
            values.map(|(_, (key, cell))| (key.clone(), cell.clone())),
            at,
        ));
    }
    Some(links)
}
