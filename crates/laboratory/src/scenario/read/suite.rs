//! Reads suites of the scoreboard.

use std::collections::BTreeMap;
use std::path::Path;

use layercast_core::units::Rate;

use super::context::Context;
use super::defaults::merge;
use super::table::TableReader;
use super::values::{Named, Read, list, number};
use crate::scenario::catalogue;
use crate::scenario::error::ScenarioErrors;
use crate::scenario::field::{FieldKind, quoted};
use crate::scenario::lines::LineStarts;
use crate::scenario::nearest::nearest;
use crate::scenario::problems::{Problem, Problems};
use crate::scenario::protocols::Catalogue;
use crate::scenario::suite::{CellPlan, Criterion, Direction, Measure, Part, Suite};
use crate::scenario::tables::{CELL, SUITE, SUITE_DEFAULTS};
use crate::scenario::text_file;
use crate::scenario::tree::{self, Entry, Node, Value};

/// Where the scenarios of a suite are.
#[derive(Clone, Copy, Debug)]
pub enum SuiteFiles<'a> {
    /// In the folder of the suite's file.
    Folder(&'a Path),
    /// Here, under their names.
    Given(&'a [(&'a str, &'a str)]),
}

/// Reads the text of a suite. `name` is what errors call it.
///
/// # Errors
/// All that is wrong with it, in the order of its lines. Changes of scenarios (`set`) are checked when protocols are put
/// into them.
pub fn read_suite(
    name: &str,
    text: &str,
    files: SuiteFiles<'_>,
    catalogue: &Catalogue,
) -> Result<Suite, ScenarioErrors> {
    let mut problems = Problems::new(vec![(name.to_owned(), text.to_owned())]);
    let root = match tree::parse(text) {
        Ok(root) => root,
        Err(error) => {
            problems.push(Problem::at(error.at, "", format!("this is not TOML: {}", error.message)));
            return Err(problems.into_errors());
        }
    };
    let folder = match files {
        SuiteFiles::Folder(folder) => folder.to_owned(),
        SuiteFiles::Given(_) => Path::new("").to_owned(),
    };
    let mut context = Context {
        catalogue,
        problems,
        folder,
        files: Vec::new(),
        self_loops: Vec::new(),
        traces: BTreeMap::new(),
        is_outline: false,
    };
    let suite = Reader { files, lines: LineStarts::of(text) }.suite(name, &root, &mut context);
    match suite {
        Some(suite) if context.problems.is_empty() => Ok(suite),
        _ => Err(context.problems.into_errors()),
    }
}

struct Reader<'a> {
    files: SuiteFiles<'a>,
    lines: LineStarts,
}

