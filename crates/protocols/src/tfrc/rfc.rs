//! The rate of a source by the rules of RFC 5348, section 4, and of RFC 3448, section 4.
//!
//! Rates are in byte/s, times in seconds.

use super::feedback::Feedback;
use super::{FairRate, ReceiveSet};
use layercast_core::math::sqrt;
use layercast_core::units::{Duration, Time};

/// The longest time between two packets, in seconds (RFC 5348, section 4.3: `t_mbi`).
pub(super) const MAX_SPACING_S: f64 = 64.0;

/// How many bytes may be sent in the first round trip (RFC 3390; RFC 5348, section 4.2).
pub fn initial_window(packet_bytes: f64) -> f64 {
    (4.0 * packet_bytes).min((2.0 * packet_bytes).max(4380.0))
}

/// A damped rate: lower by the ratio of the long-term mean root of the round-trip time to the root of the
/// newest sample, in seconds (RFC 5348, section 4.5).
pub fn damped(bytes_per_s: f64, root_mean: f64, sample_s: f64) -> f64 {
    bytes_per_s * root_mean / sqrt(sample_s)
}

/// Which rules a source follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RfcRules {
    /// The size of a packet in bytes.
    pub packet_bytes: f64,
    /// Whether the first round trip may have several packets (RFC 5348), or one (RFC 3448).
    pub several_at_first: bool,
    /// Whether the largest receive rate of two round trips bounds the rate (RFC 5348), or the newest
    /// (RFC 3448).
    pub recent_limit: bool,
    /// Whether a rising round-trip time slows the source down (RFC 5348, section 4.5).
    pub damping: bool,
    /// The weight of the old mean root of the round-trip time, 0 to 1.
    pub damping_q: f64,
    /// The equation.
    pub equation: FairRate,
}

/// The allowed rate of a source.
#[derive(Clone, Debug)]
pub struct RfcRate {
    rules: RfcRules,
    allowed: f64,
    /// The mean root of the round-trip time and its newest sample.
    round_trip: Option<(f64, f64)>,
    loss: f64,
    calculated: Option<f64>,
    received: ReceiveSet,
    rtt_s: Option<f64>,
    doubled: Time,
}

impl RfcRate {
    /// One packet per second (RFC 5348, section 4.2).
    pub fn new(now: Time, rules: RfcRules) -> RfcRate {
        RfcRate {
            rules,
            allowed: rules.packet_bytes,
            round_trip: None,
            loss: 0.0,
            calculated: None,
            received: ReceiveSet::new(now),
            rtt_s: None,
            doubled: Time::ZERO,
        }
    }

    /// The allowed rate X in byte/s.
    pub fn allowed(&self) -> f64 {
        self.allowed
    }

    /// The rate to send at in byte/s: the allowed one, damped (RFC 5348, section 4.5).
    pub fn sending(&self) -> f64 {
        let damped = match self.round_trip.filter(|_| self.rules.damping) {
            Some((root_mean, sample_s)) => damped(self.allowed, root_mean, sample_s),
            None => self.allowed,
        };
        damped.max(self.least())
    }

    fn least(&self) -> f64 {
        self.rules.packet_bytes / MAX_SPACING_S
    }

    /// The rate of the initial window, where the round-trip time is known.
    fn initial(&self, rtt_s: f64) -> f64 {
        let bytes = match self.rules.several_at_first {
            true => initial_window(self.rules.packet_bytes),
            false => self.rules.packet_bytes,
        };
        bytes / rtt_s
    }

    /// A report came (RFC 5348, section 4.3).
    pub fn on_report(&mut self, now: Time, report: &Feedback) {
        self.damp(report.sample_s);
        let rises = report.loss > self.loss;
        self.loss = report.loss;
        self.calculated = self.rules.equation.rate(report);
        let first = self.rtt_s.replace(report.rtt_s).is_none();
        if first {
            // The value without bound is meant for the first two round trips, which begin here.
            self.received = ReceiveSet::new(now);
            self.allowed = self.initial(report.rtt_s);
            self.doubled = now;
        } else {
            let limit = self.limit(now, report, rises);
            self.raise(now, report.rtt_s, limit);
        }
        // A first report of a loss (the reports before it were lost) has no slow start ahead.
        if let Some(calculated) = self.calculated.filter(|_| first) {
            self.allowed = self.allowed.min(calculated).max(self.least());
        }
    }

