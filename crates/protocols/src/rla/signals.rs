//! Congestion signals of receivers, and the probability that the source listens to one.

use layercast_core::units::{Duration, Time};

/// The signals of one receiver.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// When the last signal that counts came, or the first report of the receiver arrived.
    last: Time,
    /// The mean distance of signals in seconds; none before the first.
    interval_s: Option<f64>,
}

impl Signals {
    /// No signals yet, for a receiver whose first report has just arrived.
    pub fn new(now: Time) -> Signals {
        Signals { last: now, interval_s: None }
    }

    /// A loss at the receiver; returns whether it counts as a signal. Signals within `spacing` count once.
    /// `weight` is that of the new distance in the mean, 0 to 1.
    pub fn on_loss(&mut self, now: Time, spacing: Duration, weight: f64) -> bool {
        let since = now.since(self.last);
        if self.interval_s.is_some() && since < spacing {
            return false;
        }
        let since_s = since.as_secs_f64();
        let weight = weight.clamp(0.0, 1.0);
        self.interval_s = Some(self.interval_s.map_or(since_s, |old| old + weight * (since_s - old)));
        self.last = now;
        true
    }

    /// The mean distance of signals in seconds; not less than the time since the last, so that a receiver
    /// that is no longer troubled is soon not counted. None before the first signal.
    pub fn interval_s(&self, now: Time) -> Option<f64> {
        self.interval_s.map(|mean| mean.max(now.since(self.last).as_secs_f64()))
    }
}

/// The probability that the source listens to a signal of a receiver that is one of `troubled` and whose
/// round-trip time is `rtt_part`, 0 to 1, of the longest.
pub fn probability(troubled: usize, rtt_part: f64) -> f64 {
    let part = if rtt_part.is_nan() { 1.0 } else { rtt_part.clamp(0.0, 1.0) };
    part * part / troubled.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn signals_close_to_each_other_count_once() {
        let mut signals = Signals::new(at(0));
        let spacing = Duration::from_ms(200);
        assert_eq!(signals.interval_s(at(50)), None);
        let counted = [100, 150, 299, 300, 1300].map(|ms| signals.on_loss(at(ms), spacing, 0.5));
        assert_eq!(counted, [true, false, false, true, true]);
        // 0.1 s, then half of 0.1 and of 0.2, then half of that and of 1.
        assert!((signals.interval_s(at(1300)).unwrap() - 0.575).abs() < 1e-12);
        assert!((signals.interval_s(at(5300)).unwrap() - 4.0).abs() < 1e-12, "the trouble is over");
    }

    #[test]
    fn the_probability_falls_with_the_number_and_with_shorter_round_trips() {
        assert_eq!((probability(1, 1.0), probability(4, 1.0), probability(4, 0.5)), (1.0, 0.25, 0.0625));
        assert_eq!((probability(0, f64::NAN), probability(2, 7.0)), (1.0, 0.5));
    }
}
