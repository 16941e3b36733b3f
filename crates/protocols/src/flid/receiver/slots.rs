//! The record of a slot, and the decision that follows from it.

use crate::flid::EcnSettings;
use layercast_core::contract::Cause;
use layercast_core::units::{Duration, Time};

/// A slot with this share of lost packets is congested even where marks decide.
const HEAVY_LOSS: f64 = 0.25;
/// If no mark was seen for this long, and ...
const NO_MARKS: Duration = Duration::from_secs(60);
/// ... this many consecutive slots ...
const LOSS_SLOTS: u32 = 10;
/// ... lost more than this share, no router marks and losses count.
const LASTING_LOSS: f64 = 0.05;

/// The level after a slot (FLID-DL paper, section IV-B): one less if it was congested, else one more if
/// the signal names this level or a higher one, and never above the top or below the base.
pub fn next_level(level: u16, levels: u16, is_congested: bool, signal: Option<u8>) -> u16 {
    if is_congested {
        level.saturating_sub(1)
    } else if signal.is_some_and(|named| u16::from(named) >= level) && level + 1 < levels {
        level + 1
    } else {
        level
    }
}

/// The signals of a slot: all packets must carry the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SlotSignals {
    #[default]
    Nothing,
    Signal(Option<u8>),
    Conflict,
}

/// The state of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) number: u64,
    /// When its first packet came.
    pub(super) began: Time,
    pub(super) received: u32,
    pub(super) lost: u32,
    pub(super) is_marked: bool,
    pub(super) signals: SlotSignals,
    /// Whether only its end was received: then it permits no increase.
    pub(super) is_partial: bool,
    /// Whether its loss has been traced.
    pub(super) is_traced: bool,
}

impl Slot {
    pub(super) fn new(number: u64, began: Time) -> Slot {
        Slot {
            number,
            began,
            received: 0,
            lost: 0,
            is_marked: false,
            signals: SlotSignals::Nothing,
            is_partial: false,
            is_traced: false,
        }
    }

    pub(super) fn on_signal(&mut self, signal: Option<u8>) {
        self.signals = match self.signals {
            SlotSignals::Nothing => SlotSignals::Signal(signal),
            SlotSignals::Signal(same) if same == signal => self.signals,
            SlotSignals::Signal(_) | SlotSignals::Conflict => SlotSignals::Conflict,
        };
    }

    /// The signal that may permit an increase.
    pub(super) fn signal(&self) -> Option<u8> {
        match self.signals {
            SlotSignals::Signal(signal) if !self.is_partial => signal,
            _ => None,
        }
    }
}

/// Evaluates slots: what counts as congestion.
#[derive(Clone, Debug)]
pub struct Congestion {
    ecn: Option<EcnSettings>,
    last_mark: Time,
    /// The number of slots in the present dozen, and their packets received and lost.
    slots: u32,
    received: u64,
    lost: u64,
    /// No router marks here: losses count.
    by_loss: bool,
}

impl Congestion {
    /// By losses, or by marks if there are rules for them.
    pub fn new(ecn: Option<EcnSettings>, now: Time) -> Congestion {
        Congestion { ecn, last_mark: now, slots: 0, received: 0, lost: 0, by_loss: false }
    }

    /// Whether a slot with this many packets received and lost, and with or without marked ones, was
    /// congested: the cause, or none.
    pub fn evaluate(&mut self, now: Time, received: u32, lost: u32, is_marked: bool) -> Option<Cause> {
        let by_loss = (lost > 0).then_some(Cause::Loss);
        let Some(EcnSettings { safety }) = self.ecn else { return by_loss };
        if is_marked {
            self.last_mark = now;
            self.by_loss = false;
            return Some(Cause::CongestionMark);
        }
        if !safety {
            return None;
        }
        self.count_slot(now, received, lost);
        let share = f64::from(lost) / (f64::from(lost) + f64::from(received)).max(1.0);
        by_loss.filter(|_| self.by_loss || share > HEAVY_LOSS)
    }

    fn count_slot(&mut self, now: Time, received: u32, lost: u32) {
        self.slots += 1;
        self.received += u64::from(received);
        self.lost += u64::from(lost);
        if self.slots < LOSS_SLOTS {
            return;
        }
        let share = self.lost as f64 / ((self.lost + self.received) as f64).max(1.0);
        if share > LASTING_LOSS && now.since(self.last_mark) >= NO_MARKS {
            self.by_loss = true;
        }
        (self.slots, self.received, self.lost) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_differ_are_a_conflict() {
        let mut slot = Slot::new(1, Time::ZERO);
        slot.on_signal(Some(3));
        slot.on_signal(Some(3));
        assert_eq!(slot.signal(), Some(3));
        slot.on_signal(None);
        assert_eq!((slot.signals, slot.signal()), (SlotSignals::Conflict, None));
    }

    #[test]
    fn marks_decide_and_losses_only_where_marks_fail() {
        let at = |s: u64| Time::ZERO + Duration::from_secs(s);
        let mut literal = Congestion::new(Some(EcnSettings { safety: false }), at(0));
        assert_eq!(literal.evaluate(at(1), 1, 99, false), None);
        let mut safe = Congestion::new(Some(EcnSettings { safety: true }), at(0));
        assert_eq!(safe.evaluate(at(1), 70, 30, false), Some(Cause::Loss));
        assert_eq!(safe.evaluate(at(1), 90, 10, false), None);
        assert_eq!(safe.evaluate(at(1), 90, 0, true), Some(Cause::CongestionMark));
        // A minute without a mark, and 10 % lost in ten slots.
        for second in 62..72 {
            safe.evaluate(at(second), 90, 10, false);
        }
        assert_eq!(safe.evaluate(at(80), 99, 1, false), Some(Cause::Loss));
        assert_eq!(safe.evaluate(at(81), 99, 1, true), Some(Cause::CongestionMark));
        assert_eq!(safe.evaluate(at(82), 99, 1, false), None);
    }
}
