//! What tests of queues share.

use layercast_core::units::Time;

use super::{Queue, Visit};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, EcnField, PacketCopy, PacketId};

/// A copy that is told from others by its packet.
pub(crate) fn copy(number: u32, size_bytes: u32, ecn: EcnField) -> PacketCopy {
    let packet = PacketId::from_number(number);
    PacketCopy { packet, route: 0, position: 0, size_bytes, ecn: ecn.into(), channel: 0 }
}

/// The same on a route of its own, or a channel of it.
pub(crate) fn parcel_of((route, channel): (u32, u16), number: u32, size_bytes: u32) -> PacketCopy {
    PacketCopy { route, channel, ..copy(number, size_bytes, EcnField::NotCapable) }
}

/// Drives a queue without a link.
#[derive(Debug, Default)]
pub(crate) struct Driver {
    pub(crate) counters: LinkCounters,
    pub(crate) dropped: Vec<Dropped>,
}

impl Driver {
    pub(crate) fn visit(&mut self, now: Time) -> Visit<'_> {
        Visit { now, idle_since: None, counters: &mut self.counters, dropped: &mut self.dropped }
    }

    pub(crate) fn offer(&mut self, queue: &mut Queue, now: Time, copy: PacketCopy) {
        queue.offer(copy, &mut self.visit(now));
    }

    pub(crate) fn take(&mut self, queue: &mut Queue, now: Time) -> Option<PacketCopy> {
        queue.take(&mut self.visit(now))
    }
}
