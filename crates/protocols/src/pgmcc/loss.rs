//! The loss rate of a receiver.

/// A mean of losses over the packets in the order of their numbers, weighted exponentially
/// (draft-ietf-rmt-bb-pgmcc-03, section 2.6).
#[derive(Clone, Copy, Debug)]
pub struct LossFilter {
    memory: f64,
    rate: f64,
}

impl LossFilter {
    /// No losses yet. `memory` is what the old rate keeps with each packet, 0 to 1.
    pub fn new(memory: f64) -> LossFilter {
        LossFilter { memory: if memory.is_nan() { 0.0 } else { memory.clamp(0.0, 1.0) }, rate: 0.0 }
    }

    /// The next packet, lost or not.
    pub fn on_packet(&mut self, lost: bool) {
        let new = if lost { 1.0 } else { 0.0 };
        self.rate = (self.memory * self.rate + (1.0 - self.memory) * new).clamp(0.0, 1.0);
    }

    /// The loss rate, 0 to 1.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Everything is forgotten.
    pub fn reset(&mut self) {
        self.rate = 0.0;
    }
}
