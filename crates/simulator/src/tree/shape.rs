//! The shape of a tree: its nodes, their links and their receivers.

use crate::network::{LinkId, Network, NetworkError, NodeId};
use crate::routing::Routing;

/// A node of the tree. Children of a node are adjacent, in ascending order of their links.
#[derive(Clone, Debug)]
pub(super) struct TreeNode {
    /// The link from the parent; meaningless at the root.
    pub(super) link_in: LinkId,
    pub(super) parent: u32,
    pub(super) first_child: u32,
    pub(super) child_count: u32,
    first_receiver: u32,
    receiver_count: u32,
}

/// The nodes of a tree, and where its receivers are.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(super) nodes: Vec<TreeNode>,
    /// By receiver in tree order.
    pub(super) receiver_nodes: Vec<u32>,
}

/// Where the parts of a shape come from; needed while a session is set up.
#[derive(Debug)]
pub(crate) struct Origins {
    /// The number in tree order of each receiver, as given.
    pub(crate) receivers: Vec<u32>,
    /// The network's node of each node of the tree.
    pub(crate) nodes: Vec<NodeId>,
}

impl Shape {
    /// The tree of shortest paths from `source` to the nodes of `receivers`.
    pub(crate) fn new(
        network: &Network,
        routing: &Routing,
        source: NodeId,
        receivers: &[NodeId],
    ) -> Result<(Shape, Origins), NetworkError> {
        let paths = routing.shortest_paths(network, source);
        let mut needed = vec![false; network.node_count()];
        for &receiver in receivers {
            if receiver == source {
                return Err(NetworkError::SameNode { node: network.node_name(source).to_owned() });
            }
            // The ancestors of a needed node are already included.
            let mut at = receiver;
            while at != source && !std::mem::replace(&mut needed[at.0 as usize], true) {
                at = paths.node_above(network, at).ok_or_else(|| network.no_path(source, receiver))?;
            }
        }
        let mut children = vec![Vec::new(); network.node_count()];
        for (node, link) in paths.reached_by.iter().enumerate() {
            if let Some(link) = link.filter(|_| needed[node]) {
                let parent = network.end(link.reverse());
                children[parent.0 as usize].push((link, NodeId(node as u32)));
            }
        }
        let mut at_node = vec![Vec::new(); network.node_count()];
        for (number, &receiver) in receivers.iter().enumerate() {
            at_node[receiver.0 as usize].push(number as u32);
        }
        let mut nodes = vec![TreeNode {
            link_in: LinkId(0),
            parent: 0,
            first_child: 0,
            child_count: 0,
            first_receiver: 0,
            receiver_count: 0,
        }];
        let mut network_nodes = vec![source];
        let mut receiver_nodes = Vec::with_capacity(receivers.len());
        let mut order = vec![0; receivers.len()];
        let mut next = 0;
        while let Some(&node) = network_nodes.get(next) {
            let below = &mut children[node.0 as usize];
            below.sort_unstable();
            nodes[next].first_child = network_nodes.len() as u32;
            nodes[next].child_count = below.len() as u32;
            nodes[next].first_receiver = receiver_nodes.len() as u32;
            nodes[next].receiver_count = at_node[node.0 as usize].len() as u32;
            for &number in &at_node[node.0 as usize] {
                order[number as usize] = receiver_nodes.len() as u32;
                receiver_nodes.push(next as u32);
            }
            for &(link, child) in below.iter() {
                nodes.push(TreeNode { link_in: link, parent: next as u32, ..nodes[0].clone() });
                network_nodes.push(child);
            }
            next += 1;
        }
        Ok((Shape { nodes, receiver_nodes }, Origins { receivers: order, nodes: network_nodes }))
    }

    /// The receivers at a node, by number in tree order.
    pub(super) fn receivers_at(&self, node: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[node as usize];
        node.first_receiver..node.first_receiver + node.receiver_count
    }

    /// The children of a node.
    pub(super) fn children_of(&self, node: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[node as usize];
        node.first_child..node.first_child + node.child_count
    }

    /// The path up from a node: the link and the node above.
    pub(super) fn up_from(&self, node: u32) -> (LinkId, u32) {
        let node = &self.nodes[node as usize];
        (node.link_in.reverse(), node.parent)
    }

    /// The next link on the path down to `to` for a packet that arrived over the link `from`, or is at the
    /// root. None if it has arrived.
    pub(super) fn down_towards(&self, to: u32, from: Option<LinkId>) -> Option<LinkId> {
        let mut node = &self.nodes[to as usize];
        if from == Some(node.link_in) {
            return None;
        }
        loop {
            let above = &self.nodes[node.parent as usize];
            if node.parent == 0 || from == Some(above.link_in) {
                return Some(node.link_in);
            }
            node = above;
        }
    }
}
