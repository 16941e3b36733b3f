//! What a Tide session requires of its plan.

use alloc::format;
use alloc::string::String;

use super::options::{Marks, Options};
use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan};
use layercast_core::units::{Duration, Layer, Level, Rate, Size};
use layercast_kit::response::Response;
use layercast_kit::waves::{MAX_CHANNELS, WaveConfig, Waves};

/// Decision points in a slot.
pub(super) const DECISION_POINTS: u64 = 10;

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: true, start: "doubles each round until a loss or a shortfall" }
    }

    fn has_static_layers(&self) -> bool {
        false
    }

    fn channels(&self, plan: &SessionPlan) -> u16 {
        self.waves(plan).channels()
    }

    fn levels(&self, plan: &SessionPlan) -> u16 {
        self.waves(plan).levels()
    }

    fn level_rate(&self, plan: &SessionPlan, level: Level) -> Rate {
        self.waves(plan).level_rate(level, plan.packet_size)
    }

    fn span(&mut self, from: Rate, to: Rate, _packet: Size) -> Result<LayerTable, LayerError> {
        LayerTable::between(from, to)
    }

    fn agreed(&self) -> &'static [&'static str] {
        &["slot", "quiet", "fall"]
    }

    fn is_scalable(&self) -> bool {
        self.marks == Marks::Fraction
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        // Finer waves: a rate that falls by 15 % in a slot, not by a quarter, keeps more of a link with a short queue (81 to 93
        // Mbit/s of 100 against 72 to 81, behind 50 ms), for 1.8 times the groups and as many joins.
        self.fall = 0.85;
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        self.plan_error(plan).map_or(Ok(()), |fault| Err(PlanError(fault)))
    }
}

impl Options {
    /// The waves of a session: the base channel has the rate of the table's first layer, and all channels
    /// together that of all its layers.
    pub fn waves(&self, plan: &SessionPlan) -> Waves {
        let bits = plan.packet_size.as_bits().max(1) as f64;
        Waves::new(&WaveConfig {
            base_rate: (plan.layers.cumulative(Layer(0)).as_bps() / bits).max(0.01),
            top_rate: plan.layers.top_rate().as_bps() / bits,
            slot: self.slot,
            quiet: self.quiet,
            fall: self.fall,
            waves: 0,
            is_constant: false,
        })
    }

    /// The time between two decision points.
    pub fn decision_interval(&self) -> Duration {
        Duration::from_ns(self.slot.as_ns() / DECISION_POINTS)
    }

    fn plan_error(&self, plan: &SessionPlan) -> Option<String> {
        let waves = self.waves(plan);
        if waves.channels() > MAX_CHANNELS {
            return Some(format!(
                "{} channels are more than {MAX_CHANNELS}; give longer slots or a shorter `quiet`",
                waves.channels()
            ));
        }
        None
    }
}
