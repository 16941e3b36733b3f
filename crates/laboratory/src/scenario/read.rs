//! Reads a scenario: text and overrides in, a checked [`Scenario`] or all that is wrong out.

mod compound;
mod context;
mod defaults;
mod demand;
mod edges;
mod flows;
mod groups;
mod layers;
mod library;
mod limits;
mod objects;
mod options;
mod probes;
mod queues;
mod routers;
mod sessions;
pub(super) mod suite;
mod table;
mod topology;
mod values;
mod variation;

use std::collections::BTreeMap;
use std::path::Path;

use layercast_core::units::{Duration, Time};

use self::context::Context;
use self::defaults::check_defaults;
use self::flows::Timing;
use self::groups::Known;
use self::table::TableReader;
use self::topology::Topology;
use self::values::Read;
use super::error::ScenarioErrors;
use super::field::FieldKind;
use super::import;
use super::overrides::{self, Stage};
use super::plan::{Scenario, Window};
use super::problems::{Problem, Problems};
use super::protocols::Catalogue;
use super::tables::{DEFAULTS, SCENARIO};
use super::templates;
use super::tree::{self, Entry, Node, Value};
use super::write;

/// Reads the text of a scenario file. `name` is what errors call it, and what paths in it are relative
/// to. Each of `overrides` is a
/// `KEY=VALUE` as `--set` takes it, worked into the file before it is read.
///
/// # Errors
/// All that is wrong with file and overrides, in the order of their places.
pub fn read(
    name: &str,
    text: &str,
    overrides: &[String],
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioErrors> {
    let (root, mut context) = prepare(name, text, overrides, catalogue)?;
    finish(read_scenario(&root, &mut context), context)
}

/// A scenario whose sessions are to get other protocols: whether its own react to marks is not asked.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_outline(
    name: &str,
    text: &str,
    overrides: &[String],
    catalogue: &Catalogue,
) -> Result<Scenario, ScenarioErrors> {
    let (root, mut context) = prepare(name, text, overrides, catalogue)?;
    context.is_outline = true;
    finish(read_scenario(&root, &mut context), context)
}

fn finish<T>(made: Option<T>, context: Context<'_>) -> Result<T, ScenarioErrors> {
    made.filter(|_| context.problems.is_empty()).ok_or_else(|| context.problems.into_errors())
}

/// The scenario as one flat file: templates and overrides worked in, and no reference to rows in other
/// files. Paths that links name stay relative to the scenario file.
///
/// # Errors
/// As [`read`].
pub fn expand(
    name: &str,
    text: &str,
    overrides: &[String],
    catalogue: &Catalogue,
) -> Result<String, ScenarioErrors> {
    let (root, mut context) = prepare(name, text, overrides, catalogue)?;
    finish(read_scenario(&root, &mut context), context).map(|_| write::toml(&root))
}

/// The tree of a scenario with all that is worked in before it is read.
fn prepare<'c>(
    name: &str,
    text: &str,
    overrides: &[String],
    catalogue: &'c Catalogue,
) -> Result<(Node, Context<'c>), ScenarioErrors> {
    let file = (name.to_owned(), text.to_owned());
    let settings = overrides.iter().map(|text| ("--set".to_owned(), text.clone()));
    let mut problems = Problems::new(std::iter::once(file).chain(settings).collect());
    let mut root = match tree::parse(text) {
        Ok(root) => root,
        Err(error) => {
            problems.push(Problem::at(error.at, "", format!("this is not TOML: {}", error.message)));
            return Err(problems.into_errors());
        }
    };
    let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_owned();
    let mut files = Vec::new();
    // What decides which file is read, and how, holds before it is read.
    overrides::apply(&mut root, overrides, Stage::Topology, catalogue, &mut problems);
    let self_loops = import::import(&mut root, &folder, &mut problems, &mut files);
    templates::expand(&mut root, &folder, &mut problems, &mut files);
    // What was not made would be missed everywhere.
    if !problems.is_empty() {
        return Err(problems.into_errors());
    }
    overrides::apply(&mut root, overrides, Stage::Scenario, catalogue, &mut problems);
    let traces = BTreeMap::new();
    Ok((root, Context { catalogue, problems, folder, files, self_loops, traces, is_outline: false }))
}

