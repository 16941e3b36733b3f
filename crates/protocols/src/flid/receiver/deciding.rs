//! A receiver's losses by slot, and its decisions.

use super::numbers::Lost;
use super::slots::{Slot, SlotSignals, next_level};
use super::{Header, Receiver};
use layercast_core::Always as _;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::units::{Layer, Level, Seq, Time};

impl Receiver {
    /// The slot of that number, if it is not decided yet.
    pub(super) fn record(&mut self, number: u64) -> Option<&mut Slot> {
        let previous = self.previous.as_mut().filter(|slot| slot.number == number);
        previous.or((self.slot.number == number).then_some(&mut self.slot))
    }

    /// Tracks the packet's number. Returns whether it is new.
    pub(super) fn count(&mut self, header: &Header, slot: u64) -> bool {
        // What is missing before the first packet of a slot belongs to the slot before.
        let charged = if header.first_of_slot { slot.saturating_sub(1) } else { slot };
        let (channels, mut losses) = (&mut self.channels, Losses::since(self.previous.as_ref()));
        let is_new = channels.on_packet(header, slot, charged, |lost| losses.add(lost));
        self.on_losses(header.layer(), losses);
        is_new
    }

    /// Losses count for the slot before while it is undecided, else for the present one.
    pub(super) fn on_losses(&mut self, layer: Layer, losses: Losses) {
        let total = losses.previous.saturating_add(losses.present);
        self.counts.1 += u64::from(total);
        for (count, is_previous) in [(losses.previous, true), (losses.present, false)] {
            let slot = if is_previous { self.previous.as_mut() } else { Some(&mut self.slot) };
            let Some(slot) = slot.filter(|_| count > 0) else { continue };
            slot.lost = slot.lost.saturating_add(count);
            if !core::mem::replace(&mut slot.is_traced, true) {
                self.actions.trace(TraceEvent::LossEvent { layer, first_lost: Seq(losses.first) });
            }
        }
    }

    /// How many layers are held after a slot, and why; none for no change.
    pub(super) fn decide(&mut self, now: Time, mut slot: Slot) -> Option<(u16, Cause)> {
        let (layer, losses) = self.finalise(slot.number);
        if losses.present > 0 {
            self.counts.1 += u64::from(losses.present);
            slot.lost = slot.lost.saturating_add(losses.present);
            if !slot.is_traced {
                let layer = layer.always("a channel that lost packets carried a layer");
                self.actions.trace(TraceEvent::LossEvent { layer, first_lost: Seq(losses.first) });
            }
        }
        let judged = self.congestion.evaluate(now, slot.received, slot.lost, slot.is_marked);
        let conflict = (slot.signals == SlotSignals::Conflict).then_some(Cause::Loss);
        let congested = judged.or(conflict);
        let held = self.level.top()?;
        if slot.began < self.deaf_until && !self.settings.deaf.is_zero() {
            return None;
        }
        let next = next_level(held.0, self.levels, congested.is_some(), slot.signal());
        let blocked = next > held.0
            && self.settings.wait_first_packet
            && !self.channels.has_delivered(held, self.slot.number);
        if next == held.0 || blocked {
            return None;
        }
        self.decisions.0 += u64::from(next > held.0);
        self.decisions.1 += u64::from(next < held.0);
        if congested.is_some() {
            self.deaf_until = now + self.settings.deaf;
        }
        Some((next + 1, congested.unwrap_or(Cause::IncreaseSignal)))
    }

    /// The missing packets of `slot` and before are lost: how many, and on which layer.
    pub(super) fn finalise(&mut self, slot: u64) -> (Option<Layer>, Losses) {
        let mut losses = Losses::default();
        let layer = self.channels.finalise(slot, |lost| losses.add(lost));
        (layer, losses)
    }

    pub(super) fn apply_level(&mut self, now: Time, decided: Option<(u16, Cause)>) {
        if let Some((count, cause)) = decided {
            self.change_level(now, Level::from_count(count), cause);
        }
    }
}

/// Losses that were found together, by the slot that they count for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// The slot before, if it is undecided.
    undecided: Option<u64>,
    pub(super) previous: u32,
    pub(super) present: u32,
    first: u64,
}

impl Losses {
    pub(super) fn since(previous: Option<&Slot>) -> Losses {
        Losses { undecided: previous.map(|slot| slot.number), ..Losses::default() }
    }

    pub(super) fn add(&mut self, lost: Lost) {
        if self.previous == 0 && self.present == 0 {
            self.first = lost.first;
        }
        let is_previous = self.undecided.is_some_and(|number| lost.slot <= number);
        let count = if is_previous { &mut self.previous } else { &mut self.present };
        *count = count.saturating_add(lost.count);
    }
}
