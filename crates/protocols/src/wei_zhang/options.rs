//! The options of synchronised join experiments.

use layercast_core::session::{Character, Rates, Requirements};
use layercast_core::units::Duration;
use layercast_kit::pacing::DEPLOYED_DITHER;

layercast_core::choices! {
    /// From when on a receiver counts the points of the layer above its own.
    pub enum PointOrigin {
        /// From the source's start, so that receivers act together.
        Source = "source",
        /// From the receiver's own first packet.
        Join = "join",
        /// From its last change of level, a join or a leave.
        Event = "event",
    }
}

layercast_core::options! {
    /// The options of synchronised join experiments (Wei and Zhang).
    pub struct Options {
        /// The unit tau_0 of the spacing of points: those of layer j are tau_0 B_j / B_0 apart. The report
        /// has 80 to 500 ms; `layercast design wei-zhang` chooses one for a round-trip time.
        base_interval: Duration = Duration::from_ms(250), Duration::from_ms(1) => Duration::from_secs(60);
        /// From when on points are counted, tau_j apart (the report gives their spacing alone; this project's
        /// choice: source; with the others receivers do not act together).
        points_from: PointOrigin = PointOrigin::Source;
        /// The least deaf period after a layer was left, in which losses and points pass (the report has
        /// no value; this project's choice).
        deaf_minimum: Duration = Duration::from_ms(100), Duration::ZERO => Duration::from_secs(600);
        /// How long a layer may still arrive after it was left. The deaf period is at least this and twice
        /// the delay of the path.
        leave_latency: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(600);
        /// The one-way delay from the source, for the deaf period: these receivers do not measure it.
        one_way_delay: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(64);
        /// Whether a receiver lets points of a layer pass after experiments with it failed: 1, 3, 7, and so
        /// on (the report's option of exponential back-off).
        backoff: bool = false;
        /// After how many failures in a row the number of points that pass grows no more (this project's
        /// choice).
        backoff_cap: u32 = 5, 0 => 30;
        /// The share of a layer's spacing that must have passed since the last point that was acted on
        /// before the next is accepted; 0 accepts any (this project's guard against forgery).
        spacing_guard: f64 = 0.8, 0.0 => 1.0;
        /// By which part of its spacing a packet may leave later than planned, at random (the report has none).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// A packet is lost when this many later ones of its layer have arrived (1 as in the papers' simulators;
        /// 3 where networks reorder).
        reorder: u32 = 1, 1 => 100;
        /// A packet is lost when a later one of its layer is this old. For `reorder` above 1.
        late_limit: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(60);
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: false, start: "a layer at each synchronisation point" }
    }

    fn agreed(&self) -> &'static [&'static str] {
        &["base_interval"]
    }

    fn deploy(&mut self) {
        self.dither = DEPLOYED_DITHER;
    }
}

impl Options {
    /// How long a receiver is deaf after it left a layer.
    pub fn deaf(&self) -> Duration {
        self.deaf_minimum.max(self.leave_latency + self.one_way_delay * 2)
    }
}
