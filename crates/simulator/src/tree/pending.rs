//! Scheduled changes of membership.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use layercast_core::units::{Channel, Duration};

use crate::engine::Engine;
use crate::event::Event;

/// A scheduled change of membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PendingChange {
    /// A receiver's join reaches its node.
    Join { receiver: u32, channel: Channel },
    /// The router above a node stops forwarding to it.
    Expire { node: u32, channel: Channel },
    /// A node resends a lost message. `after` is the delay of a prune.
    Resend { node: u32, channel: Channel, after: Duration },
    /// A host repeats its report, and will do so `repeats` more times before it waits for a general query.
    Report { receiver: u32, channel: Channel, repeats: u32 },
    /// A host answers a query.
    Answer { receiver: u32, channel: Channel },
    /// An edge sends another query for members of the channel, or stops forwarding it.
    Check { node: u32, channel: Channel },
    /// An edge has received no report of a host for the group membership interval.
    Forget { receiver: u32, channel: Channel },
    /// A host learns that its edge cannot accept the channel.
    Refuse { receiver: u32, channel: Channel },
}

impl PendingChange {
    /// All messages that a node may have to resend for a channel.
    pub(super) fn any_resend(node: u32, channel: Channel) -> RangeInclusive<PendingChange> {
        let resend = |after| PendingChange::Resend { node, channel, after };
        resend(Duration::ZERO)..=resend(Duration::from_ns(u64::MAX))
    }

    /// Every report of a channel that a host may have to repeat.
    pub(super) fn any_report(receiver: u32, channel: Channel) -> RangeInclusive<PendingChange> {
        let report = |repeats| PendingChange::Report { receiver, channel, repeats };
        report(0)..=report(u32::MAX)
    }
}

/// The scheduled changes: by the slot that the event names, and by content, for cancellation.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    slots: Vec<Option<PendingChange>>,
    free: Vec<u32>,
    by_change: BTreeMap<PendingChange, u32>,
}

impl Agenda {
    /// Schedules a change, unless it is already scheduled.
    pub(super) fn schedule<H: Copy>(
        &mut self,
        engine: &mut Engine<H>,
        route: u32,
        change: PendingChange,
        after: Duration,
    ) {
        if self.is_pending(change) {
            return;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize] = Some(change);
        self.by_change.insert(change, slot);
        let key = engine.events.key_at(engine.now() + after);
        engine.events.push(key, Event::Membership { route, slot });
    }

    /// Whether a change is scheduled.
    pub(super) fn is_pending(&self, change: PendingChange) -> bool {
        self.by_change.contains_key(&change)
    }

    /// Cancels a change.
    pub(super) fn cancel(&mut self, change: PendingChange) {
        if let Some(slot) = self.by_change.remove(&change) {
            self.slots[slot as usize] = None;
        }
    }

    /// Cancels the change within a range, which holds at most one.
    pub(super) fn cancel_any(&mut self, range: RangeInclusive<PendingChange>) {
        if let Some(change) = self.find(range) {
            self.cancel(change);
        }
    }

    /// The first scheduled change within a range.
    pub(super) fn find(&self, range: RangeInclusive<PendingChange>) -> Option<PendingChange> {
        self.by_change.range(range).next().map(|(&change, _)| change)
    }

    /// The change whose event is served, unless it was cancelled.
    pub(super) fn take_due(&mut self, slot: u32) -> Option<PendingChange> {
        let change = self.slots[slot as usize].take();
        self.free.push(slot);
        if let Some(change) = &change {
            self.by_change.remove(change);
        }
        change
    }

    /// The number of scheduled changes.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.by_change.len()
    }
}
