//! The packet loss fraction: lost packets over all, in a window of packets (thesis, equation 7).

use alloc::vec;
use alloc::vec::Vec;

/// The fraction of the last packets that was lost.
#[derive(Clone, Debug)]
pub struct LossFraction {
    /// One bit per packet of the window: whether it was lost.
    lost: Vec<u64>,
    window: u32,
    /// The number of packets in the window, and the index of the next one.
    len: u32,
    next: u32,
    losses: u32,
    all_losses: u64,
}

impl LossFraction {
    /// An empty window of that many packets, at least 1.
    pub fn new(window: u32) -> LossFraction {
        let window = window.max(1);
        let words = window.div_ceil(64) as usize;
        LossFraction { lost: vec![0; words], window, len: 0, next: 0, losses: 0, all_losses: 0 }
    }

    /// A packet was received or lost.
    pub fn on_packet(&mut self, lost: bool) {
        let (index, bit) = (self.next, 1u64 << (self.next % 64));
        self.next = if index + 1 < self.window { index + 1 } else { 0 };
        let word = &mut self.lost[(index / 64) as usize];
        // The new packet overwrites the oldest.
        self.losses -= u32::from(*word & bit != 0);
        *word = if lost { *word | bit } else { *word & !bit };
        self.losses += u32::from(lost);
        self.all_losses += u64::from(lost);
        self.len = self.window.min(self.len + 1);
    }

    /// Lost packets over all, 0 to 1; 0 before the first packet.
    pub fn fraction(&self) -> f64 {
        f64::from(self.losses) / f64::from(self.len.max(1))
    }

    /// How many packets were lost since the start.
    pub fn losses(&self) -> u64 {
        self.all_losses
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = LossFraction::new(self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_packets_count() {
        let mut fraction = LossFraction::new(100);
        assert_eq!(fraction.fraction(), 0.0);
        for index in 0..100 {
            fraction.on_packet(index < 10);
        }
        assert_eq!(fraction.fraction(), 0.1);
        for _ in 0..5 {
            fraction.on_packet(false);
        }
        assert_eq!(fraction.fraction(), 0.05);
        for _ in 0..95 {
            fraction.on_packet(true);
        }
        assert_eq!((fraction.fraction(), fraction.losses()), (0.95, 105));
        fraction.reset();
        assert_eq!((fraction.fraction(), fraction.losses()), (0.0, 0));
    }
}
