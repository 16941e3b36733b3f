//! The true and the anticipated reception rate (RFC 3738, section 3.2.2.5), in packets/s.

use super::options::Options;
use layercast_core::math::{pow, sqrt};
use layercast_kit::waves::Waves;

/// The weights of measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// In the anticipated rate (Beta).
    pub beta: f64,
    /// In the true rate (Zeta).
    pub zeta: f64,
}

impl Weights {
    /// The weights during start-up, or after it.
    pub fn new(options: &Options, is_start_up: bool) -> Weights {
        let or = |own: f64, formula: f64| if own > 0.0 { own } else { formula };
        let (fall, root) = (options.fall, sqrt(options.fall));
        if is_start_up {
            return Weights {
                beta: or(options.beta_start_up, (1.0 - pow(fall, 0.25)) / 2.0),
                zeta: or(options.zeta_start_up, root / (1.0 + root)),
            };
        }
        let (epoch_s, slot_s) = (options.epoch().as_secs_f64(), options.slot.as_secs_f64());
        Weights {
            beta: or(options.beta, 1.0 - pow(fall / (1.0 + fall), epoch_s / slot_s)),
            zeta: or(options.zeta, (2.0 * epoch_s / (4.0 + slot_s)).min(1.0)),
        }
    }
}

/// The rates that a receiver keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The true rate (TRR_P).
    pub true_rate: f64,
    /// The anticipated rate, lost packets included (ARR_P).
    pub anticipated: f64,
    /// The factor by which a rate falls in an epoch.
    epoch_fall: f64,
    /// The lowest rate of the base channel: the source never sends less (this project's guard).
    floor: f64,
}

impl Rates {
    /// The rates when the first packet of the base channel has come, the `place`-th of its slot.
    pub fn new(waves: &Waves, options: &Options, place: u32) -> Rates {
        let slots = options.epoch().as_secs_f64() / options.slot.as_secs_f64();
        let slope = waves.steepness() / options.slot.as_secs_f64();
        let floor = waves.fall() * waves.base_rate();
        let rate = (waves.base_rate() - f64::from(place) * slope).max(floor);
        Rates { true_rate: rate, anticipated: rate, epoch_fall: waves.fallen(slots), floor }
    }

    /// An epoch ended: with this received, and this with lost packets.
    pub fn end_epoch(&mut self, waves: &Waves, weights: Weights, held: u16, received: f64, with_lost: f64) {
        self.true_rate += weights.zeta * (received - self.true_rate);
        let expected = self.epoch_fall * (1.0 - weights.beta) * self.anticipated;
        self.anticipated = (expected + weights.beta * with_lost).min(waves.joined_rate(held)).max(self.floor);
    }

    /// A slot is over. The base returns to its initial rate, and the lowest of `held` waves has ended.
    pub fn end_slot(&mut self, waves: &Waves, held: u16) {
        let ended = if held > 0 { waves.base_rate() } else { 0.0 };
        let rise = (1.0 - waves.fall()) * waves.base_rate();
        self.anticipated = (self.anticipated + rise - ended).max(self.floor);
    }

    /// A wave was joined in addition to `held` others.
    pub fn join(&mut self, waves: &Waves, held: u16) {
        self.anticipated *= waves.join_factor(held);
    }

    /// The join of the newest wave was undone; `held` others are held.
    pub fn undo_join(&mut self, waves: &Waves, held: u16) {
        self.anticipated = (self.anticipated / waves.join_factor(held)).max(self.floor);
    }
}
