//! The drop decision of RED, separate from the packets.

use layercast_core::units::{Duration, Rate};

use super::config::RedConfig;

/// What is to happen to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Accept,
    Mark,
    /// It is dropped because the early test hit it.
    Early,
    /// A packet must be dropped: the queue is full, or the average is too high.
    Forced,
}

/// An arriving packet, and the queue that it finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The queue before it, without the packet in transmission; in bytes if the average is.
    pub(super) queue: f64,
    pub(super) size_bytes: u32,
    /// Whether it may be marked instead of dropped.
    pub(super) is_ecn_capable: bool,
    pub(super) is_full: bool,
}

/// RED's average and its drop rule. Thresholds, average and queue are in packets or in bytes.
#[derive(Debug)]
pub(super) struct DropFunction {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) weight: f64,
    pub(super) max_probability: f64,
    gentle: bool,
    wait: bool,
    byte_mode: bool,
    mean_bytes: f64,
    mark_probability: Option<f64>,
    /// The adaptive form does not lower the probability below this.
    pub(super) adaptive_bottom: f64,
    pub(super) average: f64,
    /// Packets and bytes since the last drop or mark.
    pub(super) count: u64,
    pub(super) count_bytes: u64,
    /// Whether the previous packet found an average above the lower threshold.
    above: bool,
    /// The probability of the last early test.
    pub(super) tested: f64,
}

impl DropFunction {
    pub(super) fn new(config: &RedConfig, rate: Rate, delay: Duration) -> DropFunction {
        let mean_bytes = f64::from(config.mean_packet.as_bytes());
        let unit = if config.average_bytes { mean_bytes } else { 1.0 };
        let (min, max) = config.thresholds_on(rate);
        DropFunction {
            min: min * unit,
            max: max * unit,
            weight: config.weight_on(rate, delay),
            max_probability: config.max_probability,
            gentle: config.gentle,
            wait: config.wait,
            byte_mode: config.byte_mode,
            mean_bytes,
            mark_probability: config.marks_up_to(),
            adaptive_bottom: (80_000.0 / rate.as_bps()).min(0.01),
            average: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            tested: 0.0,
        }
    }

    /// The number of packets that might have been sent while the link was idle: the average decreases as if
    /// each had found an empty queue.
    pub(super) fn decay(&mut self, packets: f64) {
        self.average *= libm::pow(1.0 - self.weight, packets);
        // A denormal rest after a long idle time would only slow the processor down.
        if self.average < 1e-12 {
            self.average = 0.0;
        }
    }

    /// Updates the average with the queue that an arriving packet finds.
    pub(super) fn sample(&mut self, queue: f64) {
        self.average = (1.0 - self.weight) * self.average + self.weight * queue;
    }

    /// One step of adaptive RED (Floyd, Gummadi and Shenker, 2001, section 5). The slope above the
    /// upper threshold follows; in ns-2 it keeps its first value.
    pub(super) fn adapt(&mut self) {
        let margin = 0.4 * (self.max - self.min);
        if self.average < self.min + margin && self.max_probability > self.adaptive_bottom {
            self.max_probability *= 0.9;
        } else if self.average > self.max - margin && self.max_probability < 0.5 {
            self.max_probability += (self.max_probability / 4.0).min(0.01);
        }
    }

    /// Decides on a packet. The average has its sample already. `uniform` is drawn only when the
    /// early test runs.
    pub(super) fn decide(&mut self, arrival: &Arrival, uniform: impl FnOnce() -> f64) -> Verdict {
        self.count += 1;
        self.count_bytes += u64::from(arrival.size_bytes);
        let mut verdict = Verdict::Accept;
        self.tested = 0.0;
        if self.average >= self.min && arrival.queue > 1.0 {
            let most = if self.gentle { 2.0 * self.max } else { self.max };
            if self.mark_probability.is_none() && self.average >= most {
                verdict = Verdict::Forced;
            } else if !self.above {
                // The first packet above the threshold is spared.
                self.above = true;
                self.count = 1;
                self.count_bytes = u64::from(arrival.size_bytes);
            } else {
                verdict = self.test_early(arrival, uniform());
            }
        } else {
            self.above = false;
        }
        if arrival.is_full {
            verdict = Verdict::Forced;
        }
        if verdict != Verdict::Accept {
            self.count = 0;
            self.count_bytes = 0;
        }
        verdict
    }

    fn test_early(&mut self, arrival: &Arrival, uniform: f64) -> Verdict {
        let base = self.base_probability();
        self.tested = self.probability(base, arrival.size_bytes);
        if uniform > self.tested {
            return Verdict::Accept;
        }
        let may_mark = self.mark_probability.is_none_or(|most| base <= most);
        if may_mark && arrival.is_ecn_capable { Verdict::Mark } else { Verdict::Early }
    }

    /// The probability by the average alone: p_b of the paper.
    pub(super) fn base_probability(&self) -> f64 {
        let (average, most) = (self.average, self.max_probability);
        let probability = if average < self.min {
            0.0
        } else if average < self.max {
            most * (average - self.min) / (self.max - self.min)
        } else if self.gentle {
            (1.0 - most) / self.max * average + 2.0 * most - 1.0
        } else {
            1.0
        };
        probability.min(1.0)
    }

    /// The probability by the distance from the last drop too: p_a of the paper.
    pub(super) fn probability(&self, base: f64, size_bytes: u32) -> f64 {
        let count = if self.byte_mode {
            (self.count_bytes as f64 / self.mean_bytes).floor()
        } else {
            self.count as f64
        };
        let passed = count * base;
        let mut probability = if self.wait {
            match passed {
                passed if passed < 1.0 => 0.0,
                passed if passed < 2.0 => base / (2.0 - passed),
                _ => 1.0,
            }
        } else if passed < 1.0 {
            base / (1.0 - passed)
        } else {
            1.0
        };
        if self.byte_mode && probability < 1.0 {
            probability *= f64::from(size_bytes) / self.mean_bytes;
        }
        probability.min(1.0)
    }
}
