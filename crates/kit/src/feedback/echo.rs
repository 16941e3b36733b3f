//! The queue of time stamps to be echoed.

use alloc::collections::VecDeque;

use super::ReceiverId;
use layercast_core::units::{Duration, Time};

/// The most time stamps in the queue (thesis 6.2.3).
const MAX_WAITING: usize = 256;
/// Entries older than this are dropped (thesis 6.2.3).
const MAX_AGE: Duration = Duration::from_secs(2);

/// A time stamp returned to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The receiver.
    pub receiver: ReceiverId,
    /// The time stamp, in microseconds of that receiver's clock.
    pub timestamp_us: u32,
    /// How long the source held it, in microseconds.
    pub hold_us: u32,
}

/// A time stamp to be echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its receiver.
    pub receiver: ReceiverId,
    /// The receiver's time stamp in microseconds.
    pub timestamp_us: u32,
    /// When it arrived.
    pub arrived: Time,
    /// Whether the receiver has a round-trip time already.
    pub has_rtt: bool,
}

/// Time stamps in order of arrival, one per receiver.
#[derive(Clone, Debug)]
pub struct EchoQueue {
    waiting: VecDeque<Waiting>,
    prefer_without_rtt: bool,
}

impl EchoQueue {
    /// An empty queue. If asked to, receivers without a round-trip time go first.
    pub fn new(prefer_without_rtt: bool) -> EchoQueue {
        EchoQueue { waiting: VecDeque::with_capacity(MAX_WAITING), prefer_without_rtt }
    }

    /// Adds a time stamp. A receiver that is already queued keeps its place, with the newer time stamp.
    /// False if there was no room.
    pub fn push(&mut self, new: Waiting) -> bool {
        self.drop_old(new.arrived);
        if let Some(old) = self.waiting.iter_mut().find(|old| old.receiver == new.receiver) {
            *old = new;
            return true;
        }
        if self.waiting.len() >= MAX_WAITING {
            return false;
        }
        self.waiting.push_back(new);
        true
    }

    /// Removes and returns the next one.
    pub fn pop(&mut self, now: Time) -> Option<Echo> {
        self.drop_old(now);
        let first_without = || self.waiting.iter().position(|entry| !entry.has_rtt);
        let place = if self.prefer_without_rtt { first_without().unwrap_or(0) } else { 0 };
        let entry = self.waiting.remove(place)?;
        let hold_us = now.since(entry.arrived).as_us() as u32;
        Some(Echo { receiver: entry.receiver, timestamp_us: entry.timestamp_us, hold_us })
    }

    fn drop_old(&mut self, now: Time) {
        // A refreshed entry is newer than its position suggests, so checking the front alone is not enough.
        if !self.waiting.is_empty() {
            self.waiting.retain(|entry| now.since(entry.arrived) <= MAX_AGE);
        }
    }
}
