//! The layer rates as a receiver knows them.

use alloc::vec::Vec;

use crate::elm::header::{MAX_LAYERS, TableEntry};
use crate::elm::strategy::RateBounds;
use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Layer, Level, Rate, Size};

/// The rates of a session's layers: from the plan, updated by packets.
#[derive(Clone, Debug)]
pub(super) struct RateTable {
    own: Vec<Rate>,
    cumulative: Vec<Rate>,
}

impl RateTable {
    pub(super) fn new(layers: &LayerTable) -> RateTable {
        let indices = || (0..layers.count().min(MAX_LAYERS)).map(Layer);
        RateTable {
            own: indices().map(|layer| layers.rate(layer)).collect(),
            cumulative: indices().map(|layer| layers.cumulative(layer)).collect(),
        }
    }

    pub(super) fn layer_count(&self) -> usize {
        self.own.len()
    }

    pub(super) fn base_rate(&self) -> Rate {
        self.cumulative.first().copied().unwrap_or(Rate::ZERO)
    }

    /// The rate bounds of a level; none if no layer is held.
    pub(super) fn rate_bounds(&self, level: Level) -> Option<RateBounds> {
        let index = level.top()?.index();
        Some(RateBounds {
            below: index.checked_sub(1).and_then(|below| self.cumulative.get(below)).copied(),
            here: *self.cumulative.get(index)?,
            above: self.cumulative.get(index + 1).copied(),
        })
    }

    /// The time between two packets of a layer.
    pub(super) fn spacing(&self, layer: Layer, size: Size) -> Duration {
        self.own.get(layer.index()).map_or(Duration::ZERO, |rate| rate.time_to_send(size))
    }

    /// Applies an entry that a packet carried. One that equals the known rate at the precision
    /// of the wire, leaves the exact rate as it is.
    pub(super) fn apply(&mut self, entry: TableEntry) {
        let Some(own) = self.own.get_mut(usize::from(entry.layer)) else { return };
        if TableEntry::new(Layer(u16::from(entry.layer)), *own) == entry {
            return;
        }
        *own = entry.rate.to_rate();
        let mut sum = Rate::ZERO;
        for (cumulative, own) in self.cumulative.iter_mut().zip(&self.own) {
            sum = sum + *own;
            *cumulative = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elm::header::WireRate;

    #[test]
    fn an_entry_that_says_the_same_keeps_the_exact_rate() {
        let rates = [1_000_123.0, 10.0].map(Rate::from_bps);
        let layers = LayerTable::from_rates(rates).expect("a layer structure");
        let mut table = RateTable::new(&layers);
        for (index, rate) in rates.into_iter().enumerate() {
            table.apply(TableEntry::new(Layer(index as u16), rate));
        }
        assert_eq!(table.own, rates);
        table.apply(TableEntry { layer: 1, rate: WireRate(10) });
        assert_eq!(table.cumulative[1], Rate::from_bps(1_008_123.0));
        table.apply(TableEntry { layer: 2, rate: WireRate(10) });
        assert_eq!(table.layer_count(), 2);
    }
}
