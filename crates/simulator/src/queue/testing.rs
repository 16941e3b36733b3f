//! What tests of queues share.

use layercast_core::units::Time;

use super::{Queue, Visit};
use crate::measure::LinkCounters;
use crate::packet::{Dropped, EcnField, PacketId, Parcel};

/// A parcel that is told from others by its packet.
pub(crate) fn parcel(number: u32, size_bytes: u32, ecn: EcnField) -> Parcel {
    let packet = PacketId::of_number(number);
    Parcel { packet, route: 0, position: 0, size_bytes, ecn: ecn.into(), channel: 0 }
}

/// The same on a route of its own, or a channel of it.
pub(crate) fn parcel_of((route, channel): (u32, u16), number: u32, size_bytes: u32) -> Parcel {
    Parcel { route, channel, ..parcel(number, size_bytes, EcnField::NotCapable) }
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

    pub(crate) fn offer(&mut self, queue: &mut Queue, now: Time, parcel: Parcel) {
        queue.offer(parcel, &mut self.visit(now));
    }

    pub(crate) fn take(&mut self, queue: &mut Queue, now: Time) -> Option<Parcel> {
        queue.take(&mut self.visit(now))
    }
}
