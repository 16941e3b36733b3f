//! Delay as a second loss_delay_rank: what the queueing delay at a loss says about its cause.
//!
//! A full queue loses packets when the delay is largest; random loss does so at any delay. So what counts is where
//! the delay at a loss ranks among delays at moments that do not depend on losses. The rank has no unit: it works for
//! short queues and long ones.

/// Delays that are kept: those of so many moments.
const SAMPLES: usize = 64;

/// The weight of a loss in the mean rank.
const WEIGHT: f64 = 0.125;

/// Mean ranks below this are those of random losses, 0.5 on average.
const RANDOM: f64 = 0.7;

/// Losses without which nothing is said.
const FEWEST: u32 = 8;

/// Part of the largest delay from which a queue counts as full.
const FULL: f64 = 0.5;

/// A queue shorter than this is never said to be full, in seconds.
const SHORTEST_S: f64 = 2e-3;

/// Queueing delays at moments, and at losses.
#[derive(Clone, Copy, Debug)]
pub struct LossDelayRank {
    delays_s: [f64; SAMPLES],
    count: usize,
    mean_rank: f64,
    losses: u32,
    /// The mean delay at a loss, in seconds.
    at_loss_s: f64,
}

impl Default for LossDelayRank {
    fn default() -> Self {
        LossDelayRank { delays_s: [0.0; SAMPLES], count: 0, mean_rank: 1.0, losses: 0, at_loss_s: 0.0 }
    }
}

impl LossDelayRank {
    /// The queueing delay at a moment, in seconds.
    pub fn sample(&mut self, delay_s: f64) {
        self.delays_s[self.count % SAMPLES] = delay_s;
        self.count = self.count.wrapping_add(1);
    }

    fn known(&self) -> &[f64] {
        &self.delays_s[..self.count.min(SAMPLES)]
    }

    /// The part of the moments at which the delay was less, equal ones counted half; 1 if none is known.
    fn rank(&self, delay_s: f64) -> f64 {
        let known = self.known();
        let (less, equal) = known.iter().fold((0.0, 0.0), |(less, equal), &delay| {
            (less + f64::from(u8::from(delay < delay_s)), equal + f64::from(u8::from(delay == delay_s)))
        });
        if known.is_empty() { 1.0 } else { (less + 0.5 * equal) / known.len() as f64 }
    }

    /// A loss at this queueing delay.
    pub fn on_loss(&mut self, delay_s: f64) {
        self.mean_rank += WEIGHT * (self.rank(delay_s) - self.mean_rank);
        self.losses = self.losses.saturating_add(1);
        let weight = if self.losses == 1 { 1.0 } else { WEIGHT };
        self.at_loss_s += weight * (delay_s - self.at_loss_s);
    }

    /// Whether losses come at any delay, and no queue is full most of the time.
    pub fn is_random(&self) -> bool {
        let full = self.known().iter().filter(|delay_s| self.is_full(**delay_s)).count();
        self.losses >= FEWEST && self.mean_rank < RANDOM && 2 * full <= self.known().len()
    }

    /// The delay of the queue when it is full, in seconds: the mean at losses; 0 if these are random or there was none.
    pub fn full_s(&self) -> f64 {
        if self.is_random() { 0.0 } else { self.at_loss_s }
    }

    /// Whether this delay is one of a full queue.
    pub fn is_full(&self, delay_s: f64) -> bool {
        delay_s > (FULL * self.largest_s()).max(SHORTEST_S)
    }

    fn largest_s(&self) -> f64 {
        self.known().iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays that rise from 0 to 63 ms and begin again, as a queue's.
    fn rank() -> LossDelayRank {
        let mut rank = LossDelayRank::default();
        (0..64).for_each(|ms| rank.sample(f64::from(ms) * 1e-3));
        rank
    }

    #[test]
    fn losses_at_the_top_are_those_of_a_queue() {
        let mut rank = rank();
        (0..100).for_each(|_| rank.on_loss(0.06));
        assert!(!rank.is_random() && rank.is_full(0.06) && !rank.is_full(0.01));
        assert!((rank.full_s() - 0.06).abs() < 1e-9);
    }

    #[test]
    fn losses_at_any_delay_are_random() {
        let mut rank = rank();
        (0..100).for_each(|number| rank.on_loss(f64::from(number * 37 % 64) * 1e-3));
        assert!(rank.is_random() && rank.full_s() == 0.0);
        let mut empty = LossDelayRank::default();
        (0..64).for_each(|_| empty.sample(0.0));
        (0..100).for_each(|_| empty.on_loss(0.0));
        assert!(empty.is_random() && !empty.is_full(0.0));
    }

    #[test]
    fn a_queue_that_is_always_full_loses_at_any_delay_but_not_at_random() {
        let mut rank = LossDelayRank::default();
        (0..64).for_each(|number| rank.sample(0.05 + 1e-4 * f64::from(number % 8)));
        (0..100).for_each(|number| rank.on_loss(0.05 + 1e-4 * f64::from(number % 8)));
        assert!(!rank.is_random());
    }

    #[test]
    fn few_losses_say_nothing() {
        let mut rank = rank();
        (0..7).for_each(|_| rank.on_loss(0.0));
        assert!(!rank.is_random());
    }
}
