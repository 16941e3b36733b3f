//! Shortest paths, in hops; ties go to the link that was added first.

use std::collections::BTreeMap;

use crate::network::{LinkId, Network, NetworkError, NodeId};

/// The shortest paths through a network.
#[derive(Debug)]
pub(crate) struct Routing {
    /// Where the outgoing links of each node start in `outgoing`; one more at the end.
    first_outgoing: Vec<u32>,
    /// The outgoing links of all nodes, those of a node in ascending order.
    outgoing: Vec<LinkId>,
    /// Paths between nodes that have more than one link, by where they start. A node with one link
    /// is on no path of others, so most networks have few of them.
    known: BTreeMap<NodeId, ShortestPaths>,
}

/// Shortest paths from one node.
#[derive(Clone, Debug)]
pub(crate) struct ShortestPaths {
    /// For each node the link by which it is reached.
    pub(crate) reached_by: Vec<Option<LinkId>>,
}

impl ShortestPaths {
    /// The node before `node` on the path to it. None if it is the root or cannot be reached.
    pub(crate) fn node_above(&self, network: &Network, node: NodeId) -> Option<NodeId> {
        let link = self.reached_by[node.0 as usize]?;
        Some(network.end(link.reverse()))
    }
}

impl Routing {
    /// The routing of `network`.
    pub(crate) fn new(network: &Network) -> Routing {
        let links = || (0..network.link_count() as u32).map(LinkId);
        let from = |link: LinkId| network.end(link.reverse()).0 as usize;
        let mut first_outgoing = vec![0; network.node_count() + 1];
        for link in links() {
            first_outgoing[from(link) + 1] += 1;
        }
        for node in 0..network.node_count() {
            first_outgoing[node + 1] += first_outgoing[node];
        }
        let mut next = first_outgoing.clone();
        let mut outgoing = vec![LinkId(0); network.link_count()];
        for link in links() {
            let index = &mut next[from(link)];
            outgoing[*index as usize] = link;
            *index += 1;
        }
        Routing { first_outgoing, outgoing, known: BTreeMap::new() }
    }

    /// The shortest paths from `root` to every node.
    pub(crate) fn shortest_paths(&self, network: &Network, root: NodeId) -> ShortestPaths {
        self.explore(network, root, |_| true)
    }

    /// The links of the path between two different nodes.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`].
    pub(crate) fn path(
        &mut self,
        network: &Network,
        from: NodeId,
        to: NodeId,
    ) -> Result<Vec<LinkId>, NetworkError> {
        let (first, last) = (self.only_link(from), self.only_link(to).map(LinkId::reverse));
        let start = first.map_or(from, |link| network.end(link));
        let end = last.map_or(to, |link| network.end(link.reverse()));
        let mut links: Vec<LinkId> = first.into_iter().collect();
        // Two nodes with one link to each other need no more; otherwise a path back is not a path.
        if start != to {
            self.transit(network, start, end, &mut links).ok_or_else(|| network.no_path(from, to))?;
            links.extend(last);
        }
        Ok(links)
    }

    /// Adds the links between two transit nodes.
    fn transit(
        &mut self,
        network: &Network,
        start: NodeId,
        end: NodeId,
        links: &mut Vec<LinkId>,
    ) -> Option<()> {
        if !self.known.contains_key(&start) {
            let paths = self.explore(network, start, |node| self.only_link(node).is_none());
            self.known.insert(start, paths);
        }
        let paths = self.known.get(&start)?;
        let before = links.len();
        let mut at = end;
        while at != start {
            let link = paths.reached_by[at.0 as usize]?;
            links.push(link);
            at = network.end(link.reverse());
        }
        links[before..].reverse();
        Some(())
    }

    /// The shortest paths from `root` to the nodes that are of interest, through such nodes alone.
    fn explore(&self, network: &Network, root: NodeId, interest: impl Fn(NodeId) -> bool) -> ShortestPaths {
        let mut reached_by = vec![None; network.node_count()];
        let mut order = vec![root];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &link in self.links_from(node) {
                let to = network.end(link);
                if to != root && reached_by[to.0 as usize].is_none() && interest(to) {
                    reached_by[to.0 as usize] = Some(link);
                    order.push(to);
                }
            }
        }
        ShortestPaths { reached_by }
    }

    fn links_from(&self, node: NodeId) -> &[LinkId] {
        let node = node.0 as usize;
        &self.outgoing[self.first_outgoing[node] as usize..self.first_outgoing[node + 1] as usize]
    }

    /// The link of a node that has only one.
    fn only_link(&self, node: NodeId) -> Option<LinkId> {
        match self.links_from(node) {
            &[link] => Some(link),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::{Duration, Rate};
    use proptest::prelude::*;

    use super::*;
    use crate::{LinkConfig, LossModel, LossPlace, QueueConfig};

    fn network(nodes: u32, links: &[(u32, u32)]) -> Network {
        let mut network = Network::new();
        let ids: Vec<NodeId> = (0..nodes).map(|node| network.add_node(format!("{node}"))).collect();
        let config = LinkConfig {
            rate: Rate::from_mbps(1.0),
            delay: Duration::ZERO,
            queue: QueueConfig::default(),
            loss: LossModel::None,
            loss_place: LossPlace::BeforeQueue,
            loss_marks: false,
        };
        for &(a, b) in links {
            let ends = (ids[(a % nodes) as usize], ids[(b % nodes) as usize]);
            network.add_link(ends.0, ends.1, config.clone(), config.clone()).unwrap();
        }
        network
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// A path is the one in the tree of all shortest paths, however it was found.
        #[test]
        fn paths_are_those_of_the_whole_tree(
            nodes in 2u32..9,
            links in prop::collection::vec((0u32..9, 0u32..9), 1..14),
        ) {
            let network = network(nodes, &links);
            let mut routing = Routing::new(&network);
            for from in (0..nodes).map(NodeId) {
                let paths = routing.shortest_paths(&network, from);
                for to in (0..nodes).map(NodeId).filter(|&to| to != from) {
                    let mut expected = Vec::new();
                    let mut at = to;
                    while let Some(link) = paths.reached_by[at.0 as usize] {
                        expected.insert(0, link);
                        at = network.end(link.reverse());
                    }
                    match routing.path(&network, from, to) {
                        Ok(path) => prop_assert_eq!(path, expected),
                        Err(error) => {
                            prop_assert_eq!(error, network.no_path(from, to));
                            prop_assert!(expected.is_empty());
                        }
                    }
                }
            }
        }
    }
}
