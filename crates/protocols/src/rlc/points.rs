//! When each layer has its synchronisation points.
//!
//! Time since the session's start is counted in base intervals. Layer i has a point at every
//! multiple of its factor, so that with doubling factors a point of a layer is one of every layer
//! below too (the points are nested).

use super::SpacingRule;
use layercast_core::units::Layer;

/// The spacing of a layer's synchronisation points in base intervals.
pub fn spacing_factor(rule: SpacingRule, layer: Layer) -> u64 {
    let doubled = 1u64.checked_shl(u32::from(layer.0)).unwrap_or(u64::MAX);
    match rule {
        SpacingRule::Doubling => doubled,
        SpacingRule::Mcl => doubled.min(128 + u64::from(layer.0)),
    }
}

/// The highest of the layers 0 to `count` - 1 that has a point at the end of base interval
/// `interval` (1, 2, ...).
pub fn highest_point(rule: SpacingRule, count: u16, interval: u64) -> Option<Layer> {
    (0..count).rev().map(Layer).find(|&layer| interval.is_multiple_of(spacing_factor(rule, layer)))
}

/// The newest point of a layer when `intervals` base intervals have passed; 0 for none yet.
pub(super) fn newest_point(rule: SpacingRule, layer: Layer, intervals: u64) -> u64 {
    intervals - intervals % spacing_factor(rule, layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_layer_is_too_high_for_a_factor() {
        assert_eq!(spacing_factor(SpacingRule::Doubling, Layer(64)), u64::MAX);
        assert_eq!(newest_point(SpacingRule::Doubling, Layer(64), 1000), 0);
        assert_eq!(spacing_factor(SpacingRule::Mcl, Layer(200)), 328);
    }

    #[test]
    fn points_of_a_layer_are_points_of_those_below() {
        for interval in 1..200 {
            let highest = highest_point(SpacingRule::Doubling, 8, interval).unwrap();
            for layer in 0..=highest.0 {
                assert_eq!(newest_point(SpacingRule::Doubling, Layer(layer), interval), interval);
            }
        }
    }
}
