//! Queues in front of transmitters.

use std::collections::VecDeque;

use crate::packet::Parcel;

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything.
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
}

/// A drop-tail queue's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// How much it holds. The packet in transmission is never part of the queue.
    pub limit: QueueLimit,
    /// Count as the papers' simulator does: an arrival is dropped when the queue *with it* would
    /// reach the limit, so one packet (or byte) less waits than the limit says. Otherwise an
    /// arrival is dropped when the queue with it would exceed the limit.
    pub ns2_compat: bool,
}

impl Default for QueueConfig {
    fn default() -> Self {
        QueueConfig { limit: QueueLimit::Unlimited, ns2_compat: true }
    }
}

/// First in, first out; arrivals that do not fit are dropped.
#[derive(Debug)]
pub(crate) struct DropTail {
    config: QueueConfig,
    waiting: VecDeque<Parcel>,
    waiting_bytes: u64,
}

impl DropTail {
    pub(crate) fn new(config: QueueConfig) -> DropTail {
        DropTail { config, waiting: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Whether a packet of this size may enter now. A packet that meets an idle link is asked too.
    pub(crate) fn admits(&self, size_bytes: u32) -> bool {
        let (filled, limit) = match self.config.limit {
            QueueLimit::Unlimited => return true,
            QueueLimit::Packets(limit) => (self.waiting.len() as u64 + 1, u64::from(limit)),
            QueueLimit::Bytes(limit) => (self.waiting_bytes + u64::from(size_bytes), limit),
        };
        if self.config.ns2_compat { filled < limit } else { filled <= limit }
    }

    pub(crate) fn push(&mut self, parcel: Parcel) {
        self.waiting_bytes += u64::from(parcel.size_bytes);
        self.waiting.push_back(parcel);
    }

    pub(crate) fn pop(&mut self) -> Option<Parcel> {
        let parcel = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(parcel.size_bytes);
        Some(parcel)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
