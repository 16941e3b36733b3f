//! Reads edge routers.

use std::collections::BTreeSet;

use layercast_core::units::{Duration, Time};
use layercast_simulator::{EdgeConfig, LeaveRule, QuerierProfile};

use super::compound::check_keys;
use super::context::Context;
use super::defaults::merge;
use super::flows::Timing;
use super::table::TableReader;
use super::topology::Topology;
use super::values::Named;
use crate::scenario::plan::{EdgePlan, SessionPlan};
use crate::scenario::problems::Problem;
use crate::scenario::tables::{EDGE, LeaveChoice};
use crate::scenario::tree::{Entry, Node};

/// What keys every edge has.
const ALWAYS: [&str; 9] = [
    "querier",
    "report_loss",
    "leave_loss",
    "report_repeat",
    "robustness",
    "query_interval",
    "query_response",
    "group_limit",
    "crash",
];

/// Reads `[edges]`. Defaults make an edge of every node that has receivers.
pub(super) fn read(
    entries: &[Entry],
    defaults: Option<&Node>,
    sessions: &[SessionPlan],
    topology: &Topology,
    timing: Timing,
    context: &mut Context<'_>,
) -> Vec<EdgePlan> {
    let places = sessions.iter().flat_map(|session| &session.receivers);
    let mut open: BTreeSet<usize> = places.map(|place| place.node).collect();
    let mut edges = Vec::new();
    for entry in entries {
        let name = Node { at: entry.key_at, ..entry.node.clone() };
        let found = topology.find(&Named { text: entry.key.clone(), node: name }, context);
        let plan = read_edge(&merge(&entry.node, defaults, &EDGE), timing, context);
        let Some(node) = found else { continue };
        // A session that could not be read may have had its receivers here.
        if !open.remove(&node) && context.problems.is_empty() {
            let problem =
                Problem::at(entry.key_at, &entry.node.path, "no session has a receiver at this node");
            context.problems.push(problem.allowed("a node with receivers"));
        }
        edges.extend(plan.map(|(config, crash)| EdgePlan { node, config, crash }));
    }
    if let Some(defaults) = defaults.filter(|_| context.problems.is_empty()) {
        let plan = read_edge(defaults, timing, context);
        let all = open.into_iter().zip(std::iter::repeat(plan));
        edges.extend(
            all.filter_map(|(node, plan)| plan.map(|(config, crash)| EdgePlan { node, config, crash })),
        );
    }
    edges
}

fn read_edge(node: &Node, timing: Timing, context: &mut Context<'_>) -> Option<(EdgeConfig, Option<Time>)> {
    let table = TableReader::open(node, &EDGE, context)?;
    let querier: String = table.get("querier", context)?;
    let profile = QuerierProfile::named(&querier);
    let leave: LeaveChoice = table.choice("leave", context)?;
    match profile {
        None => check_keys(node, "none", &ALWAYS, &[], context),
        Some(_) => {
            let own: &[&str] = match leave {
                LeaveChoice::Fast => &["leave", "processing"],
                LeaveChoice::Check | LeaveChoice::Tracked => {
                    &["leave", "last_member_interval", "last_member_count"]
                }
            };
            check_keys(node, leave.name(), &ALWAYS, own, context);
        }
    }
    if let (Some(profile), Some(at)) = (profile, table.node("leave"))
        && leave != LeaveChoice::Check
        && !profile.can_track()
    {
        let message = format!("`{querier}` cannot know its hosts one by one, as `{}` needs", leave.name());
        let problem = Problem::of(at, message);
        context.problems.push(problem.allowed("\"check\", or the querier \"igmpv3\" or \"mldv2\""));
    }
    let usual = profile.map_or(EdgeConfig::default(), QuerierProfile::config);
    let config = EdgeConfig {
        leave: leave_rule(&table, leave, usual.leave, context),
        report_loss: table.get("report_loss", context)?,
        leave_loss: table.get("leave_loss", context)?,
        report_repeat: table.get("report_repeat", context).unwrap_or(usual.report_repeat),
        robustness: table.get("robustness", context)?,
        query_interval: table.get("query_interval", context)?,
        query_response: table.get("query_response", context)?,
        group_limit: table.get("group_limit", context),
    };
    let crash: Option<Duration> = table.get("crash", context);
    if let (Some(at), Some(crash), Some(duration)) = (table.node("crash"), crash, timing.duration)
        && crash >= duration
    {
        let message = format!("the hosts crash at {crash}, but the run ends at {duration}");
        context.problems.push(Problem::of(at, message).allowed("a time before the end of the run"));
    }
    Some((config, crash.map(|crash| Time::ZERO + crash)))
}

fn leave_rule(
    table: &TableReader<'_>,
    leave: LeaveChoice,
    usual: LeaveRule,
    context: &mut Context<'_>,
) -> LeaveRule {
    match (usual, leave) {
        (LeaveRule::Check { .. }, LeaveChoice::Fast) => {
            LeaveRule::Fast { processing: table.get("processing", context).unwrap_or_default() }
        }
        (LeaveRule::Check { interval, count, .. }, LeaveChoice::Check | LeaveChoice::Tracked) => {
            LeaveRule::Check {
                interval: table.get("last_member_interval", context).unwrap_or(interval),
                count: table.get("last_member_count", context).unwrap_or(count),
                tracking: leave == LeaveChoice::Tracked,
            }
        }
        (LeaveRule::Latency | LeaveRule::Fast { .. }, _) => usual,
    }
}
