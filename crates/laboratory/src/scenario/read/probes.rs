//! Reads the probes.

use layercast_core::units::Duration;

use super::context::Context;
use super::groups::Known;
use super::table::TableReader;
use super::values::list;
use crate::scenario::field::{FieldKind, quoted};
use crate::scenario::flow_gauges::{FlowGauges, Gauge};
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
    if table.node("what").is_none() {
        table.missing("what", context);
    }
    let subject = subject(table.node("of")?, &of?, scenario, known, context);
    let what = quantities(table.node("what")?, subject.as_ref().map(|(_, looked)| looked), context);
    let ((subject, _), what) = (subject?, what?);
    let every = every?;
    let looks = scenario.duration.as_ns() / every.as_ns().max(1);
    if looks > MOST_LOOKS {
        let least = Duration::from_ns(scenario.duration.as_ns().div_ceil(MOST_LOOKS));
        let message = format!("a probe every {every} looks {looks} times in {}", scenario.duration);
        let place = table.node("every").unwrap_or(&entry.node);
        let problem = Problem::of(place, message);
        context.problems.push(problem.allowed(format!("at most {MOST_LOOKS} times: every {least} or more")));
    }
    Some(ProbePlan { name: entry.key.clone(), subject, what, every })
}

/// What a probe looks at, as far as its quantities go.
struct Looked {
    kind: SubjectKind,
    /// What the flow's endpoints show.
    gauges: FlowGauges,
}

impl Looked {
    /// The names of all its quantities.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let gauges = self.gauges.iter().map(Gauge::name);
        self.kind.quantities().map(Quantity::name).chain(gauges)
    }
}

/// The quantities of a list. What is looked at is not known if it is wrong itself.
fn quantities(node: &Node, looked: Option<&Looked>, context: &mut Context<'_>) -> Option<Vec<Quantity>> {
    let mut found: Vec<Quantity> = Vec::new();
    let mut all_right = true;
    for item in list(node, &FieldKind::Quantities, context)? {
        let gauges = looked.map_or(FlowGauges::default(), |looked| looked.gauges);
        let Some(quantity) = item.text().and_then(|name| Quantity::named(name, gauges)) else {
            match looked {
                Some(looked) => unknown(item, looked, context),
                None => unknown_of_any(item, context),
            }
            all_right = false;
            continue;
        };
        if let Some(looked) = looked.filter(|looked| !quantity.is_of(looked.kind)) {
            let message = format!("{} has no `{}`", looked.kind, quantity.name());
            let allowed = quoted(looked.names());
            context.problems.push(Problem::of(item, message).allowed(allowed));
        }
        if found.contains(&quantity) {
            let message = format!("`{}` is in the list already", quantity.name());
            context.problems.push(Problem::of(item, message));
        } else {
            found.push(quantity);
        }
    }
    Some(found).filter(|_| all_right)
}

/// A name that nothing has which such a probe looks at.
fn unknown(item: &Node, looked: &Looked, context: &mut Context<'_>) {
    let nearest = item.text().and_then(|text| nearest(text, looked.names()));
    context.wrong_name(item, format!("one of {}", quoted(looked.names())), nearest);
}

/// The same where it is not known what the probe looks at: any gauge may be meant.
fn unknown_of_any(item: &Node, context: &mut Context<'_>) {
    let names = || Quantity::ALL.iter().map(|quantity| quantity.name());
    let gauges = context.catalogue.names().into_iter().flat_map(|name| context.catalogue.gauges(name).iter());
    let Some(text) = item.text().filter(|text| gauges.into_iter().all(|gauge| gauge.name() != *text)) else {
        if item.text().is_none() {
            context.wrong_name(item, format!("one of {}", quoted(names())), None);
        }
        return;
    };
    let nearest = nearest(text, names());
    context.wrong_name(item, format!("one of {}, or a gauge of a protocol", quoted(names())), nearest);
}

/// What `link A-B` or `flow NAME` means.
fn subject(
    node: &Node,
    text: &str,
    scenario: &Scenario,
    known: &Known,
    context: &mut Context<'_>,
) -> Option<(Subject, Looked)> {
    let (kind, name) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let name = name.trim();
    let links = scenario.link_names();
    let (what, found, allowed, meant) = match kind {
        "link" => {
            let found = links.iter().position(|link| link == name);
            let found = found.map(|link| {
                (Subject::Link(link), Looked { kind: SubjectKind::Link, gauges: FlowGauges::default() })
            });
            let allowed = quoted(links.iter().step_by(2).map(String::as_str));
            let meant = nearest(name, links.iter().map(String::as_str));
            ("link", found, format!("{allowed}, in either direction"), meant)
        }
        "flow" if known.may_be_missing(name) => return None,
        "flow" => {
            let found = known.flows.iter().position(|flow| flow.name == name);
            let found = found.map(|flow| {
                let name = &known.flows[flow];
                let gauges = context.catalogue.gauges(&name.protocol);
                (Subject::Flow(flow), Looked { kind: name.into(), gauges })
            });
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
