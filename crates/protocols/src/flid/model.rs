//! What FLID does on average: the Markov chain of its levels under independent loss (FLID-DL paper,
//! section IV-C, with the recursion corrected, see `docs/errata.md`).

use alloc::vec::Vec;

use layercast_core::layers::LayerTable;
use layercast_core::math::{exp, exp_m1, ln, ln_1p};
use layercast_core::units::{Duration, Size};

/// The levels of a session as states of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The cumulative rate of each level, in packets/s.
    pub packets_per_s: Vec<f64>,
    /// The length of a slot, in seconds.
    pub slot_s: f64,
}

/// How often a receiver joins and leaves on average, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memberships {
    /// Joins, and as many leaves, if all layers are dynamic.
    pub dynamic: f64,
    /// Joins, and as many leaves, if all layers but the base are dynamic.
    pub dynamic_above_base: f64,
    /// Joins, and as many leaves, if the layers are static.
    pub fixed: f64,
}

impl Model {
    /// The model of a layer structure.
    pub fn new(layers: &LayerTable, packet_size: Size, slot: Duration) -> Model {
        let bits = packet_size.as_bits().max(1) as f64;
        let rate = |layer| layers.cumulative(layer).as_bps() / bits;
        Model { packets_per_s: layers.layers().map(rate).collect(), slot_s: slot.as_secs_f64() }
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.packets_per_s.len()
    }

    /// The logarithm of the probability that a slot at this level passes without loss.
    pub(super) fn ln_clean(&self, level: usize, loss: f64) -> f64 {
        self.packets_per_s.get(level).map_or(0.0, |rate| self.slot_s * rate * ln_1p(-loss))
    }

    /// The probability of each level in the steady state, with increase probabilities `increase_probabilities`
    /// and packet loss probability `loss`. Without loss all weight is on the highest level
    /// that can be reached.
    pub fn level_probabilities(&self, increase_probabilities: &[f64], loss: f64) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.levels());
        let mut weight = 0.0;
        for level in 0..self.levels() {
            if level > 0 {
                let rise = increase_probabilities.get(level - 1).copied().unwrap_or_default();
                // Where the probability of an increase is 0, the chain is cut. At no loss the last term is
                // infinite: all weight moves up as far as possible.
                weight = match rise > 0.0 && weight > f64::NEG_INFINITY {
                    true => {
                        let (from, to) = (self.ln_clean(level - 1, loss), self.ln_clean(level, loss));
                        weight + ln(rise) + from - ln(-exp_m1(to))
                    }
                    false => f64::NEG_INFINITY,
                };
            }
            weights.push(weight);
        }
        // Infinite weights are counted, so that the highest level with one has all the weight.
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::INFINITY {
            let top = weights.iter().rposition(|&weight| weight == largest);
            return (0..weights.len()).map(|level| if Some(level) == top { 1.0 } else { 0.0 }).collect();
        }
        weights.iter_mut().for_each(|weight| *weight = exp(*weight - largest));
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    /// The mean rate in packets/s: the rates of the levels by their [probabilities](Model::level_probabilities).
    pub fn mean_rate(&self, increase_probabilities: &[f64], loss: f64) -> f64 {
        let shares = self.level_probabilities(increase_probabilities, loss);
        shares.iter().zip(&self.packets_per_s).map(|(share, rate)| share * rate).sum()
    }

    /// How often receivers join and leave (FLID-DL paper, section IV-C, per second).
    pub fn memberships(&self, increase_probabilities: &[f64], loss: f64) -> Memberships {
        let mut per_slot = Memberships::default();
        for (level, share) in self.level_probabilities(increase_probabilities, loss).into_iter().enumerate() {
            let clean = share * exp(self.ln_clean(level, loss));
            let rise = increase_probabilities.get(level).copied().unwrap_or_default();
            let stay = if level == 0 { 0.0 } else { 1.0 };
            per_slot.dynamic += clean * (1.0 + rise);
            per_slot.dynamic_above_base += clean * (stay + rise);
            per_slot.fixed += clean * rise;
        }
        let per_s = |joins: f64| joins / self.slot_s;
        Memberships {
            dynamic: per_s(per_slot.dynamic),
            dynamic_above_base: per_s(per_slot.dynamic_above_base),
            fixed: per_s(per_slot.fixed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn without_loss_all_weight_is_at_the_highest_level_that_can_be_reached() {
        let model = Model { packets_per_s: vec![1.0, 2.0, 4.0, 8.0], slot_s: 1.0 };
        assert_eq!(model.level_probabilities(&[0.5, 0.2, 0.1, 0.0], 0.0), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(model.level_probabilities(&[0.5, 0.0, 0.1, 0.0], 0.0), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(model.mean_rate(&[0.0, 0.2, 0.1, 0.0], 0.0), 1.0);
        assert_eq!(model.level_probabilities(&[0.5, 0.2, 0.1, 0.0], 1.0), [1.0, 0.0, 0.0, 0.0]);
    }
}
