//! When the synchronisation points of each layer are.

use layercast_core::layers::LayerTable;
use layercast_core::math;
use layercast_core::units::{Duration, Layer};

/// Ticks per tau_0: the unit of the time that packets carry.
pub const TICKS: u64 = 1024;

/// The points of a session's layers: those of layer j are at n tau_j, n = 1, 2, and so on, from the
/// source's start on (Wei and Zhang, section on the timer rule).
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    base_interval: Duration,
    layers: LayerTable,
}

impl Points {
    /// The points of these layers with tau_0 = `base_interval`.
    pub fn new(base_interval: Duration, layers: &LayerTable) -> Points {
        Points { base_interval, layers: layers.clone() }
    }

    /// tau_j / tau_0 = B_j / B_0, at least 1.
    pub fn ratio(&self, layer: Layer) -> f64 {
        let base = self.layers.cumulative(Layer::BASE).as_bps();
        self.layers.cumulative(layer).as_bps() / base
    }

    /// tau_j: how far the points of a layer are apart.
    pub fn spacing(&self, layer: Layer) -> Duration {
        self.base_interval.scaled(self.ratio(layer))
    }

    /// A length of time in ticks, rounded down. 2^48 of them are not reached by any session.
    pub fn ticks(&self, since_start: Duration) -> u64 {
        let interval = u128::from(self.base_interval.as_ns().max(1));
        (u128::from(since_start.as_ns()) * u128::from(TICKS) / interval) as u64 & ((1 << 48) - 1)
    }

    /// Whether a point of the layer lies after `before` and at `now` or earlier, not longer ago than
    /// two base intervals: after that its chance has passed. Both are in ticks.
    pub fn is_due(&self, layer: Layer, before: u64, now: u64) -> bool {
        let spacing = self.ratio(layer) * TICKS as f64;
        let number = |ticks: u64| math::floor(ticks as f64 / spacing);
        let newest = number(now);
        newest > number(before) && now as f64 - newest * spacing <= 2.0 * TICKS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Rate;
    use proptest::prelude::*;

    fn linear() -> Points {
        let layers = LayerTable::equal(Rate::from_kbps(400.0), 500).expect("a layer table");
        Points::new(Duration::from_ms(80), &layers)
    }

    #[test]
    fn time_is_reported_in_parts_of_the_unit() {
        let points = linear();
        assert_eq!(points.ticks(Duration::from_ms(80)), TICKS);
        assert_eq!(points.ticks(Duration::from_ms(81)), TICKS + 12);
        assert_eq!(points.spacing(Layer(3)), Duration::from_ms(320));
    }

    #[test]
    fn a_point_is_due_once_and_not_for_long() {
        let points = linear();
        assert!(points.is_due(Layer(1), 2 * TICKS - 1, 2 * TICKS));
        assert!(!points.is_due(Layer(1), 2 * TICKS, 2 * TICKS + 1), "it was used before");
        assert!(points.is_due(Layer(1), TICKS, 3 * TICKS));
        assert!(!points.is_due(Layer(9), 9 * TICKS, 12 * TICKS + 1), "its chance has passed");
    }

    proptest! {
        /// Looking often or seldom, as long as it is more often than each base interval, finds the same
        /// number of points.
        #[test]
        fn no_point_is_found_twice_or_missed(layer in 0u16..40, steps in proptest::collection::vec(1u64..=TICKS, 1..400)) {
            let points = linear();
            let (mut now, mut found) = (0, 0);
            for step in steps {
                found += u64::from(points.is_due(Layer(layer), now, now + step));
                now += step;
            }
            prop_assert_eq!(found, now / (TICKS * (u64::from(layer) + 1)));
        }
    }
}
