//! Sets of numbers, one bit for each.

/// The set of none of so many numbers.
pub(super) fn none_of(count: u64) -> Vec<u64> {
    vec![0; count.div_ceil(64) as usize]
}

/// Whether a set has a number.
pub(super) fn has(bits: &[u64], number: u64) -> bool {
    bits.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 != 0)
}

/// Adds a number; nothing if the set has no space for it.
pub(super) fn put(bits: &mut [u64], number: u64) {
    if let Some(word) = bits.get_mut((number / 64) as usize) {
        *word |= 1 << (number % 64);
    }
}

/// Removes a number.
pub(super) fn take(bits: &mut [u64], number: u64) {
    if let Some(word) = bits.get_mut((number / 64) as usize) {
        *word &= !(1 << (number % 64));
    }
}
