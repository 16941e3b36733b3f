//! One type for all loss estimators.

use super::loss_config::{LossConfig, LossMethod};
use super::loss_event::{LossOutcome, Packet};
use super::virtual_packets::{Fate, ProcessedPackets};
use super::{Lap, Lip, LipShort, LossIntervals};
use layercast_core::units::Duration;

/// Makes the one type and its dispatch from a list of estimators, one for each [`LossMethod`]. Each entry is
/// the type of a loss estimator: it has the methods that are called here, and `new` from a [`LossConfig`].
macro_rules! loss_estimators {
    ($( $(#[doc = $doc:literal])* $estimator:ident, )*) => {
        #[derive(Clone, Debug)]
        enum Method {
            $( $(#[doc = $doc])* $estimator($estimator), )*
        }

        impl LossEstimator {
            /// An estimator without packets.
            pub fn new(config: &LossConfig) -> LossEstimator {
                let method = match config.method {
                    $( LossMethod::$estimator => Method::$estimator($estimator::new(config)), )*
                };
                LossEstimator { method, packets: ProcessedPackets::new(config.virtual_packets) }
            }

            /// The round-trip time to use from the next event on: it is sampled when an event begins and
            /// kept for that event. Zero is refused.
            pub fn set_rtt(&mut self, rtt: Duration) {
                match &mut self.method { $( Method::$estimator(estimator) => estimator.set_rtt(rtt), )* }
            }

            /// A packet was received, marked or lost. A mark is a signal of loss at its packet's own send time (RFC
            /// 5348, section 5.2). The outcome is a new event if one begins.
            pub fn on_packet(&mut self, packet: &Packet, fate: Fate) -> LossOutcome {
                match &mut self.method {
                    $( Method::$estimator(estimator) => self.packets.each(packet, fate, |packet, lost| {
                        if lost {
                            return estimator.on_lost(packet);
                        }
                        estimator.on_received(packet);
                        LossOutcome::Ignored
                    }), )*
                }
            }

            /// The loss rate, 0 to 1; 0 while no interval is known. A few operations.
            pub fn loss_rate(&self) -> f64 {
                match &self.method { $( Method::$estimator(estimator) => estimator.loss_rate(), )* }
            }

            /// The closed intervals with their impacts, newest first.
            pub fn intervals(&self) -> &LossIntervals {
                match &self.method { $( Method::$estimator(estimator) => estimator.intervals(), )* }
            }

            /// The closed intervals, to set or rescale the first one.
            pub fn intervals_mut(&mut self) -> &mut LossIntervals {
                match &mut self.method { $( Method::$estimator(estimator) => estimator.intervals_mut(), )* }
            }

            /// The length of the open interval in packets.
            pub fn open_length(&self) -> u64 {
                match &self.method { $( Method::$estimator(estimator) => estimator.open_length(), )* }
            }

            /// How many loss events there were.
            pub fn events(&self) -> u64 {
                match &self.method { $( Method::$estimator(estimator) => estimator.events(), )* }
            }

            /// The sender's clock has restarted: times before and after do not compare.
            pub fn forget_times(&mut self) {
                match &mut self.method { $( Method::$estimator(estimator) => estimator.forget_times(), )* }
            }

            /// Forgets everything but the round-trip time.
            pub fn reset(&mut self) {
                self.packets.reset();
                match &mut self.method { $( Method::$estimator(estimator) => estimator.reset(), )* }
            }
        }
    };
}

/// A loss estimator of any method, of real or of virtual packets, so that a receiver can switch between them.
#[derive(Clone, Debug)]
pub struct LossEstimator {
    method: Method,
    packets: ProcessedPackets,
}

loss_estimators! {
    /// Loss insensitive period: one loss per round-trip time counts (TFRC).
    Lip,
    /// Loss aggregation period: all losses count (thesis, section 5.1.3).
    Lap,
    /// Loss insensitive period whose short intervals count all their losses (RFC 4828, section 3).
    LipShort,
}
