//! Times on the sender's clock.

use layercast_core::units::{Duration, Time};

/// A point on the sender's clock in whole microseconds, unwrapped. Only differences mean anything.
///
/// Boundary decisions of loss periods are made in these integers, so that all hosts decide identically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendTime(u64);

impl SendTime {
    /// The point `us` microseconds after the clock's origin.
    pub const fn from_us(us: u64) -> SendTime {
        SendTime(us)
    }

    /// Microseconds since the clock's origin.
    pub const fn as_us(self) -> u64 {
        self.0
    }

    /// The point `us` microseconds later, saturating.
    #[must_use]
    pub const fn plus_us(self, us: u64) -> SendTime {
        SendTime(self.0.saturating_add(us))
    }

    /// The point nearest to this one whose lower 32 bits are `stamp`, the form of time stamps on
    /// the wire.
    #[must_use]
    pub const fn expand(self, stamp: u32) -> SendTime {
        let distance = stamp.wrapping_sub(self.0 as u32) as i32;
        SendTime(self.0.saturating_add_signed(distance as i64))
    }
}

impl From<Time> for SendTime {
    /// For hosts whose sender and receiver share a clock, and for arrival times in place of stamps.
    fn from(time: Time) -> SendTime {
        SendTime(time.as_ns() / 1000)
    }
}

/// The classification of a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockReading {
    /// A plausible time.
    At(SendTime),
    /// Too far from the expectation of the local clock. Ignore the packet's time; a second packet that
    /// agrees with it restarts the clock.
    Suspect,
    /// The sender's clock has restarted here: times before and after do not compare.
    Restarted(SendTime),
}

/// Follows the sender's wrapping time stamps.
///
/// A stamp that deviates more than 10 s from the local clock's progress is not accepted until a second one
/// agrees with it, so that one bad packet cannot move all loss periods.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderClock {
    accepted: Option<(SendTime, Time)>,
    suspect: Option<(SendTime, Time)>,
}

impl SenderClock {
    /// How far a stamp may deviate from the local clock's progress.
    pub const TOLERANCE: Duration = Duration::from_secs(10);

    /// Reads the stamp of a packet that arrived at `now`.
    pub fn read(&mut self, stamp: u32, now: Time) -> ClockReading {
        let Some((accepted, at)) = self.accepted else {
            // Half a wrap above zero, so that earlier stamps can still be represented.
            let first = SendTime(1 << 32).expand(stamp);
            self.accepted = Some((first, now));
            return ClockReading::At(first);
        };
        if let Some(sent) = plausible(accepted, at, stamp, now) {
            self.suspect = None;
            if sent > accepted {
                self.accepted = Some((sent, now));
            }
            return ClockReading::At(sent);
        }
        if let Some((suspect, at)) = self.suspect
            && let Some(sent) = plausible(suspect, at, stamp, now)
        {
            *self = SenderClock { accepted: Some((sent, now)), suspect: None };
            return ClockReading::Restarted(sent);
        }
        self.suspect = Some((accepted.expand(stamp), now));
        ClockReading::Suspect
    }
}

/// The unwrapped stamp if it lies within the tolerance of where the clock should be.
fn plausible(reference: SendTime, at: Time, stamp: u32, now: Time) -> Option<SendTime> {
    let expected = reference.plus_us(now.since(at).as_us());
    let read = expected.expand(stamp);
    (read.0.abs_diff(expected.0) <= SenderClock::TOLERANCE.as_us()).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_stamp_through_its_wrap() {
        let mut clock = SenderClock::default();
        let ClockReading::At(before) = clock.read(u32::MAX - 9, Time::ZERO) else { panic!() };
        let ClockReading::At(after) = clock.read(90, Time::from_ns(100_000)) else { panic!() };
        assert_eq!(after.as_us() - before.as_us(), 100);
    }

    #[test]
    fn one_wild_stamp_is_not_believed_and_two_restart_the_clock() {
        let mut clock = SenderClock::default();
        clock.read(1_000_000, Time::ZERO);
        assert_eq!(clock.read(100_000_000, Time::from_ns(1000)), ClockReading::Suspect);
        assert!(matches!(clock.read(1_000_010, Time::from_ns(10_000)), ClockReading::At(_)));
        assert_eq!(clock.read(100_000_000, Time::from_ns(20_000)), ClockReading::Suspect);
        assert!(matches!(clock.read(100_000_005, Time::from_ns(25_000)), ClockReading::Restarted(_)));
    }
}
