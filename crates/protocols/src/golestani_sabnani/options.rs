//! The options of receivers' windows with their defaults (docs/protocols/golestani-sabnani.md). "CHOICE" marks
//! what the sources at hand do not say.

use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Size};

options! {
    /// The options of the protocol, for the source and the receivers of a session alike.
    pub struct Options {
        // The window at the receiver.
        /// How many later packets make a missing one lost (TCP: 3).
        reorder: u32 = 3, 1 => 100;
        /// A window does not grow while it is more than so many times that of the receiver which limits the source (CHOICE).
        headroom: f64 = 2.0, 1.0 => 1e6;
        /// The largest window in packets (CHOICE).
        most_window: f64 = 10_000.0, 1.0 => 1_000_000.0;
        /// A receiver reports when what it allows has grown by more than this part of its window (TRAM: 1/2).
        report_part: f64 = 0.5, 0.0 => 0.9;
        /// The size of a report on the wire.
        report_size: Size = Size::from_bytes(64);
        // The source.
        /// The least time without progress after which `reorder` + 1 packets leave beyond the allowed number (CHOICE: 1 s, or two round-trip times).
        timeout_minimum: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(64);
        /// A receiver that limits the source and reports no progress for so long is dropped (CHOICE).
        stall_limit: Duration = Duration::from_secs(30), Duration::from_ms(100) => Duration::from_secs(3600);
        /// How many receivers the source follows; reports of more are dropped (CHOICE).
        most_receivers: u32 = 1000, 1 => 100_000;
        /// How many reports the source takes per second; surplus ones are only counted (CHOICE).
        report_limit: u32 = 1_000_000, 1 => 100_000_000;
        /// How many packets may leave at once; further ones leave at the rate of the session's layers (CHOICE).
        burst: u32 = 8, 1 => 1000;
        // The session.
        /// How many packets announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
        /// How long without packets causes a trace event, and another attempt if the join had failed (CHOICE).
        silence_note: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: true, start: "TCP's slow start at each receiver" }
    }
}
