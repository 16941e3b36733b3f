//! What the queueing delay at losses says of the queue: how long it is when it is full, and whether losses come while it is empty.

use super::ENOUGH;

/// Part of the mean delay at losses from which on a queue counts as full.
const FULL: f64 = 0.5;

/// The longest delay of a queue that is empty, in seconds: hosts and clocks make as much.
pub(super) const EMPTY_S: f64 = 3e-3;

/// The queueing delay at losses.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullQueue {
    losses: u32,
    /// The mean delay at a loss, in seconds.
    at_loss_s: f64,
}

impl FullQueue {
    /// A loss at this queueing delay.
    pub fn on_loss(&mut self, delay_s: f64) {
        self.losses = self.losses.saturating_add(1);
        let weight = if self.losses == 1 { 1.0 } else { 1.0 / f64::from(ENOUGH) };
        self.at_loss_s += weight * (delay_s - self.at_loss_s);
    }

    /// Whether losses come while there is no queue: no queue makes them.
    pub fn is_random(&self) -> bool {
        self.losses >= ENOUGH && self.at_loss_s < EMPTY_S
    }

    /// The delay of the queue when it is full, in seconds: the mean at losses; 0 if there was none.
    pub fn full_s(&self) -> f64 {
        self.at_loss_s
    }

    /// Whether this delay is one of a full queue.
    pub fn is_full(&self, delay_s: f64) -> bool {
        delay_s > (FULL * self.at_loss_s).max(EMPTY_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_queue_show_its_length() {
        let mut queue = FullQueue::default();
        (0..100).for_each(|_| queue.on_loss(0.06));
        assert!(!queue.is_random() && queue.is_full(0.06) && !queue.is_full(0.01));
        assert!((queue.full_s() - 0.06).abs() < 1e-9);
    }

    #[test]
    fn losses_of_an_empty_queue_are_random_once_there_are_enough() {
        let mut queue = FullQueue::default();
        (1..ENOUGH).for_each(|_| queue.on_loss(1e-5));
        assert!(!queue.is_random());
        queue.on_loss(1e-5);
        assert!(queue.is_random() && !queue.is_full(1e-5));
    }
}
