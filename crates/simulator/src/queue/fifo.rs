//! The packet store of managed queues: first in, first out, with arrival times.

use std::collections::VecDeque;

use layercast_core::units::{Duration, Time};

use super::QueueLimit;
use crate::packet::PacketCopy;

/// Packets in their order, and when each entered.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<(Time, PacketCopy)>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, now: Time, copy: PacketCopy) {
        self.bytes += u64::from(copy.size_bytes);
        self.waiting.push_back((now, copy));
    }

    /// The first packet, and when it entered.
    pub(super) fn pop(&mut self) -> Option<(Time, PacketCopy)> {
        self.remove(0)
    }

    /// Removes the packet at an index, counted from the front.
    pub(super) fn remove(&mut self, index: usize) -> Option<(Time, PacketCopy)> {
        let taken = if index == 0 { self.waiting.pop_front() } else { self.waiting.remove(index) }?;
        self.bytes -= u64::from(taken.1.size_bytes);
        Some(taken)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The size of the first packet.
    pub(super) fn head_bytes(&self) -> Option<u32> {
        self.waiting.front().map(|(_, copy)| copy.size_bytes)
    }

    /// How long the first packet has waited; zero if there is none.
    pub(super) fn head_wait(&self, now: Time) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |&(since, _)| now.since(since))
    }

    /// Whether the queue has reached the limit, so that one packet more exceeds it.
    pub(super) fn is_at(&self, limit: QueueLimit) -> bool {
        limit.is_reached(self.len(), self.bytes)
    }
}
