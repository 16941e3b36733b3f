//! The wall clock as the simulation's time.

use std::time::Instant;

use layercast_core::units::{Duration, Time};

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
        Time::ZERO + Duration::from(since)
    }
}
