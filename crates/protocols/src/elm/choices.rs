//! The named choices among ELM's options.

use layercast_core::choices;

choices! {
    /// When a receiver changes its level (thesis 6.1).
    pub enum Strategy {
        /// At once, whenever the fair rate crosses a bound.
        Naive = "naive",
        /// When the fair rate has been past a bound for a fixed time.
        Skeptical = "skeptical",
        /// After a delay; the further the fair rate is past the bound, the shorter the delay.
        Lazy = "lazy",
    }
}

choices! {
    /// How a new rate affects a running timer of the lazy strategy (thesis 6.1.3).
    pub enum TimerUpdate {
        /// The timer fires at its start plus the delay of the newest rate.
        Deadline = "deadline",
        /// Each part of the time counts by the delay in force then.
        Progress = "progress",
    }
}

choices! {
    /// Which joins are `join_min_gap` apart (thesis 6.1.3).
    pub enum JoinGapScope {
        /// Those made while no loss bounds the rate.
        Unbounded = "unbounded",
        /// Every join of a strategy; slow start has its own pace.
        All = "all",
    }
}

choices! {
    /// What sets the pace of slow start (thesis 6.1.1 and 6.2.4).
    pub enum SlowStartPace {
        /// Round trips for the naive strategy, the interval for the others, as in the thesis.
        ByStrategy = "by-strategy",
        /// `slow_start_interval`.
        Interval = "interval",
        /// `slow_start_round_trips`.
        RoundTrips = "round-trips",
    }
}

choices! {
    /// How long rates are not consulted after a join of slow start (thesis 6.2.4).
    pub enum DeafPeriod {
        /// The interval times the base rate over the cumulative rate.
        Scaled = "scaled",
        /// `deaf_constant`.
        Constant = "constant",
        /// `deaf_round_trips`.
        RoundTrips = "round-trips",
    }
}

choices! {
    /// Which echo goes into the next base layer packet (thesis 6.2.3).
    pub enum EchoOrder {
        /// The one that has waited longest.
        Arrival = "arrival",
        /// Receivers without a round-trip time first.
        WithoutRttFirst = "without-rtt-first",
    }
}

choices! {
    /// Treatment of a joined layer that stays silent (thesis 6.2).
    pub enum SilentLayer {
        /// It counts as joined.
        Keep = "keep",
        /// It is left after `join_silent_leave`.
        Leave = "leave",
    }
}

choices! {
    /// The number that the first packet of a layer carries (thesis 6.2.2).
    pub enum FirstSequence {
        /// Zero.
        Zero = "zero",
        /// A random one.
        Random = "random",
    }
}

choices! {
    /// When a calculated rate enters the smoothing (thesis 6.2.5).
    pub enum SmoothingSampling {
        /// With each packet.
        PerPacket = "per-packet",
        /// With the first packet after each `smoothing_interval`.
        Interval = "interval",
    }
}
