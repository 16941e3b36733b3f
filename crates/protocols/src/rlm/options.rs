//! The options of RLM.

use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan};
use layercast_core::units::Duration;
use layercast_kit::pacing::DEPLOYED_DITHER;

layercast_core::choices! {
    /// Which set of constants.
    pub enum Profile {
        /// Those of ns-2.35: join timers of at most 60 s.
        Ns2 = "ns2",
        /// Those of the paper: at most 600 s.
        Paper = "paper",
    }
}

layercast_core::options! {
    /// The options of RLM. Defaults are those of ns-2.35.
    pub struct Options {
        /// Set of constants: ns2 has join timers of at most 60 s, paper of at most 600 s.
        profile: Profile = Profile::Ns2;
        /// By what a join timer grows when an experiment fails (alpha).
        backoff_factor: f64 = 2.0, 1.0 => 16.0;
        /// By what the current level's join timer shrinks while all is well (beta).
        relax_factor: f64 = 0.75, 0.0 => 1.0;
        /// The first and smallest join timer.
        join_timer_min: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(600);
        /// The largest join timer; 0 for the profile's.
        join_timer_max: Duration = Duration::ZERO, Duration::ZERO => Duration::from_secs(36_000);
        /// The first estimate of the detection time: how long after a join its loss shows. At least the leave
        /// latency.
        detection_time: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(600);
        /// The first estimate of its deviation.
        detection_deviation: Duration = Duration::from_secs(2), Duration::ZERO => Duration::from_secs(600);
        /// The weight of a new detection time (g1).
        detection_weight: f64 = 0.25, 0.0 => 1.0;
        /// The weight of a new deviation (g2).
        deviation_weight: f64 = 0.25, 0.0 => 1.0;
        /// The share of lost packets above which the layer is left in the measurement state.
        loss_threshold: f64 = 0.25, 0.0 => 1.0;
        /// Packets that must have come before that share is judged.
        least_packets: u32 = 10, 1 => 100_000;
        /// Whether receivers announce their experiments and learn from those of others.
        shared_learning: bool = true;
        /// How many announcements the source passes on within a second, so that forged ones cannot flood the
        /// group (this project's choice).
        announcements_per_s: u32 = 20, 1 => 10_000;
        /// By which part of its spacing a packet may leave later than planned, at random (ns-2: none).
        dither: f64 = 0.0, 0.0 => 1.0;
        /// A packet is lost when this many later ones of its layer have arrived (ns-2: 1).
        reorder: u32 = 1, 1 => 100;
        /// A packet is lost when a later one of its layer is this old. For `reorder` above 1.
        late_limit: Duration = Duration::from_ms(500), Duration::from_ms(1) => Duration::from_secs(60);
    }
}

impl Options {
    /// The largest join timer.
    pub fn longest_join_timer(&self) -> Duration {
        if !self.join_timer_max.is_zero() {
            return self.join_timer_max.max(self.join_timer_min);
        }
        match self.profile {
            Profile::Ns2 => Duration::from_secs(60).max(self.join_timer_min),
            Profile::Paper => Duration::from_secs(600).max(self.join_timer_min),
        }
    }
}

impl Requirements for Options {
    fn has_phases(&self) -> bool {
        true
    }

    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: false, start: "join experiments, one at a time" }
    }

    fn deploy(&mut self) {
        self.dither = DEPLOYED_DITHER;
    }

    /// One for each layer and one for announcements.
    fn channels(&self, plan: &SessionPlan) -> u16 {
        plan.layers.count().saturating_add(1)
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        let count = plan.layers.count();
        if usize::from(count) < layercast_core::layers::MAX_LAYERS {
            return Ok(());
        }
        let most = layercast_core::layers::MAX_LAYERS - 1;
        Err(PlanError(alloc::format!(
            "{count} layers and a channel for announcements; at most {most} layers"
        )))
    }
}
