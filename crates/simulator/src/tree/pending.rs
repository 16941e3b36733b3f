//! Changes of membership that come into force later.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use layercast_core::units::{Channel, Duration};

use crate::engine::Engine;
use crate::event::Event;

/// A change of membership that comes into force later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PendingChange {
    /// A receiver's join reaches its node.
    Join { receiver: u32, channel: Channel },
    /// The router above a node stops forwarding to it.
    Expire { node: u32, channel: Channel },
    /// A node sends a message that was lost again. `after` is how long a prune was to wait.
    Resend { node: u32, channel: Channel, after: Duration },
    /// A host reports its membership again, and that often more before it waits for a general query.
    Report { receiver: u32, channel: Channel, repeats: u32 },
    /// A host answers a query.
    Answer { receiver: u32, channel: Channel },
    /// An edge asks again whether anybody wants the channel, or stops to forward it.
    Check { node: u32, channel: Channel },
    /// An edge has heard nothing of a host for the group membership interval.
    Forget { receiver: u32, channel: Channel },
    /// A host learns that its edge has no room for the channel.
    Refuse { receiver: u32, channel: Channel },
}

impl PendingChange {
    /// Everything that a node may have to send again for a channel.
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

/// The changes to come: the slot that the event names, and by what it does, to take it back.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    slots: Vec<Option<PendingChange>>,
    free: Vec<u32>,
    by_change: BTreeMap<PendingChange, u32>,
}

impl Agenda {
    /// Lets a change come into force after some time, unless it is to come already.
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

    /// Whether a change is to come.
    pub(super) fn is_pending(&self, change: PendingChange) -> bool {
        self.by_change.contains_key(&change)
    }

    /// Takes back a change.
    pub(super) fn cancel(&mut self, change: PendingChange) {
        if let Some(slot) = self.by_change.remove(&change) {
            self.slots[slot as usize] = None;
        }
    }

    /// Takes back the change within a range, of which there is one at most.
    pub(super) fn cancel_any(&mut self, range: RangeInclusive<PendingChange>) {
        if let Some(change) = self.find(range) {
            self.cancel(change);
        }
    }

    /// The first change to come within a range.
    pub(super) fn find(&self, range: RangeInclusive<PendingChange>) -> Option<PendingChange> {
        self.by_change.range(range).next().map(|(&change, _)| change)
    }

    /// The change whose event has come, unless it was taken back.
    pub(super) fn take_due(&mut self, slot: u32) -> Option<PendingChange> {
        let change = self.slots[slot as usize].take();
        self.free.push(slot);
        if let Some(change) = &change {
            self.by_change.remove(change);
        }
        change
    }

    /// How many changes are to come.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.by_change.len()
    }
}
