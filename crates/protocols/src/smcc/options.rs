//! SMCC's options with their defaults (docs/protocols/smcc.md). "CHOICE" marks what no source that could
//! be read says.

use crate::tfmcc;
use layercast_core::options;
use layercast_core::session::{PlanError, Requirements, SessionPlan};
use layercast_core::units::{Duration, Size};
pub use layercast_kit::equation::Formula;
use layercast_kit::estimator::LossConfig;
pub use layercast_kit::estimator::LossMethod;

use super::structure::Structure;

options! {
    /// The options of SMCC, for the source and the receivers of a session alike.
    pub struct Options {
        // Layers.
        /// The unit of counting layers is one packet in this time (CHOICE; all must agree on it).
        counting_round_trip: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(64);
        /// The least rate of a layer's own group, as a part of the layer's least rate: its packets carry the feedback words (CHOICE).
        least_share: f64 = 0.125, 0.001 => 1.0;
        /// How long no attempt is made after the first that failed; twice as long after each further one (CHOICE: 1 s) ...
        back_off_min: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(3600);
        /// ... up to this. A layer that was kept for so long ends the doubling (CHOICE: 64 s).
        back_off_max: Duration = Duration::from_secs(64), Duration::from_ms(1) => Duration::from_secs(3600);
        /// A joined layer of which nothing comes for so long is left (CHOICE).
        silent_leave: Duration = Duration::from_secs(10), Duration::from_ms(1) => Duration::from_secs(3600);
        /// How losses become a loss rate (thesis 3.2.4: lip, as TFMCC).
        loss_estimator: LossMethod = LossMethod::Lip;
        /// Of lap: the window in packets; losses closer than this count once (thesis fig. 33: 3).
        window: u32 = 3, 1 => 1024;
        // Of every layer's TFMCC session.
        /// The largest round-trip time at first; it should be above that of any receiver (RFC 4654, 3.1: at least 500 ms).
        r_max_initial: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(64);
        /// No measured round-trip time counts for more than this (CHOICE).
        r_max_limit: Duration = Duration::from_secs(16), Duration::from_ms(1) => Duration::from_secs(64);
        /// How long a feedback round lasts, in largest round-trip times (RFC 4654, 3.4: 6 for unicast feedback).
        round_length: f64 = 6.0, 1.0 => 100.0;
        /// For how many largest round-trip times the former limiting receiver of a layer is kept in mind (TFMCC paper; the number is a CHOICE).
        former_memory: f64 = 10.0, 0.0 => 1000.0;
        /// How many reports the source takes per second, of all layers; surplus ones are only counted (CHOICE).
        report_limit: u32 = 1000, 1 => 1_000_000;
        /// How many packets say the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        /// The number of receivers that timers are made for (RFC 4654, 4.5: 10000).
        group_bound: u32 = 10_000, 2 => 1_000_000_000;
        /// The part of a timer that a receiver's rate decides and chance does not (TFMCC paper and NORM: 0.25).
        bias: f64 = 0.25, 0.0 => 1.0;
        /// A receiver is silent if its rate is above this part of the lowest one reported in the round (RFC 4654, 3.4: 0.9).
        suppression: f64 = 0.9, 0.0 => 1.0;
        /// The size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        /// The model of TCP's throughput (RFC 4654, 2.1).
        formula: Formula = Formula::PftkSimplified;
        /// How many loss intervals are averaged (RFC 4654, 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted in a long one without losses (RFC 4654, 5.5: optional).
        discounting: bool = true;
        /// How many later packets make a missing one lost (RFC 4654, 5.1: 3).
        reorder: u32 = 3, 1 => 100;
        /// A receiver whose fair rate is below the least of the base layer leaves the session after this (RFC 4654, 4.4: 120 s).
        starved_leave: Duration = Duration::from_secs(120), Duration::from_ms(1) => Duration::from_secs(3600);
        /// How long without packets is worth a note, and a new try where the join had failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn channels(&self, plan: &SessionPlan) -> u16 {
        Structure::new(plan, self.counting_round_trip).channel_count()
    }

    fn agreed(&self) -> &'static [&'static str] {
        &["counting_round_trip"]
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        Structure::check(plan, self.counting_round_trip)
    }
}

impl Options {
    /// The options of every layer's TFMCC session. What is not an option here has TFMCC's default.
    pub(crate) fn of_layer(&self) -> tfmcc::Options {
        tfmcc::Options {
            r_max_initial: self.r_max_initial,
            r_max_limit: self.r_max_limit,
            round_length: self.round_length,
            former_memory: self.former_memory,
            report_limit: self.report_limit,
            end_packets: self.end_packets,
            group_bound: self.group_bound,
            bias: self.bias,
            suppression: self.suppression,
            report_size: self.report_size,
            formula: self.formula,
            history: self.history,
            discounting: self.discounting,
            reorder: self.reorder,
            starved_leave: self.starved_leave,
            silence_note: self.silence_note,
            ..tfmcc::Options::default()
        }
    }

    /// What the loss estimator is to be.
    pub fn loss_config(&self) -> LossConfig {
        LossConfig { method: self.loss_estimator, window: self.window, ..self.of_layer().loss_config() }
    }
}
