//! The receive rate of a receiver, in byte/s (RFC 5348, section 6.2, step 2).

use layercast_core::units::{Duration, Rate, Size, Time};

/// How many reports back a measurement may begin: more fall within a round trip only if each of them
/// reports a new loss event.
const MARKS: usize = 8;

/// Bytes counted, with marks at the newest reports.
///
/// The rate is over the time since the newest report that is at least a round trip old, as the RFC
/// allows in place of exactly one round trip. So no arrival times need to be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveRate {
    bytes: u64,
    /// Time and count, newest first.
    marks: [(Time, u64); MARKS],
    largest: Rate,
}

impl ReceiveRate {
    /// Starts counting at `now`.
    pub(super) fn new(now: Time) -> ReceiveRate {
        ReceiveRate { bytes: 0, marks: [(now, 0); MARKS], largest: Rate::ZERO }
    }

    pub(super) fn on_packet(&mut self, size: Size) {
        self.bytes += u64::from(size.as_bytes());
    }

    /// The rate at `now`; zero before any time has passed.
    pub(super) fn rate(&self, now: Time, rtt: Duration) -> Rate {
        let old = self.marks.iter().find(|&&(at, _)| now.since(at) >= rtt && at < now);
        let (at, bytes) = *old.unwrap_or(&self.marks[MARKS - 1]);
        // The marks may all be younger than a round trip: then it is the rate of a round trip.
        let span_s = now.since(at).max(rtt).as_secs_f64();
        if span_s > 0.0 { Rate::from_bytes_per_s((self.bytes - bytes) as f64 / span_s) } else { Rate::ZERO }
    }

    /// A report with this rate was sent.
    pub(super) fn on_report_sent(&mut self, now: Time, rate: Rate) {
        self.marks.rotate_right(1);
        self.marks[0] = (now, self.bytes);
        if rate > self.largest {
            self.largest = rate;
        }
    }

    /// The largest rate that was reported.
    pub(super) fn largest(&self) -> Rate {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn an_early_report_measures_over_more_than_a_round_trip() {
        let (rtt, size) = (Duration::from_ms(100), Size::from_bytes(1000));
        let mut rate = ReceiveRate::new(ms(0));
        for _ in 0..10 {
            rate.on_packet(size);
        }
        assert_eq!(rate.rate(ms(100), rtt), Rate::from_bytes_per_s(100_000.0));
        rate.on_report_sent(ms(100), rate.rate(ms(100), rtt));
        for _ in 0..2 {
            rate.on_packet(size);
        }
        // 12 packets in 150 ms, not 2 in 50 ms.
        assert_eq!(rate.rate(ms(150), rtt), Rate::from_bytes_per_s(80_000.0));
        rate.on_report_sent(ms(150), rate.rate(ms(150), rtt));
        assert_eq!(rate.rate(ms(250), rtt), Rate::ZERO);
        assert_eq!(rate.largest(), Rate::from_bytes_per_s(100_000.0));
    }
}
