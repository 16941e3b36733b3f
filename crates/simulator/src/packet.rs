//! Packets, and the copies that carry them over links.

use layercast_core::contract::Peer;
use layercast_core::units::{Channel, Duration, Time};

use crate::tcp::{Ack, Segment};

mod plain;

/// What a packet is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body<H> {
    /// TCP data.
    Segment(Segment),
    /// A packet without a reply (UDP), and when it was sent.
    Datagram { sent: Time },
    /// A TCP acknowledgement.
    Ack(Ack),
    /// A packet on a channel of a session, and whether it carries data.
    Channel { channel: Channel, header: H, has_data: bool },
    /// A unicast packet between members of a session.
    Unicast { from: Peer, header: H },
    /// A membership message on its path up the tree.
    Membership(MembershipMessage),
}

/// A graft or prune of one channel below one edge of a session's tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MembershipMessage {
    pub(crate) edge: u32,
    pub(crate) channel: Channel,
    pub(crate) change: MembershipChange,
}

/// The change that a membership message requests from the upstream router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembershipChange {
    /// Forward the channel.
    Graft,
    /// Stop forwarding the channel.
    Prune {
        /// How long the channel is still forwarded.
        after: Duration,
    },
}

/// A packet in the slab. Copies made at branching nodes share it.
#[derive(Clone, Copy, Debug)]
struct Slot<H> {
    copies: u32,
    body: Body<H>,
}

/// An index in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PacketId(u32);

#[cfg(test)]
impl PacketId {
    /// For tests of components that only forward packets.
    pub(crate) fn from_number(number: u32) -> PacketId {
        PacketId(number)
    }
}

/// The ECN codepoint set by the sender of a packet (RFC 3168; RFC 9331 for the third).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Not ECN-capable (Not-ECT).
    #[default]
    NotCapable,
    /// A mark counts as a loss: ECT(0).
    Classic,
    /// Marks are frequent and the sender responds to their fraction: ECT(1).
    Scalable,
}

/// One copy of a packet as a link sees it. It holds what differs between copies: the position on the route,
/// and whether a router on its branch marked it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketCopy {
    /// The packet's slot in the slab, or the number of a packet that the copy carries itself.
    pub(crate) packet: PacketId,
    /// Which route it follows.
    pub(crate) route: u32,
    /// Its position: the place of its next hop in the array of all paths, or the node of a tree.
    pub(crate) position: u32,
    pub(crate) size_bytes: u32,
    /// The ECN field of its IP header: whether it may be marked, and whether a router has done so.
    pub(crate) ecn: EcnBits,
    pub(crate) kind: CopyKind,
    /// The channel of a multicast packet, more of one that the copy carries itself, otherwise 0.
    pub(crate) channel: u16,
}

impl PacketCopy {
    /// What stands where there is no copy.
    pub(crate) const NOTHING: PacketCopy = PacketCopy {
        packet: PacketId(0),
        route: 0,
        position: 0,
        size_bytes: 0,
        ecn: EcnBits(0),
        kind: CopyKind::SESSION,
        channel: 0,
    };

    /// The flow it belongs to: a unicast path, or a channel of a session.
    pub(crate) fn flow(&self) -> (u32, u16) {
        (self.route, if self.kind.is_plain() { 0 } else { self.channel })
    }

    /// Whether it is ECN-capable.
    #[inline]
    pub(crate) fn is_ecn_capable(&self) -> bool {
        self.ecn.0 != 0
    }

    /// Whether a router has marked it.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        self.ecn == EcnBits::MARKED
    }

    /// A router marks it.
    pub(crate) fn mark(&mut self) {
        self.ecn = EcnBits::MARKED;
    }

    /// Whether its sender is scalable: marks are frequent and answered by their fraction.
    pub(crate) fn is_scalable(&self) -> bool {
        self.is_marked() || self.ecn == EcnField::Scalable.into()
    }
}

/// On what route a copy is, and what of the packet it carries itself. A number for the reason given at
/// [`EcnBits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyKind(u8);

impl CopyKind {
    /// On a route of a session, which its tree knows; the packet is in the slab.
    pub(crate) const SESSION: CopyKind = CopyKind(0);
    /// On a unicast path, as all that follow; the packet is in the slab.
    pub(crate) const PATH: CopyKind = CopyKind(1);
    /// TCP data.
    const SEGMENT: CopyKind = CopyKind(2);
    /// TCP data with CWR.
    const REDUCED_SEGMENT: CopyKind = CopyKind(3);
    /// An acknowledgement without blocks.
    const ACK: CopyKind = CopyKind(4);
    /// The same with ECE.
    const ECHO_ACK: CopyKind = CopyKind(5);
    /// A packet without a reply.
    const DATAGRAM: CopyKind = CopyKind(6);

