//! The usual layer structures.

use alloc::vec::Vec;

use super::{LayerError, LayerTable};
use crate::units::{Layer, Rate};

/// How a session's layers are described.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheme {
    /// All layers have the same rate (also Wei and Zhang's linear structure).
    Equal {
        /// The rate of each layer.
        base: Rate,
        /// How many layers there are.
        count: u16,
    },
    /// Layer i has i + 1 times the base rate.
    IncreaseByOne {
        /// The rate of the base layer.
        base: Rate,
        /// How many layers there are.
        count: u16,
    },
    /// The cumulative rate doubles from layer to layer (RLC; also Wei and Zhang's exponential structure).
    Doubling {
        /// The rate of the base layer.
        base: Rate,
        /// How many layers there are.
        count: u16,
    },
    /// The cumulative rate grows by a factor from layer to layer.
    Multiplicative {
        /// The rate of the base layer.
        base: Rate,
        /// The factor; above 1.
        factor: f64,
        /// How many layers there are.
        count: u16,
    },
    /// As `Multiplicative`, with the fewest layers that exceed a rate.
    MultiplicativeAbove {
        /// The rate of the base layer.
        base: Rate,
        /// The factor; above 1.
        factor: f64,
        /// The rate to exceed.
        above: Rate,
        /// The maximum number of layers.
        most: u16,
    },
    /// For k equal sessions on one link, for each k up to the number of layers.
    HeavyTail {
        /// The link's rate.
        link: Rate,
        /// How many layers there are.
        count: u16,
    },
    /// A table of increasing cumulative rates.
    Explicit {
        /// The cumulative rates.
        rates: Vec<Rate>,
    },
    /// Levels at fractions of capacities.
    Fractions {
        /// The capacities.
        capacities: Vec<Rate>,
        /// The fractions.
        fractions: Vec<f64>,
    },
}

impl Scheme {
    /// The layers.
    ///
    /// # Errors
    /// [`LayerError`] if they are not a valid structure.
    pub fn table(&self) -> Result<LayerTable, LayerError> {
        match *self {
            Scheme::Equal { base, count } => LayerTable::equal(base, count),
            Scheme::IncreaseByOne { base, count } => LayerTable::increase_by_one(base, count),
            Scheme::Doubling { base, count } => LayerTable::doubling(base, count),
            Scheme::Multiplicative { base, factor, count } => LayerTable::multiplicative(factor, base, count),
            Scheme::MultiplicativeAbove { base, factor, above, most } => {
                LayerTable::multiplicative_above(above, factor, base, most)
            }
            Scheme::HeavyTail { link, count } => LayerTable::heavy_tail(link, count),
            Scheme::Explicit { ref rates } => LayerTable::from_cumulative(rates.iter().copied()),
            Scheme::Fractions { ref capacities, ref fractions } => {
                LayerTable::fractions_of(capacities, fractions)
            }
        }
    }
}

impl LayerTable {
    /// The rate of a set of layers that need not be cumulative, each counted as often as it is named.
    pub fn rate_of_layers(&self, layers: impl IntoIterator<Item = Layer>) -> Rate {
        layers.into_iter().fold(Rate::ZERO, |sum, layer| sum + self.rate(layer))
    }

    /// Layers of equal rate (also Wei and Zhang's linear structure).
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::from_rates`].
    pub fn equal(rate: Rate, count: u16) -> Result<LayerTable, LayerError> {
        LayerTable::from_rates(core::iter::repeat_n(rate, usize::from(count)))
    }

    /// Layer i has i + 1 times the base rate (FLID-DL paper, section IV-A, with the relative reading
    /// of the printed rule).
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::from_rates`].
    pub fn increase_by_one(base: Rate, count: u16) -> Result<LayerTable, LayerError> {
        LayerTable::from_rates((0..count).map(|i| base.scaled(f64::from(i) + 1.0)))
    }

    /// Each cumulative rate doubles the one below (RLC, thesis, section 3.2.1).
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::multiplicative`].
    pub fn doubling(base: Rate, count: u16) -> Result<LayerTable, LayerError> {
        LayerTable::multiplicative(2.0, base, count)
    }

    /// Each cumulative rate is `factor` times the one below (FLID-DL paper, section IV-A).
    ///
    /// # Errors
    /// [`LayerError::Factor`] unless the factor is above 1; otherwise as for
    /// [`LayerTable::from_cumulative`].
    pub fn multiplicative(factor: f64, base: Rate, count: u16) -> Result<LayerTable, LayerError> {
        if !(factor > 1.0 && factor.is_finite()) {
            return Err(LayerError::Factor);
        }
        let next = |rate: &Rate| Some(rate.scaled(factor));
        LayerTable::from_cumulative(core::iter::successors(Some(base), next).take(usize::from(count)))
    }

    /// The multiplicative structure with the fewest layers whose full rate is above `bottleneck`, or
    /// `most` layers if that is not enough (FLID-DL paper, section IV-A: at most 30).
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::multiplicative`].
    pub fn multiplicative_above(
        bottleneck: Rate,
        factor: f64,
        base: Rate,
        most: u16,
    ) -> Result<LayerTable, LayerError> {
        let mut count = 1;
        let mut rate = base;
        while rate <= bottleneck && count < most {
            rate = rate.scaled(factor);
            count += 1;
        }
        LayerTable::multiplicative(factor, base, count.min(most))
    }

    /// Layer structure for k equal sessions on one link: the level that fits is the link's rate over
    /// k, for each k up to the number of layers (FLID-DL paper, section IV-A).
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::from_cumulative`].
    pub fn heavy_tail(link: Rate, count: u16) -> Result<LayerTable, LayerError> {
        LayerTable::from_cumulative((0..count).map(|i| link.scaled(1.0 / f64::from(count - i))))
    }

    /// Levels at given fractions of given capacities, in ascending order.
    ///
    /// # Errors
    /// [`LayerError`] as for [`LayerTable::from_cumulative`]; levels must not coincide.
    pub fn fractions_of(capacities: &[Rate], fractions: &[f64]) -> Result<LayerTable, LayerError> {
        let level = |&capacity: &Rate| fractions.iter().map(move |&fraction| capacity.scaled(fraction));
        let mut levels: Vec<Rate> = capacities.iter().flat_map(level).collect();
        levels.sort_by(|a, b| a.as_bps().total_cmp(&b.as_bps()));
        LayerTable::from_cumulative(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Layer;

    #[test]
    fn factors_that_do_not_rise_are_refused() {
        for factor in [1.0, 0.5, f64::NAN, f64::INFINITY] {
            let table = LayerTable::multiplicative(factor, Rate::from_kbps(1.0), 3);
            assert_eq!(table, Err(LayerError::Factor));
        }
    }

    #[test]
    fn coinciding_levels_are_refused() {
        let table = LayerTable::fractions_of(&[Rate::from_kbps(10.0), Rate::from_kbps(20.0)], &[0.5, 1.0]);
        assert_eq!(table, Err(LayerError::NotIncreasing { layer: Layer(2) }));
    }
}
