//! SMCC's options with their defaults (docs/protocols/smcc.md). "CHOICE" marks what no available source
//! specifies.

use crate::tfmcc;
use layercast_core::options;
use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan};
use layercast_core::units::{Duration, Rate, Size};
pub use layercast_kit::equation::Formula;
use layercast_kit::estimator::{LossConfig, VirtualConfig};
pub use layercast_kit::estimator::{LossMethod, VirtualLoss};
use layercast_kit::pacing::DEPLOYED_DITHER;
pub use layercast_kit::response::Response;

use super::structure::Structure;

options! {
    /// The options of SMCC, shared by the source and the receivers of a session.
    pub struct Options {
        // Layers.
        /// Time per packet of the counting layers' unit (CHOICE; source and receivers must agree on it).
        counting_round_trip: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(64);
        /// Minimum rate of a layer's own group, as a fraction of the layer's minimum rate: its packets carry the feedback fields (CHOICE).
        least_share: f64 = 0.125, 0.001 => 1.0;
        /// Time until the next attempt after a first failure; it doubles with each further one (CHOICE: 1 s).
        back_off_min: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Maximum of that time; a layer kept for this long ends the doubling (CHOICE: 64 s).
        back_off_max: Duration = Duration::from_secs(64), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time after which a joined layer without packets is left (CHOICE).
        silent_leave: Duration = Duration::from_secs(10), Duration::from_ms(1) => Duration::from_secs(3600);
        /// How the loss rate is estimated (thesis 3.2.4: lip, as TFMCC).
        loss_estimator: LossMethod = LossMethod::Lip;
        /// With lap: its window in packets; losses closer than this count once (thesis fig. 33: 3).
        window: u32 = 3, 1 => 1024;
        /// Size of virtual packets, which the loss estimator and the equation use in place of the real ones; 0: none (thesis 4.3.4).
        virtual_size: Size = Size::from_bytes(0);
        /// When a virtual packet counts as lost (the thesis does not say).
        virtual_loss: VirtualLoss = VirtualLoss::Representative;
        // Of every layer's TFMCC session.
        /// Initial largest round-trip time; it should be above that of any receiver (RFC 4654, 3.1: at least 500 ms).
        r_max_initial: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(64);
        /// Upper bound of measured round-trip times (CHOICE).
        r_max_limit: Duration = Duration::from_secs(16), Duration::from_ms(1) => Duration::from_secs(64);
        /// Length of a feedback round, in largest round-trip times (RFC 4654, 3.4: 6 for unicast feedback).
        round_length: f64 = 6.0, 1.0 => 100.0;
        /// Number of largest round-trip times for which the former limiting receiver of a layer is remembered (TFMCC paper; the number is a CHOICE).
        former_memory: f64 = 10.0, 0.0 => 1000.0;
        /// Maximum number of reports that the source processes per second, over all layers; others are only counted (CHOICE).
        report_limit: u32 = 1000, 1 => 1_000_000;
        /// By which part of its spacing a packet may leave later than planned, at random (CHOICE).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// Number of packets that announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        /// Number of receivers for which the feedback timers are designed (RFC 4654, 4.5: 10000).
        group_bound: u32 = 10_000, 2 => 1_000_000_000;
        /// Fraction of a feedback timer that depends on the receiver's rate and not on chance (TFMCC paper and NORM: 0.25).
        bias: f64 = 0.25, 0.0 => 1.0;
        /// A report is suppressed if its rate is above this fraction of the lowest one reported in the round (RFC 4654, 3.4: 0.9).
        suppression: f64 = 0.9, 0.0 => 1.0;
        /// Size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        /// Whose rate is fair: that of Reno by `formula`, or of another TCP by its response function.
        fair_to: Response = Response::Reno;
        /// Model of Reno's throughput (RFC 4654, 2.1).
        formula: Formula = Formula::PftkSimplified;
        /// Number of loss intervals averaged (RFC 4654, 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted during a long one without losses (RFC 4654, 5.5: optional).
        discounting: bool = true;
        /// Number of later packets after which a missing one is lost (RFC 4654, 5.1: 3).
        reorder: u32 = 3, 1 => 100;
        /// Time after which a receiver leaves the session if its fair rate stays below the minimum of the base layer (RFC 4654, 4.4: 120 s).
        starved_leave: Duration = Duration::from_secs(120), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time without packets after which a receiver records a trace event, and retries a join that failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: true, start: "TFMCC's in each layer, then the next" }
    }

    fn channels(&self, plan: &SessionPlan) -> u16 {
        Structure::new(plan, self.counting_round_trip).channel_count()
    }

    fn peak_rate(&self, plan: &SessionPlan) -> Rate {
        Structure::new(plan, self.counting_round_trip).peak_rate()
    }

    fn agreed(&self) -> &'static [&'static str] {
        // One rate for all receivers of a layer, so one response.
        &["counting_round_trip", "fair_to"]
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        self.dither = DEPLOYED_DITHER;
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        Structure::check(plan, self.counting_round_trip)
    }
}

impl Options {
    /// The options of every layer's TFMCC session. Options that SMCC does not have get TFMCC's default.
    pub(crate) fn layer_options(&self) -> tfmcc::Options {
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
            fair_to: self.fair_to,
            formula: self.formula,
            history: self.history,
            discounting: self.discounting,
            reorder: self.reorder,
            starved_leave: self.starved_leave,
            silence_note: self.silence_note,
            ..tfmcc::Options::default()
        }
    }

    /// The configuration of the loss estimator.
    pub fn loss_config(&self) -> LossConfig {
        LossConfig {
            method: self.loss_estimator,
            window: self.window,
            virtual_packets: VirtualConfig::of(self.virtual_size, self.virtual_loss),
            ..self.layer_options().loss_config()
        }
    }
}
