//! Where plots have tooltips, and what these say.

use std::ops::Range;

use super::strands::Curve;
use crate::results::text::decimal;

/// How many places along a plot have a tooltip.
const PLACES: usize = 60;

/// The places along a scale that have tooltips.
pub(super) fn places(x: &Range<f64>) -> impl Iterator<Item = (f64, f64)> + use<> {
    let (start, step) = (x.start, (x.end - x.start) / PLACES as f64);
    (0..PLACES).map(move |place| (start + place as f64 * step, start + (place + 1) as f64 * step))
}

/// The value of a curve: that of the last point up to there, or of the nearest one.
pub(super) fn value_at(curve: &Curve, at: f64, is_steps: bool) -> Option<f64> {
    let after = curve.partition_point(|&(x, _)| x <= at);
    let before = after.checked_sub(1).and_then(|index| curve.get(index));
    let point = match (before, curve.get(after)) {
        (Some(before), Some(after)) if !is_steps && after.0 - at < at - before.0 => after,
        (Some(before), _) => before,
        (None, after) if !is_steps => after?,
        _ => return None,
    };
    Some(point.1).filter(|value| value.is_finite())
}

/// About three digits.
pub(super) fn short(value: f64) -> String {
    let decimals = if value.abs() >= 99.5 {
        0
    } else if value.abs() >= 9.95 {
        1
    } else {
        2
    };
    decimal(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_that_of_the_nearest_point_or_of_the_step() {
        let curve = vec![(1.0, 10.0), (2.0, 20.0), (3.0, f64::NAN)];
        assert_eq!(value_at(&curve, 1.4, false), Some(10.0));
        assert_eq!(value_at(&curve, 1.6, false), Some(20.0));
        assert_eq!(value_at(&curve, 1.6, true), Some(10.0));
        assert_eq!(value_at(&curve, 0.5, true), None);
        assert_eq!(value_at(&curve, 0.5, false), Some(10.0));
        assert_eq!(value_at(&curve, 3.5, false), None, "what is unknown has no value");
    }
}
