//! FLID-SL: FLID with static layers, for networks where leaves take effect quickly (FLID-DL paper,
//! sections IV and V-B). See [`crate::flid`].

pub use crate::flid::{Header, Receiver, Source};

use crate::flid::{ProbabilityRule, Settings, SignalRule, Variant as _, variant_options};
use layercast_core::option::Numbers;
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::Duration;
use layercast_kit::response::Response;

variant_options! {
    /// The options of FLID-SL.
    options {
        /// Time after leaving a layer in which a receiver neither drops nor adds one: the leave latency, so
        /// that packets that still arrive do not count twice; 0 for the paper's rule, which evaluates every
        /// slot.
        deaf: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(600);
        /// Time after a slot's end after which its missing packets are lost; at most a tenth
        /// of a slot (this project's choice: 50 ms).
        loss_grace: Duration = Duration::from_ms(50), Duration::ZERO => Duration::from_secs(6);
    }
    settings |options, settings| {
        settings.deaf = options.deaf;
        settings.loss_grace = options.loss_grace.min(options.slot.scaled(0.1));
    }
    agreed &["slot"]
}
