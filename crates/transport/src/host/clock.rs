//! The time of an endpoint on a real clock.

use std::time::{Duration as StdDuration, SystemTime};

use layercast_core::Always as _;
use layercast_core::units::{Duration, Time};
use nix::time::{ClockId, clock_gettime};

/// The longest plausible wait of a packet in the kernel. A longer one means that the wall clock, which the
/// kernel uses for arrival stamps, was set.
const LONGEST_WAIT: StdDuration = StdDuration::from_secs(1);

/// How often both clocks are read, at most, to get one reading.
const READS: usize = 3;
/// A reading during which no more time passed is not repeated: arrivals are no more precise (CHOICE).
const NEAR: Duration = Duration::from_us(1);

/// Nanoseconds on the monotonic clock since the endpoint started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Its own reading at that moment.
    start: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { start: monotonic() }
    }
}

impl Clock {
    /// Now.
    pub fn now(&self) -> Time {
        Time::from_ns(monotonic().saturating_sub(self.start))
    }

    /// Both clocks at one instant, as near as can be: of a few attempts the first that is near enough, or the one during which
    /// the least time passed.
    pub(super) fn read(&self) -> Reading {
        let mut reading = self.read_once();
        for _ in 1..READS {
            if reading.apart <= NEAR {
                break;
            }
            let again = self.read_once();
            if again.apart < reading.apart {
                reading = again;
            }
        }
        reading
    }

    fn read_once(&self) -> Reading {
        let now = self.now();
        let wall = SystemTime::now();
        Reading { now, wall, apart: self.now().since(now) }
    }
}

/// Nanoseconds on the monotonic clock. It is read for each packet, and the standard library's takes twice the instructions.
fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map(|time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
        .always("Linux has this clock")
}

/// The monotonic clock and the wall clock, read together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    now: Time,
    wall: SystemTime,
    /// The longest possible time between the two reads.
    apart: Duration,
}

impl Reading {
    /// When a packet arrived that the kernel stamped with a time of the wall clock, if it was read from its socket at
    /// `read`. Arrivals that are converted with one reading keep their order, however the thread is interrupted.
    pub(super) fn arrival(&self, stamp: Option<SystemTime>, read: Time) -> Time {
        let arrival = stamp.map(|stamp| match stamp.duration_since(self.wall) {
            Ok(later) => self.now + Duration::from(later),
            Err(earlier) => self.now - Duration::from(earlier.duration()),
        });
        let plausible = |arrival: &Time| read.since(*arrival) <= Duration::from(LONGEST_WAIT);
        arrival.map(|arrival| arrival.min(read)).filter(plausible).unwrap_or(read)
    }
}

/// How long from `now` until `then`; zero if it has passed.
pub(crate) fn until(now: Time, then: Time) -> StdDuration {
    StdDuration::from(then.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: StdDuration = StdDuration::from_secs(1);

    #[test]
    fn arrivals_of_one_reading_keep_the_order_of_their_stamps() {
        let wall = SystemTime::UNIX_EPOCH + 1_000 * SECOND;
        let reading = Reading { now: Time::from_ns(5_000_000_000), wall, apart: Duration::ZERO };
        let read = Time::from_ns(5_000_001_000);
        let at = |ns: i64| {
            let offset = StdDuration::from_nanos(ns.unsigned_abs());
            reading.arrival(Some(if ns < 0 { wall - offset } else { wall + offset }), read).as_ns()
        };
        assert_eq!((at(-300), at(0), at(700)), (4_999_999_700, 5_000_000_000, 5_000_000_700));
        // No packet arrives after it was read, and none waited for longer than a second.
        assert_eq!((at(1_500), at(-2_000_000_000)), (read.as_ns(), read.as_ns()));
        assert_eq!(reading.arrival(None, read), read);
    }

    #[test]
    fn a_reading_of_both_clocks_agrees_with_them() {
        let clock = Clock::default();
        let before = clock.now();
        let reading = clock.read();
        assert!(reading.now >= before && reading.now <= clock.now());
        assert!(reading.apart <= clock.now().since(before));
    }
}
