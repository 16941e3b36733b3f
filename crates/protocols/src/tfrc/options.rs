//! TFRC's options with their defaults (docs/protocols/tfrc.md).

pub use super::choices::{FirstTarget, InitialWindow, Profile, ReceiveLimit};
use layercast_core::options;
use layercast_core::session::Requirements;
use layercast_core::units::{Duration, Size};

/// How often a source whose only receiver has not reported sends a packet on a real network.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_ms(500);
pub use layercast_kit::equation::Formula;
pub use layercast_kit::estimator::{LossMethod, RtoRule, RttFilter};

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
        /// How samples of the round-trip time are filtered (RFC 5348, section 4.3).
        rtt_filter: RttFilter = RttFilter::Ewma;
        /// How many samples the minimum filter looks at.
        rtt_window: u32 = 8, 1 => 1000;
        /// How the retransmission timeout of the equation follows; by profile: four-r (RFC 5348, section 4.3), of ns2 ns-tick.
        rto: Option<RtoRule> = None;
        /// The least timeout of the rfc-6298 rule.
        rto_minimum: Duration = Duration::from_secs(1);
        /// The clock's granularity for rfc-6298, and the tick of ns-tick.
        rto_granularity: Duration = Duration::from_ms(100);
        /// Whether a rising round-trip time slows the source down (RFC 5348, section 4.5: recommended).
        damping: bool = true;
        /// The model of TCP's throughput; by profile: pftk-simplified (RFC 5348, section 3.1), of ns2 the clamped one.
        formula: Option<Formula> = None;
        /// Packets that one acknowledgement of the modelled TCP stands for (RFC 5348, section 3.1: 1).
        packets_per_ack: f64 = 1.0, 1.0 => 100.0;
        /// How losses become a loss rate; by profile: lip (RFC 5348, section 5), with small packets lip-short. lap keeps the packets before the first loss as an interval.
        loss_estimator: Option<LossMethod> = None;
        /// How many loss intervals are averaged (RFC 5348, section 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted in a long one without losses (RFC 5348, section 5.5: optional).
        discounting: bool = true;
        /// The floor of discounting; 0: as the profile has it (RFC 5348, section 5.5: 0.25; RFC 3448 and ns-2: 0.5).
        discount_threshold: f64 = 0.0, 0.0 => 1.0;
        /// How many later packets make a missing one lost; 0: as the profile has it (RFC 5348, section 5.1: 3; ns-2: 1).
        reorder: u32 = 0, 0 => 100;
        /// Whether the session is one of small packets, TFRC-SP: it may send what TCP could with packets of the nominal size, and all losses of short intervals count (RFC 4828, section 3).
        small_packets: bool = false;
        /// With small packets: the packet size in the equation, without headers (RFC 4828, section 3: 1460 bytes).
        nominal_size: Size = Size::from_bytes(1460), Size::from_bytes(1) => Size::from_bytes(65535);
        /// With small packets: the headers in each packet, which are no data (RFC 4828, section 3: 40 bytes).
        header_size: Size = Size::from_bytes(40), Size::from_bytes(0) => Size::from_bytes(1000);
        /// With small packets: the least time between two packets (RFC 4828, section 3: 10 ms).
        least_spacing: Duration = Duration::from_ms(10), Duration::from_us(1) => Duration::from_secs(60);
        /// The size of a report on the wire (ns-2: 40 bytes).
        report_size: Size = Size::from_bytes(40);
        /// How often a receiver asks the source to begin until data comes (this project's choice).
        hello_interval: Duration = Duration::from_secs(1), Duration::from_ms(10) => Duration::from_secs(60);
        /// How often the source sends a packet while no receiver has spoken, so that one may learn of the
        /// session from its packets; 0 for never, as where receivers know of it (this project's choice).
        announce_interval: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(60);
        /// How many packets say the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
    }
}

impl Requirements for Options {
    fn most_receivers(&self) -> Option<usize> {
        Some(1)
    }

    fn deploy(&mut self) {
        // A receiver learns of the session from its packets, so some must come before it reports.
        self.announce_interval = ANNOUNCE_INTERVAL;
    }
}
