//! From a rate to the loss rate that allows it, for models without a formula of their own.

use super::MIN_LOSS_RATE;
use layercast_core::math::sqrt;

/// Any model that decreases with p, solved by bisection in u = sqrt(p): 60 steps exhaust an `f64`.
pub(super) fn bisect(bytes_per_s_at: impl Fn(f64) -> f64, bytes_per_s: f64) -> f64 {
    if bytes_per_s_at(1.0) >= bytes_per_s {
        return 1.0;
    }
    if bytes_per_s_at(MIN_LOSS_RATE) <= bytes_per_s {
        return MIN_LOSS_RATE;
    }
    let (mut low, mut high) = (sqrt(MIN_LOSS_RATE), 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if bytes_per_s_at(middle * middle) > bytes_per_s {
            low = middle;
        } else {
            high = middle;
        }
    }
    let u = 0.5 * (low + high);
    (u * u).clamp(MIN_LOSS_RATE, 1.0)
}