impl Reader<'_> {
    fn suite(&self, file: &str, root: &Node, context: &mut Context<'_>) -> Option<Suite> {
        let table = TableReader::open(root, &SUITE, context)?;
        let except: Option<Vec<String>> = table.get("except", context);
        let except = except.unwrap_or_default();
        if let Some(Value::List(items)) = table.node("except").map(|node| &node.value) {
            for item in items {
                check_protocol(item, item.text().unwrap_or_default(), context);
            }
        }
        let defaults = table.node("defaults");
        if let Some(node) = defaults {
            TableReader::open(node, &SUITE_DEFAULTS, context);
            for part in Part::ALL {
                node.get(part.name()).map(|node| TableReader::open(node, &CELL, context));
            }
        }
        let entries = table.entries("cells", context);
        if let (Some(node), true) = (table.node("cells"), entries.is_empty()) {
            context.problems.push(Problem::of(node, "a suite has at least one cell").allowed(CELL.example));
        }
        let cells = entries.iter().filter_map(|entry| self.cell(entry, defaults, context)).collect();
        Some(Suite {
            file: file.to_owned(),
            name: table.get("name", context)?,
            description: table.get("description", context),
            replications: table.get("replications", context)?,
            brief_replications: table.get("brief_replications", context)?,
            seed: table.get("seed", context)?,
            except,
            cells,
        })
    }

    fn cell(&self, entry: &Entry, defaults: Option<&Node>, context: &mut Context<'_>) -> Option<CellPlan> {
        check_name(entry, context);
        let own = TableReader::open(&entry.node, &CELL, context)?;
        let part: String = own.get("part", context)?;
        let part = Part::ALL.into_iter().find(|known| known.name() == part)?;
        let defaults = defaults.and_then(|all| all.get(part.name()));
        let node = merge(&entry.node, defaults, &CELL);
        // Unknown keys were reported above.
        let table = TableReader::open(&node, &CELL, context)?;
        let scenario: Option<Named> = table.get("scenario", context);
        let scenario = scenario.and_then(|name| self.scenario(&name, context));
        let measure: Option<Named> = table.get("measure", context);
        let measure_named = measure.as_ref().and_then(|name| Measure::named(&name.text));
        let target: Option<Rate> = table.get("target", context);
        if let (Some(measure), Some(named), None) = (measure_named, &measure, target)
            && measure.needs_target()
        {
            let problem = Problem::of(&named.node, format!("`{}` refers to a `target`", measure.name()));
            context.problems.push(problem.allowed("the key `target` with a rate such as \"20 Mbit/s\""));
        }
        let with = added(&own, defaults, "with", context);
        self.check_with(&table, context);
        let source = table.get("source", context);
        let criterion = criterion(part, &table, context);
        let (scenario, text) = scenario?;
        Some(CellPlan {
            name: entry.key.clone(),
            line: self.lines.line(entry.key_at.start),
            part,
            about: table.get("about", context),
            source: source?,
            scenario,
            text,
            set: added(&own, defaults, "set", context),
            brief: table.get("brief", context),
            sessions: texts(&table, "sessions", context),
            with,
            options_if_known: texts(&table, "options_if_known", context),
            measure: measure_named?,
            against: texts(&table, "against", context),
            target_kbps: target.map(|rate| rate.as_kbps()),
            criterion: criterion?,
            replications: table.get("replications", context),
        })
    }

    /// The name and text of a scenario: a file of the suite, or else a built-in one.
    fn scenario(&self, name: &Named, context: &mut Context<'_>) -> Option<(String, String)> {
        let wanted = name.text.as_str();
        let (known, failed): (Vec<&str>, Option<String>) = match self.files {
            SuiteFiles::Given(files) => {
                if let Some((name, text)) = files.iter().find(|(name, _)| *name == wanted) {
                    return Some(((*name).to_owned(), (*text).to_owned()));
                }
                (files.iter().map(|(name, _)| *name).collect(), None)
            }
            SuiteFiles::Folder(folder) => {
                let path = folder.join(wanted);
                match text_file::load(&path) {
                    Ok(text) => return Some((path.display().to_string(), text)),
                    Err(reason) => (Vec::new(), path.exists().then_some(reason)),
                }
            }
        };
        if let Some(found) = catalogue::find(wanted) {
            return Some((found.name.to_owned(), found.text.to_owned()));
        }
        let message = match failed {
            Some(reason) => format!("`{wanted}` cannot be read: {reason}"),
            None => format!("there is neither a file nor a built-in scenario called `{wanted}`"),
        };
        let all = catalogue::BUILT_IN.iter().map(|scenario| scenario.name).chain(known);
        let problem = Problem::of(&name.node, message)
            .allowed("a scenario file relative to the suite, or a name that `layercast list` shows");
        context.problems.push(problem.nearest(nearest(wanted, all)));
        None
    }

    /// Settings of single protocols begin with the name of one.
    fn check_with(&self, table: &TableReader<'_>, context: &mut Context<'_>) {
        let Some(Value::List(items)) = table.node("with").map(|node| &node.value) else { return };
        for item in items {
            let Some(text) = item.text() else { continue };
            match text.split_once('.').filter(|(_, setting)| setting.contains('=')) {
                Some(("*", _)) => {}
                Some((protocol, _)) => check_protocol(item, protocol, context),
                None => {
                    let problem = Problem::of(item, "this is no setting of a protocol");
                    context.problems.push(problem.allowed("PROTOCOL.OPTION=VALUE"));
                }
            }
        }
    }
}

