//! Packets that are so small that their one copy carries them: most of TCP's.

use layercast_core::units::Time;

use super::{Body, CopyKind, PacketCopy, PacketId};
use crate::tcp::{Ack, MAX_BLOCKS, Segment};

/// A packet that needs no slot in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Segment(Segment),
    /// Without blocks.
    Ack(Ack),
    Datagram {
        sent: Time,
    },
}

impl<H> From<Plain> for Body<H> {
    #[inline]
    fn from(plain: Plain) -> Body<H> {
        match plain {
            Plain::Segment(segment) => Body::Segment(segment),
            Plain::Ack(ack) => Body::Ack(ack),
            Plain::Datagram { sent } => Body::Datagram { sent },
        }
    }
}

/// The fields of a copy that carry a plain packet: its number, what it is, and which connection between its
/// ends it belongs to. A datagram has the time at which it was sent in the two.
pub(super) type Fields = (PacketId, CopyKind, u16);

/// How a copy carries this packet. None if it cannot: numbers that need more bits, blocks, headers.
#[inline(always)]
pub(super) fn fields<H>(body: &Body<H>) -> Option<Fields> {
    let (number, kind, incarnation) = match *body {
        Body::Segment(Segment { seq, incarnation, reduced }) => {
            (seq, if reduced { CopyKind::REDUCED_SEGMENT } else { CopyKind::SEGMENT }, incarnation)
        }
        // The first acknowledgement may be of nothing, which is number -1.
        Body::Ack(Ack { cumulative, block_count: 0, incarnation, echo, .. }) => {
            (cumulative + 1, if echo { CopyKind::ECHO_ACK } else { CopyKind::ACK }, incarnation)
        }
        Body::Datagram { sent } => {
            let high = u16::try_from(sent.as_ns() >> u32::BITS).ok()?;
            return Some((PacketId(sent.as_ns() as u32), CopyKind::DATAGRAM, high));
        }
        _ => return None,
    };
    Some((PacketId(u32::try_from(number).ok()?), kind, u16::try_from(incarnation).ok()?))
}

impl PacketCopy {
    /// The packet, if the copy carries it.
    #[inline(always)]
    pub(super) fn plain(&self) -> Option<Plain> {
        let (number, incarnation) = (i64::from(self.packet.0), u32::from(self.channel));
        let segment = |reduced| Plain::Segment(Segment { seq: number, incarnation, reduced });
        let ack = |echo| {
            let blocks = [(0, 0); MAX_BLOCKS];
            Plain::Ack(Ack { cumulative: number - 1, blocks, block_count: 0, incarnation, echo })
        };
        Some(match self.kind {
            CopyKind::SEGMENT => segment(false),
            CopyKind::REDUCED_SEGMENT => segment(true),
            CopyKind::ACK => ack(false),
            CopyKind::ECHO_ACK => ack(true),
            CopyKind::DATAGRAM => {
                let high = u64::from(self.channel) << u32::BITS;
                Plain::Datagram { sent: Time::from_ns(high | u64::from(self.packet.0)) }
            }
            _ => return None,
        })
    }

    /// Its slot in the slab. None if the copy carries the packet.
    #[inline]
    pub(crate) fn slot(&self) -> Option<PacketId> {
        (!self.kind.is_plain()).then_some(self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{EcnField, Slab};

    fn copy_with((packet, kind, channel): Fields) -> PacketCopy {
        let ecn = EcnField::NotCapable.into();
        PacketCopy { packet, route: 1, position: 2, size_bytes: 3, ecn, kind, channel }
    }

    #[test]
    fn a_plain_packet_is_what_was_sent() {
        let segment = |seq, incarnation, reduced| Plain::Segment(Segment { seq, incarnation, reduced });
        let blocks = [(0, 0); MAX_BLOCKS];
        let ack = |cumulative, incarnation, echo| {
            Plain::Ack(Ack { cumulative, blocks, block_count: 0, incarnation, echo })
        };
        let most = i64::from(u32::MAX);
        for plain in [
            Plain::Datagram { sent: Time::ZERO },
            Plain::Datagram { sent: Time::from_ns((1 << 48) - 1) },
            segment(0, 0, false),
            segment(most, 65_535, true),
            ack(-1, 0, false),
            ack(most - 1, 65_535, true),
        ] {
            let mut slab = Slab::<()>::default();
            let copy = copy_with(slab.admit(plain.into()));
            assert_eq!((copy.plain(), copy.slot()), (Some(plain), None));
            assert_eq!(copy.flow(), (1, 0), "the flow is that of the path");
            assert_eq!((slab.copies(), slab.in_flight()), (1, 1));
            slab.release_copy(&copy);
            assert_eq!((slab.copies(), slab.in_flight()), (0, 0));
        }
    }

    #[test]
    fn what_does_not_fit_gets_a_slot() {
        let numbered = |seq, incarnation| Body::<()>::Segment(Segment { seq, incarnation, reduced: false });
        let mut ack =
            Ack { cumulative: 7, blocks: [(9, 10); 3], block_count: 1, incarnation: 0, echo: false };
        let late = Body::Datagram { sent: Time::from_ns(1 << 48) };
        for body in [numbered(1 << 32, 0), numbered(0, 65_536), Body::Ack(ack), late] {
            let mut slab = Slab::default();
            let copy = copy_with(slab.admit(body));
            assert_eq!(copy.plain(), None);
            assert_eq!(slab.in_flight(), 1);
            slab.release_copy(&copy);
            assert_eq!(slab.in_flight(), 0);
        }
        ack.block_count = 0;
        assert!(fields(&Body::<()>::Ack(ack)).is_some());
    }

    /// A tap distinguishes packets by their slots.
    #[test]
    fn a_plain_packet_may_get_a_slot_later() {
        let mut slab = Slab::<()>::default();
        let segment = Segment { seq: 5, incarnation: 3, reduced: true };
        let mut copy = copy_with(slab.admit(Body::Segment(segment)));
        slab.ensure_slot(&mut copy);
        assert!(copy.slot().is_some());
        assert!(matches!(slab.body_of(&copy), Body::Segment(kept) if kept == segment));
        assert_eq!((slab.copies(), slab.in_flight()), (1, 1));
        assert_eq!(copy.flow(), (1, 0));
    }
}
