//! TFMCC's options with their defaults (docs/protocols/tfmcc.md). "CHOICE" marks what RFC 4654 leaves
//! open.

use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Rate, Size};
pub use layercast_kit::equation::Formula;
use layercast_kit::estimator::{Boundary, FirstInterval, LossConfig, LossMethod};
use layercast_kit::fair::FairEquation;
use layercast_kit::pacing::DEPLOYED_DITHER;
pub use layercast_kit::response::Response;

options! {
    /// The options of TFMCC, shared by the source and the receivers of a session.
    pub struct Options {
        // The source.
        /// Initial largest round-trip time; it should be above that of any receiver (RFC 4654, 3.1: at least 500 ms).
        r_max_initial: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(64);
        /// Upper bound of measured round-trip times, so that one report cannot stop all others (CHOICE).
        r_max_limit: Duration = Duration::from_secs(16), Duration::from_ms(1) => Duration::from_secs(64);
        /// Granularity of the source's clock (RFC 4654, 3.2).
        granularity: Duration = Duration::from_ms(1), Duration::from_us(1) => Duration::from_secs(1);
        /// Length of a feedback round, in largest round-trip times (RFC 4654, 3.4: 6 for unicast feedback).
        round_length: f64 = 6.0, 1.0 => 100.0;
        /// Maximum time between two packets (RFC 4654, 3.3: 8 s).
        max_spacing: Duration = Duration::from_secs(8), Duration::from_ms(1) => Duration::from_secs(64);
        /// Number of largest round-trip times for which the former limiting receiver is remembered, so that it can take the role again when the present one leaves; 0 for never (TFMCC paper; the number is a CHOICE).
        former_memory: f64 = 10.0, 0.0 => 1000.0;
        /// Lower bound of the rate, whatever is reported; more than 0 is not fair to TCP (CHOICE).
        floor_rate: Rate = Rate::ZERO;
        /// Maximum number of reports that the source processes per second; others are only counted (CHOICE).
        report_limit: u32 = 1000, 1 => 1_000_000;
        /// By which part of its spacing a packet may leave later than planned, at random (RFC 4654 has none).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// Number of packets that announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        // Feedback of receivers.
        /// Number of receivers for which the feedback timers are designed; larger groups can flood the source (RFC 4654, 4.5: 10000).
        group_bound: u32 = 10_000, 2 => 1_000_000_000;
        /// Fraction of a feedback timer that depends on the receiver's rate and not on chance; 0 for the timers of RFC 4654 (TFMCC paper and NORM: 0.25).
        bias: f64 = 0.25, 0.0 => 1.0;
        /// A report is suppressed if its rate is above this fraction of the lowest one reported in the round (RFC 4654, 3.4: 1 - g = 0.9).
        suppression: f64 = 0.9, 0.0 => 1.0;
        /// Whether the limiting receiver reports a new loss event at once (CHOICE: yes).
        report_on_loss: bool = true;
        /// Size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        // Round-trip times.
        /// Weight of the old round-trip time at the limiting receiver (RFC 4654, 4.3.2: 0.9).
        q_limiting: f64 = 0.9, 0.0 => 1.0;
        /// Weight of the old round-trip time at the other receivers, which measure it rarely (RFC 4654, 4.3.2: 0.5).
        q_other: f64 = 0.5, 0.0 => 1.0;
        /// Whether one-way delays adjust the round-trip time between two measurements (RFC 4654, 4.3.3: yes).
        one_way_delay: bool = true;
        // The fair rate.
        /// Whose rate is fair: that of Reno by `formula`, or of another TCP by its response function.
        fair_to: Response = Response::Reno;
        /// Model of Reno's throughput (RFC 4654, 2.1).
        formula: Formula = Formula::PftkSimplified;
        /// Number of round-trip times over which the receive rate is measured (RFC 4654, 4.3.4: 2 to 4).
        receive_window: f64 = 4.0, 1.0 => 100.0;
        /// Whether the reported rate is at most twice the receive rate (CHOICE: no; NORM: yes).
        limit_by_receive_rate: bool = false;
        /// Number of loss intervals averaged (RFC 4654, 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted during a long one without losses (RFC 4654, 5.5: optional).
        discounting: bool = true;
        /// Lower bound of the discount factor (RFC 4654, 5.5: 0.5).
        discount_threshold: f64 = 0.5, 0.0 => 1.0;
        /// Number of later packets after which a missing one is lost (RFC 4654, 5.1: 3).
        reorder: u32 = 3, 1 => 100;
        /// Time after which a receiver leaves if its fair rate stays below one packet in `max_spacing` and below the session's rate (RFC 4654, 4.4: 120 s).
        starved_leave: Duration = Duration::from_secs(120), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time without packets after which a receiver records a trace event, and retries a join that failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: true, start: "doubles each feedback round until a loss" }
    }

    fn agreed(&self) -> &'static [&'static str] {
        // One rate for all, so one response.
        &["fair_to"]
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        self.dither = DEPLOYED_DITHER;
    }
}

impl Options {
    /// The equation of the fair rate.
    pub fn fair_equation(&self) -> FairEquation {
        FairEquation { fair_to: self.fair_to, formula: self.formula }
    }

    /// The configuration of the loss estimator. Fields without an option have no effect with this method.
    pub fn loss_config(&self) -> LossConfig {
        LossConfig {
            method: LossMethod::Lip,
            history: self.history,
            discounting: self.discounting.then_some(self.discount_threshold),
            boundary: Boundary::Inside,
            first_interval: FirstInterval::Synthetic,
            initial_rtt: self.r_max_initial,
            ..LossConfig::default()
        }
    }
}
