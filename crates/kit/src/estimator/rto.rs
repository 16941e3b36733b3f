//! Retransmission timeout: TCP's timer as the throughput equation assumes it.

use layercast_core::math::floor;
use layercast_core::units::Duration;

layercast_core::choices! {
    /// How the retransmission timeout follows from the round-trip time.
    pub enum RtoRule {
        /// Four times the smoothed round-trip time (RFC 5348, section 4.3).
        FourR = "four-r",
        /// Four times the latest sample (thesis, equation 6 as printed).
        FourSample = "four-sample",
        /// Mean and deviation as TCP does (RFC 6298, section 2).
        Rfc6298 = "rfc-6298",
        /// The same in whole clock ticks with fixed-point filters, as ns-2's TFRC agent does.
        NsTick = "ns-tick",
    }
}

/// The retransmission timeout from samples of the round-trip time.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    rule: RtoRule,
    minimum_s: f64,
    granularity_s: f64,
    state: Option<State>,
}

/// Mean and deviation: in seconds, or for ticks in eighths and quarters of a tick.
#[derive(Clone, Copy, Debug)]
struct State {
    mean: f64,
    deviation: f64,
    rto_s: f64,
}

impl RtoEstimator {
    /// An estimator without samples. `minimum` applies to RFC 6298 only (1 s there). `granularity` is the
    /// clock's, and the length of a tick for [`RtoRule::NsTick`] (0.1 s in ns-2).
    pub fn new(rule: RtoRule, minimum: Duration, granularity: Duration) -> RtoEstimator {
        RtoEstimator {
            rule,
            minimum_s: minimum.as_secs_f64(),
            granularity_s: granularity.as_secs_f64(),
            state: None,
        }
    }

    /// Takes a sample and the round-trip time smoothed with it, both in seconds. Samples that are
    /// not positive and finite are refused.
    pub fn on_sample(&mut self, sample_s: f64, smoothed_s: f64) {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(sample_s) || !positive(smoothed_s) {
            return;
        }
        let simple = |rto_s| State { mean: smoothed_s, deviation: 0.0, rto_s };
        self.state = Some(match self.rule {
            RtoRule::FourR => simple(4.0 * smoothed_s),
            RtoRule::FourSample => simple(4.0 * sample_s),
            RtoRule::Rfc6298 => self.by_seconds(sample_s),
            RtoRule::NsTick => self.by_ticks(sample_s),
        });
    }

    fn by_seconds(&self, sample_s: f64) -> State {
        let (mean, deviation) = match self.state {
            None => (sample_s, sample_s / 2.0),
            Some(State { mean, deviation, .. }) => {
                // The deviation uses the old mean (RFC 6298, section 2.3).
                let error_s = (mean - sample_s).abs();
                (0.875 * mean + 0.125 * sample_s, 0.75 * deviation + 0.25 * error_s)
            }
        };
        let rto_s = mean + self.granularity_s.max(4.0 * deviation);
        State { mean, deviation, rto_s: rto_s.max(self.minimum_s) }
    }

    /// Whole numbers kept in `f64`: the mean in eighths, the deviation in quarters of a tick, and
    /// both divided with truncation, which is what makes the result differ from RFC 6298.
    fn by_ticks(&self, sample_s: f64) -> State {
        let tick_s = self.granularity_s.max(1e-6);
        let ticks = floor(sample_s / tick_s + 0.5).max(1.0);
        let (mean, deviation) = match self.state {
            None => (8.0 * ticks, 2.0 * ticks),
            Some(State { mean, deviation, .. }) => {
                let error = ticks - floor(mean / 8.0);
                let growth = error.abs() - floor(deviation / 4.0);
                ((mean + error).max(1.0), (deviation + growth).max(1.0))
            }
        };
        State { mean, deviation, rto_s: floor((mean + 8.0 * deviation) / 8.0) * tick_s }
    }

    /// The timeout in seconds, once there was a sample.
    pub fn rto_s(&self) -> Option<f64> {
        self.state.map(|state| state.rto_s)
    }

    /// The timeout, once there was a sample.
    pub fn rto(&self) -> Option<Duration> {
        self.rto_s().map(Duration::from_secs_f64)
    }

    /// Mean and deviation as the rule keeps them, for traces: seconds, or eighths and quarters of a
    /// tick.
    pub fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        self.state.map(|state| (state.mean, state.deviation))
    }

    /// Forgets all samples.
    pub fn reset(&mut self) {
        self.state = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_sample_alone_counts_where_the_thesis_prints_so() {
        let mut rto = RtoEstimator::new(RtoRule::FourSample, Duration::ZERO, Duration::ZERO);
        rto.on_sample(0.2, 0.1);
        assert_eq!(rto.rto(), Some(Duration::from_ms(800)));
    }

    #[test]
    fn coarse_ticks_give_three_tenths_for_a_path_of_one_tenth() {
        let mut rto = RtoEstimator::new(RtoRule::NsTick, Duration::ZERO, Duration::from_ms(100));
        rto.on_sample(0.1, 0.1);
        assert!((rto.rto_s().unwrap() - 0.3).abs() < 1e-12);
    }
}
