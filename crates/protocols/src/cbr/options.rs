//! CBR's options with their defaults (docs/protocols/cbr.md).

pub use crate::tfrc::ShownMeasure;
use crate::tfrc::options::ANNOUNCE_INTERVAL;
use crate::tfrc::{MeterPlan, RateRule, Settings};
use layercast_core::options;
use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::{Duration, Size};
pub use layercast_kit::equation::Formula;
pub use layercast_kit::estimator::{
    Boundary, FirstInterval, ImpactAverage, RtoRule, RttFilter, VirtualLoss, WindowScope,
};
use layercast_kit::estimator::{LossConfig, LossMethod, PanelConfig, VirtualConfig};
use layercast_kit::fair::FairEquation;
use layercast_kit::pacing::DEPLOYED_DITHER;
use layercast_kit::response::Response;

options! {
    /// The options of CBR, shared by the source and the receiver of a session.
    pub struct Options {
        /// Loss measure that the receiver reports and shows as its loss rate; the others are shown as well.
        estimator: ShownMeasure = ShownMeasure::Lip;
        /// Model of TCP's throughput (thesis eq. 3).
        formula: Formula = Formula::PftkSimplified;
        /// Packets per acknowledgement of the modelled TCP (thesis: 1).
        packets_per_ack: f64 = 1.0, 1.0 => 100.0;
        /// Filter of the round-trip time samples (thesis eq. 5).
        rtt_filter: RttFilter = RttFilter::Ewma;
        /// Weight of the old round-trip time in its weighted mean (thesis: 0.9; ns-2: 0.95).
        q: f64 = 0.9, 0.0 => 1.0;
        /// Number of samples of the minimum filter.
        rtt_window: u32 = 8, 1 => 1000;
        /// Rule of the retransmission timeout (thesis eq. 6 prints four-sample; ns-2: ns-tick).
        rto: RtoRule = RtoRule::FourR;
        /// Minimum timeout of the rfc-6298 rule.
        rto_minimum: Duration = Duration::from_secs(1);
        /// Clock granularity of rfc-6298, and the tick of ns-tick.
        rto_granularity: Duration = Duration::from_ms(100);
        /// Number of loss intervals averaged (thesis: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted during a long one without losses (thesis, chapter 5: as ns-2).
        discounting: bool = true;
        /// Lower bound of the discount factor (ns-2 and RFC 3448: 0.5).
        discount_threshold: f64 = 0.5, 0.0 => 1.0;
        /// How LAP averages the impacts of periods (thesis eq. 15, chapter 5: mean).
        impact: ImpactAverage = ImpactAverage::Mean;
        /// Whether a packet sent exactly one round trip after an event is outside it (thesis eq. 12, 13).
        boundary: Boundary = Boundary::Outside;
        /// Treatment of the packets before the first loss event (this project's choice; `synthetic` acts as `counted`).
        first_interval: FirstInterval = FirstInterval::Counted;
        /// LAP's window in packets: losses closer than this count once (chapter 5 has none: 1).
        window: u32 = 1, 1 => 1024;
        /// Number of packets over which the packet loss fraction is measured (this project's choice).
        fraction_window: u32 = 1000, 1 => 1000000;
        /// Size of virtual packets, which LIP, LAP and the equation use in place of the real ones; 0: none (thesis 4.3.4).
        virtual_size: Size = Size::from_bytes(0);
        /// When a virtual packet counts as lost (the thesis does not say).
        virtual_loss: VirtualLoss = VirtualLoss::Representative;
        /// Number of later packets after which a missing one is lost (thesis: 1; use 3 on real networks).
        reorder: u32 = 1, 1 => 100;
        /// By which part of its spacing a packet may leave later than planned, at random (ns-2's constant rate moves by half with `random_`).
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
        Character { rates: Rates::Constant, ecn: false, start: "its rate at once" }
    }

    fn most_receivers(&self) -> Option<usize> {
        Some(1)
    }

    fn deploy(&mut self) {
        self.dither = DEPLOYED_DITHER;
        // A receiver discovers the session by its packets, so some must arrive before it reports.
        self.announce_interval = ANNOUNCE_INTERVAL;
    }
}

impl Options {
    pub(super) fn virtual_packets(&self) -> Option<VirtualConfig> {
        VirtualConfig::of(self.virtual_size, self.virtual_loss)
    }

    /// TFRC's settings with a constant rate and several measures.
    pub(super) fn settings(&self) -> Settings {
        let loss = LossConfig {
            method: LossMethod::Lip,
            history: self.history,
            discounting: self.discounting.then_some(self.discount_threshold),
            boundary: self.boundary,
            first_interval: self.first_interval,
            initial_rtt: Duration::from_ms(500),
            impact: self.impact,
            discount_impact: false,
            window: self.window,
            scope: WindowScope::Session,
            virtual_packets: self.virtual_packets(),
        };
        let panel = PanelConfig { loss, fraction_window: self.fraction_window };
        Settings {
            law: RateRule::Constant,
            several_at_first: false,
            recent_limit: false,
            damping: false,
            damping_q: self.q,
            equation: FairEquation { fair_to: Response::Reno, formula: self.formula },
            small_packets: None,
            packets_per_ack: self.packets_per_ack,
            rtt_filter: self.rtt_filter,
            rtt_window: self.rtt_window,
            q: self.q,
            rto: self.rto,
            rto_minimum: self.rto_minimum,
            rto_granularity: self.rto_granularity,
            reorder: self.reorder,
            precise: false,
            ns2_reports: false,
            largest_target: false,
            meter: MeterPlan::Several(panel, self.estimator),
            report_size: self.report_size,
            hello_interval: self.hello_interval,
            announce_interval: self.announce_interval,
            end_packets: self.end_packets,
            dither: self.dither,
        }
    }
}
