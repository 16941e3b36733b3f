//! The options that loss estimators share.

use super::loss_event::Boundary;
use super::loss_window::WindowScope;
use super::virtual_packets::VirtualConfig;
use layercast_core::units::{Duration, Size};

layercast_core::choices! {
    /// How losses become a loss rate.
    pub enum LossMethod {
        /// Loss insensitive period: one loss per round-trip time counts (TFRC).
        Lip = "lip",
        /// Loss aggregation period: all losses count (thesis, section 5.1.3).
        Lap = "lap",
        /// Loss insensitive period whose short intervals count all their losses (RFC 4828, section 3).
        LipShort = "lip-short",
    }
}

layercast_core::choices! {
    /// How the packets before the first loss event count.
    pub enum FirstInterval {
        /// Their number is the first interval.
        Counted = "counted",
        /// They are left out: the rate is known from the second event on.
        Discard = "discard",
        /// Counted at first; the owner then replaces it through
        /// [`LossIntervals::replace_oldest`](super::LossIntervals::replace_oldest) (RFC 5348,
        /// section 6.3.1).
        Synthetic = "synthetic",
    }
}

layercast_core::choices! {
    /// How the impacts of aggregation periods are averaged.
    pub enum ImpactAverage {
        /// With equal weights (thesis, equation 15, chapter 5).
        Mean = "mean",
        /// With the weights of the intervals (thesis, equation 16, ELM).
        Weighted = "weighted",
    }
}

/// The options of a loss estimator. The default is ELM's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossConfig {
    /// Which estimator.
    pub method: LossMethod,
    /// How many intervals are averaged, at least 1 (thesis and RFC 5348: 8).
    pub history: u32,
    /// The floor of history discounting, or none to turn it off (RFC 3448, section 5.5: 0.5).
    pub discounting: Option<f64>,
    /// What happens exactly one round-trip time after an event.
    pub boundary: Boundary,
    /// How the packets before the first event count.
    pub first_interval: FirstInterval,
    /// The round-trip time before the first sample (RFC 4654, section 4.1: 0.5 s).
    pub initial_rtt: Duration,
    /// How LAP averages impacts.
    pub impact: ImpactAverage,
    /// Whether discounting also applies to LAP's impacts (only to a weighted average).
    pub discount_impact: bool,
    /// LAP's window in packets, 1 to 1024: closer losses count once (thesis, section 6.2.2: 3).
    pub window: u32,
    /// Between which losses the window measures distance.
    pub scope: WindowScope,
    /// The virtual packets that are processed in place of the real ones, if any.
    pub virtual_packets: Option<VirtualConfig>,
}

impl LossConfig {
    /// The packet size that goes with the loss rate into an equation: that of virtual packets, if there are any.
    pub fn equation_size(&self, packet_size: Size) -> Size {
        self.virtual_packets.map_or(packet_size, |config| config.size)
    }
}

impl Default for LossConfig {
    fn default() -> LossConfig {
        LossConfig {
            method: LossMethod::Lap,
            history: 8,
            discounting: Some(0.5),
            boundary: Boundary::Outside,
            first_interval: FirstInterval::Counted,
            initial_rtt: Duration::from_ms(500),
            impact: ImpactAverage::Weighted,
            discount_impact: true,
            window: 3,
            scope: WindowScope::Session,
            virtual_packets: None,
        }
    }
}
