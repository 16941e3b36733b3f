//! The wall clock as the simulation's time.

use std::time::Instant;

use layercast_core::units::Time;

/// Time since the start of an emulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    pub(crate) fn now(self) -> Time {
        let since = self.start.elapsed();
        Time::from_ns(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}
