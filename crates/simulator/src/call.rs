//! How long the packets of a call take.

use layercast_core::units::Duration;

use crate::log_bins::LogBins;

/// Delays are known to 1/32.
type Bins = LogBins<5>;

/// A longer one-way delay disturbs some calls (ITU-T G.114, section 4).
const LATE: Duration = Duration::from_ms(150);

/// The one-way delays of the packets of a call: sum and late ones exactly, the rest in bins. It takes the same memory
/// however many packets there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDelays {
    packets: u64,
    late: u64,
    sum_ns: u128,
    bins: Vec<u64>,
}

impl Default for CallDelays {
    fn default() -> CallDelays {
        CallDelays { packets: 0, late: 0, sum_ns: 0, bins: vec![0; Bins::COUNT] }
    }
}

impl CallDelays {
    /// A packet came after this delay.
    pub fn add(&mut self, delay: Duration) {
        self.packets += 1;
        self.late += u64::from(delay > LATE);
        self.sum_ns += u128::from(delay.as_ns());
        self.bins[Bins::of(delay.as_ns())] += 1;
    }

    /// What was added since `before`, an earlier state of the same call.
    #[must_use]
    pub fn since(&self, before: &CallDelays) -> CallDelays {
        CallDelays {
            packets: self.packets - before.packets,
            late: self.late - before.late,
            sum_ns: self.sum_ns - before.sum_ns,
            bins: self.bins.iter().zip(&before.bins).map(|(now, then)| now - then).collect(),
        }
    }

    /// The mean delay in seconds; none without packets.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ns as f64 / self.packets as f64 / 1e9)
    }

    /// The delay in seconds that this share of the packets did not exceed, or up to 1/32 more; none without packets.
    #[must_use]
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let needed = ((share * self.packets as f64).ceil() as u64).max(1);
        let mut below = 0;
        let bin = self.bins.iter().position(|count| {
            below += count;
            below >= needed
        })?;
        Some(Bins::upper_end_ns(bin) as f64 / 1e9)
    }

    /// The share of the packets that took longer than 150 ms (ITU-T G.114); none without packets.
    #[must_use]
    pub fn late_share(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.late as f64 / self.packets as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::stream::Stream;
    use proptest::prelude::*;

    #[test]
    fn mean_and_late_share_are_exact() {
        let mut delays = CallDelays::default();
        assert_eq!((delays.mean_s(), delays.quantile_s(0.99), delays.late_share()), (None, None, None));
        [10, 20, 150, 300].iter().for_each(|&ms| delays.add(Duration::from_ms(ms)));
        assert_eq!(delays.mean_s(), Some(0.12));
        assert_eq!(delays.late_share(), Some(0.25), "150 ms itself is not late");
        let before = delays.clone();
        delays.add(Duration::from_ms(500));
        let since = delays.since(&before);
        assert_eq!((since.mean_s(), since.late_share()), (Some(0.5), Some(1.0)));
    }

    proptest! {
        /// A quantile is at or above that of the sorted delays, by the width of a bin at most.
        #[test]
        fn a_quantile_is_within_a_bin(seed in any::<u64>(), count in 1_usize..400, share in 0.0_f64..=1.0) {
            let mut stream = Stream::new(seed, "delays");
            let mut all: Vec<u64> = (0..count).map(|_| 1024 + (stream.uniform() * 2e9) as u64).collect();
            let mut delays = CallDelays::default();
            all.iter().for_each(|&ns| delays.add(Duration::from_ns(ns)));
            all.sort_unstable();
            let place = ((share * count as f64).ceil() as usize).max(1) - 1;
            let (exact, found) = (all[place] as f64 / 1e9, delays.quantile_s(share).unwrap());
            prop_assert!(found >= exact && found <= exact * (1.0 + 1.0 / 32.0) + 1e-9, "{found} for {exact}");
        }
    }
}
