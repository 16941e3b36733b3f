//! The models, for inputs that have been checked.

use super::Path;
use crate::math::{pow, sqrt};

/// The square-root law in byte/s (thesis, equation 2).
pub(super) fn simple(path: &Path, p: f64) -> f64 {
    path.packet_bytes * sqrt(1.5 / path.packets_per_ack) / (path.rtt_s * sqrt(p))
}

/// The equation of TFRC in byte/s (thesis, equation 3; RFC 5348, section 3.1).
pub(super) fn simplified(path: &Path, p: f64, clamped: bool) -> f64 {
    let b = path.packets_per_ack;
    let timeout_factor = 3.0 * sqrt(3.0 * b * p / 8.0);
    let timeout_factor = if clamped { timeout_factor.min(1.0) } else { timeout_factor };
    let recovery_s = path.rtt_s * sqrt(2.0 * b * p / 3.0);
    let timeout_s = path.rto_s * timeout_factor * p * (1.0 + 32.0 * p * p);
    path.packet_bytes / (recovery_s + timeout_s)
}

/// The window in packets that congestion avoidance would reach on average at loss rate `p` if no
/// receiver limited it, with `b` packets per acknowledgement (PFTK 1998).
pub fn expected_window(p: f64, b: f64) -> f64 {
    let offset = (2.0 + b) / (3.0 * b);
    offset + sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + offset * offset)
}

/// The full model in packets/s (PFTK 1998). It has no value at p = 1, so p stays just below.
pub(super) fn full_packets_per_s(path: &Path, p: f64) -> f64 {
    let p = p.min(1.0 - 1e-9);
    let (q, b) = (1.0 - p, path.packets_per_ack);
    let unlimited = expected_window(p, b);
    let window = unlimited.min(path.window_packets);
    let by_timeout = timeout_share(q, window);
    // The mean length of a row of doubling timeouts, as a polynomial in p (Horner's form).
    let backoff = 1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))));
    let rounds = if unlimited < path.window_packets {
        b * unlimited / 2.0 + 1.0
    } else {
        b * window / 8.0 + q / (p * window) + 2.0
    };
    let packets = q / p + window + by_timeout / q;
    packets / (path.rtt_s * rounds + by_timeout * path.rto_s * backoff / q)
}

/// The probability that a loss in a window of `window` packets ends in a timeout.
fn timeout_share(q: f64, window: f64) -> f64 {
    if window <= 3.0 {
        return 1.0;
    }
    let q3 = q * q * q;
    let share = (1.0 - q3) * (1.0 + q3 * (1.0 - pow(q, window - 3.0))) / (1.0 - pow(q, window));
    // At a loss rate below the precision of f64 both differences vanish; 3/w is the limit.
    if share.is_nan() { 3.0 / window } else { share.min(1.0) }
}
