//! What happens at tapped links, and the bodies of the packets there, kept outside the links, which do not know
//! packet types.

use std::collections::BTreeMap;

use crate::packet::Body;

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// It was offered to the link. A later record has its outcome.
    Offered,
    /// The queue dropped it, on arrival or later.
    Dropped,
    /// The error model lost it, before the queue or at the far end.
    Lost,
    /// The queue marked it (RFC 3168).
    Marked,
    /// Its transmission began.
    Sent,
    /// Its last bit reached the far end.
    Arrived,
}

/// One packet at one tapped link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TappedId(u64);

/// The bodies of packets of which a tap has records. A body goes with the last of them.
#[derive(Debug)]
pub(crate) struct Tapped<H> {
    bodies: BTreeMap<TappedId, Body<H>>,
    next: u64,
}

impl<H> Default for Tapped<H> {
    fn default() -> Self {
        Tapped { bodies: BTreeMap::new(), next: 0 }
    }
}

impl<H: Copy> Tapped<H> {
    /// Keeps the body of a packet that comes to a tapped link.
    pub(crate) fn keep(&mut self, body: Body<H>) -> TappedId {
        let id = TappedId(self.next);
        self.next += 1;
        self.bodies.insert(id, body);
        id
    }

    /// The body of the packet that a record is about. After its last record it is forgotten.
    pub(crate) fn body_at(&mut self, id: TappedId, event: LinkEvent) -> Option<Body<H>> {
        match event {
            LinkEvent::Offered | LinkEvent::Marked | LinkEvent::Sent => self.bodies.get(&id).copied(),
            LinkEvent::Dropped | LinkEvent::Lost | LinkEvent::Arrived => self.bodies.remove(&id),
        }
    }
}
