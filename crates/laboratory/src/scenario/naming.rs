//! How flows are named.

use std::collections::BTreeMap;

use crate::results::Role;

use super::flow_name::FlowName;
use super::plan::{FlowEnd, LinkPlan, Scenario};

impl Scenario {
    /// All flows in the order of the results: receivers of sessions, then sinks.
    pub fn flow_names(&self) -> Vec<FlowName> {
        let node = |place: &FlowEnd| self.nodes.get(place.node).cloned().unwrap_or_default();
        let receivers = self.sessions.iter().flat_map(|session| {
            session.receivers.iter().map(move |place| FlowName {
                name: place.flow.clone(),
                protocol: session.protocol.name().to_owned(),
                role: Role::Receiver,
                session: Some(session.name.clone()),
                node: node(place),
            })
        });
        let sinks = self.flows.iter().flat_map(|flow| {
            flow.to.iter().map(move |place| FlowName {
                name: place.flow.clone(),
                protocol: flow.protocol().to_owned(),
                role: Role::Sink,
                session: None,
                node: node(place),
            })
        });
        receivers.chain(sinks).collect()
    }

    /// The names of the links' directions, `FROM-TO`, in the order of the results: each
    /// link forward, then backward.
    pub fn link_names(&self) -> Vec<String> {
        let node = |node: usize| self.nodes.get(node).map_or("", String::as_str);
        let both = |link: &LinkPlan| {
            let (from, to) = (node(link.from), node(link.to));
            [format!("{from}-{to}"), format!("{to}-{from}")]
        };
        self.links.iter().flat_map(both).collect()
    }
}

/// The names of the flows of `name` that end at `nodes`, in order: numbered from 1 where there are
/// several at a node.
pub(super) fn flow_names(name: &str, nodes: &[&str]) -> Vec<String> {
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    nodes.iter().for_each(|node| *totals.entry(node).or_default() += 1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let number = seen.entry(node).or_default();
        *number += 1;
        names.push(match totals.get(node) {
            Some(1) => format!("{name}@{node}"),
            _ => format!("{name}-{number}@{node}"),
        });
    }
    names
}

/// Whether a name fits a pattern, in which `*` stands for any characters, also none.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    // The earliest place of each middle part leaves most room for what follows.
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{flow_names, matches};

    #[test]
    fn numbers_flows_only_where_there_are_several() {
        let names = flow_names("elm", &["R1", "R2", "R1"]);
        assert_eq!(names, ["elm-1@R1", "elm@R2", "elm-2@R1"]);
        assert!(flow_names("elm", &[]).is_empty());
    }

    #[test]
    fn patterns_stand_for_any_characters() {
        assert!(matches("tcp-*@R1", "tcp-12@R1"));
        assert!(matches("*@R1", "elm@R1"));
        assert!(matches("*", ""));
        assert!(matches("a*b*a", "abba"));
        assert!(!matches("a*a", "a"));
        assert!(!matches("tcp-*@R1", "tcp-1@R2"));
        assert!(!matches("tcp", "tcp-1"));
    }
}
