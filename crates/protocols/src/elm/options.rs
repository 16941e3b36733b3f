//! ELM's options with their defaults (docs/protocols/elm.md). "CHOICE" marks what the thesis leaves open.

pub use super::choices::{
    DeafPeriod, EchoOrder, FirstSequence, JoinGapScope, SilentLayer, SlowStartPace, SmoothingSampling,
    Strategy, TimerUpdate,
};

use layercast_core::layers::LayerTable;
use layercast_core::options;
use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan, check_layers};
use layercast_core::units::{Duration, Layer, Size};
pub use layercast_kit::equation::Formula;
use layercast_kit::estimator::VirtualConfig;
pub use layercast_kit::estimator::{
    Boundary, FirstInterval, ImpactAverage, LossConfig, LossMethod, RtoRule, RttFilter, Smoothing,
    SmoothingConfig, VirtualLoss, WindowScope,
};
use layercast_kit::fair::FairEquation;
use layercast_kit::pacing::DEPLOYED_DITHER;
pub use layercast_kit::response::Response;

options! {
    /// The options of ELM, shared by the source and the receivers of a session.
    pub struct Options {
        // Subscription management (thesis 6.1).
        /// When a receiver changes its level (thesis 6.1).
        strategy: Strategy = Strategy::Lazy;
        /// Lazy: maximum delay before a join (thesis 6.3: 25 s).
        t_join_max: Duration = Duration::from_secs(25);
        /// Lazy: maximum delay before a leave (thesis 6.3: 25 s).
        t_leave_max: Duration = Duration::from_secs(25);
        /// Lazy: exponent of the excess d in the reactivity when joining (thesis 6.1.3: 1).
        join_reactivity: f64 = 1.0, 0.01 => 100.0;
        /// Lazy: exponent of the excess d in the reactivity when leaving (thesis 6.1.3: square root).
        leave_reactivity: f64 = 0.5, 0.01 => 100.0;
        /// Lazy: width of the passive zone above the next level's rate, as a fraction of the gap to it (ELM: none).
        z_up: f64 = 0.0, 0.0 => 100.0;
        /// Lazy: width of the passive zone below the level's rate, as a fraction of the gap below it (ELM: none).
        z_down: f64 = 0.0, 0.0 => 1.0;
        /// Lazy: how a new rate affects a running timer (CHOICE).
        timer_update: TimerUpdate = TimerUpdate::Deadline;
        /// Skeptical: how long the rate must be above that of the next level (CHOICE).
        t_join: Duration = Duration::from_secs(25);
        /// Skeptical: how long the rate must be below that of the level (CHOICE).
        t_leave: Duration = Duration::from_secs(25);
        /// Naive: minimum time between two changes; use one round trip on real networks (CHOICE).
        min_gap: Duration = Duration::ZERO;
        /// Minimum time between two joins while no loss bounds the rate (CHOICE: the slow start interval).
        join_min_gap: Duration = Duration::from_secs(5);
        /// Which joins `join_min_gap` delays (CHOICE).
        join_gap_scope: JoinGapScope = JoinGapScope::Unbounded;
        /// Time without joins after the host failed to make one (CHOICE).
        join_failed_hold: Duration = Duration::from_secs(10);

        // Slow start (thesis 6.2.4).
        /// Whether a receiver begins with slow start (thesis 6.2.4: yes).
        slow_start: bool = true;
        /// What sets the pace of slow start (thesis 6.3.1: round trips for the naive strategy).
        slow_start_pace: SlowStartPace = SlowStartPace::ByStrategy;
        /// Time between two joins of slow start (CHOICE).
        slow_start_interval: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time between two joins of slow start in round-trip times, where these set the pace (CHOICE).
        slow_start_round_trips: f64 = 4.0, 0.1 => 10000.0;
        /// Length of the deaf period, in which rates are ignored, after a join of slow start (thesis 6.2.4: scaled).
        deaf_period: DeafPeriod = DeafPeriod::Scaled;
        /// The deaf period, if constant.
        deaf_constant: Duration = Duration::from_secs(1);
        /// The deaf period in round-trip times, if counted in round trips.
        deaf_round_trips: f64 = 4.0, 0.0 => 10000.0;
        /// Whether rates enter the smoothing during a deaf period (CHOICE).
        smooth_while_deaf: bool = true;

        // The fair rate (thesis 3.1.4, 4.2, 5.1.3, 6.2.2 and 6.2.5).
        /// Whose rate is fair: that of Reno by `formula`, or of another TCP by its response function.
        fair_to: Response = Response::Reno;
        /// Model of Reno's throughput (thesis eq. 3).
        formula: Formula = Formula::PftkSimplified;
        /// Packets per acknowledgement of the modelled TCP (thesis: 1).
        packets_per_ack: f64 = 1.0, 1.0 => 100.0;
        /// Filter of the round-trip time samples (thesis eq. 5).
        rtt_filter: RttFilter = RttFilter::Ewma;
        /// Weight of the old round-trip time in its weighted mean (thesis: 0.9).
        q: f64 = 0.9, 0.0 => 1.0;
        /// Number of samples of the minimum filter.
        rtt_window: u32 = 8, 1 => 1000;
        /// Rule of the retransmission timeout (thesis eq. 6 prints four-sample, erratum E2).
        rto: RtoRule = RtoRule::FourR;
        /// Minimum timeout of the rfc-6298 rule.
        rto_minimum: Duration = Duration::from_secs(1);
        /// Clock granularity of rfc-6298, and the tick of ns-tick.
        rto_granularity: Duration = Duration::from_ms(100);
        /// How the loss rate is estimated (thesis 6.2.2: lap).
        loss_estimator: LossMethod = LossMethod::Lap;
        /// Number of loss intervals averaged (thesis: 8).
        history: u32 = 8, 1 => 256;
        /// Whether old intervals are discounted during a long one without losses (CHOICE, as ns-2).
        discounting: bool = true;
        /// Lower bound of the discount factor (CHOICE, as ns-2 and RFC 3448).
        discount_threshold: f64 = 0.5, 0.0 => 1.0;
        /// Whether discounting also applies to impacts (CHOICE).
        discount_impact: bool = true;
        /// How the impacts of loss aggregation periods are averaged (thesis chapter 6: weighted).
        impact: ImpactAverage = ImpactAverage::Weighted;
        /// Whether a packet sent exactly one round trip after an event is outside it (thesis eq. 12, 13).
        boundary: Boundary = Boundary::Outside;
        /// Treatment of the packets before the first loss event (CHOICE; `synthetic` acts as `counted`).
        first_interval: FirstInterval = FirstInterval::Counted;
        /// The LIP/LAP window in packets: losses closer than this count once (thesis fig. 33: 3).
        window: u32 = 3, 1 => 1024;
        /// Which losses the window measures the distance between (CHOICE).
        window_scope: WindowScope = WindowScope::Session;
        /// Size of virtual packets, which the loss estimator and the equation use in place of the real ones; 0: none (thesis 4.3.4).
        virtual_size: Size = Size::from_bytes(0);
        /// When a virtual packet counts as lost (the thesis does not say).
        virtual_loss: VirtualLoss = VirtualLoss::Representative;
        /// Number of later packets of a layer after which a missing one is lost (thesis: 1; use 3 on real networks).
        reorder: u32 = 1, 1 => 100;
        /// How the fair rate is smoothed before decisions (thesis 6.2.5).
        smoothing: Smoothing = Smoothing::PercentileMean;
        /// Number of values in the smoothing window (CHOICE).
        smoothing_window: u32 = 100, 1 => 4096;
        /// The lower percentile, as a fraction (thesis eq. 24).
        smoothing_low: f64 = 0.2, 0.0 => 1.0;
        /// The upper percentile, as a fraction (thesis eq. 24).
        smoothing_high: f64 = 0.8, 0.0 => 1.0;
        /// Weight of a new value in the weighted mean (thesis eq. 22).
        smoothing_alpha: f64 = 0.1, 0.0001 => 1.0;
        /// When a value enters the smoothing (CHOICE).
        smoothing_sampling: SmoothingSampling = SmoothingSampling::PerPacket;
        /// Sampling interval, if sampled by interval; use a window of 50 then.
        smoothing_interval: Duration = Duration::from_ms(100), Duration::from_us(1) => Duration::from_secs(3600);
        /// Whether a change of level clears the smoothing (CHOICE).
        smoothing_reset: bool = false;
        /// Whether the first bounded rate clears the unbounded ones from the smoothing (CHOICE).
        clear_on_first_finite: bool = true;

        // The source.
        /// By which part of its spacing a packet may leave later than planned, at random (the thesis has none).
        dither: f64 = 0.0, 0.0 => 1.0;

        // Feedback (thesis 4.2.1 and 6.2.3).
        /// Initial round-trip time, used before the first sample (CHOICE).
        r_init: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(64);
        /// Target rate of reports at the source, in messages per second from all receivers (CHOICE).
        feedback_target: f64 = 1.0, 0.001 => 1000000.0;
        /// Interval at which the source adjusts the feedback interval (thesis 6.2.3: 5 s).
        feedback_check: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Initial feedback interval (CHOICE).
        t_fb_initial: Duration = Duration::from_secs(1), Duration::from_ms(10) => Duration::from_secs(3600);
        /// Minimum feedback interval (CHOICE).
        t_fb_min: Duration = Duration::from_ms(100), Duration::from_ms(10) => Duration::from_secs(3600);
        /// Maximum feedback interval (CHOICE).
        t_fb_max: Duration = Duration::from_secs(600), Duration::from_ms(10) => Duration::from_secs(3600);
        /// Minimum of the random factor on the announced interval that gives a receiver's own (CHOICE).
        feedback_jitter_low: f64 = 0.5, 0.0 => 1.0;
        /// Maximum of that factor (CHOICE).
        feedback_jitter_high: f64 = 1.5, 1.0 => 10.0;
        /// The first report comes within the shorter of this and the announced interval (CHOICE).
        first_report_spread: Duration = Duration::from_secs(1);
        /// Whether a newly announced interval also changes a running report timer (thesis: no).
        robust_feedback: bool = false;
        /// Minimum time between two reports of a receiver, whatever is announced.
        report_floor: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(60);
        /// Order of the echoes (CHOICE).
        echo_order: EchoOrder = EchoOrder::Arrival;
        /// Size of a report on the wire.
        report_size: Size = Size::from_bytes(64);

        // Silence, of which the thesis says nothing.
        /// How long a receiver waits for the first packet before it records the silence (CHOICE).
        start_timeout: Duration = Duration::from_secs(10), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Number of retransmission timeouts without a packet after which a path is silent (CHOICE).
        silence_timeouts: f64 = 4.0, 0.0 => 1000.0;
        /// Minimum time after which a path is silent (CHOICE).
        silence_min: Duration = Duration::from_secs(2), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Time between two leaves on a silent path (CHOICE).
        silence_leave_gap: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Minimum time, besides 4 round trips or spacings, after which a joined layer is silent (CHOICE).
        join_silent_min: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Treatment of a silent layer (CHOICE).
        join_silent: SilentLayer = SilentLayer::Leave;
        /// Time from its join after which a silent layer is left (CHOICE).
        join_silent_leave: Duration = Duration::from_secs(10), Duration::from_ms(1) => Duration::from_secs(3600);

        // The source.
        /// Number of a layer's first packet.
        first_sequence: FirstSequence = FirstSequence::Zero;
        /// Number of packets that announce the end of the session when the source is stopped.
        end_packets: u32 = 3, 0 => 100;
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: true, start: "a layer each 5 s until losses" }
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        self.dither = DEPLOYED_DITHER;
        // The thesis counts the first packet out of order as a loss. Real networks reorder.
        self.reorder = 3;
        // On a path of a few milliseconds the fair rate is far above the link until its queue is
        // full, and a receiver would climb several layers before it sees a loss.
        self.join_gap_scope = JoinGapScope::All;
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        check_layers(plan, super::header::MAX_LAYERS, "ELM's headers")
    }
}

