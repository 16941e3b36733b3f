//! RLA's options with their defaults (docs/protocols/rla.md). "CHOICE" marks what the sources at hand do not
//! say.

use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Size};

options! {
    /// The options of RLA, for the source and the receivers of a session alike.
    pub struct Options {
        // Listening.
        /// Signals of a receiver within so many of its round-trip times count once.
        signal_spacing: f64 = 2.0, 0.0 => 100.0;
        /// A receiver is troubled if its mean distance of signals is at most so many times the smallest.
        troubled: f64 = 20.0, 1.0 => 1e6;
        /// What a new distance of signals weighs in the mean (CHOICE).
        interval_weight: f64 = 0.125, 0.001 => 1.0;
        /// Whether receivers with short round-trip times are listened to less: (RTT / the longest)^2 / n.
        rtt_scaled: bool = true;
        /// A signal is heeded for sure if the last cut is older than so many mean windows times the round-trip time.
        forced_cut: f64 = 2.0, 0.1 => 1000.0;
        /// What the new window weighs in its mean, with each packet that all have acknowledged (CHOICE).
        mean_weight: f64 = 0.02, 0.0001 => 1.0;
        // The window.
        /// How many later packets make a missing one lost at the source (TCP: 3).
        reorder: u32 = 3, 1 => 30;
        /// The largest window in packets (CHOICE).
        most_window: f64 = 10_000.0, 1.0 => 1_000_000.0;
        /// The least time without progress after which the window restarts at one packet (CHOICE: 1 s, or two round-trip times).
        timeout_minimum: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(64);
        /// A receiver that limits the source and reports no progress for so long is dropped (CHOICE).
        stall_limit: Duration = Duration::from_secs(30), Duration::from_ms(100) => Duration::from_secs(3600);
        /// How many receivers the source follows; reports of more are dropped (CHOICE).
        most_receivers: u32 = 1000, 1 => 100_000;
        /// How many packets may leave at once; further ones leave at the rate of the session's layers (CHOICE).
        burst: u32 = 8, 1 => 1000;
        // Feedback.
        /// How many reports the source takes per second; surplus ones are only counted (CHOICE).
        report_limit: u32 = 1_000_000, 1 => 100_000_000;
        /// The size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        // The session.
        /// How many packets announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        /// How long without packets causes a trace event, and another attempt if the join had failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: false, start: "TCP's slow start until a loss" }
    }
}