    /// The bound by the receive rate; none if there is none.
    fn limit(&mut self, now: Time, report: &Feedback, rises: bool) -> Option<f64> {
        if !self.rules.recent_limit {
            self.received.replace(now, report.receive_rate);
        } else if report.data_limited && rises {
            self.received.halve();
            self.received.maximize(now, 0.85 * report.receive_rate);
            return self.received.largest();
        } else if report.data_limited {
            self.received.maximize(now, report.receive_rate);
        } else {
            let memory = Duration::from_secs_f64(2.0 * report.rtt_s);
            self.received.update(now, report.receive_rate, memory);
        }
        self.received.largest().map(|largest| 2.0 * largest)
    }

    /// Step 4 of RFC 5348, section 4.3.
    fn raise(&mut self, now: Time, rtt_s: f64, limit: Option<f64>) {
        let bounded = |rate: f64| limit.map_or(rate, |limit| rate.min(limit));
        if let Some(calculated) = self.calculated {
            self.allowed = bounded(calculated).max(self.least());
        } else if now.since(self.doubled) >= Duration::from_secs_f64(rtt_s) {
            self.allowed = bounded(2.0 * self.allowed).max(self.initial(rtt_s));
            self.doubled = now;
        }
    }

    fn damp(&mut self, sample_s: f64) {
        let (root, q) = (sqrt(sample_s), self.rules.damping_q);
        let root_mean = self.round_trip.map_or(root, |(old, _)| q * old + (1.0 - q) * root);
        self.round_trip = Some((root_mean, sample_s));
    }

    /// How long to wait for the next report before the rate is halved, in seconds: four round trips, at
    /// least two packets (RFC 5348, section 4.3, step 3).
    pub fn patience_s(&self) -> f64 {
        let packets_s = 2.0 * self.rules.packet_bytes / self.allowed;
        self.rtt_s.map_or(packets_s, |rtt_s| packets_s.max(4.0 * rtt_s))
    }