impl Options {
    /// The equation of the fair rate.
    pub fn fair_equation(&self) -> FairEquation {
        FairEquation { fair_to: self.fair_to, formula: self.formula }
    }

    /// The configuration of the loss estimator.
    pub fn loss_config(&self) -> LossConfig {
        LossConfig {
            method: self.loss_estimator,
            history: self.history,
            discounting: self.discounting.then_some(self.discount_threshold),
            boundary: self.boundary,
            first_interval: self.first_interval,
            initial_rtt: self.r_init,
            impact: self.impact,
            discount_impact: self.discount_impact,
            window: self.window,
            scope: self.window_scope,
            virtual_packets: VirtualConfig::of(self.virtual_size, self.virtual_loss),
        }
    }

    /// The configuration of the smoother. An unbounded rate counts as twice the rate of all layers.
    pub fn smoothing_config(&self, layers: &LayerTable) -> SmoothingConfig {
        let top = Layer(layers.count().saturating_sub(1));
        SmoothingConfig {
            smoothing: self.smoothing,
            weight: self.smoothing_alpha,
            window: self.smoothing_window,
            low: self.smoothing_low,
            high: self.smoothing_high,
            largest: layers.cumulative(top).scaled(2.0),
            clear_on_first_finite: self.clear_on_first_finite,
        }
    }
}
