//! The round-trip time, from joins and from reports that the source echoes.
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
    /// Whether the source has echoed a time stamp: joins have nothing to add then, and are too short where another
    /// receiver holds the channel already.
    has_echo: bool,
}

impl RoundTrip {
    /// Adds a sample: the delay from the join to the first packet, the mean gap of the channel's packets, and
    /// the queueing delay of that packet.
    pub fn sample(&mut self, delay_s: f64, gap_s: f64, queue_s: f64) {
        let value = (delay_s - gap_s / 2.0 - queue_s).max(SHORTEST_S);
        let noise = gap_s * gap_s / 12.0 + DRIFT * DRIFT * value * value;
        if !self.has_echo {
            self.filter(value, noise);
        }
    }

    /// Adds the round-trip time of a report and its echo, which came in a packet with this queueing delay.
    pub fn echo(&mut self, rtt_s: f64, queue_s: f64) {
        let value = (rtt_s - queue_s).max(SHORTEST_S);
        if !self.has_echo {
            self.samples = 0;
        }
        self.has_echo = true;
        self.filter(value, DRIFT * DRIFT * value * value);
    }

    fn filter(&mut self, value: f64, noise: f64) {
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

    /// Without queueing. Without an echo at least `assumed_s`: joins give a lower bound only.
    pub fn without_queue_s(&self, assumed_s: f64) -> f64 {
        if self.has_echo { self.mean_s } else { self.mean_s.max(assumed_s) }
    }
}
