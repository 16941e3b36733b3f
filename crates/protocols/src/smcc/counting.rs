//! Binary counting (thesis, section 3.2.4, with erratum E22).
//!
//! Counting layer j carries 2^j units. At step n a receiver holds those whose bit of n is set, and so has
//! units: a linear increase with two group operations per step on average.

/// A set of counting layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountingSet(pub u32);

impl CountingSet {
    /// The empty set.
    pub const EMPTY: CountingSet = CountingSet(0);

    /// The set to hold at step `n`.
    pub const fn at_step(n: u32) -> CountingSet {
        CountingSet(n)
    }

    /// The layers of this set that are not in the other: to join, if this is the set to hold and the other
    /// the one held; to leave, the other way round.
    #[must_use]
    pub const fn without(self, other: CountingSet) -> CountingSet {
        CountingSet(self.0 & !other.0)
    }

    /// Whether it contains counting layer `place`.
    pub const fn holds(self, place: u32) -> bool {
        place < u32::BITS && self.0 & (1 << place) != 0
    }

    /// The positions of its layers, from the slowest up.
    pub fn places(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS).filter(move |&place| self.holds(place))
    }

    /// The rate of all of them, in units.
    pub const fn units(self) -> u32 {
        self.0
    }
}

/// How many counting layers are needed to count to `steps`.
pub const fn layers_for(steps: u32) -> u32 {
    u32::BITS - steps.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_adds_one_unit_and_two_operations_are_enough_on_average() {
        let (mut held, mut operations) = (CountingSet::EMPTY, 0);
        for n in 1..=1024 {
            let next = CountingSet::at_step(n);
            let carried: u32 = next.places().map(|place| 1 << place).sum();
            assert_eq!((carried, next.units()), (n, n));
            assert!(next.places().all(|place| place < layers_for(n)));
            operations += next.without(held).places().count() + held.without(next).places().count();
            held = next;
        }
        assert!((1900..=2048).contains(&operations), "{operations}");
    }

    #[test]
    fn the_layers_needed_grow_with_the_logarithm_of_the_steps() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(layers_for), [0, 1, 2, 2, 3, 3, 4]);
        assert!(!CountingSet(u32::MAX).holds(32));
    }
}
