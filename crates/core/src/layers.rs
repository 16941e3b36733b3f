//! The layers of a session: the rate of each, and the cumulative rates.
//!
//! Layer 0 is the base. L_i is the rate of layer i alone, B_i = L_0 + ... + L_i the cumulative rate
//! (thesis, section 2.3.1). A table is built by a scheme or from a list, and checked once.

mod scheme;

pub use scheme::Scheme;

use alloc::vec::Vec;
use core::fmt;

use crate::choices;
use crate::stream::Stream;
use crate::units::{Duration, Layer, Level, Rate};

/// The maximum number of layers of a table. Protocols may allow fewer.
pub const MAX_LAYERS: usize = 1024;

choices! {
    /// When the layers of a source begin.
    #[derive(Default)]
    pub enum Phases {
        /// Each at a random moment within its spacing, so that packets of different layers mix evenly.
        #[default]
        Random = "random",
        /// All at one moment, as a script begins the constant rates of ns-2: packets of all layers leave together.
        Together = "together",
    }
}

impl Phases {
    /// How much later than the others a layer begins whose packets are so far apart.
    pub fn draw(self, spacing: Duration, stream: &mut Stream) -> Duration {
        match self {
            Phases::Random => stream.uniform_duration(spacing),
            Phases::Together => Duration::ZERO,
        }
    }
}

/// The checked rates of a session's layers, and when they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerTable {
    own: Vec<Rate>,
    cumulative: Vec<Rate>,
    phases: Phases,
}

/// Why rates are not a layer structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerError {
    /// There is no layer.
    Empty,
    /// There are more than [`MAX_LAYERS`].
    TooMany {
        /// How many were asked for.
        count: usize,
    },
    /// A layer's rate is not positive, or negligible against the layers below.
    Rate {
        /// The layer.
        layer: Layer,
    },
    /// A layer's cumulative rate is above all numbers.
    Overflow {
        /// The layer.
        layer: Layer,
    },
    /// A cumulative rate is not above the one below it.
    NotIncreasing {
        /// The layer.
        layer: Layer,
    },
    /// The factor of a multiplicative scheme is not above 1 and finite.
    Factor,
    /// The lowest rate is above the highest.
    Span {
        /// The lowest.
        from: Rate,
        /// The highest.
        to: Rate,
    },
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayerError::Empty => write!(f, "there must be at least one layer"),
            LayerError::TooMany { count } => {
                write!(f, "{count} layers are more than the {MAX_LAYERS} allowed")
            }
            LayerError::Rate { layer } => write!(f, "the rate of layer {} must be positive", layer.0),
            LayerError::Overflow { layer } => {
                write!(
                    f,
                    "the rate with layer {} exceeds the largest number, {:.1e} bit/s",
                    layer.0,
                    f64::MAX
                )
            }
            LayerError::NotIncreasing { layer } => {
                write!(f, "the cumulative rate of layer {} must be above that of the layer below", layer.0)
            }
            LayerError::Factor => write!(f, "the factor between layers must be above 1"),
            LayerError::Span { from, to } => write!(f, "the lowest rate, {from}, is above the highest, {to}"),
        }
    }
}

impl core::error::Error for LayerError {}

impl LayerTable {
    /// A table from the rate of each layer alone.
    ///
    /// # Errors
    /// [`LayerError`] if there is no layer, if there are too many, or if a rate is not positive.
    pub fn from_rates(own: impl IntoIterator<Item = Rate>) -> Result<LayerTable, LayerError> {
        let mut table = LayerTable::empty();
        for rate in own {
            table.push(rate, table.top_rate() + rate)?;
        }
        table.checked()
    }

    /// A table from cumulative rates: a "tailored" structure.
    ///
    /// # Errors
    /// [`LayerError`] if there is no layer, if there are too many, or if the rates do not increase.
    pub fn from_cumulative(cumulative: impl IntoIterator<Item = Rate>) -> Result<LayerTable, LayerError> {
        let mut table = LayerTable::empty();
        for rate in cumulative {
            if !table.cumulative.is_empty() && rate <= table.top_rate() {
                return Err(LayerError::NotIncreasing { layer: table.next_layer() });
            }
            table.push(rate - table.top_rate(), rate)?;
        }
        table.checked()
    }

    fn empty() -> LayerTable {
        LayerTable { own: Vec::new(), cumulative: Vec::new(), phases: Phases::default() }
    }

