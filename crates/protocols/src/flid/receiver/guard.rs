//! Guards against the effect of a single forged packet.

use layercast_core::units::{Channel, Duration, Time};

/// How many packets a slot far ahead needs to be accepted.
const PACKETS: u8 = 3;
/// How many packets must announce the end of the session.
const END_PACKETS: u8 = 3;
/// For how long after that no packet may contradict it.
pub(super) const END_WAIT: Duration = Duration::from_secs(1);

/// Slots may follow each other in half of their length; a faster change needs three packets that agree,
/// with one of them from the base layer, or from two channels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JumpGuard {
    slot: u64,
    packets: u8,
    first: Channel,
    is_backed: bool,
}

impl JumpGuard {
    /// Whether a packet may advance the receiver by `ahead` slots, to `slot`, `elapsed` after the last advance.
    pub(super) fn allows(
        &mut self,
        slot: u64,
        ahead: u64,
        elapsed: Duration,
        slot_duration: Duration,
        channel: Channel,
        is_base: bool,
    ) -> bool {
        if ahead <= elapsed.as_ns() / (slot_duration.as_ns() / 2).max(1) {
            return true;
        }
        if self.slot != slot || self.packets == 0 {
            *self = JumpGuard { slot, packets: 0, first: channel, is_backed: false };
        }
        self.packets = self.packets.saturating_add(1);
        self.is_backed |= is_base || channel != self.first;
        self.packets >= PACKETS && self.is_backed
    }

    pub(super) fn reset(&mut self) {
        *self = JumpGuard::default();
    }
}

/// The end of a session is accepted when three packets of the base layer have announced it and no packet on the
/// base layer contradicts it for a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndGuard {
    packets: u8,
}

impl EndGuard {
    /// A packet of the base layer. Returns whether the wait begins with it, or is broken off; none if nothing
    /// changes.
    pub(super) fn on_packet(&mut self, says_end: bool) -> Option<bool> {
        let before = self.packets;
        self.packets = if says_end { before.saturating_add(1) } else { 0 };
        match (before >= END_PACKETS, self.packets >= END_PACKETS) {
            (false, true) => Some(true),
            (true, false) => Some(false),
            _ => None,
        }
    }
}

/// When slots begin, as seen by a receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotClock {
    last: Option<(u64, Time)>,
    /// How far arrivals of slots deviate from their length, smoothed, in ns.
    jitter_ns: u64,
    /// The earliest arrivals of the last slots, less the time of their slots since `origin`.
    offsets: [i64; OFFSETS],
    count: usize,
    origin: u64,
}

/// A receiver waits for a slot's end at most this many slots longer.
const LONGEST_PATIENCE: u64 = 5;

/// How many slots the clock has seen.
const OFFSETS: usize = 32;

impl SlotClock {
    /// A packet of a slot arrived; only the first one of each slot counts.
    pub(super) fn on_packet(&mut self, slot: u64, now: Time, slot_duration: Duration) {
        if self.last.is_some_and(|(last, _)| slot <= last) {
            return;
        }
        if let Some((last, at)) = self.last {
            let expected = slot_duration * slot.saturating_sub(last);
            let stray = now.since(at).as_ns().abs_diff(expected.as_ns());
            self.jitter_ns = self.jitter_ns - self.jitter_ns / 8 + stray / 8;
        } else {
            self.origin = slot;
        }
        self.last = Some((slot, now));
        let offset = (now.as_ns() as i64).saturating_sub(self.since_origin(slot, slot_duration));
        self.offsets[self.count % OFFSETS] = offset;
        self.count += 1;
    }

    fn since_origin(&self, slot: u64, slot_duration: Duration) -> i64 {
        (slot_duration * slot.saturating_sub(self.origin)).as_ns() as i64
    }

    /// When `slot` begins, if packets take as long as the fastest of the last slots did.
    pub(super) fn predicted(&self, slot: u64, slot_duration: Duration) -> Option<Time> {
        let known = self.offsets.get(..self.count.min(OFFSETS))?;
        let offset = known.iter().min()?.saturating_add(self.since_origin(slot, slot_duration));
        Some(Time::from_ns(u64::try_from(offset).unwrap_or_default()))
    }

    /// How long a slot may last until it counts as ended without a packet of the next one.
    pub(super) fn patience(&self, slot_duration: Duration) -> Duration {
        let strays = Duration::from_ns(self.jitter_ns.saturating_mul(4));
        slot_duration + strays.max(slot_duration.scaled(0.5)).min(slot_duration * LONGEST_PATIENCE)
    }

    pub(super) fn reset(&mut self) {
        *self = SlotClock::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Duration = Duration::from_ms(500);

    #[test]
    fn a_slot_ahead_of_time_needs_three_packets_of_two_channels_or_of_the_base() {
        let mut guard = JumpGuard::default();
        let mut allows = |slot, ahead, channel| {
            guard.allows(slot, ahead, Duration::from_ms(250), SLOT, Channel(channel), channel == 0)
        };
        assert!(allows(8, 1, 3));
        assert!(!allows(9, 2, 3));
        assert!(!allows(9, 2, 3));
        assert!(!allows(9, 2, 3));
        assert!(allows(9, 2, 4));
        // Another slot restarts the count.
        assert!(!allows(90, 83, 0));
        assert!(!allows(90, 83, 3));
        assert!(allows(90, 83, 3));
    }

    #[test]
    fn one_packet_that_says_otherwise_breaks_off_the_end() {
        let mut guard = EndGuard::default();
        let changes = [true, true, true, true, false, true].map(|says_end| guard.on_packet(says_end));
        assert_eq!(changes, [None, None, Some(true), None, Some(false), None]);
    }

    #[test]
    fn the_clock_goes_by_the_quickest_packet_and_is_patient_with_jitter() {
        let mut clock = SlotClock::default();
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        assert_eq!(clock.predicted(1, SLOT), None);
        clock.on_packet(10, at(1030), SLOT);
        clock.on_packet(11, at(1510), SLOT);
        clock.on_packet(11, at(1100), SLOT);
        clock.on_packet(13, at(2600), SLOT);
        assert_eq!(clock.predicted(14, SLOT), Some(at(3010)));
        assert_eq!(clock.patience(SLOT), Duration::from_ms(750));
        for slot in 14..40 {
            clock.on_packet(slot, at(slot * 500 + (slot % 2) * 300), SLOT);
        }
        assert!(clock.patience(SLOT) > Duration::from_ms(1500));
    }
}