    /// Whether it is on a route of a session.
    #[inline]
    pub(crate) fn is_in_session(self) -> bool {
        self == CopyKind::SESSION
    }

    /// Whether the copy carries the packet.
    #[inline]
    fn is_plain(self) -> bool {
        self.0 > CopyKind::PATH.0
    }
}

/// The ECN field of an IP header (RFC 3168, section 5; RFC 9331). A number and not an enum: an `Option` of
/// a copy would store its tag in the enum's niche and then copy the remaining fields one by one, which
/// takes much longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnBits(pub(crate) u8);

impl EcnBits {
    /// Congestion experienced.
    pub(crate) const MARKED: EcnBits = EcnBits(3);
}

impl From<EcnField> for EcnBits {
    #[inline]
    fn from(field: EcnField) -> EcnBits {
        EcnBits(match field {
            EcnField::NotCapable => 0,
            EcnField::Scalable => 1,
            EcnField::Classic => 2,
        })
    }
}

/// A copy that a link did not carry. The owner of the route accounts for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropped(pub(crate) PacketCopy);

/// All packets in flight that need a slot, and how many there are that do not. A freed slot is used again, so it grows only to the largest number ever
/// in flight.
#[derive(Debug)]
pub(crate) struct Slab<H> {
    slots: Vec<Slot<H>>,
    free: Vec<u32>,
    /// How many packets are carried by their one copy.
    plain: usize,
}

impl<H> Default for Slab<H> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new(), plain: 0 }
    }
}

impl<H: Copy> Slab<H> {
    /// Stores a packet with one copy.
    pub(crate) fn insert(&mut self, body: Body<H>) -> PacketId {
        let slot = Slot { copies: 1, body };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                PacketId(index)
            }
            None => {
                self.slots.push(slot);
                PacketId((self.slots.len() - 1) as u32)
            }
        }
    }

    /// Stores a packet that is made from the number of its slot, with one copy.
    pub(crate) fn insert_with(&mut self, make: impl FnOnce(u32) -> Body<H>) -> (PacketId, u32) {
        let next = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        (self.insert(make(next)), next)
    }

    /// Admits a packet on a unicast path, which has one copy. Returns what the copy carries: the packet or
    /// its slot, and the fields that say so.
    #[inline(always)]
    pub(crate) fn admit(&mut self, body: Body<H>) -> (PacketId, CopyKind, u16) {
        match plain::fields(&body) {
            Some(fields) => {
                self.plain += 1;
                fields
            }
            None => (self.insert(body), CopyKind::PATH, 0),
        }
    }

    /// Gives a packet that is carried by its copy a slot.
    pub(crate) fn ensure_slot(&mut self, copy: &mut PacketCopy) {
        if let Some(plain) = copy.plain() {
            self.plain -= 1;
            (copy.packet, copy.kind, copy.channel) = (self.insert(plain.into()), CopyKind::PATH, 0);
        }
    }

    /// The content of the packet, wherever it is.
    #[inline]
    pub(crate) fn body_of(&self, copy: &PacketCopy) -> Body<H> {
        copy.plain().map_or_else(|| *self.body(copy.packet), Body::from)
    }

    /// The content of a packet with a slot.
    pub(crate) fn body(&self, id: PacketId) -> &Body<H> {
        &self.slots[id.0 as usize].body
    }

    /// One more copy is in flight.
    pub(crate) fn add_copy(&mut self, id: PacketId) {
        self.slots[id.0 as usize].copies += 1;
    }

    /// A copy has ended; the last one frees the slot.
    pub(crate) fn release(&mut self, id: PacketId) {
        let slot = &mut self.slots[id.0 as usize];
        slot.copies -= 1;
        if slot.copies == 0 {
            self.free.push(id.0);
        }
    }

    /// A copy has ended, wherever its packet is.
    #[inline]
    pub(crate) fn release_copy(&mut self, copy: &PacketCopy) {
        match copy.slot() {
            Some(slot) => self.release(slot),
            None => self.plain -= 1,
        }
    }

    /// How many copies are in flight.
    pub(crate) fn copies(&self) -> usize {
        self.plain + self.slots.iter().map(|slot| slot.copies as usize).sum::<usize>()
    }

    /// How many packets are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.plain + self.slots.len() - self.free.len()
    }
}
