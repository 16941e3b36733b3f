//! The mean delay of each link's queue, bin by bin.

use layercast_core::family::Family;
use layercast_core::units::Duration;

use super::world::World;

/// The series of all links so far. A link at which no packet has waited has none, and costs nothing.
pub(super) struct QueueDelays {
    series: Vec<Vec<f64>>,
    /// The integral of each queue's delay at the end of the last bin.
    before: Vec<u128>,
}

impl QueueDelays {
    pub(super) fn new<F: Family>(world: &World<F>) -> QueueDelays {
        QueueDelays { series: vec![Vec::new(); world.links.len()], before: vec![0; world.links.len()] }
    }

    /// Records a bin of this length that has just ended.
    pub(super) fn record<F: Family>(&mut self, world: &World<F>, bin: usize, length: Duration) {
        let each = world.links.iter().zip(&mut self.series).zip(&mut self.before);
        for ((&link, series), before) in each {
            let Some(histogram) = world.simulation().link_delay_histogram(link) else { continue };
            let now = histogram.integral();
            series.resize(bin, 0.0);
            series.push((now - *before) as f64 / length.as_ns().max(1) as f64 / 1e6);
            *before = now;
        }
    }

    /// The series: of all bins, or empty.
    pub(super) fn into_series(self, bins: usize) -> Vec<Vec<f64>> {
        debug_assert!(self.series.iter().all(|series| series.is_empty() || series.len() == bins));
        self.series
    }
}
