//! First in, first out; arrivals that do not fit are dropped.

use std::collections::VecDeque;

use super::QueueLimit;
use crate::packet::Parcel;

/// A drop-tail queue. It has no stamps and no clock, so that it costs as little as it can.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    ns2_compat: bool,
    waiting: VecDeque<Parcel>,
    waiting_bytes: u64,
}

impl DropTail {
    pub(super) fn new(limit: QueueLimit, ns2_compat: bool) -> DropTail {
        DropTail { limit, ns2_compat, waiting: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Whether a packet of this size may enter now. A packet that meets an idle link is asked too.
    #[inline]
    pub(crate) fn admits(&self, size_bytes: u32) -> bool {
        let (filled, limit) = match self.limit {
            QueueLimit::Unlimited => return true,
            QueueLimit::Packets(limit) => (self.waiting.len() as u64 + 1, u64::from(limit)),
            QueueLimit::Bytes(limit) => (self.waiting_bytes + u64::from(size_bytes), limit),
        };
        if self.ns2_compat { filled < limit } else { filled <= limit }
    }

    #[inline]
    pub(crate) fn push(&mut self, parcel: Parcel) {
        self.waiting_bytes += u64::from(parcel.size_bytes);
        self.waiting.push_back(parcel);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Parcel> {
        let parcel = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(parcel.size_bytes);
        Some(parcel)
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
