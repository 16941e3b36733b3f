//! A receiver's timers and what they do.

use super::{Receiver, State};
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::timers;
use layercast_core::units::{Layer, Level, Time};
use layercast_kit::silence::SILENCE;

/// After that, and after this many slots, it searches for the session again.
const SILENT_SLOTS: u64 = 20;
/// So many slots in a row without a packet leave the base only.
const STARVED_SLOTS: u32 = 3;

timers! {
    /// What the receiver's timers are for.
    pub(super) enum Timer {
        /// The slot has ended without a packet of the next one.
        SlotEnd,
        /// The last packets of the slot before have had their time.
        Grace,
        /// Joins for the next slot are due.
        EarlyJoin,
        Silence,
        SessionEnd,
    }
}

impl Receiver {
    pub(super) fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::SlotEnd => self.on_missing_slot(now),
                Timer::Grace => {
                    if let Some(previous) = self.previous.take() {
                        let level = self.decide(now, previous);
                        self.apply_level(now, level);
                    }
                }
                Timer::EarlyJoin => self.join_early(now),
                Timer::Silence => self.on_silence(now),
                Timer::SessionEnd => {
                    self.actions.trace(TraceEvent::SessionEnded);
                    self.stop(now, Cause::SessionEnd);
                }
            }
        }
    }

    /// No packet of the next slot came.
    fn on_missing_slot(&mut self, now: Time) {
        if self.goes_by_clock() && self.slot.received > 0 {
            self.advance_slot(now, self.slot.number + 1, None);
            return;
        }
        self.advance_slot(now, self.slot.number + 1, Some(Cause::Silence));
        if self.assumed_slots >= STARVED_SLOTS {
            self.change_level(now, Level::up_to(Layer::BASE), Cause::Silence);
            // A base that turns must be followed.
            if !self.is_base_dynamic() {
                self.state = State::Starved;
                self.timers.disarm(Timer::SlotEnd);
                self.timers.disarm(Timer::EarlyJoin);
            }
        }
    }

    /// Decides on the next slot before it begins, and joins for it.
    fn join_early(&mut self, now: Time) {
        let ended = self.slot;
        let decided = self.decide(now, ended);
        (self.slot.lost, self.slot.is_marked, self.slot.is_traced) = (0, false, false);
        let (count, cause) = decided.unwrap_or((self.level.layer_count(), Cause::IncreaseSignal));
        self.planned = Some((count, cause));
        self.channels.join(Level::from_count(count), self.slot.number + 1, &mut self.actions);
    }

    fn on_silence(&mut self, now: Time) {
        let waited = now.since(self.last_packet);
        if waited < SILENCE && self.level != Level::NONE {
            self.timers.arm(Timer::Silence, self.last_packet + SILENCE);
            return;
        }
        if waited >= SILENCE {
            self.actions.trace(TraceEvent::Silent { waited });
        }
        self.timers.arm(Timer::Silence, now + SILENCE);
        if self.level == Level::NONE || waited >= self.settings.slot * SILENT_SLOTS {
            self.acquire(now);
        }
    }
}
