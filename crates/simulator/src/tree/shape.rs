//! The shape of a tree: its nodes, their links and their receivers.

use crate::network::{LinkId, Network, NetworkError, NodeId};
use crate::routing::Routing;

/// The nodes of a tree, and where its receivers are. A node comes after its parent, children of a node are
/// adjacent, in ascending order of their links, and so are the receivers at a node. What a node has is in
/// lists of its own: a packet that is forwarded reads few of them, one entry after the other.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// By node: the link from the parent; meaningless at the root.
    pub(super) links_in: Vec<LinkId>,
    /// By node.
    pub(super) parents: Vec<u32>,
    /// By node: its first child, where those of the node before end; one more at the end.
    first_child: Vec<u32>,
    /// The same of its receivers.
    first_receiver: Vec<u32>,
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
        let mut shape = Shape { links_in: vec![LinkId(0)], parents: vec![0], ..Shape::default() };
        let mut nodes = vec![source];
        let mut order = vec![0; receivers.len()];
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            shape.first_child.push(nodes.len() as u32);
            shape.first_receiver.push(shape.receiver_nodes.len() as u32);
            for &number in &at_node[node.0 as usize] {
                order[number as usize] = shape.receiver_nodes.len() as u32;
                shape.receiver_nodes.push(next as u32);
            }
            let below = &mut children[node.0 as usize];
            below.sort_unstable();
            for &(link, child) in below.iter() {
                shape.links_in.push(link);
                shape.parents.push(next as u32);
                nodes.push(child);
            }
            next += 1;
        }
        shape.first_child.push(nodes.len() as u32);
        shape.first_receiver.push(shape.receiver_nodes.len() as u32);
        Ok((shape, Origins { receivers: order, nodes }))
    }

    /// How many nodes there are.
    pub(super) fn node_count(&self) -> usize {
        self.parents.len()
    }

    /// The receivers at a node, by number in tree order.
    #[inline]
    pub(super) fn receivers_at(&self, node: u32) -> std::ops::Range<u32> {
        let node = node as usize;
        self.first_receiver[node]..self.first_receiver[node + 1]
    }

    /// The children of a node.
    #[inline]
    pub(super) fn children_of(&self, node: u32) -> std::ops::Range<u32> {
        let node = node as usize;
        self.first_child[node]..self.first_child[node + 1]
    }

    /// The path up from a node: the link and the node above.
    pub(super) fn up_from(&self, node: u32) -> (LinkId, u32) {
        (self.links_in[node as usize].reverse(), self.parents[node as usize])
    }

    /// The next link on the path down to `to` for a packet that arrived over the link `from`, or is at the
    /// root. None if it has arrived.
    pub(super) fn down_towards(&self, to: u32, from: Option<LinkId>) -> Option<LinkId> {
        let mut link_in = self.links_in[to as usize];
        if from == Some(link_in) {
            return None;
        }
        let mut node = to;
        loop {
            let above = self.parents[node as usize];
            let link_above = self.links_in[above as usize];
            if above == 0 || from == Some(link_above) {
                return Some(link_in);
            }
            (node, link_in) = (above, link_above);
        }
    }
}
