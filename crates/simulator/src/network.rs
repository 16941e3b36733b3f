//! Topology: nodes and duplex links.

use std::sync::Arc;

use layercast_core::stream::Stream;
use layercast_core::units::Rate;

use crate::link::{Link, LinkConfig};
use crate::variation::{LinkVariation, VariationError};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// One direction of a link. Both directions are made together; [`LinkId::reverse`] is the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// The other direction.
    #[must_use]
    pub fn reverse(self) -> LinkId {
        LinkId(self.0 ^ 1)
    }
}

/// Why a network, or a flow or session on it, is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A link's rate is zero.
    #[error("link {link} has rate zero; give it a rate above zero")]
    ZeroRate {
        /// The link's name.
        link: String,
    },
    /// The variation of a link is invalid.
    #[error("the variation of link {link} is invalid")]
    Variation {
        /// The link's name.
        link: String,
        /// What is wrong.
        source: VariationError,
    },
    /// There is no path.
    #[error("there is no path from {from} to {to}; connect them with links")]
    NoPath {
        /// Where from.
        from: String,
        /// Where to.
        to: String,
    },
    /// The receivers of a session are not all of one protocol.
    #[error("the receivers of a session use different protocols; configure one session per protocol")]
    MixedProtocols,
    /// A node has more child links in a session's tree than its router, or its source, can address.
    #[error(
        "{node} has {links} child links in the tree, but a session with active routers supports at most {most}; insert further nodes"
    )]
    ChildLinks {
        /// The node.
        node: String,
        /// How many it has.
        links: u32,
        /// How many it may have.
        most: u32,
    },
    /// There can be no router of the session at a node.
    #[error(
        "no router can be at {node}; use nodes of the session's tree other than those of its source and receivers"
    )]
    RouterPlace {
        /// The node.
        node: String,
    },
    /// Both ends are at one node, where no link lies between them.
    #[error("both ends are at {node}; put them on different nodes")]
    SameNode {
        /// The node.
        node: String,
    },
}

/// Nodes and links, before a simulation runs on them.
#[derive(Clone, Debug, Default)]
pub struct Network {
    node_names: Vec<String>,
    /// Where each direction of a link leads.
    ends: Vec<NodeId>,
    /// What each is like: an index into `kinds`.
    kind_of: Vec<u32>,
    /// Large networks have few kinds of links.
    kinds: Vec<LinkConfig>,
    /// How some change, each link once at most.
    variations: Vec<(LinkId, Arc<LinkVariation>)>,
}

impl Network {
    /// An empty network.
    pub fn new() -> Network {
        Network::default()
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: impl Into<String>) -> NodeId {
        self.node_names.push(name.into());
        NodeId((self.node_names.len() - 1) as u32)
    }

    /// Adds both directions of a link and returns the one from `a` to `b`. The name of a direction
    /// names its random stream too, so it should not change when others are added.
    ///
    /// # Errors
    /// [`NetworkError::ZeroRate`].
    pub fn add_link(
        &mut self,
        a: NodeId,
        b: NodeId,
        forward: LinkConfig,
        backward: LinkConfig,
    ) -> Result<LinkId, NetworkError> {
        let first = LinkId(self.ends.len() as u32);
        for (from, to, config) in [(a, b, &forward), (b, a, &backward)] {
            if config.rate <= Rate::ZERO {
                let link = format!("{}-{}", self.node_name(from), self.node_name(to));
                return Err(NetworkError::ZeroRate { link });
            }
        }
        self.ends.extend([b, a]);
        for config in [forward, backward] {
            let kind = self.kind(config);
            self.kind_of.push(kind);
        }
        Ok(first)
    }

    /// Lets one direction of a link change over time. The last call for a direction takes effect.
    ///
    /// # Errors
    /// [`NetworkError::Variation`].
    pub fn vary_link(&mut self, link: LinkId, variation: LinkVariation) -> Result<(), NetworkError> {
        variation.check().map_err(|source| NetworkError::Variation { link: self.link_name(link), source })?;
        self.variations.retain(|(known, _)| *known != link);
        if !variation.is_nothing() {
            self.variations.push((link, Arc::new(variation)));
        }
        Ok(())
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.node_names[node.0 as usize]
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.node_names.len()
    }

    /// Where a link leads.
    pub(crate) fn end(&self, link: LinkId) -> NodeId {
        self.ends[link.0 as usize]
    }

    /// The rate of a link before any change.
    pub(crate) fn rate(&self, link: LinkId) -> Rate {
        self.kinds[self.kind_of[link.0 as usize] as usize].rate
    }

    /// How many directions of links there are.
    pub(crate) fn link_count(&self) -> usize {
        self.ends.len()
    }

    /// The name of a link's direction: `A-B`.
    pub(crate) fn link_name(&self, link: LinkId) -> String {
        format!("{}-{}", self.node_name(self.end(link.reverse())), self.node_name(self.end(link)))
    }

    /// The links in their order, with streams named after them.
    pub(crate) fn build_links(&self, seed: u64) -> Vec<Link> {
        let link = |(&kind, number): (&u32, u32)| {
            let stream = |part| self.link_stream(seed, part, LinkId(number));
            Link::new(self.kinds[kind as usize].clone(), stream("link"), stream("queue"))
        };
        self.kind_of.iter().zip(0..).map(link).collect()
    }

    /// The random stream of a part of a link: `link` for its losses, `queue` for its queue.
    fn link_stream(&self, seed: u64, part: &str, link: LinkId) -> Stream {
        Stream::new(seed, &format!("{part}/{}", self.link_name(link)))
    }

    /// The links that change, how, and the streams of their losses.
    pub(crate) fn variations(&self, seed: u64) -> impl Iterator<Item = (LinkId, Arc<LinkVariation>, Stream)> {
        let losses = move |link| self.link_stream(seed, "link", link);
        self.variations.iter().map(move |(link, plan)| (*link, Arc::clone(plan), losses(*link)))
    }

    /// The number of a configuration: a known one if it was among the last few.
    fn kind(&mut self, config: LinkConfig) -> u32 {
        let recent = self.kinds.len().saturating_sub(4);
        let known = self.kinds[recent..].iter().position(|known| *known == config);
        let kind = known.map_or(self.kinds.len(), |index| recent + index);
        if known.is_none() {
            self.kinds.push(config);
        }
        kind as u32
    }

    /// The error of nodes that no path connects.
    pub(crate) fn no_path(&self, from: NodeId, to: NodeId) -> NetworkError {
        let name = |node| self.node_name(node).to_owned();
        NetworkError::NoPath { from: name(from), to: name(to) }
    }
}
