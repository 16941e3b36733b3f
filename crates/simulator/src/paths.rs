//! All unicast paths of a simulation, in one array.
//!
//! A packet carries the place of its next hop in the array, so that a node that forwards it reads one word.

use crate::network::LinkId;

/// Marks the entry that ends a path: the number of an agent, not of a link.
const END: u32 = 1 << 31;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Over this link.
    Link(LinkId),
    /// Nowhere: this agent gets it.
    Agent(u32),
}

/// A path as its sender knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnicastPath {
    pub(crate) first: LinkId,
    /// The number of its route.
    pub(crate) route: u32,
    /// The place of the hop after the first link.
    pub(crate) next: u32,
}

/// The paths.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// The links of each path and, after them, the agent that it leads to, with [`END`].
    hops: Vec<LinkId>,
}

impl Paths {
    /// Adds a path to an agent. Returns the place of its first hop.
    pub(crate) fn add(&mut self, links: &[LinkId], agent: u32) -> u32 {
        debug_assert!(agent < END && links.iter().all(|link| link.0 < END));
        let first = self.hops.len() as u32;
        self.hops.extend_from_slice(links);
        self.hops.push(LinkId(agent | END));
        first
    }

    /// The hop at a place.
    #[inline]
    pub(crate) fn hop(&self, place: u32) -> Hop {
        let LinkId(word) = self.hops[place as usize];
        if word & END == 0 { Hop::Link(LinkId(word)) } else { Hop::Agent(word & !END) }
    }

    /// The links of the path that starts at a place.
    pub(crate) fn links(&self, first: u32) -> &[LinkId] {
        let hops = &self.hops[first as usize..];
        let count = hops.iter().take_while(|hop| hop.0 & END == 0).count();
        &hops[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_links_and_then_its_agent() {
        let mut paths = Paths::default();
        let links = [4, 7, 0].map(LinkId);
        paths.add(&[LinkId(9)], 1);
        let first = paths.add(&links, 0);
        paths.add(&[LinkId(3)], 2);
        assert_eq!(paths.links(first), links);
        let hops: Vec<Hop> = (first..first + 4).map(|place| paths.hop(place)).collect();
        assert_eq!(hops[..3], links.map(Hop::Link));
        assert_eq!(hops[3], Hop::Agent(0));
    }
}
