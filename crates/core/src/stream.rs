//! Random streams, one for each component.
//!
//! A stream is derived from the run's seed and the component's name, never from the order in which
//! components are made. Adding a flow therefore does not shift the numbers of another.

use core::hash::Hasher;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::units::Duration;

/// A reproducible stream of random numbers (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of component `name` under `seed` (which must differ between replications).
    pub fn new(seed: u64, name: &str) -> Stream {
        let mut hasher = fnv::FnvHasher::default();
        hasher.write(&seed.to_le_bytes());
        hasher.write(name.as_bytes());
        Stream(Xoshiro256PlusPlus::seed_from_u64(hasher.finish()))
    }

    /// A stream of its own for a part of the component. It follows from the state of this one, which stays as it
    /// is: a part that is added or switched on shifts no other number.
    pub fn branch(&self, name: &str) -> Stream {
        Stream::new(self.clone().bits(), name)
    }

    /// Uniform in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A duration uniform in [0, bound).
    pub fn uniform_duration(&mut self, bound: Duration) -> Duration {
        Duration::from_ns((bound.as_ns() as f64 * self.uniform()) as u64)
    }

    /// True with the given probability. Draws one number, also for probability 0 and 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
