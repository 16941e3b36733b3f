//! The context of one operation on a managed queue.

use layercast_core::units::Time;

use crate::measure::LinkCounters;
use crate::packet::{Dropped, PacketCopy};

/// One operation on a managed queue: what the queue may need to know, and where it records drops and marks.
#[derive(Debug)]
pub(crate) struct QueueContext<'a> {
    pub(crate) now: Time,
    /// Since when the transmitter has been idle, if it is.
    pub(crate) idle_since: Option<Time>,
    pub(crate) counters: &'a mut LinkCounters,
    pub(crate) dropped: &'a mut Vec<Dropped>,
}

impl QueueContext<'_> {
    /// A packet is dropped because there is no room for it, or because a bound was crossed that forces a
    /// drop.
    pub(super) fn drop_for_room(&mut self, copy: PacketCopy) {
        self.counters.queue_drops += 1;
        self.dropped.push(Dropped(copy));
    }

    /// A packet is dropped although there was room, by decision of the queue management.
    pub(super) fn drop_by_choice(&mut self, copy: PacketCopy) {
        self.counters.chosen_drops += 1;
        self.drop_for_room(copy);
    }

    /// A packet is marked: congestion experienced (RFC 3168).
    pub(super) fn mark(&mut self, copy: &mut PacketCopy) {
        self.counters.marks += 1;
        copy.mark();
    }

    /// Marks a packet if it is ECN-capable. Returns whether it is.
    pub(super) fn mark_if_capable(&mut self, copy: &mut PacketCopy) -> bool {
        let capable = copy.is_ecn_capable();
        if capable {
            self.mark(copy);
        }
        capable
    }
}
