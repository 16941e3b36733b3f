//! RED's parameters, and what is derived from them and the link.

use layercast_core::units::{Duration, Rate, Size};

use crate::queue::QueueLimit;

/// The weight of the newest sample in RED's average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedWeight {
    /// This weight, above 0 and up to 1.
    Fixed(f64),
    /// So that the average follows over about ten round-trip times, which are taken from the link:
    /// -1 in ns-2.
    TenRoundTrips,
    /// So that the average follows over this time: 0 in ns-2 is one second, -2 is 100 ms.
    Over(Duration),
}

/// Which packet goes when one must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedVictim {
    /// The one that has just come.
    Last,
    /// Any, each with the same probability.
    Random,
    /// The second from the front; the first is about to be sent.
    Front,
}

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// How much it holds. `None` is 50 packets, in bytes if the average is in bytes.
    pub limit: Option<QueueLimit>,
    /// The average queue, in packets of mean size, from which packets are dropped. `None` is the
    /// larger of 5 packets and half of what the link sends in `target_delay`.
    pub min_threshold: Option<f64>,
    /// The average queue at which the probability is `max_probability`. `None` is three times the
    /// lower threshold.
    pub max_threshold: Option<f64>,
    /// The weight of the newest sample.
    pub weight: RedWeight,
    /// The probability at the upper threshold.
    pub max_probability: f64,
    /// Between the upper threshold and twice of it, the probability rises to 1; otherwise it is 1 from
    /// the upper threshold on.
    pub gentle: bool,
    /// Leave at least one mean distance between two drops; otherwise spread them uniformly over the
    /// mean distance, as Floyd and Jacobson do.
    pub wait: bool,
    /// Scale the probability by the size of the packet.
    pub byte_mode: bool,
    /// Average the queue in bytes instead of packets.
    pub average_bytes: bool,
    /// The size of packets that thresholds and capacity are counted in.
    pub mean_packet: Size,
    /// The delay that the automatic lower threshold aims at.
    pub target_delay: Duration,
    /// Move `max_probability` so that the average stays in the middle between the thresholds.
    pub adaptive: bool,
    /// Mark packets that take marks instead of dropping them early.
    pub ecn: bool,
    /// Above this probability packets are dropped even if they take marks. `None` marks at any
    /// probability, but then drops all above the upper threshold (above twice of it if gentle).
    pub mark_probability: Option<f64>,
    /// Which packet goes when one must.
    pub victim: RedVictim,
}

impl RedConfig {
    /// The defaults of ns-2.35.
    pub fn ns2() -> RedConfig {
        RedConfig {
            limit: None,
            min_threshold: None,
            max_threshold: None,
            weight: RedWeight::TenRoundTrips,
            max_probability: 0.1,
            gentle: true,
            wait: true,
            byte_mode: true,
            average_bytes: true,
            mean_packet: Size::from_bytes(500),
            target_delay: Duration::from_ms(5),
            adaptive: false,
            ecn: false,
            mark_probability: Some(0.1),
            victim: RedVictim::Last,
        }
    }

    /// What papers before 2001 mean by RED: thresholds 5 and 15 packets, weight 0.002, not gentle,
    /// counted in packets.
    pub fn classic() -> RedConfig {
        RedConfig {
            min_threshold: Some(5.0),
            max_threshold: Some(15.0),
            weight: RedWeight::Fixed(0.002),
            gentle: false,
            byte_mode: false,
            average_bytes: false,
            ..RedConfig::ns2()
        }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        const PACKETS: u32 = 50;
        let bytes = QueueLimit::Bytes(u64::from(PACKETS) * u64::from(self.mean_packet.as_bytes()));
        let usual = if self.average_bytes { bytes } else { QueueLimit::Packets(PACKETS) };
        self.limit.unwrap_or(usual)
    }

    pub(super) fn packets_per_s(&self, rate: Rate) -> f64 {
        rate.as_bytes_per_s() / f64::from(self.mean_packet.as_bytes())
    }

    /// The weight on a link.
    pub(super) fn weight_on(&self, rate: Rate, delay: Duration) -> f64 {
        let packets_per_s = self.packets_per_s(rate);
        let over_s = match self.weight {
            RedWeight::Fixed(weight) => return weight,
            RedWeight::Over(span) => span.as_secs_f64(),
            RedWeight::TenRoundTrips => 10.0 * (3.0 * (delay.as_secs_f64() + 1.0 / packets_per_s)).max(0.1),
        };
        1.0 - libm::exp(-1.0 / (over_s * packets_per_s))
    }

    /// Both thresholds on a link, in packets.
    pub(super) fn thresholds_on(&self, rate: Rate) -> (f64, f64) {
        let half = 0.5 * self.target_delay.as_secs_f64() * self.packets_per_s(rate);
        let min = self.min_threshold.unwrap_or(half.max(5.0));
        (min, self.max_threshold.unwrap_or(3.0 * min))
    }
}
