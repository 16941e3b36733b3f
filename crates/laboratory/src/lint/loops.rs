//! Edges of a topology that lead from a node to itself.

use super::Doubt;
use super::list::SELF_LOOP;
use crate::scenario::Scenario;

/// One finding for all of them.
pub(super) fn check(scenario: &Scenario) -> Option<Doubt> {
    const MOST: usize = 4;
    let mut nodes: Vec<&str> = scenario.self_loops.iter().map(String::as_str).collect();
    let count = nodes.len();
    nodes.sort_unstable();
    nodes.dedup();
    let shown = nodes.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    let more = match nodes.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (edges, lead, are) = match count {
        0 => return None,
        1 => ("edge", "leads from a node to itself", "is"),
        _ => ("edges", "lead from a node to itself", "are"),
    };
    Some(Doubt {
        lint: SELF_LOOP,
        subject: "topology".to_owned(),
        paths: vec!["topology.graphml".to_owned(), "topology".to_owned()],
        message: format!("{count} {edges} of the file {lead} and {are} left out: at {shown}{more}"),
        remedy: "check that a node is not missing in the file; no packet would take such an edge".to_owned(),
    })
}
