//! The round-trip time, from joins.
//!
//! The time from a join to the first packet is a round trip to the place where the channel is forwarded already,
//! plus a wait that is uniform over the channel's packet gap, plus the queueing delay of that moment. The filter
//! keeps the mean without queueing and its variance, and weighs a sample by its own variance.

/// The shortest round-trip time, in seconds.
const SHORTEST_S: f64 = 1e-3;

/// How much the path may change from one sample to the next, as a fraction of the mean.
const DRIFT: f64 = 0.05;

/// The estimate, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    mean_s: f64,
    variance: f64,
    samples: u32,
}

impl RoundTrip {
    /// Adds a sample: the delay from the join to the first packet, the mean gap of the channel's packets, and
    /// the queueing delay of that packet.
    pub fn sample(&mut self, delay_s: f64, gap_s: f64, queue_s: f64) {
        let value = (delay_s - gap_s / 2.0 - queue_s).max(SHORTEST_S);
        let noise = gap_s * gap_s / 12.0 + DRIFT * DRIFT * value * value;
        self.samples = self.samples.saturating_add(1);
        if self.samples == 1 {
            (self.mean_s, self.variance) = (value, noise);
            return;
        }
        let prior = self.variance + DRIFT * DRIFT * self.mean_s * self.mean_s;
        let gain = prior / (prior + noise);
        self.mean_s = (self.mean_s + gain * (value - self.mean_s)).max(SHORTEST_S);
        self.variance = (1.0 - gain) * prior;
    }

    /// Without queueing; a first guess of 100 ms before any sample.
    pub fn without_queue_s(&self) -> f64 {
        if self.samples == 0 { 0.1 } else { self.mean_s }
    }
}
