//! The tree of a session's relays.

use super::paths::Paths;
use super::plan::Scenario;

/// A relay of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay {
    /// Its node: an index into [`Scenario::nodes`].
    pub node: usize,
    /// The relay above it: an index into [`RelayTree::relays`]; none if that is the source.
    pub parent: Option<usize>,
}

/// From where the relays and receivers of a session have their packets: from the nearest relay on their path from
/// the source, or from the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayTree {
    /// The relays, in the order of the scenario.
    pub relays: Vec<Relay>,
    /// The relay of each receiver of the session: an index into [`RelayTree::relays`]; none if that is the source.
    pub receivers: Vec<Option<usize>>,
}

impl RelayTree {
    /// The tree of a session, by its place in [`Scenario::sessions`]; none if the network carries its multicast.
    #[must_use]
    pub fn of(scenario: &Scenario, session: usize) -> Option<RelayTree> {
        let plan = scenario.sessions.get(session)?;
        if plan.relays.is_empty() {
            return None;
        }
        let mut paths = Paths::of(scenario);
        let place = |node: usize| plan.relays.iter().position(|relay| *relay == node);
        // The last relay on the path to a node. One at the end of it serves receivers there, and not itself.
        let mut above = |to: usize, is_relay: bool| {
            let links = paths.path(plan.source, to);
            let nodes = links.iter().map(|&link| paths.end(link));
            nodes.filter(|node| !(is_relay && *node == to)).filter_map(place).next_back()
        };
        let relays = plan.relays.iter().map(|&node| Relay { node, parent: above(node, true) }).collect();
        let receivers = plan.receivers.iter().map(|end| above(end.node, false)).collect();
        Some(RelayTree { relays, receivers })
    }

    /// The receivers whose packets pass a relay, as indices into those of the session.
    #[must_use]
    pub fn below(&self, relay: usize) -> Vec<usize> {
        let passes = |&receiver: &usize| {
            let mut at = self.receivers.get(receiver).copied().flatten();
            // A path has no more relays than there are.
            for _ in 0..self.relays.len() {
                match at {
                    Some(one) if one == relay => return true,
                    Some(one) => at = self.relays.get(one).and_then(|one| one.parent),
                    None => return false,
                }
            }
            false
        };
        (0..self.receivers.len()).filter(passes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::testing::{SMALL, read_text};

    /// The tree of the small scenario's session with these relays, its receivers at R1, R2 and R1.
    fn tree(relays: &str) -> RelayTree {
        let text = SMALL.replace("start = \"10 s\"", &format!("start = \"10 s\"\nrelays = {relays}"));
        let scenario = read_text(&text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        RelayTree::of(&scenario, 0).unwrap()
    }

    #[test]
    fn each_has_the_nearest_relay_on_its_path() {
        // The nodes are S, G, R1, R2.
        let both = tree("[\"R1\", \"G\"]");
        assert_eq!(both.relays, [Relay { node: 2, parent: Some(1) }, Relay { node: 1, parent: None }]);
        assert_eq!(both.receivers, [Some(0), Some(1), Some(0)]);
        assert_eq!((both.below(0), both.below(1)), (vec![0, 2], vec![0, 1, 2]));
        let one = tree("[\"R2\"]");
        assert_eq!(
            (one.receivers.as_slice(), one.relays[0].parent),
            ([None, Some(0), None].as_slice(), None)
        );
    }

    #[test]
    fn a_session_without_relays_has_no_tree() {
        assert_eq!(RelayTree::of(&read_text(SMALL, &[]).unwrap(), 0), None);
        assert_eq!(RelayTree::of(&read_text(SMALL, &["sessions.elm.relays=[]"]).unwrap(), 0), None);
    }

    #[test]
    fn relays_are_at_other_nodes_than_the_source_each_once() {
        let mistake = |relays: &str| {
            let text = SMALL.replace("start = \"10 s\"", &format!("start = \"10 s\"\nrelays = {relays}"));
            let errors = read_text(&text, &[]).unwrap_err();
            assert_eq!(errors.0.len(), 1, "{errors}");
            errors.to_string()
        };
        for (relays, expected) in [
            ("[\"S\"]", "`S` is the node of the source, which serves relays itself"),
            ("[\"G\", \"G\"]", "`G` has two relays of the session"),
            ("[\"H\"]", "there is no node `H`"),
            ("\"G\"", "is not allowed"),
        ] {
            let said = mistake(relays);
            assert!(said.contains(expected), "{said}");
        }
    }
}