    /// No report came for that long (RFC 5348, section 4.4). `idle`: nothing was sent in that time.
    pub fn on_no_feedback(&mut self, now: Time, idle: bool) {
        let least = self.least();
        let Some(rtt_s) = self.rtt_s else {
            if !idle {
                self.allowed = (0.5 * self.allowed).max(least);
            }
            return;
        };
        let recover = self.initial(rtt_s);
        let received = self.received.largest();
        let below = |rate: Option<f64>, bound: f64| rate.is_some_and(|rate| rate < bound);
        match self.calculated {
            Some(_) if idle && below(received, recover) => {}
            None if idle && self.allowed < 2.0 * recover => {}
            None => self.allowed = (0.5 * self.allowed).max(least),
            Some(calculated) => {
                // The receive rate was the bound, or the equation was.
                let bound = match received.filter(|received| calculated > 2.0 * received) {
                    Some(received) => received,
                    None => 0.5 * calculated,
                };
                let bound = bound.max(least);
                self.received.replace(now, 0.5 * bound);
                self.allowed = calculated.min(bound).max(least);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_kit::equation::Formula;

    const RULES: RfcRules = RfcRules {
        packet_bytes: 1000.0,
        several_at_first: true,
        recent_limit: true,
        damping: true,
        damping_q: 0.9,
        equation: FairRate::plain(Formula::PftkSimplified, 1000.0),
    };

    fn report(loss: f64, receive_rate: f64) -> Feedback {
        Feedback { sample_s: 0.1, rtt_s: 0.1, rto_s: 0.4, loss, receive_rate, data_limited: false }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// A source that has had its first report at 0 s and others until 1 s.
    fn running(loss: f64, receive_rate: f64) -> RfcRate {
        let mut rate = RfcRate::new(ms(0), RULES);
        for step in 0..=10 {
            rate.on_report(ms(100 * step), &report(loss, receive_rate));
        }
        rate
    }

    #[test]
    fn a_source_without_reports_halves_its_rate_to_one_packet_in_64_s() {
        let mut rate = RfcRate::new(ms(0), RULES);
        assert_eq!(rate.patience_s(), 2.0);
        rate.on_no_feedback(ms(2000), true);
        assert_eq!(rate.allowed(), 1000.0);
        for _ in 0..10 {
            rate.on_no_feedback(ms(2000), false);
        }
        assert_eq!(rate.allowed(), 1000.0 / 64.0);
        assert_eq!(rate.patience_s(), 128.0);
    }

    #[test]
    fn lost_reports_halve_what_bounds_the_rate() {
        // Bounded by the equation.
        let mut rate = running(0.01, 1e9);
        let calculated = rate.allowed();
        rate.on_no_feedback(ms(1500), false);
        assert_eq!(rate.allowed(), 0.5 * calculated);
        // Bounded by the receive rate.
        let mut rate = running(0.01, 30_000.0);
        assert_eq!(rate.allowed(), 60_000.0);
        rate.on_no_feedback(ms(1500), false);
        assert_eq!(rate.allowed(), 30_000.0);
        // In slow start.
        let mut rate = running(0.0, 100_000.0);
        assert_eq!(rate.allowed(), 200_000.0);
        rate.on_no_feedback(ms(1500), false);
        assert_eq!(rate.allowed(), 100_000.0);
    }

    #[test]
    fn an_idle_source_keeps_its_initial_rate() {
        let mut rate = running(0.0, 20_000.0);
        assert_eq!(rate.allowed(), 40_000.0);
        rate.on_no_feedback(ms(1500), true);
        assert_eq!(rate.allowed(), 40_000.0);
        let mut rate = running(0.01, 30_000.0);
        rate.on_no_feedback(ms(1500), true);
        assert_eq!(rate.allowed(), 60_000.0);
    }

    #[test]
    fn a_loss_while_short_of_data_bounds_the_rate_by_what_was_received() {
        let mut rate = running(0.0001, 100_000.0);
        assert_eq!(rate.allowed(), 200_000.0);
        rate.on_report(ms(1100), &Feedback { data_limited: true, ..report(0.0001, 60_000.0) });
        assert_eq!(rate.allowed(), 200_000.0);
        rate.on_report(ms(1200), &Feedback { data_limited: true, ..report(0.0002, 80_000.0) });
        assert_eq!(rate.allowed(), 68_000.0);
    }

    #[test]
    fn the_older_rules_start_with_one_packet_and_heed_the_newest_rate() {
        let rules = RfcRules { several_at_first: false, recent_limit: false, ..RULES };
        let mut rate = RfcRate::new(ms(0), rules);
        rate.on_report(ms(100), &report(0.0, 0.0));
        assert_eq!(rate.allowed(), 10_000.0);
        rate.on_report(ms(200), &report(0.0, 7_500.0));
        assert_eq!(rate.allowed(), 15_000.0);
        rate.on_report(ms(250), &report(0.0, 60_000.0));
        assert_eq!(rate.allowed(), 15_000.0, "it doubles once per round trip");
        rate.on_report(ms(300), &report(0.01, 6_000.0));
        assert_eq!(rate.allowed(), 12_000.0);
    }

    #[test]
    fn a_longer_round_trip_slows_the_source_down() {
        let mut rate = running(0.01, 1e9);
        let before = rate.sending();
        rate.on_report(ms(1100), &Feedback { sample_s: 0.2, ..report(0.01, 1e9) });
        let expected = before * (0.9 * sqrt(0.1) + 0.1 * sqrt(0.2)) / sqrt(0.2);
        assert!((rate.sending() / expected - 1.0).abs() < 1e-12);
    }
}
