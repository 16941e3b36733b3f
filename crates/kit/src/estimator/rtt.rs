//! Round-trip time: one sample from two time stamps, and filters over samples.

use alloc::collections::VecDeque;

use layercast_core::units::Duration;

/// The longest round-trip time that is accepted.
pub const MAX_RTT: Duration = Duration::from_secs(64);

/// The round-trip time from our own time stamp that a peer echoed (thesis, equation 4).
///
/// All times are microseconds modulo 2^32: our clock now, our stamp as echoed, and how long the peer kept
/// it. Both stamps are from our clock, so the peers' clocks need not agree. The sample is none if the stamp
/// is not from the last 64 s (which also excludes stamps from the future), or if the hold time exceeds the
/// elapsed time.
pub fn rtt_sample(now_us: u32, echoed_us: u32, hold_us: u32) -> Option<Duration> {
    let elapsed_us = now_us.wrapping_sub(echoed_us);
    if u64::from(elapsed_us) > MAX_RTT.as_us() {
        return None;
    }
    elapsed_us.checked_sub(hold_us).filter(|&us| us > 0).map(|us| Duration::from_us(u64::from(us)))
}

layercast_core::choices! {
    /// How samples of the round-trip time are filtered.
    pub enum RttFilter {
        /// An exponentially weighted mean (thesis, equation 5; RFC 5348, section 4.3).
        Ewma = "ewma",
        /// The last sample as it is.
        Last = "last",
        /// The smallest of the last samples.
        Minimum = "minimum",
    }
}

/// The round-trip time from samples.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    filter: RttFilter,
    weight: f64,
    window: usize,
    smoothed_s: Option<f64>,
    last_s: Option<f64>,
    recent_s: VecDeque<f64>,
}

impl RttEstimator {
    /// An estimator without samples. `weight` is the weight of the old value in the weighted mean, 0 to 1
    /// (thesis and RFC 5348: 0.9); `window` is the number of samples of the minimum, at least 1.
    pub fn new(filter: RttFilter, weight: f64, window: u32) -> RttEstimator {
        let weight = if weight.is_nan() { 0.9 } else { weight.clamp(0.0, 1.0) };
        let window = window.max(1) as usize;
        RttEstimator { filter, weight, window, smoothed_s: None, last_s: None, recent_s: VecDeque::new() }
    }

    /// Sets the weight of the old value in the weighted mean from now on. For a receiver whose samples
    /// become more or less frequent (RFC 4654, section 4.3.2).
    pub fn set_weight(&mut self, weight: f64) {
        if !weight.is_nan() {
            self.weight = weight.clamp(0.0, 1.0);
        }
    }

    /// Takes a sample; zero and more than [`MAX_RTT`] are refused.
    pub fn on_sample(&mut self, sample: Duration) {
        if !sample.is_zero() && sample <= MAX_RTT {
            self.on_sample_s(sample.as_secs_f64());
        }
    }

    fn on_sample_s(&mut self, sample_s: f64) {
        self.last_s = Some(sample_s);
        self.smoothed_s = Some(match (self.filter, self.smoothed_s) {
            (RttFilter::Ewma, Some(old_s)) => self.weight * old_s + (1.0 - self.weight) * sample_s,
            (RttFilter::Ewma, None) | (RttFilter::Last, _) => sample_s,
            (RttFilter::Minimum, _) => {
                if self.recent_s.len() == self.window {
                    self.recent_s.pop_front();
                }
                self.recent_s.push_back(sample_s);
                self.recent_s.iter().copied().fold(sample_s, f64::min)
            }
        });
    }

    /// The filtered round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.smoothed_s.map(Duration::from_secs_f64)
    }

    /// The filtered round-trip time in seconds, for equations.
    pub fn rtt_s(&self) -> Option<f64> {
        self.smoothed_s
    }

    /// The last sample, in seconds.
    pub fn last_sample_s(&self) -> Option<f64> {
        self.last_s
    }

    /// Forgets all samples.
    pub fn reset(&mut self) {
        self.smoothed_s = None;
        self.last_s = None;
        self.recent_s.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_forgets_what_left_its_window() {
        let mut rtt = RttEstimator::new(RttFilter::Minimum, 0.9, 2);
        for ms in [50, 80, 90] {
            rtt.on_sample(Duration::from_ms(ms));
        }
        assert_eq!(rtt.rtt(), Some(Duration::from_ms(80)));
        assert_eq!(rtt.last_sample_s(), Some(0.09));
    }

    #[test]
    fn the_weight_can_change_between_samples() {
        let mut rtt = RttEstimator::new(RttFilter::Ewma, 0.5, 1);
        rtt.on_sample(Duration::from_ms(100));
        rtt.on_sample(Duration::from_ms(200));
        rtt.set_weight(0.9);
        rtt.set_weight(f64::NAN);
        rtt.on_sample(Duration::from_ms(250));
        assert_eq!(rtt.rtt(), Some(Duration::from_ms(160)));
    }

    #[test]
    fn impossible_samples_are_refused() {
        let mut rtt = RttEstimator::new(RttFilter::Last, 0.9, 1);
        rtt.on_sample(Duration::ZERO);
        rtt.on_sample(Duration::from_secs(65));
        assert_eq!(rtt.rtt(), None);
    }
}
