//! Shared by loss estimators: their input, their options, and one type for all of them.

use super::{Lap, Lip, LipShort, LossIntervals, SendTime, WindowScope};
use layercast_core::units::{Duration, Layer, Seq};

/// One packet in the input of a loss estimator, received or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its layer.
    pub layer: Layer,
    /// Its number on the layer.
    pub seq: Seq,
    /// When it was sent; for a lost packet an estimate.
    pub sent: SendTime,
}

/// The classification of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossOutcome {
    /// It began a loss event.
    NewEvent,
    /// It belongs to an event and counts.
    Counted,
    /// It belongs to an event and does not count.
    Ignored,
}

layercast_core::choices! {
    /// Whether a packet sent exactly one round-trip time after an event began is still inside it.
    pub enum Boundary {
        /// It is outside: a period holds exactly N packets at N per round-trip time (thesis,
        /// equations 12 and 13).
        Outside = "outside",
        /// It is inside: only more than a round-trip time separates events (RFC 5348, section 5.2).
        Inside = "inside",
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
        }
    }
}

/// The time that belongs to an event: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    pub(super) start: SendTime,
    pub(super) end: SendTime,
}

impl Period {
    pub(super) fn starting(start: SendTime, rtt: Duration, boundary: Boundary) -> Period {
        let last_us = match boundary {
            Boundary::Outside => 0,
            Boundary::Inside => 1,
        };
        Period { start, end: start.plus_us(rtt.as_us().saturating_add(last_us)) }
    }

    /// A period of the same length with another start.
    pub(super) fn moved_to(self, start: SendTime) -> Period {
        Period { start, end: start.plus_us(self.end.as_us() - self.start.as_us()) }
    }
}

/// Makes the names, the one type and its dispatch from a list of estimators. Each entry is the type of a
/// loss estimator: it has the methods that are called here, and `new` from a [`LossConfig`].
macro_rules! loss_estimators {
    ($( $(#[doc = $doc:literal])* $estimator:ident = $text:literal, )*) => {
        layercast_core::choices! {
            /// How losses become a loss rate.
            pub enum LossMethod {
                $( $(#[doc = $doc])* $estimator = $text, )*
            }
        }

        /// A loss estimator of any method, so that a receiver can switch between them.
        #[derive(Clone, Debug)]
        pub enum LossEstimator {
            $( $(#[doc = $doc])* $estimator($estimator), )*
        }

        impl LossEstimator {
            /// An estimator without packets.
            pub fn new(config: &LossConfig) -> LossEstimator {
                match config.method {
                    $( LossMethod::$estimator => LossEstimator::$estimator($estimator::new(config)), )*
                }
            }

            /// The round-trip time to use from the next event on: it is sampled when an event begins and
            /// kept for that event. Zero is refused.
            pub fn set_rtt(&mut self, rtt: Duration) {
                match self { $( LossEstimator::$estimator(estimator) => estimator.set_rtt(rtt), )* }
            }

            /// A packet was received.
            pub fn on_received(&mut self, packet: &Packet) {
                match self { $( LossEstimator::$estimator(estimator) => estimator.on_received(packet), )* }
            }

            /// A packet was lost.
            pub fn on_lost(&mut self, packet: &Packet) -> LossOutcome {
                match self { $( LossEstimator::$estimator(estimator) => estimator.on_lost(packet), )* }
            }

            /// The loss rate, 0 to 1; 0 while no interval is known. A few operations.
            pub fn loss_rate(&self) -> f64 {
                match self { $( LossEstimator::$estimator(estimator) => estimator.loss_rate(), )* }
            }

            /// The closed intervals with their impacts, newest first.
            pub fn intervals(&self) -> &LossIntervals {
                match self { $( LossEstimator::$estimator(estimator) => estimator.intervals(), )* }
            }

            /// The closed intervals, to set or rescale the first one.
            pub fn intervals_mut(&mut self) -> &mut LossIntervals {
                match self { $( LossEstimator::$estimator(estimator) => estimator.intervals_mut(), )* }
            }

            /// The length of the open interval in packets.
            pub fn open_length(&self) -> u64 {
                match self { $( LossEstimator::$estimator(estimator) => estimator.open_length(), )* }
            }

            /// How many loss events there were.
            pub fn events(&self) -> u64 {
                match self { $( LossEstimator::$estimator(estimator) => estimator.events(), )* }
            }

            /// The sender's clock has restarted: times before and after do not compare.
            pub fn forget_times(&mut self) {
                match self { $( LossEstimator::$estimator(estimator) => estimator.forget_times(), )* }
            }

            /// Forgets everything but the round-trip time.
            pub fn reset(&mut self) {
                match self { $( LossEstimator::$estimator(estimator) => estimator.reset(), )* }
            }
        }
    };
}

loss_estimators! {
    /// Loss insensitive period: one loss per round-trip time counts (TFRC).
    Lip = "lip",
    /// Loss aggregation period: all losses count (thesis, section 5.1.3).
    Lap = "lap",
    /// Loss insensitive period whose short intervals count all their losses (RFC 4828, section 3).
    LipShort = "lip-short",
}

impl LossEstimator {
    /// A packet was received with a congestion mark: one packet of the stream, and a signal of loss
    /// at its own send time (RFC 5348, section 5.2).
    pub fn on_marked(&mut self, packet: &Packet) -> LossOutcome {
        self.on_lost(packet)
    }
}
