//! Whether a source sends its packets in time.

use std::time::Duration as StdDuration;

use layercast_core::units::Duration;

use crate::notice::Notice;

/// The mean lateness of packets from which on a source does not keep its rates: it makes up for a tenth of a second, so one
/// that cannot is late by about half of that (CHOICE).
const LATE: Duration = Duration::from_ms(20);
/// For so many looks one after the other: three seconds.
const LOOKS: u32 = 6;

/// Notices, once, that a source does not keep its rates.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    late: u32,
    was_said: bool,
}

impl Lateness {
    /// Looks at the mean lateness since the last look.
    pub(super) fn check(&mut self, mean: Duration) -> Option<Notice> {
        self.late = if mean >= LATE { self.late + 1 } else { 0 };
        if self.late < LOOKS || std::mem::replace(&mut self.was_said, true) {
            return None;
        }
        Some(Notice::Late { mean: StdDuration::from(mean) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_late_for_seconds_says_so_once() {
        let mut lateness = Lateness::default();
        let mut said =
            |ms: u64, times: u32| (0..times).filter_map(|_| lateness.check(Duration::from_ms(ms))).count();
        // Now and then a machine is busy.
        assert_eq!([said(200, 5), said(1, 1), said(19, 50)], [0, 0, 0]);
        assert_eq!([said(40, 5), said(40, 1), said(1, 10), said(40, 50)], [0, 1, 0, 0]);
    }
}
