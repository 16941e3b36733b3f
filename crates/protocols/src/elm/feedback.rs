//! The source's side of feedback (thesis 6.2.3): how often receivers report, and what is echoed.

pub use layercast_kit::feedback::{EchoQueue, Waiting};

use super::options::Options;
use layercast_core::units::{Duration, Time};

/// Keeps the number of reports near a target by stretching and shrinking the interval that every
/// base layer packet announces.
#[derive(Clone, Debug)]
pub struct FeedbackControl {
    interval_s: f64,
    target_per_s: f64,
    low_s: f64,
    high_s: f64,
    period: Duration,
    counted: u64,
    next_check: Time,
}

/// One step of the control. `current` and `target` are messages per second. The thesis prints a
/// formula that shortens the interval when there are too many reports; this is the reading of
/// erratum E14.
pub fn next_interval(interval_s: f64, current: f64, target: f64, low_s: f64, high_s: f64) -> f64 {
    let next = if current > target {
        (1.1 * interval_s).min(interval_s * current / target)
    } else if current < target {
        0.9 * interval_s
    } else {
        interval_s
    };
    next.clamp(low_s, high_s.max(low_s))
}

impl FeedbackControl {
    /// A control whose first check is one period after `now`.
    pub fn new(options: &Options, now: Time) -> FeedbackControl {
        let (low_s, high_s) = (options.t_fb_min.as_secs_f64(), options.t_fb_max.as_secs_f64());
        FeedbackControl {
            interval_s: options.t_fb_initial.as_secs_f64().clamp(low_s, high_s.max(low_s)),
            target_per_s: options.feedback_target,
            low_s,
            high_s,
            period: options.feedback_check,
            counted: 0,
            next_check: now + options.feedback_check,
        }
    }

    /// Counts a report.
    pub fn count(&mut self) {
        self.counted = self.counted.saturating_add(1);
    }

    /// When to check next.
    pub fn next_check(&self) -> Time {
        self.next_check
    }

    /// Checks the rate of reports, if it is time.
    pub fn poll(&mut self, now: Time) {
        if now < self.next_check {
            return;
        }
        let current = self.counted as f64 / self.period.as_secs_f64();
        self.interval_s = next_interval(self.interval_s, current, self.target_per_s, self.low_s, self.high_s);
        self.counted = 0;
        // After a stall of the host the missed checks are skipped.
        self.next_check = (self.next_check + self.period).max(now + Duration::from_ns(1));
    }

    /// The interval, in the wire form.
    pub fn interval_ms(&self) -> u32 {
        (self.interval_s * 1e3 + 0.5) as u32
    }
}

#[cfg(test)]
mod tests;
