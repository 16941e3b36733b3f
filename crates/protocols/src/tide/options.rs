//! The options of Tide.

use layercast_core::options;
use layercast_core::units::Duration;
use layercast_kit::response::Response;

layercast_core::choices! {
    /// What marks are.
    pub enum Marks {
        /// Events, as losses are (RFC 3168).
        Events = "events",
        /// A fraction that counts, as in L4S (RFC 9331): only in simulations.
        Fraction = "fraction",
    }
}

options! {
    /// The options of Tide.
    pub struct Options {
        /// Whose rate is fair: that of Reno or of CUBIC.
        fair_to: Response = Response::Reno;
        /// What ECN marks are: events like losses, or a fraction as in L4S, which is for simulations only.
        marks: Marks = Marks::Events;
        /// The length of a time slot.
        slot: Duration = Duration::from_ms(2500), Duration::from_ms(100) => Duration::from_secs(600);
        /// Minimum silence of a wave's channel; it must outlast any leave.
        quiet: Duration = Duration::from_secs(15), Duration::ZERO => Duration::from_secs(3600);
        /// Factor by which a wave's rate falls in a slot.
        fall: f64 = 0.75, 0.3 => 0.95;
        /// By which part of its spacing a packet may leave later than planned, at random.
        dither: f64 = 0.5, 0.0 => 1.0;
        /// How long a leave may take: losses while the queue stays full so long after the start are those of the start.
        leave_bound: Duration = Duration::from_secs(4), Duration::ZERO => Duration::from_secs(60);
        /// Time without packets after which a receiver starts again.
        silence: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Number of later packets of its channel after which a packet is lost.
        reorder: u32 = 3, 1 => 100;
        /// The round-trip time that is assumed at least while none was echoed.
        assumed_rtt: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(60);
        /// Whether receivers report, which gives them their round-trip times.
        reports: bool = true;
    }
}
