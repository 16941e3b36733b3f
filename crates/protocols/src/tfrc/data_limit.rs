//! Whether the source had all the data that it was allowed to send (RFC 5348, section 8.2.1).

use layercast_core::units::{Duration, Time};

/// Two moments at which the source sent all that it was allowed to: one for the period that the next
/// report covers, one for the period after that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataLimit {
    first: Option<Time>,
    second: Option<Time>,
    /// The newest send time that a report named, and when that report came.
    reported: Option<Time>,
    report_came: Option<Time>,
}

impl DataLimit {
    /// A packet was sent, and the source was not data-limited.
    pub(super) fn on_unlimited(&mut self, now: Time) {
        if self.first <= self.reported {
            self.first = Some(now);
        } else if self.second <= self.report_came {
            self.second = Some(now);
        }
    }

    /// A report came about packets sent up to `newest`. Returns whether the source was data-limited over the
    /// whole round trip before that.
    pub(super) fn on_report(&mut self, now: Time, newest: Time, rtt: Duration) -> bool {
        let oldest = newest - rtt;
        self.reported = Some(newest);
        self.report_came = Some(now);
        let covers = |at: Option<Time>| at.is_some_and(|at| oldest < at && at <= newest);
        let limited = !covers(self.first) && !covers(self.second);
        if self.first <= self.reported && self.second > self.reported {
            self.first = self.second;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn an_interval_with_one_unlimited_moment_is_not_limited() {
        let (mut limit, rtt) = (DataLimit::default(), Duration::from_ms(100));
        limit.on_unlimited(ms(50));
        assert!(!limit.on_report(ms(200), ms(100), rtt));
        // Nothing unlimited was sent between 100 and 200 ms.
        assert!(limit.on_report(ms(300), ms(200), rtt));
        limit.on_unlimited(ms(310));
        assert!(limit.on_report(ms(400), ms(300), rtt));
        assert!(!limit.on_report(ms(500), ms(400), rtt));
    }
}
