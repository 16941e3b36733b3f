//! The increase signal of a slot: the highest level that may increase in it.

/// A counter whose bits are read in reverse, as a binary fraction (FLID-DL paper, section IV-C1). Over a
/// whole cycle its values are spread evenly over [0, 1), and so are those of every part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReverseCounter {
    count: u32,
    bits: u32,
}

impl ReverseCounter {
    /// A counter of `bits` bits, 1 to 32, with the initial value `count`, of which the lower bits are used.
    pub fn new(count: u32, bits: u32) -> ReverseCounter {
        let bits = bits.clamp(1, 32);
        ReverseCounter { count: count & (u32::MAX >> (32 - bits)), bits }
    }

    /// Advances by some slots.
    pub fn advance(&mut self, slots: u64) {
        *self = ReverseCounter::new(self.count.wrapping_add(slots as u32), self.bits);
    }

    /// The value, at least 0 and below 1.
    pub fn value(&self) -> f64 {
        let reversed = self.count.reverse_bits() >> (32 - self.bits);
        f64::from(reversed) / (1u64 << self.bits) as f64
    }
}

/// The signal for a number drawn from [0, 1): the highest level whose increase probability reaches it, or
/// none. The top level has none above it, so it is never named; levels with equal probabilities increase
/// together.
pub fn signal(increase_probabilities: &[f64], drawn: f64) -> Option<u16> {
    let below_top = increase_probabilities.len().saturating_sub(1);
    let level = increase_probabilities.get(..below_top)?.iter().rposition(|&rise| rise >= drawn)?;
    u16::try_from(level).ok()
}