    /// The same layers, which begin so.
    pub fn beginning(self, phases: Phases) -> LayerTable {
        LayerTable { phases, ..self }
    }

    /// When they begin. A host with sockets leaves them at random.
    pub fn phases(&self) -> Phases {
        self.phases
    }

    fn next_layer(&self) -> Layer {
        Layer(self.own.len().min(usize::from(u16::MAX)) as u16)
    }

    fn push(&mut self, own: Rate, cumulative: Rate) -> Result<(), LayerError> {
        if self.own.len() == MAX_LAYERS {
            return Err(LayerError::TooMany { count: MAX_LAYERS + 1 });
        }
        // A rate at the end of the number range comes from an infinite one.
        if cumulative.as_bps() >= f64::MAX {
            return Err(LayerError::Overflow { layer: self.next_layer() });
        }
        // A rate that vanishes in the sum would give two equal cumulative rates.
        if own.is_zero() || cumulative <= self.top_rate() {
            return Err(LayerError::Rate { layer: self.next_layer() });
        }
        self.own.push(own);
        self.cumulative.push(cumulative);
        Ok(())
    }

    fn checked(self) -> Result<LayerTable, LayerError> {
        if self.own.is_empty() { Err(LayerError::Empty) } else { Ok(self) }
    }

    /// How many layers there are, at least 1.
    pub fn count(&self) -> u16 {
        self.own.len() as u16
    }

    /// The highest layer.
    pub fn top(&self) -> Layer {
        Layer(self.count().saturating_sub(1))
    }

    /// The layers from the base up.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Layer> + ExactSizeIterator + use<> {
        (0..self.count()).map(Layer)
    }

    /// Whether there is such a layer.
    pub fn contains(&self, layer: Layer) -> bool {
        layer.index() < self.own.len()
    }

    /// The rate of a layer alone; zero for one that does not exist.
    pub fn rate(&self, layer: Layer) -> Rate {
        self.own.get(layer.index()).copied().unwrap_or_default()
    }

    /// The rate of all layers up to this one; the full rate for one above the top.
    pub fn cumulative(&self, layer: Layer) -> Rate {
        self.cumulative.get(layer.index()).copied().unwrap_or_else(|| self.top_rate())
    }

    /// The rate that a level receives; zero for none.
    pub fn rate_of(&self, level: Level) -> Rate {
        level.top().map_or(Rate::ZERO, |top| self.cumulative(top))
    }

    /// The rate of all layers.
    pub fn top_rate(&self) -> Rate {
        self.cumulative.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bps(rates: &[f64]) -> Vec<Rate> {
        rates.iter().map(|&bps| Rate::from_bps(bps)).collect()
    }

    #[test]
    fn both_ways_of_giving_rates_agree() {
        let own = LayerTable::from_rates(bps(&[128.0, 128.0, 256.0])).unwrap();
        let sums = LayerTable::from_cumulative(bps(&[128.0, 256.0, 512.0])).unwrap();
        assert_eq!(own, sums);
        assert_eq!(own.top(), Layer(2));
        assert_eq!(own.rate_of(Level::NONE), Rate::ZERO);
        assert_eq!(own.rate_of(Level::from_count(2)), Rate::from_bps(256.0));
        assert_eq!(own.rate(Layer(9)), Rate::ZERO);
    }

    #[test]
    fn what_is_not_a_structure_is_refused_by_name() {
        assert_eq!(LayerTable::from_rates([]), Err(LayerError::Empty));
        assert_eq!(LayerTable::from_rates(bps(&[1.0, 0.0])), Err(LayerError::Rate { layer: Layer(1) }));
        assert_eq!(
            LayerTable::from_rates(bps(&[f64::INFINITY])),
            Err(LayerError::Overflow { layer: Layer(0) })
        );
        let doubled = LayerTable::doubling(Rate::from_bps(128e3), 1024);
        assert_eq!(doubled, Err(LayerError::Overflow { layer: Layer(1008) }), "128e3 * 2^1008 > 1.8e308");
        assert_eq!(LayerTable::from_rates(bps(&[1e30, 1.0])), Err(LayerError::Rate { layer: Layer(1) }));
        assert_eq!(
            LayerTable::from_cumulative(bps(&[2.0, 2.0])),
            Err(LayerError::NotIncreasing { layer: Layer(1) })
        );
        let many = core::iter::repeat_n(Rate::from_bps(1.0), 2000);
        assert!(matches!(LayerTable::from_rates(many), Err(LayerError::TooMany { .. })));
    }
}
