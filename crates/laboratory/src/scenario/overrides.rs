//! `--set KEY=VALUE`: finds what a dotted path means and puts the value there, before the file is
//! read, so that an override is checked as if it stood in the file.

use super::field::{FieldKind, TableSpec, quoted, quoted_options};
use super::nearest::nearest;
use super::problems::{Problem, Problems};
use super::protocols::Catalogue;
use super::renamed;
use super::tables::{self, SCENARIO, SESSION};
use super::tree::{At, Entry, Node, Value, join, parse_override};

/// When overrides are worked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the topology is replaced by its links: those of `topology`.
    Topology,
    /// When the scenario is complete: all others.
    Scenario,
}

impl Stage {
    /// The stage of an override.
    fn of(text: &str) -> Stage {
        let key = text.split_once('=').map_or(text, |(key, _)| key);
        let first = parts(key).next().unwrap_or_default();
        if same_name("topology", unquoted(first.trim())) { Stage::Topology } else { Stage::Scenario }
    }
}

/// Works the overrides of a stage into the tree, in order, so that the last one holds.
pub(super) fn apply(
    root: &mut Node,
    overrides: &[String],
    stage: Stage,
    catalogue: &Catalogue,
    problems: &mut Problems,
) {
    for (index, text) in overrides.iter().enumerate().filter(|(_, text)| Stage::of(text) == stage) {
        if let Err(problem) = apply_one(root, text, index + 1, catalogue) {
            problems.push(*problem);
        }
    }
}

fn apply_one(root: &mut Node, text: &str, source: usize, catalogue: &Catalogue) -> Result<(), Box<Problem>> {
    let whole = At { source, end: text.len(), ..At::default() };
    let Some((key, raw)) = text.split_once('=') else {
        let problem = Problem::at(whole, "", "an override needs `=` between key and value");
        return Err(problem.allowed("such as duration=60 s").into());
    };
    let raw_start = text.len() - raw.trim_start().len();
    let raw_at = At { start: raw_start, end: raw_start + raw.trim().len(), ..whole };
    let mut segments = Vec::new();
    let mut start = 0;
    for part in parts(key) {
        let lead = part.len() - part.trim_start().len();
        let at = At { start: start + lead, end: start + lead + part.trim().len(), ..whole };
        segments.push(Segment { text: unquoted(part.trim()), at });
        start += part.len() + 1;
    }
    let finder = Finder { catalogue, root: &*root };
    let path = finder.find(Some(&*root), &SCENARIO, "", &segments)?;
    let mut value = parse_override(raw.trim(), raw_at);
    value.rename(path.join("."));
    insert(root, &path, At { end: key.trim_end().len(), ..whole }, value);
    Ok(())
}

/// The parts of a path. A dot in quotes belongs to a name.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    key.split(move |c| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    })
}

/// A part of a path and where it is written.
#[derive(Clone, Copy, Debug)]
struct Segment<'t> {
    text: &'t str,
    at: At,
}

/// A part may stand in quotes, as a key of the file may.
fn unquoted(part: &str) -> &str {
    part.strip_prefix('"').and_then(|part| part.strip_suffix('"')).unwrap_or(part)
}

/// Puts a value at a path, making the tables on the way.
fn insert(node: &mut Node, path: &[String], at: At, value: Node) {
    let Some((key, rest)) = path.split_first() else {
        *node = value;
        return;
    };
    if !matches!(node.value, Value::Table(_)) {
        // A plain loss is the forward one, and stays so when the backward one is set.
        let plain = matches!(node.value, Value::Integer(_) | Value::Number(_)) && key == "backward";
        let forward = plain.then(|| Entry { key: "forward".to_owned(), key_at: node.at, node: node.clone() });
        node.value = Value::Table(forward.into_iter().collect());
    }
    let child_path = join(&node.path, key);
    let Value::Table(entries) = &mut node.value else { return };
    let position = entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
        let node = Node { at, path: child_path, value: Value::Table(Vec::new()) };
        entries.push(Entry { key: key.clone(), key_at: at, node });
        entries.len() - 1
    });
    if let Some(entry) = entries.get_mut(position) {
        insert(&mut entry.node, rest, at, value);
    }
}

struct Finder<'f> {
    catalogue: &'f Catalogue,
    root: &'f Node,
}

