//! TFRC's options with their defaults (docs/protocols/tfrc.md).

pub use super::choices::{FirstTarget, InitialWindow, Profile, ReceiveLimit};
use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Size};

/// The interval of packets before the first report of the only receiver, on a real network.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_ms(500);
pub use layercast_kit::equation::Formula;
pub use layercast_kit::estimator::{LossMethod, RtoRule, RttFilter};
pub use layercast_kit::response::Response;

options! {
    /// The options of TFRC, shared by the source and the receiver of a session.
    pub struct Options {
        /// Rules that the session follows. The options below override single rules of a profile.
        profile: Profile = Profile::Rfc5348;
        /// Rate after the first report, in packets per round trip (RFC 5348, section 4.2).
        initial_window: InitialWindow = InitialWindow::ByProfile;
        /// Which receive rates bound the sending rate (RFC 5348, section 4.3; RFC 3448, section 4.3).
        receive_limit: ReceiveLimit = ReceiveLimit::ByProfile;
        /// Rate for which the first loss interval is calculated (RFC 5348 and 3448, section 6.3.1).
        first_target: FirstTarget = FirstTarget::ByProfile;
        /// Weight of the old round-trip time in its mean, and of its square root in the long-term mean; 0: by profile (RFC 5348, section 4.3: 0.9; ns-2: 0.95).
        q: f64 = 0.0, 0.0 => 1.0;
        /// Filter of the round-trip time samples (RFC 5348, section 4.3).
        rtt_filter: RttFilter = RttFilter::Ewma;
        /// Number of samples of the minimum filter.
        rtt_window: u32 = 8, 1 => 1000;
        /// Rule of the equation's retransmission timeout; by profile: four-r (RFC 5348, section 4.3), or ns-tick for ns2.
        rto: Option<RtoRule> = None;
        /// Minimum timeout of the rfc-6298 rule.
        rto_minimum: Duration = Duration::from_secs(1);
        /// Clock granularity of rfc-6298, and the tick of ns-tick.
        rto_granularity: Duration = Duration::from_ms(100);
        /// Whether an increasing round-trip time slows the source down (RFC 5348, section 4.5: recommended).
        damping: bool = true;
        /// Whose rate is fair: that of Reno by `formula`, or of another TCP by its response function.
        fair_to: Response = Response::Reno;
        /// Model of Reno's throughput; by profile: pftk-simplified (RFC 5348, section 3.1), or the clamped one for ns2.
        formula: Option<Formula> = None;
        /// Packets per acknowledgement of the modelled TCP (RFC 5348, section 3.1: 1).
        packets_per_ack: f64 = 1.0, 1.0 => 100.0;
        /// How the loss rate is estimated; by profile: lip (RFC 5348, section 5), with small packets lip-short. lap keeps the packets before the first loss as an interval.
        loss_estimator: Option<LossMethod> = None;
        /// Number of loss intervals averaged (RFC 5348, section 5.4: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted during a long one without losses (RFC 5348, section 5.5: optional).
        discounting: bool = true;
        /// Lower bound of the discount factor; 0: by profile (RFC 5348, section 5.5: 0.25; RFC 3448 and ns-2: 0.5).
        discount_threshold: f64 = 0.0, 0.0 => 1.0;
        /// Number of later packets after which a missing one is lost; 0: by profile (RFC 5348, section 5.1: 3; ns-2: 1).
        reorder: u32 = 0, 0 => 100;
        /// Whether the session uses TFRC-SP, for small packets: it may send what TCP could with packets of the nominal size, and all losses of short intervals count (RFC 4828, section 3).
        small_packets: bool = false;
        /// With small packets: packet size in the equation, without headers (RFC 4828, section 3: 1460 bytes).
        nominal_size: Size = Size::from_bytes(1460), Size::from_bytes(1) => Size::from_bytes(65535);
        /// With small packets: size of the headers in each packet, which do not count as data (RFC 4828, section 3: 40 bytes).
        header_size: Size = Size::from_bytes(40), Size::from_bytes(0) => Size::from_bytes(1000);
        /// With small packets: minimum time between two packets (RFC 4828, section 3: 10 ms).
        least_spacing: Duration = Duration::from_ms(10), Duration::from_us(1) => Duration::from_secs(60);
        /// By which part of its spacing a packet may leave later than planned, at random (RFC 5348 has none; ns-2, `overhead_`: none by default).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// Size of a report on the wire (ns-2: 40 bytes).
        report_size: Size = Size::from_bytes(40);
        /// Interval at which a receiver asks the source to begin until data arrives (this project's choice).
        hello_interval: Duration = Duration::from_secs(1), Duration::from_ms(10) => Duration::from_secs(60);
        /// Interval of the source's packets before the first message from a receiver, by which receivers can
        /// discover the session; 0 for never, where receivers know of it (this project's choice).
        announce_interval: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(60);
        /// Number of packets that announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
    }
}

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::One, ecn: true, start: "doubles each round trip until a loss" }
    }

    fn most_receivers(&self) -> Option<usize> {
        Some(1)
    }

    fn agreed(&self) -> &'static [&'static str] {
        // The source calculates the rate, the receiver the first loss interval.
        &["fair_to"]
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        // A receiver discovers the session by its packets, so some must arrive before it reports.
        self.announce_interval = ANNOUNCE_INTERVAL;
    }
}
