//! What a WEBRC session requires of its plan.

use alloc::format;
use alloc::string::String;

use super::options::{Options, WordForm};
use layercast_core::layers::{LayerError, LayerTable};
use layercast_core::session::{Character, PlanError, Rates, Requirements, SessionPlan};
use layercast_core::units::{Level, Rate, Size};
use layercast_kit::pacing::DEPLOYED_DITHER;
use layercast_kit::response::Response;
use layercast_kit::waves::{MAX_CHANNELS, WaveConfig, Waves};

impl Requirements for Options {
    fn character(&self) -> Character {
        Character { rates: Rates::Layers, ecn: false, start: "a wave at a time until a loss" }
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

    fn span(&mut self, from: Rate, to: Rate, packet: Size) -> Result<LayerTable, LayerError> {
        LayerTable::between(from, to)?;
        // A base below the lowest rate costs some waves more, and harms nobody.
        self.base_rate = (from.as_bps() / packet.as_bits().max(1) as f64).clamp(0.01, 1000.0);
        LayerTable::between(to, to)
    }

    fn agreed(&self) -> &'static [&'static str] {
        &["base_rate", "slot", "quiet", "fall", "waves", "constant_rate", "word"]
    }

    fn deploy(&mut self) {
        self.fair_to = Response::Cubic;
        self.dither = DEPLOYED_DITHER;
    }

    fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        match self.plan_error(plan) {
            Some(fault) => Err(PlanError(fault)),
            None => Ok(()),
        }
    }
}

impl Options {
    /// The waves of a session. The rate of all layers of `plan` together is the maximum of the source (SR_b).
    pub fn waves(&self, plan: &SessionPlan) -> Waves {
        let bits = plan.packet_size.as_bits().max(1) as f64;
        Waves::new(&WaveConfig {
            base_rate: self.base_rate,
            top_rate: plan.layers.top_rate().as_bps() / bits,
            slot: self.slot,
            quiet: self.quiet,
            fall: self.fall,
            waves: self.waves.min(u32::from(u16::MAX)) as u16,
            is_constant: self.constant_rate,
        })
    }

    /// What is wrong with a plan, and what would fit.
    fn plan_error(&self, plan: &SessionPlan) -> Option<String> {
        let count = plan.layers.count();
        if count != 1 {
            return Some(format!(
                "webrc makes its own layers out of one rate, the most that the source sends; give one layer \
                 of that rate, not {count}"
            ));
        }
        let bits = plan.packet_size.as_bits() as f64;
        let (rate, base) = (plan.layers.top_rate(), Rate::from_bps(self.base_rate * bits));
        if rate <= base {
            return Some(format!(
                "a rate of {rate} leaves nothing for waves above the base channel, which has {base} with this size of \
                 packets; give a higher rate or a lower `base_rate`"
            ));
        }
        let waves = self.waves(plan);
        let fewest = Options { waves: 0, ..self.clone() }.waves(plan).active_waves();
        if waves.active_waves() > fewest {
            return Some(format!("`waves` = {} is more than the {fewest} that reach {rate}", self.waves));
        }
        if waves.channels() > MAX_CHANNELS {
            return Some(format!(
                "{} channels are more than {MAX_CHANNELS}; give longer slots or a shorter `quiet`",
                waves.channels()
            ));
        }
        if self.word == WordForm::Short && waves.cycle() > 255 {
            return Some(format!(
                "the short form numbers at most 255 waves, and there are {}; use `word` = \"long\", longer \
                 slots or a shorter `quiet`",
                waves.cycle()
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::layers::LayerTable;
    use layercast_core::units::{Duration, Size};

    fn plan(rates: &[f64]) -> SessionPlan {
        let layers = LayerTable::from_rates(rates.iter().map(|&kbps| Rate::from_kbps(kbps))).unwrap();
        SessionPlan { layers, packet_size: Size::from_bytes(1000) }
    }

    #[test]
    fn the_defaults_need_a_channel_for_each_wave_and_one_for_the_base() {
        let options = Options::default();
        // 125 packets/s take 13 waves (the base and 12 have 123), and 30 slots are silent.
        assert_eq!(options.channels(&plan(&[1000.0])), 44);
        assert_eq!(options.check(&plan(&[1000.0])), Ok(()));
        assert_eq!(options.epoch(), Duration::from_ms(500));
    }

    #[test]
    fn a_plan_that_does_not_fit_is_rejected_with_what_would() {
        let error = |options: &Options, rates: &[f64]| match options.check(&plan(rates)) {
            Err(PlanError(fault)) => fault,
            Ok(()) => String::new(),
        };
        let options = Options::default();
        assert!(error(&options, &[100.0, 100.0]).contains("give one layer"));
        assert!(error(&options, &[8.0]).contains("base_rate"));
        let many = Options { waves: 14, ..options.clone() };
        assert!(error(&many, &[1000.0]).contains("more than the 13"));
        let quick = Options { slot: Duration::from_secs(1), ..options.clone() };
        assert!(error(&quick, &[1000.0]).contains("word"));
        assert_eq!(error(&Options { word: WordForm::Long, ..quick }, &[1000.0]), "");
        let quicker = Options { slot: Duration::from_ms(100), word: WordForm::Long, ..options };
        assert!(error(&quicker, &[1000.0]).contains("longer slots"));
    }
}
