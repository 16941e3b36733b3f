//! TFMCC's options with their defaults (docs/protocols/tfmcc.md). "CHOICE" marks what RFC 4654 leaves
//! open.

use layercast_core::options;
use layercast_core::session::Requirements;
use layercast_core::units::{Duration, Rate, Size};
pub use layercast_kit::equation::Formula;
use layercast_kit::estimator::{Boundary, FirstInterval, LossConfig, LossMethod};

options! {
    /// The options of TFMCC, for the source and the receivers of a session alike.
    pub struct Options {
        // The source.
        /// The largest round-trip time at first; it should be above that of any receiver (RFC 4654, 3.1: at least 500 ms).
        r_max_initial: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(64);
        /// No measured round-trip time counts for more than this, so that one report cannot stop all others (CHOICE).
        r_max_limit: Duration = Duration::from_secs(16), Duration::from_ms(1) => Duration::from_secs(64);
        /// The granularity of the source's clock (RFC 4654, 3.2).
        granularity: Duration = Duration::from_ms(1), Duration::from_us(1) => Duration::from_secs(1);
        /// How long a feedback round lasts, in largest round-trip times (RFC 4654, 3.4: 6 for unicast feedback).
        round_length: f64 = 6.0, 1.0 => 100.0;
        /// The longest time between two packets (RFC 4654, 3.3: 8 s).
        max_spacing: Duration = Duration::from_secs(8), Duration::from_ms(1) => Duration::from_secs(64);
        /// For how many largest round-trip times the former limiting receiver is kept in mind, to follow it again when the present one goes; 0 for not at all (TFMCC paper; the number is a CHOICE).
        former_memory: f64 = 10.0, 0.0 => 1000.0;
        /// The rate does not fall below this, whatever is reported; more than 0 is not fair to TCP (CHOICE).
        floor_rate: Rate = Rate::ZERO;
        /// How many reports the source takes per second; surplus ones are only counted (CHOICE).
        report_limit: u32 = 1000, 1 => 1_000_000;
        /// How many packets say the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        // Feedback of receivers.
        /// The number of receivers that timers are made for; more of them can flood the source (RFC 4654, 4.5: 10000).
        group_bound: u32 = 10_000, 2 => 1_000_000_000;
        /// The part of a timer that a receiver's rate decides and chance does not; 0 for the timers of RFC 4654 (TFMCC paper and NORM: 0.25).
        bias: f64 = 0.25, 0.0 => 1.0;
        /// A receiver is silent if its rate is above this part of the lowest one reported in the round (RFC 4654, 3.4: 1 - g = 0.9).
        suppression: f64 = 0.9, 0.0 => 1.0;
        /// Whether the limiting receiver reports a new loss event at once (CHOICE: yes).
        report_on_loss: bool = true;
        /// The size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        // Round-trip times.
        /// What the old round-trip time weighs at the limiting receiver (RFC 4654, 4.3.2: 0.9) ...
        q_limiting: f64 = 0.9, 0.0 => 1.0;
        /// ... and at the others, which measure it rarely (RFC 4654, 4.3.2: 0.5).
        q_other: f64 = 0.5, 0.0 => 1.0;
        /// Whether one-way delays adjust the round-trip time between two measurements (RFC 4654, 4.3.3: yes).
        one_way_delay: bool = true;
        // The fair rate.
        /// The model of TCP's throughput (RFC 4654, 2.1).
        formula: Formula = Formula::PftkSimplified;
        /// Over how many round-trip times the receive rate is measured (RFC 4654, 4.3.4: 2 to 4).
        receive_window: f64 = 4.0, 1.0 => 100.0;
        /// Whether the reported rate is never more than twice the receive rate (CHOICE: no; NORM: yes).
        limit_by_receive_rate: bool = false;
        /// How many loss intervals are averaged (RFC 4654, 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted in a long one without losses (RFC 4654, 5.5: optional).
        discounting: bool = true;
        /// The floor of discounting (RFC 4654, 5.5: 0.5).
        discount_threshold: f64 = 0.5, 0.0 => 1.0;
        /// How many later packets make a missing one lost (RFC 4654, 5.1: 3).
        reorder: u32 = 3, 1 => 100;
        /// A receiver whose fair rate is below one packet in `max_spacing`, and below the session's, leaves after this (RFC 4654, 4.4: 120 s).
        starved_leave: Duration = Duration::from_secs(120), Duration::from_ms(1) => Duration::from_secs(3600);
        /// How long without packets is worth a note, and a new try where the join had failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {}

impl Options {
    /// What the loss estimator is to be. What is not an option here plays no part in the method.
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
