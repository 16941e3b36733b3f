//! For how long packets wait at a link: the distribution over time of the delay of its queue.
//!
//! The queue's delay at a moment is the time that the link needs for the bytes that wait then, at its present
//! rate: what the last of them waits in a queue that serves in the order of arrival. It is weighted by time, so
//! an idle link costs nothing: only a queue that holds packets is accounted, when its length changes.

use layercast_core::units::Duration;

use crate::log_bins::LogBins;

/// Delays are known to 1/8.
type Bins = LogBins<3>;

/// How long a queue had which delay. Bins are fixed and grow by an eighth or less, from 1 us to 68 s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayHistogram {
    /// Nanoseconds in each bin.
    time_ns: Vec<u64>,
    /// The integral of the delay over time, in square nanoseconds.
    integral: u128,
}

impl Default for DelayHistogram {
    fn default() -> DelayHistogram {
        DelayHistogram { time_ns: vec![0; Bins::COUNT], integral: 0 }
    }
}

impl DelayHistogram {
    /// Adds a time during which the queue had a delay.
    pub fn add(&mut self, delay: Duration, for_time: Duration) {
        self.time_ns[Bins::of(delay.as_ns())] += for_time.as_ns();
        self.integral += u128::from(delay.as_ns()) * u128::from(for_time.as_ns());
    }

    /// The integral of the delay over time, in square nanoseconds.
    #[must_use]
    pub fn integral(&self) -> u128 {
        self.integral
    }

    /// What was added since `before`, an earlier state of the same queue.
    #[must_use]
    pub fn since(&self, before: Option<&DelayHistogram>) -> DelayHistogram {
        let Some(before) = before else { return self.clone() };
        let time_ns = self.time_ns.iter().zip(&before.time_ns).map(|(now, then)| now - then).collect();
        DelayHistogram { time_ns, integral: self.integral - before.integral }
    }

    /// The bins that are not empty, by rising delay: the upper end of the bin, and the time in it.
    pub fn bins(&self) -> impl Iterator<Item = (Duration, Duration)> + '_ {
        let filled = self.time_ns.iter().enumerate().filter(|&(_, &time_ns)| time_ns > 0);
        filled.map(|(bin, &time_ns)| (Duration::from_ns(Bins::upper_end_ns(bin)), Duration::from_ns(time_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn times_are_in_the_bin_of_their_delay_and_the_integral_is_exact() {
        let mut delays = DelayHistogram::default();
        delays.add(Duration::from_ms(10), Duration::from_secs(3));
        delays.add(Duration::from_ms(80), Duration::from_secs(1));
        let bins: Vec<(f64, f64)> =
            delays.bins().map(|(delay, time)| (delay.as_secs_f64(), time.as_secs_f64())).collect();
        assert_eq!(bins.len(), 2);
        assert!((0.010..0.01126).contains(&bins[0].0) && bins[0].1 == 3.0, "{bins:?}");
        assert!((0.080..0.0901).contains(&bins[1].0) && bins[1].1 == 1.0, "{bins:?}");
        // 10 ms · 3 s + 80 ms · 1 s.
        assert_eq!(delays.integral(), u128::from(110 * MS) * 1_000_000_000);
    }

    #[test]
    fn a_difference_is_that_of_the_times() {
        let mut early = DelayHistogram::default();
        early.add(Duration::from_ms(5), Duration::from_secs(1));
        let mut late = early.clone();
        late.add(Duration::from_ms(50), Duration::from_secs(2));
        let mut only_late = DelayHistogram::default();
        only_late.add(Duration::from_ms(50), Duration::from_secs(2));
        assert_eq!(late.since(Some(&early)), only_late);
        assert_eq!(late.since(None), late);
    }
}
