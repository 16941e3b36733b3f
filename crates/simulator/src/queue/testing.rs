//! Helpers for tests of queues.

use layercast_core::units::Time;

use super::{Queue, QueueContext};
use crate::measure::LinkCounters;
use crate::packet::{CopyKind, Dropped, EcnField, PacketCopy, PacketId};

/// A copy identified by its packet number.
pub(crate) fn copy(number: u32, size_bytes: u32, ecn: EcnField) -> PacketCopy {
    let packet = PacketId::from_number(number);
    let (ecn, kind) = (ecn.into(), CopyKind::PATH);
    PacketCopy { packet, route: 0, position: 0, size_bytes, ecn, kind, channel: 0 }
}

/// The same on another route, or on a channel of that route.
pub(crate) fn copy_of((route, channel): (u32, u16), number: u32, size_bytes: u32) -> PacketCopy {
    PacketCopy { route, channel, ..copy(number, size_bytes, EcnField::NotCapable) }
}

/// Drives a queue without a link.
#[derive(Debug, Default)]
pub(crate) struct Driver {
    pub(crate) counters: LinkCounters,
    pub(crate) dropped: Vec<Dropped>,
}

impl Driver {
    pub(crate) fn context(&mut self, now: Time) -> QueueContext<'_> {
        QueueContext { now, idle_since: None, counters: &mut self.counters, dropped: &mut self.dropped }
    }

    pub(crate) fn enqueue(&mut self, queue: &mut Queue, now: Time, copy: PacketCopy) {
        queue.enqueue(copy, &mut self.context(now));
    }

    pub(crate) fn dequeue(&mut self, queue: &mut Queue, now: Time) -> Option<PacketCopy> {
        queue.dequeue(&mut self.context(now))
    }
}
