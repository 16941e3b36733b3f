//! Which packets count for which flow, and which of them bring something new.

use std::collections::BTreeMap;

use layercast_simulator::ForeignPath;

use crate::host::HostId;
use crate::packet::{TcpView, View, protocol};

/// How many ranges beyond a gap are kept for a connection. What lies beyond more gaps counts as new.
const MOST_RANGES: usize = 1024;

/// What is new of the bytes of one connection: each counts once.
#[derive(Clone, Debug, Default)]
pub struct Novelty {
    /// The number after the last byte that has arrived with all before it; none before the first segment.
    next: Option<u32>,
    /// Ranges beyond, as distances from `next`: start and end.
    beyond: Vec<(u32, u32)>,
}

impl Novelty {
    /// A segment has arrived. Returns whether it has a byte that had not.
    pub fn receive(&mut self, segment: TcpView) -> bool {
        if segment.syn {
            *self = Novelty { next: Some(segment.seq.wrapping_add(1)), beyond: Vec::new() };
            return false;
        }
        if segment.data == 0 {
            return false;
        }
        let next = *self.next.get_or_insert(segment.seq);
        let start = segment.seq.wrapping_sub(next) as i32;
        let end = i64::from(start) + i64::from(segment.data);
        if end <= 0 {
            return false;
        }
        let (start, end) = (start.max(0) as u32, end as u32);
        let is_new = !self.beyond.iter().any(|&(left, right)| left <= start && end <= right);
        if is_new {
            self.insert(start, end);
        }
        is_new
    }

    fn insert(&mut self, mut start: u32, mut end: u32) {
        self.beyond.retain(|&(left, right)| {
            let is_apart = end < left || right < start;
            if !is_apart {
                (start, end) = (start.min(left), end.max(right));
            }
            is_apart
        });
        if start > 0 {
            if self.beyond.len() < MOST_RANGES {
                self.beyond.push((start, end));
            }
            return;
        }
        self.next = self.next.map(|next| next.wrapping_add(end));
        for range in &mut self.beyond {
            *range = (range.0 - end, range.1 - end);
        }
    }
}

/// Which packets a flow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) from_port: Option<u16>,
    pub(crate) to_port: Option<u16>,
}

impl Match {
    fn fits(&self, from: u16, to: u16) -> bool {
        self.from_port.is_none_or(|port| port == from) && self.to_port.is_none_or(|port| port == to)
    }
}

/// The flows that were declared.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    declared: BTreeMap<(HostId, HostId, u8), Vec<(Match, ForeignPath)>>,
    /// The connection of each flow that is open, and what is new of it. A flow has one at a time.
    connections: BTreeMap<ForeignPath, (Option<(u16, u16)>, Novelty)>,
}

impl Flows {
    pub(crate) fn declare(&mut self, from: HostId, to: HostId, protocol: u8, only: Match, path: ForeignPath) {
        self.declared.entry((from, to, protocol)).or_default().push((only, path));
        self.connections.insert(path, (None, Novelty::default()));
    }

    /// The path of the flow that a packet belongs to, and whether it counts there.
    pub(crate) fn find(&self, from: HostId, to: HostId, view: &View) -> Option<(ForeignPath, bool)> {
        let of_ends = self.declared.get(&(from, to, view.protocol))?;
        let (from_port, to_port) = view.ports?;
        let (_, path) = of_ends.iter().find(|(which, _)| which.fits(from_port, to_port))?;
        let counts = view.protocol != protocol::TCP || view.tcp.is_some_and(|segment| segment.data > 0);
        Some((*path, counts))
    }

    /// Whether a packet that has arrived on a path brings something new of the flow there.
    pub(crate) fn is_new(&mut self, path: ForeignPath, view: &View) -> bool {
        let Some((ports, novelty)) = self.connections.get_mut(&path) else { return false };
        let Some(segment) = view.tcp else { return true };
        if *ports != view.ports {
            (*ports, *novelty) = (view.ports, Novelty::default());
        }
        novelty.receive(segment)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(seq: u32, data: u32) -> TcpView {
        TcpView { seq, data, syn: false }
    }

    #[test]
    fn each_byte_is_new_once() {
        let mut novelty = Novelty::default();
        assert!(!novelty.receive(TcpView { seq: u32::MAX - 100, data: 0, syn: true }));
        let first = u32::MAX - 99;
        assert!(novelty.receive(segment(first, 100)));
        assert!(!novelty.receive(segment(first, 100)), "sent again");
        assert!(
            novelty.receive(segment(first.wrapping_add(200), 100)),
            "beyond a gap, over the end of the numbers"
        );
        assert!(!novelty.receive(segment(first.wrapping_add(200), 100)));
        assert!(novelty.receive(segment(first.wrapping_add(100), 100)), "fills the gap");
        assert!(!novelty.receive(segment(first.wrapping_add(50), 250)));
        assert!(novelty.receive(segment(first.wrapping_add(250), 100)), "half of it is new");
        assert!(!novelty.receive(segment(first.wrapping_add(350), 0)), "an acknowledgement");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// A segment is new if and only if it has a byte that did not come before.
        #[test]
        fn novelty_is_that_of_a_set(first in any::<u32>(), segments in prop::collection::vec((0u32..60, 1u32..20), 1..80)) {
            let mut novelty = Novelty::default();
            novelty.receive(TcpView { seq: first.wrapping_sub(1), data: 0, syn: true });
            let mut known = std::collections::BTreeSet::new();
            for (start, length) in segments {
                let before = known.len();
                known.extend(start..start + length);
                prop_assert_eq!(novelty.receive(segment(first.wrapping_add(start), length)), known.len() > before);
            }
        }
    }
}
