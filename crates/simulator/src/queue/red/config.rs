//! RED's parameters, and what is derived from them and the link.

use layercast_core::option::{AUTOMATIC, Above, Kind, OptionType, RawValue};
use layercast_core::units::{Duration, Rate, Size};
use layercast_core::{choices, options};

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

impl OptionType for RedWeight {
    const KIND: Kind = Option::<f64>::KIND;
    type Bound = f64;

    fn bounded(&self) -> Option<&f64> {
        match self {
            RedWeight::Fixed(weight) => Some(weight),
            RedWeight::TenRoundTrips | RedWeight::Over(_) => None,
        }
    }

    fn read(value: RawValue<'_>) -> Result<RedWeight, String> {
        Option::<f64>::read(value).map(|weight| weight.map_or(RedWeight::TenRoundTrips, RedWeight::Fixed))
    }

    fn show(&self) -> String {
        match self {
            RedWeight::Fixed(weight) => weight.show(),
            RedWeight::TenRoundTrips => AUTOMATIC.to_owned(),
            RedWeight::Over(time) => format!("over {time}"),
        }
    }
}

choices! {
    /// Which packet is dropped when one must be.
    pub enum RedVictim {
        /// The one that has just come.
        Last = "last",
        /// Any, each with the same probability.
        Random = "random",
        /// The second from the front; the first is about to be sent.
        Front = "front",
    }
}

choices! {
    /// Where RED's defaults come from.
    pub enum RedProfile {
        /// ns-2.35.
        Ns2 = "ns2",
        /// What papers before 2001 mean by RED: thresholds 5 and 15 packets, weight 0.002, not gentle,
        /// counted in packets.
        Classic = "classic",
    }
}

options! {
    /// RED's parameters; the defaults are those of ns-2.35.
    #[derive(Copy)]
    pub struct RedConfig {
        /// Where the defaults of all others come from; `classic` is what papers before 2001 mean.
        profile: RedProfile = RedProfile::Ns2;
        /// How much it holds; automatic is 50 packets, in bytes with `average_bytes`.
        limit: Option<QueueLimit> = None;
        /// The average queue from which packets are dropped, in packets of `mean_packet`; automatic is
        /// the larger of 5 packets and half of what the link sends in `target`.
        min_threshold: Option<f64> = None, Above(0.0);
        /// The average queue at which `max_probability` is reached, above `min_threshold`; automatic is
        /// three times that.
        max_threshold: Option<f64> = None, Above(0.0);
        /// The weight of the newest sample in the average; automatic averages over about ten round-trip
        /// times of the link.
        weight: RedWeight = RedWeight::TenRoundTrips, Above(0.0) => 1.0;
        /// The probability of a drop at `max_threshold`.
        max_probability: f64 = 0.1, Above(0.0) => 1.0;
        /// Let the probability rise to 1 between `max_threshold` and twice of it, not at once.
        gentle: bool = true;
        /// Leave at least one mean distance between two drops; otherwise spread them uniformly over the
        /// mean distance, as Floyd and Jacobson do.
        wait: bool = true;
        /// Scale the probability by a packet's size.
        byte_mode: bool = true;
        /// Average the queue in bytes instead of packets.
        average_bytes: bool = true;
        /// The size of packets that thresholds and capacity are counted in.
        mean_packet: Size = Size::from_bytes(500), Above(Size::from_bytes(0));
        /// The delay that the automatic `min_threshold` aims at.
        target: Duration = Duration::from_ms(5), Above(Duration::ZERO);
        /// Move `max_probability` so that the average stays in the middle between the thresholds.
        adaptive: bool = false;
        /// Which packet is dropped when one must be.
        victim: RedVictim = RedVictim::Last;
        /// Mark ECN-capable packets instead of dropping them early.
        ecn: bool = false;
        /// With `ecn`: above this probability ECN-capable packets are dropped too.
        mark_probability: f64 = 0.1, Above(0.0) => 1.0;
        /// With `ecn`: otherwise packets are marked with any probability, but all are dropped from
        /// `max_threshold` on (twice of it if gentle).
        use_mark_probability: bool = true;
    }
}

impl RedConfig {
    /// The defaults of a profile.
    pub fn new(profile: RedProfile) -> RedConfig {
        match profile {
            RedProfile::Ns2 => RedConfig::default(),
            RedProfile::Classic => RedConfig {
                profile,
                min_threshold: Some(5.0),
                max_threshold: Some(15.0),
                weight: RedWeight::Fixed(0.002),
                gentle: false,
                byte_mode: false,
                average_bytes: false,
                ..RedConfig::default()
            },
        }
    }

    /// The defaults of ns-2.35.
    pub fn ns2() -> RedConfig {
        RedConfig::new(RedProfile::Ns2)
    }

    /// What papers before 2001 mean by RED.
    pub fn classic() -> RedConfig {
        RedConfig::new(RedProfile::Classic)
    }

    /// Up to which probability ECN-capable packets are marked; at any if none.
    pub(super) fn marks_up_to(&self) -> Option<f64> {
        self.use_mark_probability.then_some(self.mark_probability)
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
        let half = 0.5 * self.target.as_secs_f64() * self.packets_per_s(rate);
        let min = self.min_threshold.unwrap_or(half.max(5.0));
        (min, self.max_threshold.unwrap_or(3.0 * min))
    }
}
