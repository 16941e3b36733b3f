//! First in, first out; what does not fit is dropped at the tail, or at the front.

use std::collections::VecDeque;

use layercast_core::options;

use super::{QueueContext, QueueLimit};
use crate::packet::PacketCopy;

options! {
    /// The parameters of a plain queue: first in, first out.
    #[derive(Copy)]
    pub struct DropTailConfig {
        /// How much it holds.
        limit: QueueLimit = QueueLimit::Unlimited;
        /// Count as ns-2 does: an arrival is dropped when the queue with it would reach the limit, so
        /// one packet (or byte) less waits than the limit says. Otherwise when it would exceed the limit.
        ns2_compat: bool = false;
        /// An arrival that does not fit takes the place of the first that waits, or of as many as it
        /// needs, instead of being dropped.
        drop_front: bool = false;
    }
}

/// A drop-tail queue. It has no stamps and no clock, so that it costs as little as it can.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    ns2_compat: bool,
    waiting: VecDeque<PacketCopy>,
    waiting_bytes: u64,
}

impl DropTail {
    pub(super) fn new(limit: QueueLimit, ns2_compat: bool) -> DropTail {
        DropTail { limit, ns2_compat, waiting: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Whether a packet of this size may enter now. This applies to a packet that finds the link idle, too.
    #[inline]
    pub(crate) fn admits(&self, size_bytes: u32) -> bool {
        let (filled, limit) = match self.limit {
            QueueLimit::Unlimited => return true,
            QueueLimit::Packets(limit) => (self.waiting.len() as u64 + 1, u64::from(limit)),
            QueueLimit::Bytes(limit) => (self.waiting_bytes + u64::from(size_bytes), limit),
        };
        if self.ns2_compat { filled < limit } else { filled <= limit }
    }

    /// Packets below this size are admitted while none waits.
    pub(super) fn passes_below(&self) -> u32 {
        let below = match (self.limit, self.ns2_compat) {
            (QueueLimit::Unlimited, _) => u64::MAX,
            (QueueLimit::Packets(limit), ns2_compat) if limit > u32::from(ns2_compat) => u64::MAX,
            (QueueLimit::Packets(_), _) => 0,
            (QueueLimit::Bytes(limit), true) => limit,
            (QueueLimit::Bytes(limit), false) => limit.saturating_add(1),
        };
        u32::try_from(below).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(crate) fn push(&mut self, copy: PacketCopy) {
        self.waiting_bytes += u64::from(copy.size_bytes);
        self.waiting.push_back(copy);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<PacketCopy> {
        let copy = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(copy.size_bytes);
        Some(copy)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Drops at the front: senders learn of a full queue earlier, by the queueing delay.
#[derive(Debug)]
pub(crate) struct DropFront {
    queue: DropTail,
}

impl DropFront {
    pub(super) fn new(limit: QueueLimit, ns2_compat: bool) -> DropFront {
        DropFront { queue: DropTail::new(limit, ns2_compat) }
    }

    /// In packets, one goes for one that comes, as in ns-2. There one goes in bytes too, even if the
    /// arrival needs more room; here as many as it needs.
    pub(super) fn enqueue(&mut self, copy: PacketCopy, context: &mut QueueContext<'_>) {
        let empty = DropTail::new(self.queue.limit, self.queue.ns2_compat);
        if !empty.admits(copy.size_bytes) {
            return context.drop_for_room(copy);
        }
        while !self.queue.admits(copy.size_bytes) {
            if let Some(first) = self.queue.pop() {
                context.drop_for_room(first);
            }
        }
        self.queue.push(copy);
    }

    pub(super) fn dequeue(&mut self) -> Option<PacketCopy> {
        self.queue.pop()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::Time;

    use super::*;
    use crate::packet::{EcnField, PacketId};
    use crate::queue::Queue;
    use crate::queue::testing::{Driver, copy};

    /// Offers packets of these sizes; what was dropped, in order, and what is left.
    fn offered(limit: QueueLimit, sizes: &[u32]) -> (Vec<PacketId>, Vec<PacketId>) {
        let mut queue = Queue::DropFront(Box::new(DropFront::new(limit, true)));
        let mut driver = Driver::default();
        for (number, &size) in sizes.iter().enumerate() {
            driver.enqueue(&mut queue, Time::ZERO, copy(number as u32, size, EcnField::NotCapable));
        }
        let left = std::iter::from_fn(|| driver.dequeue(&mut queue, Time::ZERO)).map(|left| left.packet);
        let left = left.collect();
        assert_eq!(driver.counters.queue_drops, driver.dropped.len() as u64);
        assert_eq!(driver.counters.chosen_drops, 0);
        (driver.dropped.iter().map(|dropped| dropped.0.packet).collect(), left)
    }

    fn numbers(numbers: impl IntoIterator<Item = u32>) -> Vec<PacketId> {
        numbers.into_iter().map(PacketId::from_number).collect()
    }

    #[test]
    fn what_passes_an_idle_link_is_what_an_empty_queue_admits() {
        let limits =
            [QueueLimit::Unlimited, QueueLimit::Packets(1), QueueLimit::Packets(2), QueueLimit::Bytes(500)];
        for (limit, ns2_compat) in limits.into_iter().flat_map(|limit| [(limit, true), (limit, false)]) {
            let queue = DropTail::new(limit, ns2_compat);
            for size in [1, 499, 500, 501, 100_000] {
                assert_eq!(
                    size < queue.passes_below(),
                    queue.admits(size),
                    "{limit:?}, {ns2_compat}: {size}"
                );
            }
        }
    }

    #[test]
    fn an_arrival_takes_the_place_of_the_first() {
        // A limit of 5 packets in ns-2 lets 4 wait.
        assert_eq!(offered(QueueLimit::Packets(5), &[1000; 7]), (numbers(0..3), numbers(3..7)));
    }

    #[test]
    fn in_bytes_as_many_go_as_the_arrival_needs() {
        // 2500 bytes wait when 1500 come; with less than 3000 in all, two of 500 must go.
        let sizes = [500, 500, 500, 500, 500, 1500];
        assert_eq!(offered(QueueLimit::Bytes(3001), &sizes), (numbers(0..2), numbers(2..6)));
        // A packet that does not fit into an empty queue removes no other.
        assert_eq!(offered(QueueLimit::Bytes(3001), &[500, 4000]), (numbers([1]), numbers([0])));
    }
}
