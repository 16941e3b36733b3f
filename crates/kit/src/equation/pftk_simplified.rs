//! The equation of TFRC, its timeout term not clamped.

use super::{MIN_LOSS_RATE, Path};
use layercast_core::math::{cbrt, pow, sqrt};

/// In byte/s (thesis, equation 3; RFC 5348, section 3.1).
pub(super) fn bytes_per_s(path: &Path, p: f64) -> f64 {
    with_timeouts(path, p, 3.0 * sqrt(3.0 * path.packets_per_ack * p / 8.0))
}

/// The equation with the inner factor of its timeout term given.
pub(super) fn with_timeouts(path: &Path, p: f64, factor: f64) -> f64 {
    let recovery_s = path.rtt_s * sqrt(2.0 * path.packets_per_ack * p / 3.0);
    let timeout_s = path.rto_s * factor * p * (1.0 + 32.0 * p * p);
    path.packet_bytes / (recovery_s + timeout_s)
}

/// The equation solved for p by Newton's method in u = sqrt(p).
///
/// In u the equation reads a u + c u^3 (1 + 32 u^4) = y, whose left side is increasing and convex. Each
/// term alone gives an upper bound of the root, so the iteration comes down to it from the smallest bound
/// and cannot overshoot.
pub(super) fn loss_rate(path: &Path, bytes_per_s: f64) -> f64 {
    let b = path.packets_per_ack;
    let a = sqrt(2.0 * b / 3.0);
    let c = 3.0 * sqrt(3.0 * b / 8.0) * path.rto_s / path.rtt_s;
    root(a, c, path.packet_bytes / (path.rtt_s * bytes_per_s))
}

/// The p in [[`MIN_LOSS_RATE`], 1] at which sqrt(p) (a + c p (1 + 32 p^2)) is y; see `loss_rate`.
pub fn root(a: f64, c: f64, y: f64) -> f64 {
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