fn check_protocol(node: &Node, protocol: &str, context: &mut Context<'_>) {
    let known = context.catalogue.names();
    if !known.contains(&protocol) {
        let problem = Problem::of(node, format!("there is no protocol `{protocol}`"));
        let problem = problem.allowed(quoted(known.iter().copied())).nearest(nearest(protocol, known));
        context.problems.push(problem);
    }
}

/// The name of a cell becomes part of reports and patterns.
fn check_name(entry: &Entry, context: &mut Context<'_>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    if entry.key.is_empty() || !entry.key.chars().all(fits) {
        let problem = Problem::at(entry.key_at, &entry.node.path, "this name cannot be used");
        context.problems.push(problem.allowed("letters, digits, `_`, `-`, `/` and `.`"));
    }
}

fn texts(table: &TableReader<'_>, key: &str, context: &mut Context<'_>) -> Vec<String> {
    table.get(key, context).unwrap_or_default()
}

/// The texts of the defaults, then a cell's own.
fn added(
    own: &TableReader<'_>,
    defaults: Option<&Node>,
    key: &str,
    context: &mut Context<'_>,
) -> Vec<String> {
    let given = defaults.and_then(|defaults| defaults.get(key));
    let given = given.and_then(|node| Vec::<String>::read(node, &FieldKind::Texts, context));
    let mut all = given.unwrap_or_default();
    all.extend(texts(own, key, context));
    all
}

fn criterion(part: Part, table: &TableReader<'_>, context: &mut Context<'_>) -> Option<Criterion> {
    let (needed, others): (&str, &[&str]) = match part {
        Part::Papers => ("better", &["band", "starve"]),
        Part::Modern => ("band", &["better", "to", "negligible"]),
    };
    for key in others {
        if let Some(node) = table.node(key) {
            let message = format!("cells of the part \"{}\" are judged by `{needed}`", part.name());
            context.problems.push(Problem::of(node, message).allowed(format!("no `{key}`")));
        }
    }
    if table.node(needed).is_none() {
        table.missing(needed, context);
        return None;
    }
    if part == Part::Modern {
        let band = table.get("band", context)?;
        let starve: Option<[f64; 2]> = table.get("starve", context);
        // Without any bound a cell takes back what the defaults of its part have.
        let starve = starve.filter(|ends| ends.iter().any(|end| end.is_finite()));
        return Some(Criterion::Band { band, starve });
    }
    let better: String = table.get("better", context)?;
    let to: f64 = table.get("to", context)?;
    let negligible: Option<f64> = table.get("negligible", context);
    let misplaced = if better == "nearer" { "negligible" } else { "to" };
    if let Some(node) = table.node(misplaced) {
        let problem = Problem::of(node, format!("`{misplaced}` has no meaning with better = \"{better}\""));
        context.problems.push(problem.allowed(format!("no `{misplaced}`")));
    }
    let direction = match better.as_str() {
        "higher" => Direction::Higher,
        "lower" => Direction::Lower,
        _ => Direction::Nearer(to),
    };
    Some(Criterion::Better { direction, negligible: negligible.unwrap_or(0.0) })
}

impl Read for Vec<String> {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Vec<String>> {
        let items = match (&node.value, kind) {
            (Value::List(items), FieldKind::TextsOrNone) => items.as_slice(),
            _ => list(node, kind, context)?,
        };
        let texts: Vec<Option<String>> =
            items.iter().map(|item| String::read(item, &FieldKind::Text, context)).collect();
        texts.into_iter().collect()
    }
}

impl Read for [f64; 2] {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<[f64; 2]> {
        let [low, high] = list(node, kind, context)? else {
            context.wrong(node, kind, Some("it has two ends".to_owned()));
            return None;
        };
        let mut end = |node: &Node, open: f64| match node.text() {
            Some("any") => Some(open),
            _ => number(node, kind, context, |_| true),
        };
        let (low, high) = (end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?);
        if low < high {
            return Some([low, high]);
        }
        context.wrong(node, kind, Some("its first end is not below the second".to_owned()));
        None
    }
}
