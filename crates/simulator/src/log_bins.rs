//! Bins for lengths of time that grow with the time: fixed in number, and as exact for short times as for long ones.

/// Times below this many nanoseconds are in the first bin: 1.024 us.
const LOWEST_BITS: u32 = 10;
/// Times from 2 to the power of this on, 68 s, are in the last bin.
const HIGHEST_BITS: u32 = 36;

/// Bins of which 2 to the power of `PER_OCTAVE_BITS` make a factor of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogBins<const PER_OCTAVE_BITS: u32>;

impl<const PER_OCTAVE_BITS: u32> LogBins<PER_OCTAVE_BITS> {
    /// How many bins there are.
    pub(crate) const COUNT: usize = ((HIGHEST_BITS - LOWEST_BITS) << PER_OCTAVE_BITS) as usize + 2;

    /// The bin of a time.
    pub(crate) fn of(time_ns: u64) -> usize {
        if time_ns < 1 << LOWEST_BITS {
            return 0;
        }
        let octave = 63 - time_ns.leading_zeros();
        if octave >= HIGHEST_BITS {
            return Self::COUNT - 1;
        }
        let within = (time_ns >> (octave - PER_OCTAVE_BITS)) & ((1 << PER_OCTAVE_BITS) - 1);
        1 + (((octave - LOWEST_BITS) << PER_OCTAVE_BITS) as usize) + within as usize
    }

    /// Where a bin ends; the last one has no end, and gives its beginning.
    pub(crate) fn upper_end_ns(bin: usize) -> u64 {
        let steps = bin.min(Self::COUNT - 2) as u64;
        let (octave, within) = (steps >> PER_OCTAVE_BITS, steps & ((1 << PER_OCTAVE_BITS) - 1));
        ((1 << PER_OCTAVE_BITS) + within) << (octave + u64::from(LOWEST_BITS - PER_OCTAVE_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn check<const BITS: u32>() {
        for time in [1024, 1025, 1151, 1152, 4095, 4096, 999_999, 20 * MS, 26_480 * MS, (1 << 36) - 1] {
            let end = LogBins::<BITS>::upper_end_ns(LogBins::<BITS>::of(time));
            let width = 1.0 + 1.0 / f64::from(1 << BITS);
            assert!(end > time && end as f64 <= time as f64 * width + 1.0, "{time} in a bin up to {end}");
        }
        let (of, count) = (LogBins::<BITS>::of, LogBins::<BITS>::COUNT);
        assert_eq!((of(0), of(1023), of(1024)), (0, 0, 1));
        assert_eq!(of(u64::MAX), count - 1);
        let end = LogBins::<BITS>::upper_end_ns;
        assert_eq!(end(count - 1), 1 << 36);
        assert!((1..count - 1).all(|bin| end(bin) > end(bin - 1)));
    }

    #[test]
    fn a_time_lies_below_the_end_of_its_bin_by_the_bins_width_at_most() {
        check::<3>();
        check::<5>();
    }
}