impl Finder<'_> {
    /// The path of keys, as the file spells them, that `segments` mean below a table.
    fn find(
        &self,
        node: Option<&Node>,
        spec: &'static TableSpec,
        path: &str,
        segments: &[Segment<'_>],
    ) -> Result<Vec<String>, Box<Problem>> {
        let Some((first, rest)) = segments.split_first() else { return Ok(Vec::new()) };
        let field = spec.fields().find(|field| same_name(field.key, first.text));
        let Some(field) = field else { return self.find_option(node, spec, path, *first, rest) };
        if field.key == "for" {
            let message = "templates are worked in before overrides are applied";
            let problem = Problem::at(first.at, field.key, message);
            return Err(problem.allowed("a key of what they make, such as flow.web07.count=3").into());
        }
        let below = node.and_then(|node| node.get(field.key));
        let below_path = join(path, field.key);
        let mut found = vec![field.key.to_owned()];
        match (&field.kind, rest.split_first()) {
            (_, None) => {}
            (FieldKind::Tables(inner), Some((name, rest))) => {
                self.check_entry(below, inner, &below_path, *name)?;
                found.push(name.text.to_owned());
                let entry = below.and_then(|node| node.get(name.text));
                found.extend(self.find(entry, inner, &join(&below_path, name.text), rest)?);
            }
            (FieldKind::Groups | FieldKind::Options, Some((name, []))) => found.push(name.text.to_owned()),
            (kind, Some((next, _))) => match tables::below(kind) {
                Some(inner) => found.extend(self.find(below, inner, &below_path, rest)?),
                None => {
                    let message = format!("`{}` has no parts", field.key);
                    return Err(Problem::at(next.at, &below_path, message).allowed(kind.describe()).into());
                }
            },
        }
        Ok(found)
    }

    /// Links, sessions and flows can be changed but not made by an override; what a paper says,
    /// edges and probes can.
    fn check_entry(
        &self,
        node: Option<&Node>,
        spec: &TableSpec,
        path: &str,
        name: Segment<'_>,
    ) -> Result<(), Box<Problem>> {
        let names = || node.map(Node::entries).unwrap_or_default().iter().map(|entry| entry.key.as_str());
        if matches!(spec.name, "paper" | "network-edge" | "probe") || names().any(|known| known == name.text)
        {
            return Ok(());
        }
        let message = format!("there is no {} called `{}`", spec.name, name.text);
        Err(Problem::at(name.at, &join(path, name.text), message)
            .allowed(quoted(names()))
            .nearest(nearest(name.text, names()))
            .into())
    }

    /// A name that is no key of a session may be an option of its protocol.
    fn find_option(
        &self,
        node: Option<&Node>,
        spec: &TableSpec,
        path: &str,
        name: Segment<'_>,
        rest: &[Segment<'_>],
    ) -> Result<Vec<String>, Box<Problem>> {
        let own = node.and_then(|node| node.get("protocol"));
        let default = || self.root.get("defaults")?.get("session")?.get("protocol");
        let protocol = own.or_else(default).and_then(Node::text).filter(|_| spec.name == SESSION.name);
        let options = protocol.map(|protocol| self.catalogue.options(protocol)).unwrap_or_default();
        let option_names: Vec<&str> = options.iter().map(|option| option.name).collect();
        let names = || spec.keys().chain(option_names.iter().copied());
        if rest.is_empty() && options.iter().any(|option| option.name == name.text) {
            return Ok(vec!["options".to_owned(), name.text.to_owned()]);
        }
        if let Some(new) = renamed::renamed(name.text, names()) {
            return Err(renamed::problem(name.at, &join(path, name.text), name.text, new).into());
        }
        let message = match protocol {
            Some(protocol) => {
                format!("neither a session nor the protocol \"{protocol}\" has a key `{}`", name.text)
            }
            None => format!("a {} has no key `{}`", spec.name, name.text),
        };
        Err(Problem::at(name.at, &join(path, name.text), message)
            .allowed(quoted_options(spec.keys(), protocol.unwrap_or_default(), &option_names))
            .nearest(nearest(name.text, names()))
            .into())
    }
}

/// Table names are accepted in the singular and in the plural.
fn same_name(key: &str, written: &str) -> bool {
    key == written || key.strip_suffix('s') == Some(written) || written.strip_suffix('s') == Some(key)
}
