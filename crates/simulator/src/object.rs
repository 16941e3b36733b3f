//! Objects: a session that distributes one, and which of its receivers hold it.
//!
//! The object is coded without a rate limit (a fountain code), so any packets with data that are enough in number
//! give it back, and no packet repeats another. Which pieces a packet carries is not modelled, only that it does.

use layercast_core::units::Time;

/// An object that a session distributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectConfig {
    /// How many packets with data a receiver needs; at least 1.
    pub packets: u64,
    /// Whether a receiver stops when it has them.
    pub leave_when_complete: bool,
}

/// How far a receiver is with the object of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectProgress {
    /// Packets that count: with data, or delivered in order where the protocol is reliable.
    pub packets: u64,
    /// How many are needed.
    pub needed: u64,
    /// When the last of those came.
    pub completed: Option<Time>,
    /// When the source started.
    pub source_start: Time,
}

/// What one receiver has of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) packets: u64,
    pub(crate) completed: Option<Time>,
}

/// An object and what each receiver of the session has of it.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) config: ObjectConfig,
    by_receiver: Vec<Share>,
    incomplete: usize,
}

impl Object {
    pub(crate) fn new(config: ObjectConfig, receivers: usize) -> Object {
        Object { config, by_receiver: vec![Share::default(); receivers], incomplete: receivers }
    }

    /// Counts a packet with data. Whether it was the last one that the receiver needed.
    #[inline]
    pub(crate) fn count(&mut self, receiver: u32, now: Time) -> bool {
        let share = &mut self.by_receiver[receiver as usize];
        share.packets += 1;
        let is_last = share.completed.is_none() && share.packets >= self.config.packets;
        if is_last {
            share.completed = Some(now);
            self.incomplete -= 1;
        }
        is_last
    }

    pub(crate) fn of(&self, receiver: u32) -> Share {
        self.by_receiver[receiver as usize]
    }

    /// Whether the receiver has the object and was stopped for it.
    pub(crate) fn has_left(&self, receiver: u32) -> bool {
        self.config.leave_when_complete && self.of(receiver).completed.is_some()
    }

    /// Whether every receiver has the object, so that its source was stopped.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.incomplete == 0
    }
}
