//! Feedback rounds: their number, the largest round-trip time and the suppression rate (RFC 4654,
//! sections 3.2 and 3.4).

use crate::tfmcc::header::FloatRate;
use crate::tfmcc::options::Options;
use crate::tfmcc::rules::max_rtt_after_round;
use layercast_core::units::{Duration, Time};

/// The present feedback round and its reports.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    number: u8,
    started: Time,
    /// Whether a receiver other than the limiting one has reported.
    has_feedback: bool,
    suppression: FloatRate,
    /// The largest round-trip time of this round's reports.
    peak: Duration,
    max_rtt: Duration,
    limit: Duration,
    granularity: Duration,
    length: f64,
}

impl Rounds {
    pub(super) fn new(options: &Options, now: Time) -> Rounds {
        Rounds {
            number: 0,
            started: now,
            has_feedback: false,
            suppression: FloatRate::UNBOUNDED,
            peak: Duration::ZERO,
            max_rtt: options.r_max_initial,
            limit: options.r_max_limit,
            granularity: options.granularity,
            length: options.round_length,
        }
    }

    pub(super) fn number(&self) -> u8 {
        self.number
    }

    pub(super) fn max_rtt(&self) -> Duration {
        self.max_rtt
    }

    pub(super) fn suppression(&self) -> FloatRate {
        self.suppression
    }

    /// How long a round lasts.
    pub(super) fn length(&self) -> Duration {
        self.max_rtt.scaled(self.length)
    }

    /// Whether the present round is in its last third.
    pub(super) fn is_late(&self, now: Time) -> bool {
        now.since(self.started) >= self.length().scaled(2.0 / 3.0)
    }

    /// The round-trip time of a report.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.min(self.limit);
        self.peak = self.peak.max(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
    }

    /// A report by another than the limiting receiver. Reports of older rounds suppress nothing.
    pub(super) fn on_feedback(&mut self, round: u8, rate: FloatRate) {
        if round == self.number {
            self.has_feedback = true;
            self.suppression = FloatRate(self.suppression.0.min(rate.0));
        }
    }

    /// The largest round-trip time, from another source.
    pub(super) fn set_max_rtt(&mut self, max_rtt: Duration) {
        self.max_rtt = max_rtt.min(self.limit);
    }

    /// The largest round-trip time is not below the spacing of packets.
    pub(super) fn on_spacing_change(&mut self, spacing: Duration) {
        self.max_rtt = self.max_rtt.max(spacing + self.granularity);
    }

    /// When the round ends unless another report arrives.
    pub(super) fn end(&self) -> Time {
        self.started + self.length() * if self.has_feedback { 1 } else { 2 }
    }

    /// Begins the next round, if it is time.
    pub(super) fn poll(&mut self, now: Time, spacing: Duration) -> bool {
        if now < self.end() {
            return false;
        }
        self.number = self.number.wrapping_add(1);
        self.started = now;
        self.has_feedback = false;
        self.suppression = FloatRate::UNBOUNDED;
        self.max_rtt = max_rtt_after_round(self.max_rtt, self.peak, spacing, self.granularity);
        self.peak = Duration::ZERO;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds() -> Rounds {
        Rounds::new(&Options::default(), Time::ZERO)
    }

    const SPACING: Duration = Duration::from_ms(10);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn a_round_ends_after_six_round_trips_with_feedback_and_after_twelve_without() {
        let mut reported = rounds();
        let mut silent = rounds();
        reported.on_feedback(0, FloatRate(700));
        assert_eq!((reported.end(), silent.end()), (at(3000), at(6000)));
        assert!(!reported.poll(at(2999), SPACING) && reported.poll(at(3000), SPACING));
        assert_eq!((reported.number(), reported.suppression()), (1, FloatRate::UNBOUNDED));
        // The first report after the usual length ends the round at once.
        assert!(!silent.poll(at(4000), SPACING));
        silent.on_feedback(0, FloatRate(700));
        assert!(silent.poll(at(4000), SPACING));
    }

    #[test]
    fn the_largest_round_trip_time_rises_at_once_and_falls_by_a_tenth_a_round() {
        let mut rounds = rounds();
        rounds.on_rtt(Duration::from_ms(800));
        assert_eq!(rounds.max_rtt(), Duration::from_ms(800));
        rounds.on_rtt(Duration::from_ms(100));
        assert!(rounds.poll(at(20_000), SPACING));
        assert_eq!(rounds.max_rtt(), Duration::from_ms(800), "it was the peak");
        assert!(rounds.poll(at(40_000), SPACING));
        assert_eq!(rounds.max_rtt(), Duration::from_ms(720));
        rounds.on_spacing_change(Duration::from_ms(999));
        assert_eq!(rounds.max_rtt(), Duration::from_ms(1000));
        rounds.on_rtt(Duration::from_secs(60));
        assert_eq!(rounds.max_rtt(), Duration::from_secs(16), "a wild one is cut");
    }

    #[test]
    fn the_lowest_rate_of_this_round_suppresses() {
        let mut rounds = rounds();
        rounds.on_feedback(0, FloatRate(700));
        rounds.on_feedback(0, FloatRate(500));
        rounds.on_feedback(0, FloatRate(600));
        rounds.on_feedback(255, FloatRate(1));
        assert_eq!(rounds.suppression(), FloatRate(500));
    }
}
