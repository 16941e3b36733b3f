//! Links and nodes that nothing uses.

use std::collections::BTreeSet;

use super::Doubt;
use super::facts::Facts;
use super::list::UNUSED;
use super::queues::subject;

/// Links that no session and no flow takes, in either direction: one finding for all of them.
pub(super) fn check(facts: &Facts<'_>) -> Option<Doubt> {
    let scenario = facts.scenario;
    let routes = facts.sessions.iter().chain(&facts.flows).flatten();
    let used: BTreeSet<usize> = routes.flat_map(|route| &route.links).map(|link| link / 2).collect();
    let unused: Vec<usize> =
        (0..scenario.links.len()).filter(|link| !used.contains(link)).map(|link| 2 * link).collect();
    let &first = unused.first()?;
    let reached: BTreeSet<usize> =
        used.iter().flat_map(|&link| [scenario.links[link].from, scenario.links[link].to]).collect();
    let nodes: Vec<&str> = (0..scenario.nodes.len())
        .filter(|node| !reached.contains(node))
        .map(|node| scenario.nodes[node].as_str())
        .collect();
    let nodes = match nodes.as_slice() {
        [] => String::new(),
        [node] => format!(", nor the node {node}"),
        [node, rest @ ..] => {
            format!(", nor {node} and {} more node{}", rest.len(), if rest.len() == 1 { "" } else { "s" })
        }
    };
    let name = &scenario.links[first / 2].name;
    Some(Doubt {
        lint: UNUSED,
        subject: subject(facts, &unused),
        paths: vec![format!("links.{name}")],
        message: format!(
            "no session and no flow uses {}{nodes}",
            if unused.len() == 1 { "it" } else { "them" }
        ),
        remedy: "take out what is not needed, or check the ends of sessions and flows".to_owned(),
    })
}
