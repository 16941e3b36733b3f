//! One type for all loss estimators.

use super::loss_config::{LossConfig, LossMethod};
use super::loss_event::{LossOutcome, Packet};
use super::{Lap, Lip, LipShort, LossIntervals};
use layercast_core::units::Duration;

/// Makes the one type and its dispatch from a list of estimators, one for each [`LossMethod`]. Each entry is
/// the type of a loss estimator: it has the methods that are called here, and `new` from a [`LossConfig`].
macro_rules! loss_estimators {
    ($( $(#[doc = $doc:literal])* $estimator:ident, )*) => {
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
    Lip,
    /// Loss aggregation period: all losses count (thesis, section 5.1.3).
    Lap,
    /// Loss insensitive period whose short intervals count all their losses (RFC 4828, section 3).
    LipShort,
}

impl LossEstimator {
    /// A packet was received with a congestion mark: one packet of the stream, and a signal of loss
    /// at its own send time (RFC 5348, section 5.2).
    pub fn on_marked(&mut self, packet: &Packet) -> LossOutcome {
        self.on_lost(packet)
    }
}
