//! What happens to a managed queue at one moment.

use layercast_core::units::Time;

use crate::measure::LinkCounters;
use crate::packet::{Dropped, PacketCopy};

/// One moment at a managed queue: what it may want to know, and where it books what it does.
#[derive(Debug)]
pub(crate) struct QueueContext<'a> {
    pub(crate) now: Time,
    /// Since when the transmitter has found nothing to send, if it is idle.
    pub(crate) idle_since: Option<Time>,
    pub(crate) counters: &'a mut LinkCounters,
    pub(crate) dropped: &'a mut Vec<Dropped>,
}

impl QueueContext<'_> {
    /// A packet goes because there is no room for it, or because a bound was crossed that leaves no
    /// choice.
    pub(super) fn drop_for_room(&mut self, copy: PacketCopy) {
        self.counters.queue_drops += 1;
        self.dropped.push(Dropped(copy));
    }

    /// A packet goes although there was room: the queue's management chose so.
    pub(super) fn drop_by_choice(&mut self, copy: PacketCopy) {
        self.counters.chosen_drops += 1;
        self.drop_for_room(copy);
    }

    /// A packet is marked: congestion experienced (RFC 3168).
    pub(super) fn mark(&mut self, copy: &mut PacketCopy) {
        self.counters.marks += 1;
        copy.mark();
    }

    /// Marks a packet if it takes marks, and tells whether it does.
    pub(super) fn mark_if_capable(&mut self, copy: &mut PacketCopy) -> bool {
        let capable = copy.is_ecn_capable();
        if capable {
            self.mark(copy);
        }
        capable
    }
}
