//! How late packets are: the difference between the emulation and what it emulates.

use layercast_core::units::Duration;

/// How many microseconds the distribution distinguishes.
const BINS: usize = 1 << 15;

/// A distribution of short times, to the microsecond up to 32 ms.
#[derive(Clone, Debug)]
pub struct Times {
    bins: Vec<u64>,
    count: u64,
    most: Duration,
    sum_ns: u128,
}

impl Default for Times {
    fn default() -> Times {
        Times { bins: vec![0; BINS], count: 0, most: Duration::ZERO, sum_ns: 0 }
    }
}

impl Times {
    /// Adds one.
    pub fn add(&mut self, time: Duration) {
        let bin = usize::try_from(time.as_us()).unwrap_or(BINS).min(BINS - 1);
        self.bins[bin] += 1;
        self.count += 1;
        self.most = self.most.max(time);
        self.sum_ns += u128::from(time.as_ns());
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest.
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The mean; zero if there are none.
    pub fn mean(&self) -> Duration {
        Duration::from_ns((self.sum_ns / u128::from(self.count.max(1))) as u64)
    }

    /// The least time that this share of all does not exceed, rounded up to a microsecond; the longest, if that
    /// lies beyond the distribution. Zero if there are none.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen >= wanted && self.count > 0 {
                let is_last = bin == BINS - 1;
                return if is_last { self.most } else { Duration::from_us(bin as u64 + 1).min(self.most) };
            }
        }
        self.most
    }

    /// The share of all that are at most so long.
    pub fn share_within(&self, limit: Duration) -> f64 {
        let bin = usize::try_from(limit.as_us()).unwrap_or(BINS).min(BINS);
        let within: u64 = self.bins[..bin].iter().sum();
        if self.count == 0 { 1.0 } else { within as f64 / self.count as f64 }
    }
}

/// How late packets were, and what was lost outside of the simulated links.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// How much later than simulated each packet was handed to its host.
    pub deliveries: Times,
    /// How long the emulation, while it was busy, did not look for packets of the hosts: at most so much later
    /// than it was sent does a packet enter its first link.
    pub turns: Times,
    /// Packets that a host's kernel dropped because the emulation did not take them in time.
    pub overruns: u64,
    /// Packets that a host's kernel did not accept.
    pub refused: u64,
}

impl Lateness {
    /// Whether 99 % of the packets entered and left within `limit` of their time, and none was dropped outside of
    /// the simulated links.
    pub fn is_within(&self, limit: Duration) -> bool {
        let within = |times: &Times| times.share_within(limit) >= 0.99;
        within(&self.deliveries) && within(&self.turns) && self.overruns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut times = Times::default();
        assert_eq!(times.quantile(0.99), Duration::ZERO);
        for us in 0..1000 {
            times.add(Duration::from_us(us));
        }
        times.add(Duration::from_secs(2));
        assert_eq!(times.quantile(0.5), Duration::from_us(501));
        assert_eq!(times.quantile(1.0), Duration::from_secs(2));
        assert_eq!(times.most(), Duration::from_secs(2));
        assert!((times.share_within(Duration::from_us(100)) - 100.0 / 1001.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_with_more_than_one_late_packet_in_a_hundred_is_not_within_the_limit() {
        let limit = Duration::from_ms(1);
        let mut lateness = Lateness::default();
        (0..99).for_each(|_| lateness.deliveries.add(Duration::from_us(10)));
        lateness.deliveries.add(Duration::from_ms(5));
        assert!(lateness.is_within(limit));
        lateness.deliveries.add(Duration::from_ms(5));
        assert!(!lateness.is_within(limit));
        assert!(!Lateness { overruns: 1, ..Lateness::default() }.is_within(limit));
    }
}
