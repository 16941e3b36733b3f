//! Reads the probes.

use layercast_core::units::Duration;

use super::context::Context;
use super::groups::Known;
use super::table::TableReader;
use super::values::list;
use crate::scenario::field::{FieldKind, quoted};
use crate::scenario::nearest::nearest;
use crate::scenario::plan::Scenario;
use crate::scenario::probe::{ProbePlan, Quantity, Subject, SubjectKind};
use crate::scenario::problems::Problem;
use crate::scenario::tables::PROBE;
use crate::scenario::tree::{Entry, Node};

/// The most looks of a probe in a run: their values are kept until its end, 8 bytes each.
const MOST_LOOKS: u64 = 10_000_000;

/// Reads one probe of a scenario whose links, sessions and flows are read. None if it is wrong, or
/// about a flow that could not be read.
pub(super) fn read(
    entry: &Entry,
    scenario: &Scenario,
    known: &Known,
    context: &mut Context<'_>,
) -> Option<ProbePlan> {
    let table = TableReader::open(&entry.node, &PROBE, context)?;
    let (of, every): (Option<String>, Option<Duration>) =
        (table.get("of", context), table.get("every", context));
    let what = match table.node("what") {
        Some(node) => quantities(node, context),
        None => {
            table.missing("what", context);
            None
        }
    };
    let (subject, kind) = subject(table.node("of")?, &of?, scenario, known, context)?;
    let what = what?;
    for &(quantity, node) in what.iter().filter(|(quantity, _)| !quantity.is_of(kind)) {
        let message = format!("{kind} has no `{}`", quantity.name());
        let allowed = quoted(kind.quantities().map(Quantity::name));
        context.problems.push(Problem::of(node, message).allowed(allowed));
    }
    let every = every?;
    let looks = scenario.duration.as_ns() / every.as_ns().max(1);
    if looks > MOST_LOOKS {
        let least = Duration::from_ns(scenario.duration.as_ns().div_ceil(MOST_LOOKS));
        let message = format!("a probe every {every} looks {looks} times in {}", scenario.duration);
        let place = table.node("every").unwrap_or(&entry.node);
        let problem = Problem::of(place, message);
        context.problems.push(problem.allowed(format!("at most {MOST_LOOKS} times: every {least} or more")));
    }
    let what = what.into_iter().map(|(quantity, _)| quantity).collect();
    Some(ProbePlan { name: entry.key.clone(), subject, what, every })
}

/// The quantities of a list, each with its place.
fn quantities<'n>(node: &'n Node, context: &mut Context<'_>) -> Option<Vec<(Quantity, &'n Node)>> {
    let mut found: Vec<(Quantity, &Node)> = Vec::new();
    let mut all_right = true;
    for item in list(node, &FieldKind::Quantities, context)? {
        let names = || Quantity::ALL.iter().map(|quantity| quantity.name());
        let named = |name: &str| Quantity::ALL.iter().copied().find(|quantity| quantity.name() == name);
        match item.text().and_then(named) {
            Some(quantity) if found.iter().all(|&(other, _)| other != quantity) => {
                found.push((quantity, item))
            }
            Some(quantity) => {
                let message = format!("`{}` is in the list already", quantity.name());
                context.problems.push(Problem::of(item, message));
            }
            None => {
                let nearest = item.text().and_then(|text| nearest(text, names()));
                context.wrong_name(item, format!("one of {}", quoted(names())), nearest);
                all_right = false;
            }
        }
    }
    Some(found).filter(|_| all_right)
}

/// What `link A-B` or `flow NAME` means.
fn subject(
    node: &Node,
    text: &str,
    scenario: &Scenario,
    known: &Known,
    context: &mut Context<'_>,
) -> Option<(Subject, SubjectKind)> {
    let (kind, name) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let name = name.trim();
    let links = scenario.link_names();
    let (what, found, allowed, meant) = match kind {
        "link" => {
            let found = links.iter().position(|link| link == name);
            let found = found.map(|link| (Subject::Link(link), SubjectKind::Link));
            let allowed = quoted(links.iter().step_by(2).map(String::as_str));
            let meant = nearest(name, links.iter().map(String::as_str));
            ("link", found, format!("{allowed}, in either direction"), meant)
        }
        "flow" if known.may_be_missing(name) => return None,
        "flow" => {
            let found = known.flows.iter().position(|flow| flow.name == name);
            let found = found.map(|flow| (Subject::Flow(flow), (&known.flows[flow]).into()));
            let meant = nearest(name, known.flows.iter().map(|flow| flow.name.as_str()));
            ("flow", found, known.allowed(), meant)
        }
        _ => {
            context.wrong(node, &FieldKind::Subject, None);
            return None;
        }
    };
    if found.is_none() {
        let message = format!("there is no {what} called `{name}`");
        let meant = meant.map(|meant| format!("{what} {meant}"));
        context.problems.push(Problem::of(node, message).allowed(allowed).nearest(meant));
    }
    found
}
