//! FLID-SL: FLID with static layers, for networks where leaves take effect quickly (FLID-DL paper,
//! sections IV and V-B). See [`crate::flid`].

pub use crate::flid::{Header, Receiver, Source};

use crate::flid::{ProbabilityRule, Settings, SignalRule, Variant as _, variant_options};
use layercast_core::option::Numbers;
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::Duration;

variant_options! {
    /// The options of FLID-SL.
    options {
        /// How long a receiver neither drops nor adds a layer after it left a layer: the leave latency, so that
        /// what still arrives is not judged twice; 0 for the paper's rule, which judges every slot.
        deaf: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(600);
        /// How long after a slot's end its packets may still arrive before they are lost; at most a tenth
        /// of a slot (this project's choice: 50 ms).
        loss_grace: Duration = Duration::from_ms(50), Duration::ZERO => Duration::from_secs(6);
    }
    settings |options, settings| {
        settings.deaf = options.deaf;
        settings.loss_grace = options.loss_grace.min(options.slot.scaled(0.1));
    }
    agreed &["slot"]
}
