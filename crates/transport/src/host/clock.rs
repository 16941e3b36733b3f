//! The time of an endpoint on a real clock.

use std::time::{Duration as StdDuration, Instant, SystemTime};

use layercast_core::units::{Duration, Time};

/// The longest plausible wait of a packet in the kernel. A longer one means that the wall clock, which the
/// kernel uses for arrival stamps, was set.
const LONGEST_WAIT: StdDuration = StdDuration::from_secs(1);

/// Nanoseconds on the monotonic clock since the endpoint started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { start: Instant::now() }
    }
}

impl Clock {
    /// Now.
    pub fn now(&self) -> Time {
        Time::from_ns(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// When a packet arrived that the kernel stamped with a time of the wall clock.
    pub fn arrival(&self, stamp: Option<SystemTime>) -> Time {
        let now = self.now();
        let age = stamp.and_then(|stamp| SystemTime::now().duration_since(stamp).ok());
        match age.filter(|&age| age <= LONGEST_WAIT) {
            Some(age) => now - Duration::from_ns(age.as_nanos() as u64),
            None => now,
        }
    }
}

/// How long from `now` until `then`; zero if it has passed.
pub(super) fn until(now: Time, then: Time) -> StdDuration {
    StdDuration::from_nanos(then.since(now).as_ns())
}
