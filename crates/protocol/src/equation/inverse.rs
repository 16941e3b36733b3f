//! From a rate to the loss rate that allows it.

use super::{MIN_LOSS_RATE, Path};
use crate::math::{cbrt, pow, sqrt};

/// The square-root law solved for p.
pub(super) fn simple(path: &Path, bytes_per_s: f64) -> f64 {
    let root = path.packet_bytes * sqrt(1.5 / path.packets_per_ack) / (path.rtt_s * bytes_per_s);
    (root * root).clamp(MIN_LOSS_RATE, 1.0)
}

/// The unclamped equation of TFRC solved for p by Newton's method in u = sqrt(p).
///
/// In u the equation reads a u + c u^3 (1 + 32 u^4) = y, whose left side rises and is convex. Each
/// term alone gives an upper bound of the root, so the iteration comes down to it from the smallest
/// bound and cannot overshoot.
pub(super) fn simplified(path: &Path, bytes_per_s: f64) -> f64 {
    let b = path.packets_per_ack;
    let a = sqrt(2.0 * b / 3.0);
    let c = 3.0 * sqrt(3.0 * b / 8.0) * path.rto_s / path.rtt_s;
    root(a, c, path.packet_bytes / (path.rtt_s * bytes_per_s))
}

/// The p in [[`MIN_LOSS_RATE`], 1] at which sqrt(p) (a + c p (1 + 32 p^2)) is y; see [`simplified`].
pub(crate) fn root(a: f64, c: f64, y: f64) -> f64 {
    if y >= a + 33.0 * c {
        return 1.0;
    }
    let mut u = (y / a).min(cbrt(y / c)).min(pow(y / (32.0 * c), 1.0 / 7.0));
    for _ in 0..100 {
        let u2 = u * u;
        let u4 = u2 * u2;
        let excess = u * (a + c * u2 * (1.0 + 32.0 * u4)) - y;
        let slope = a + c * u2 * (3.0 + 224.0 * u4);
        let step = excess / slope;
        u -= step;
        // Rounding near the root can turn the sign of the step; both ends of that are the root.
        if step <= 1e-15 * u {
            break;
        }
    }
    (u * u).clamp(MIN_LOSS_RATE, 1.0)
}

/// Any model that falls with p, solved by halving in u = sqrt(p): 60 steps exhaust an `f64`.
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