fn read_scenario(root: &Node, context: &mut Context<'_>) -> Option<Scenario> {
    let table = TableReader::open(root, &SCENARIO, context)?;
    let duration: Option<Duration> = table.get("duration", context);
    limits::check_duration(&table, duration, context);
    let defaults = |key: &str| root.get("defaults").and_then(|defaults| defaults.get(key));
    if let Some(node) = root.get("defaults") {
        check_defaults(node, &DEFAULTS, context);
    }
    let topology = Topology::read(&table, defaults("link"), context);
    limits::check_changes(root, duration, context);
    let timing = Timing { duration };
    let mut incomplete = Vec::new();
    let mut sessions = Vec::new();
    for entry in table.entries("sessions", context) {
        check_name(entry, context);
        let plan = sessions::read(entry, defaults("session"), &topology, timing, context);
        if plan.as_ref().is_none_or(|plan| plan.receivers.is_empty()) {
            incomplete.push(entry.key.clone());
        }
        // Without receivers it is as if it were not there: a count of 0 takes it out.
        sessions.extend(plan.filter(|plan| !plan.receivers.is_empty()));
    }
    let mut flows = Vec::new();
    for entry in table.entries("flows", context) {
        check_name(entry, context);
        let plan = flows::read(entry, defaults("flow"), &topology, timing, context);
        if plan.as_ref().is_none_or(|plan| plan.to.is_empty()) {
            incomplete.push(entry.key.clone());
        }
        flows.extend(plan.filter(|plan| !plan.to.is_empty()));
    }
    let edges =
        edges::read(table.entries("edges", context), defaults("edge"), &sessions, &topology, timing, context);
    let windows = match (table.node("windows"), duration) {
        (Some(node), Some(duration)) => read_windows(node, duration, context),
        (_, duration) => vec![Window { start: Time::ZERO, end: Time::ZERO + duration.unwrap_or_default() }],
    };
    let mut scenario = Scenario {
        name: table.get("name", context).unwrap_or_default(),
        description: table.get("description", context),
        duration: duration.unwrap_or_default(),
        replications: table.get("replications", context).unwrap_or_default(),
        seed: table.get("seed", context).unwrap_or_default(),
        windows,
        series_bin: table.get("series_bin", context).unwrap_or_default(),
        nodes: topology.nodes,
        links: topology.links,
        sessions,
        flows,
        edges,
        groups: Vec::new(),
        paper: Vec::new(),
        probes: Vec::new(),
        files: std::mem::take(&mut context.files),
        self_loops: std::mem::take(&mut context.self_loops),
    };
    limits::check_bins(&table, &scenario, context);
    let known = Known { flows: scenario.flow_names(), incomplete };
    check_unique(root, &scenario, context);
    let is_without = scenario.sessions.is_empty() && scenario.flows.is_empty();
    if root.get("sessions").or(root.get("flows")).is_none() || (is_without && context.problems.is_empty()) {
        let problem = Problem::at(root.at, "", "there is nothing to measure");
        context.problems.push(problem.allowed("at least one session or flow"));
    }
    for entry in table.entries("groups", context) {
        check_group_name(entry, &known, context);
        scenario.groups.push(groups::read_group(entry, &known, context));
    }
    for entry in table.entries("paper", context) {
        let values = groups::read_paper(entry, &known, &scenario.groups, context);
        scenario.paper.extend(values);
    }
    for entry in table.entries("probes", context) {
        check_name(entry, context);
        let plan = probes::read(entry, &scenario, &known, context);
        scenario.probes.extend(plan);
    }
    Some(scenario)
}

/// The name of a session, flow or probe becomes part of names and paths.
fn check_name(entry: &Entry, context: &mut Context<'_>) {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if entry.key.is_empty() || !entry.key.chars().all(fits) {
        let problem = Problem::at(entry.key_at, &entry.node.path, "this name cannot be used");
        context.problems.push(problem.allowed("letters, digits, `_` and `-`"));
    }
}

fn check_group_name(entry: &Entry, known: &Known, context: &mut Context<'_>) {
    let message = if entry.key.trim().is_empty() || entry.key.contains('.') {
        "the name of a group is not empty and has no dot"
    } else if known.flows.iter().any(|flow| flow.name == entry.key) {
        "a flow has this name already"
    } else {
        return;
    };
    context.problems.push(Problem::at(entry.key_at, &entry.node.path, message));
}

/// Two sessions or flows may be named so that two of their flows have the same name.
fn check_unique(root: &Node, scenario: &Scenario, context: &mut Context<'_>) {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let sessions = scenario.sessions.iter().map(|plan| ("sessions", &plan.name, &plan.receivers));
    let flows = scenario.flows.iter().map(|plan| ("flows", &plan.name, &plan.to));
    for (table, owner, places) in sessions.chain(flows) {
        let clash =
            places.iter().find_map(|place| seen.get(place.flow.as_str()).map(|other| (place, *other)));
        if let Some((place, other)) = clash
            && let Some(entry) = root.get(table).and_then(|node| node.entry(owner))
        {
            let message = format!("its flow `{}` has the same name as one of `{other}`", place.flow);
            context.problems.push(Problem::at(entry.key_at, &entry.node.path, message));
        }
        seen.extend(places.iter().map(|place| (place.flow.as_str(), owner.as_str())));
    }
}

fn read_windows(node: &Node, duration: Duration, context: &mut Context<'_>) -> Vec<Window> {
    let items = values::list(node, &FieldKind::Windows, context).unwrap_or_default();
    items.iter().filter_map(|item| read_window(item, duration, context)).collect()
}

fn read_window(node: &Node, duration: Duration, context: &mut Context<'_>) -> Option<Window> {
    let Value::List(ends) = &node.value else {
        context.wrong(node, &FieldKind::Range, None);
        return None;
    };
    let [start_node, end_node] = ends.as_slice() else {
        context.wrong(node, &FieldKind::Range, Some("a window has a start and an end".to_owned()));
        return None;
    };
    let start = Duration::read(start_node, &FieldKind::Duration, context);
    let end = match end_node.text() {
        Some("end") => Some(duration),
        _ => Duration::read(end_node, &FieldKind::Duration, context),
    };
    let (start, end) = (start?, end?);
    let problem = if end > duration {
        Problem::of(end_node, format!("the window ends at {end}, but the run at {duration}"))
            .allowed("a time within the run, or \"end\"")
    } else if start >= end {
        Problem::of(start_node, format!("the window starts at {start}, but ends at {end}"))
            .allowed("a start before the end")
    } else {
        return Some(Window { start: Time::ZERO + start, end: Time::ZERO + end });
    };
    context.problems.push(problem);
    None
}
