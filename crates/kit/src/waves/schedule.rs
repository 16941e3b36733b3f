//! When packets leave, and when a slot is over.
//!
//! A wave is laid out from its end, where its numbers end as well (RFC 3738, section 3.1.2): the
//! packet that has `left` behind it leaves when so many and a half are still to come by the integral of
//! the rate. So a wave has the same packets in every cycle, wherever its source began.

use super::shape::Waves;
use layercast_core::math::{exp, floor, ln};
use layercast_core::units::{Duration, Time};

/// Where between two whole numbers of the integral a packet leaves.
const PHASE: f64 = 0.5;

/// How often an interval is halved; the result is exact to less than a nanosecond in any slot.
const HALVINGS: u32 = 50;

/// The times at which packets leave, counted from the end of a wave or the start of a slot.
#[derive(Clone, Debug)]
pub struct Departures {
    slot_s: f64,
    steepness: f64,
    /// Packets of a channel that falls from the base rate for ever.
    endless: f64,
    base_packets: u32,
    active: f64,
    /// The fraction of a wave's first slot in which it fills what the others leave of the top rate.
    filling: f64,
    top_rate: f64,
    /// The rate of all lower channels at the start of that slot.
    lower_rate: f64,
    /// Packets after the filling part.
    after_filling: f64,
    all: f64,
}

impl Departures {
    /// The departures of a session's waves.
    pub fn new(waves: &Waves) -> Departures {
        let slot_s = waves.slot().as_secs_f64();
        let steepness = waves.steepness();
        let active = f64::from(waves.active_waves());
        let top_rate = waves.top_rate();
        let whole = waves.joined_rate(waves.active_waves());
        // Without filling, the last wave is cut to the top rate until all waves together fit it.
        let cut = ln(whole / top_rate) / steepness;
        let filling = if waves.is_constant() { 1.0 } else { cut.clamp(0.0, 1.0) };
        let mut departures = Departures {
            slot_s,
            steepness,
            endless: waves.base_rate() * slot_s / steepness,
            base_packets: waves.base_packets(),
            active,
            filling,
            top_rate,
            lower_rate: waves.joined_rate(waves.active_waves() - 1),
            after_filling: 0.0,
            all: 0.0,
        };
        departures.after_filling = departures.falling(active - filling);
        departures.all = departures.after_filling + departures.filled(filling);
        departures
    }

    /// Packets of a falling wave in its last `slots` slots.
    fn falling(&self, slots: f64) -> f64 {
        self.endless * (exp(slots * self.steepness) - 1.0)
    }

    /// Packets of a wave that fills, in the first `slots` of its first slot.
    fn filled(&self, slots: f64) -> f64 {
        let lower = self.lower_rate * (1.0 - exp(-slots * self.steepness)) / self.steepness;
        (self.slot_s * (self.top_rate * slots - lower)).max(0.0)
    }

    /// How many packets a wave has left, `slots` before its end; fractions of packets included.
    fn remaining(&self, slots: f64) -> f64 {
        if slots <= self.active - self.filling {
            return self.falling(slots.max(0.0));
        }
        self.all - self.filled((self.active - slots).max(0.0))
    }

    /// How many packets a wave still has to send, `slots` before its end.
    pub fn left_at(&self, slots: f64) -> u64 {
        floor(self.remaining(slots) + 1.0 - PHASE).max(0.0) as u64
    }

    /// How long before the end of its wave the packet leaves that is followed by `behind` others.
    pub fn before_end(&self, behind: u64) -> Duration {
        let remaining = behind as f64 + PHASE;
        let slots = if remaining <= self.after_filling {
            ln(1.0 + remaining / self.endless) / self.steepness
        } else {
            self.active - self.filling_place(self.all - remaining)
        };
        Duration::from_secs_f64(slots * self.slot_s)
    }

    /// Where in its first slot a filling wave has sent so much.
    fn filling_place(&self, sent: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.filling);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.filled(middle) < sent {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// When in a slot packet `number` of the base channel leaves, from 0; there are
    /// [`Waves::base_packets`] of them.
    pub fn base_departure(&self, number: u32) -> Duration {
        let left = 1.0 - f64::from(number.min(self.base_packets - 1)) / self.endless;
        Duration::from_secs_f64(-ln(left) / self.steepness * self.slot_s)
    }
}

/// Whether a packet of slot `received` shows that slot `current` is over, `since` after that began, and by
/// how many slots (RFC 3738, section 3.2.3.3). None for a packet of this slot or an old one.
///
/// A difference that the time passed allows is plausible; the result says whether it is.
pub fn starts_slot(waves: &Waves, current: u16, received: u16, since: Duration) -> Option<(u16, bool)> {
    let cycle = u32::from(waves.cycle());
    let ahead = (u32::from(received) + cycle - u32::from(current) % cycle) % cycle;
    if ahead == 0 || 2 * ahead > 2 * cycle - u32::from(waves.silent_slots()) {
        return None;
    }
    let passed = since.as_secs_f64() / waves.slot().as_secs_f64() + 0.5;
    Some((ahead as u16, f64::from(ahead) <= passed))
}

/// The number of the slot that holds `at`, and when it began, for slots since `start`.
pub fn slot_of(waves: &Waves, start: Time, at: Time) -> (u64, Time) {
    let slot = waves.slot();
    let number = at.since(start).as_ns() / slot.as_ns().max(1);
    (number, start + slot * number)
}
