//! What the queueing delay says of the queue: how long it is when it is full, and whether losses come while it is empty.

/// Delays that are kept: those of so many moments.
const SAMPLES: usize = 64;

/// The weight of a loss in the mean delay.
const WEIGHT: f64 = 0.125;

/// Losses without which they are not said to be random.
const FEWEST: u32 = 8;

/// Part of the largest delay from which a queue counts as full.
const FULL: f64 = 0.5;

/// A queue shorter than this is never said to be full, in seconds.
const SHORTEST_S: f64 = 2e-3;

/// Queueing delays at moments that do not depend on losses, and at losses.
#[derive(Clone, Copy, Debug)]
pub struct FullQueue {
    delays_s: [f64; SAMPLES],
    count: usize,
    losses: u32,
    /// The mean delay at a loss, in seconds.
    at_loss_s: f64,
}

impl Default for FullQueue {
    fn default() -> Self {
        FullQueue { delays_s: [0.0; SAMPLES], count: 0, losses: 0, at_loss_s: 0.0 }
    }
}

impl FullQueue {
    /// The queueing delay at a moment, in seconds.
    pub fn sample(&mut self, delay_s: f64) {
        self.delays_s[self.count % SAMPLES] = delay_s;
        self.count = self.count.wrapping_add(1);
    }

    /// A loss at this queueing delay.
    pub fn on_loss(&mut self, delay_s: f64) {
        self.losses = self.losses.saturating_add(1);
        let weight = if self.losses == 1 { 1.0 } else { WEIGHT };
        self.at_loss_s += weight * (delay_s - self.at_loss_s);
    }

    /// Whether losses come while the queueing delay is below `empty_s` seconds: no queue makes them.
    pub fn is_random(&self, empty_s: f64) -> bool {
        self.losses >= FEWEST && self.at_loss_s < empty_s
    }

    /// The delay of the queue when it is full, in seconds: the mean at losses; 0 if there was none.
    pub fn full_s(&self) -> f64 {
        self.at_loss_s
    }

    /// Whether this delay is one of a full queue.
    pub fn is_full(&self, delay_s: f64) -> bool {
        let largest_s = self.delays_s.iter().copied().fold(0.0, f64::max);
        delay_s > (FULL * largest_s).max(SHORTEST_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_queue_show_its_length() {
        let mut queue = FullQueue::default();
        (0..64).for_each(|ms| queue.sample(f64::from(ms) * 1e-3));
        (0..100).for_each(|_| queue.on_loss(0.06));
        assert!(!queue.is_random(3e-3) && queue.is_full(0.06) && !queue.is_full(0.01));
        assert!((queue.full_s() - 0.06).abs() < 1e-9);
    }

    #[test]
    fn losses_of_an_empty_queue_are_random_once_there_are_enough() {
        let mut queue = FullQueue::default();
        (0..64).for_each(|number| queue.sample(1e-5 * f64::from(number % 8)));
        (1..FEWEST).for_each(|_| queue.on_loss(1e-5));
        assert!(!queue.is_random(3e-3));
        queue.on_loss(1e-5);
        assert!(queue.is_random(3e-3) && !queue.is_full(1e-5));
    }
}
