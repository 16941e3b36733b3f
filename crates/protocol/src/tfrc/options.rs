//! TFRC's options with their defaults (docs/protocols/tfrc.md).

pub use super::choices::{FirstTarget, InitialWindow, Profile, ReceiveLimit};
use crate::options;
use crate::session::Needs;
use crate::units::{Size, Span};

options! {
    /// The options of TFRC, for the source and the receiver of a session alike.
    pub struct Options {
        /// Whose rules are followed. What follows in this table changes single rules of a profile.
        profile: Profile = Profile::Rfc5348;
        /// The rate after the first report, in packets per round trip (RFC 5348, section 4.2).
        initial_window: InitialWindow = InitialWindow::ByProfile;
        /// Which receive rates bound the sending rate (RFC 5348, section 4.3; RFC 3448, section 4.3).
        receive_limit: ReceiveLimit = ReceiveLimit::ByProfile;
        /// For which rate the first loss interval is calculated (RFC 5348 and 3448, section 6.3.1).
        first_target: FirstTarget = FirstTarget::ByProfile;
        /// What the old round-trip time weighs in its mean, and its square root in the long-term mean; 0: as the profile has it (RFC 5348, section 4.3: 0.9; ns-2: 0.95).
        q: f64 = 0.0, 0.0 => 1.0;
        /// Whether a rising round-trip time slows the source down (RFC 5348, section 4.5: recommended).
        damping: bool = true;
        /// Packets that one acknowledgement of the modelled TCP stands for (RFC 5348, section 3.1: 1).
        packets_per_ack: f64 = 1.0, 1.0 => 100.0;
        /// How many loss intervals are averaged (RFC 5348, section 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted in a long one without losses (RFC 5348, section 5.5: optional).
        discounting: bool = true;
        /// The floor of discounting; 0: as the profile has it (RFC 5348, section 5.5: 0.25; RFC 3448 and ns-2: 0.5).
        discount_threshold: f64 = 0.0, 0.0 => 1.0;
        /// How many later packets make a missing one lost; 0: as the profile has it (RFC 5348, section 5.1: 3; ns-2: 1).
        reorder: u32 = 0, 0 => 100;
        /// The size of a report on the wire (ns-2: 40 bytes).
        report_size: Size = Size::from_bytes(40);
        /// How often a receiver asks the source to begin until data comes (this project's choice).
        hello_interval: Span = Span::from_secs(1), Span::from_ms(10) => Span::from_secs(60);
        /// How many packets say the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
    }
}

impl Needs for Options {
    fn most_receivers(&self) -> Option<usize> {
        Some(1)
    }
}
