//! The paths of a scenario's network. The directions of link n are `2 n` (as its name has it) and `2 n + 1`.

use std::collections::BTreeMap;

use super::plan::Scenario;

/// Shortest paths in hops; ties go to the link that was declared first, as in the simulator.
pub(crate) struct Paths<'s> {
    scenario: &'s Scenario,
    /// The directions that leave each node, in ascending order.
    leaving: Vec<Vec<usize>>,
    /// From each node that was asked for: the direction by which each other one is reached.
    known: BTreeMap<usize, Vec<Option<usize>>>,
}

impl<'s> Paths<'s> {
    pub(crate) fn of(scenario: &'s Scenario) -> Paths<'s> {
        let mut leaving = vec![Vec::new(); scenario.nodes.len()];
        for (index, link) in scenario.links.iter().enumerate() {
            leaving[link.from].push(2 * index);
            leaving[link.to].push(2 * index + 1);
        }
        Paths { scenario, leaving, known: BTreeMap::new() }
    }

    /// The directions from a node to another, in order; none if there is no path.
    pub(crate) fn path(&mut self, from: usize, to: usize) -> Vec<usize> {
        // A node with one link shares the paths of its neighbour.
        let (root, first) = match self.leaving[from].as_slice() {
            &[only] if from != to => (self.end(only), Some(only)),
            _ => (from, None),
        };
        if !self.known.contains_key(&root) {
            let reached = self.explore(root);
            self.known.insert(root, reached);
        }
        let reached = &self.known[&root];
        let (mut links, mut at) = (Vec::new(), to);
        while at != root {
            let Some(link) = reached[at] else { break };
            links.push(link);
            at = self.end(link ^ 1);
        }
        links.extend(first);
        links.reverse();
        links
    }

    /// The node that a direction leads to.
    pub(crate) fn end(&self, index: usize) -> usize {
        let link = &self.scenario.links[index / 2];
        if index.is_multiple_of(2) { link.to } else { link.from }
    }

    fn explore(&self, root: usize) -> Vec<Option<usize>> {
        let mut reached = vec![None; self.leaving.len()];
        let mut order = vec![root];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &link in &self.leaving[node] {
                let to = self.end(link);
                if to != root && reached[to].is_none() {
                    reached[to] = Some(link);
                    order.push(to);
                }
            }
        }
        reached
    }
}
