//! The usual layer structures.

use alloc::vec::Vec;
use core::f64::consts::LN_2;

use super::{LayerError, LayerTable};
use crate::math::{ceil, exp, ln, log2};
use crate::units::{Layer, Rate};

/// The largest factor of [`LayerTable::spanning`], and its largest number of layers.
const SPAN_FACTOR: f64 = 1.6;
const SPAN_LAYERS: u16 = 32;

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

    /// Layers for receivers of any rate between two: multiplicative ones, the fewest with a factor of at most 1.6, and at
    /// most 32, which every protocol can number.
    ///
    /// With a factor f, a receiver whose fair rate may be anywhere between two levels with equal probability on a
    /// logarithmic scale holds (1 - 1/f) / ln f of it on average: 0.80 with 1.6, 0.72 with 2. Four fifths is what a
    /// protocol keeps of a link anyway, and each channel costs a membership in every router. 32 layers are enough for a
    /// ratio of two million.
    ///
    /// # Errors
    /// [`LayerError::Span`] if the rates are not in order, [`LayerError::Rate`] if one is not positive.
    pub fn spanning(from: Rate, to: Rate) -> Result<LayerTable, LayerError> {
        let ends = LayerTable::between(from, to)?;
        if ends.count() == 1 {
            return Ok(ends);
        }
        let ratio = to.as_bps() / from.as_bps();
        let steps = ceil(ln(ratio) / ln(SPAN_FACTOR) - 1e-9).clamp(1.0, f64::from(SPAN_LAYERS - 1));
        let rate = |step: f64| from.scaled(exp(ln(ratio) * step / steps));
        let below = (0..steps as u16).map(|step| rate(f64::from(step)));
        LayerTable::from_cumulative(below.chain([to]))
    }

    /// Layers of which each cumulative rate doubles the one below, up to exactly the second rate, the lowest of them not
    /// above the first: the fewest, and at most 32.
    ///
    /// # Errors
    /// As [`LayerTable::spanning`].
    pub fn doubling_to(from: Rate, to: Rate) -> Result<LayerTable, LayerError> {
        LayerTable::between(from, to)?;
        let steps =
            ceil(log2(to.as_bps() / from.as_bps()) - 1e-9).clamp(0.0, f64::from(SPAN_LAYERS - 1)) as u16;
        LayerTable::doubling(to.scaled(exp(-LN_2 * f64::from(steps))), steps + 1)
    }

    /// Two layers with these cumulative rates; one layer if they are equal.
    ///
    /// # Errors
    /// As [`LayerTable::spanning`].
    pub fn between(from: Rate, to: Rate) -> Result<LayerTable, LayerError> {
        if from > to {
            return Err(LayerError::Span { from, to });
        }
        let upper = (from < to).then_some(to);
        LayerTable::from_cumulative([from].into_iter().chain(upper))
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
    use crate::math::pow;

    #[test]
    fn factors_that_do_not_rise_are_refused() {
        for factor in [1.0, 0.5, f64::NAN, f64::INFINITY] {
            let table = LayerTable::multiplicative(factor, Rate::from_kbps(1.0), 3);
            assert_eq!(table, Err(LayerError::Factor));
        }
    }

    #[test]
    fn doubling_layers_end_at_the_highest_rate_and_begin_below_the_lowest() {
        let layers = LayerTable::doubling_to(Rate::from_kbps(128.0), Rate::from_mbps(100.0)).unwrap();
        assert_eq!((layers.count(), layers.top_rate()), (11, Rate::from_mbps(100.0)));
        assert!((layers.rate(Layer::BASE).as_kbps() - 100_000.0 / 1024.0).abs() < 1e-6);
        let one = LayerTable::doubling_to(Rate::from_mbps(1.0), Rate::from_mbps(1.0)).unwrap();
        assert_eq!((one.count(), one.top_rate()), (1, Rate::from_mbps(1.0)));
        assert!(LayerTable::doubling_to(Rate::from_mbps(2.0), Rate::from_mbps(1.0)).is_err());
    }

    #[test]
    fn layers_that_span_two_rates_waste_a_fifth_of_a_path_at_most_on_average() {
        let layers = LayerTable::spanning(Rate::from_kbps(128.0), Rate::from_mbps(1000.0)).unwrap();
        assert_eq!((layers.count(), layers.rate(Layer::BASE)), (21, Rate::from_kbps(128.0)));
        assert_eq!(layers.top_rate(), Rate::from_mbps(1000.0));
        // The share that receivers hold of rates at equal distances on a logarithmic scale.
        let held = |rate: f64| {
            let below =
                layers.layers().map(|layer| layers.cumulative(layer).as_bps()).filter(|&level| level <= rate);
            below.fold(0.0, f64::max) / rate
        };
        let rates: Vec<f64> = (0..10_000).map(|at| 128e3 * pow(1e9 / 128e3, f64::from(at) / 1e4)).collect();
        let mean = rates.iter().map(|&rate| held(rate)).sum::<f64>() / 1e4;
        assert!((0.80..0.82).contains(&mean), "{mean}");
    }

    #[test]
    fn rates_to_span_may_be_equal_or_far_apart_but_not_in_the_wrong_order() {
        let span = |from, to| LayerTable::spanning(Rate::from_bps(from), Rate::from_bps(to));
        assert_eq!(span(1e6, 1e6).unwrap().count(), 1);
        assert_eq!(span(1e6, 1.1e6).unwrap().count(), 2);
        assert_eq!(span(1e3, 1.6e3).unwrap().count(), 2);
        let far = span(1.0, 1e12).unwrap();
        assert_eq!((far.count(), far.top_rate()), (SPAN_LAYERS, Rate::from_bps(1e12)));
        let error = LayerError::Span { from: Rate::from_bps(2.0), to: Rate::from_bps(1.0) };
        assert_eq!(span(2.0, 1.0), Err(error));
        assert_eq!(span(0.0, 1.0), Err(LayerError::Rate { layer: Layer(0) }));
    }

    #[test]
    fn coinciding_levels_are_refused() {
        let table = LayerTable::fractions_of(&[Rate::from_kbps(10.0), Rate::from_kbps(20.0)], &[0.5, 1.0]);
        assert_eq!(table, Err(LayerError::NotIncreasing { layer: Layer(2) }));
    }
}
