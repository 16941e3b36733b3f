//! FLID-DL: FLID with dynamic layers, for networks where leaves take effect slowly (FLID-DL paper). See
//! [`crate::flid`].

pub use crate::flid::{Header, Receiver, Source};

use crate::flid::{JoinMode, ProbabilityRule, Settings, SignalRule, Variant as _, variant_options};
use layercast_core::option::Numbers;
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::Duration;
use layercast_kit::response::Response;

variant_options! {
    /// The options of FLID-DL.
    options {
        /// Upper bound of the leave latency: L. It determines for how many slots a channel is silent, and so
        /// how many channels there are (FLID-DL paper, section V-B: leaves take 2 to 4 s).
        leave_bound: Duration = Duration::from_secs(4), Duration::ZERO => Duration::from_secs(600);
        /// Whether the base layer stays on a channel of its own (FLID-DL paper, section III-C). If not, a
        /// receiver finds the session only by packets that arrive on any channel.
        static_base: bool = true;
        /// When a receiver joins for the next slot.
        join_mode: JoinMode = JoinMode::AtBoundary;
        /// Lead of early joins before the next slot: at most the time that a join takes, or the channel
        /// still carries a faster layer.
        join_lead: Duration = Duration::from_ms(50), Duration::ZERO => Duration::from_secs(10);
    }
    settings |options, settings| {
        settings.leave_bound = Some(options.leave_bound);
        settings.static_base = options.static_base;
        settings.join_mode = options.join_mode;
        settings.join_lead = options.join_lead;
    }
    agreed &["slot", "leave_bound", "static_base"]
}
