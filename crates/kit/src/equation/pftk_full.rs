//! The full model with a limit on the window (PFTK 1998).

use super::Path;
use super::inverse::bisect;
use layercast_core::math::{pow, sqrt};

/// In byte/s.
pub(super) fn bytes_per_s(path: &Path, p: f64) -> f64 {
    path.packet_bytes * packets_per_s(path, p)
}

/// The model solved for p.
pub(super) fn loss_rate(path: &Path, bytes_per_s_wanted: f64) -> f64 {
    bisect(|p| bytes_per_s(path, p), bytes_per_s_wanted)
}

/// The window in packets that congestion avoidance would reach on average at loss rate `p` if no
/// receiver limited it, with `b` packets per acknowledgement (PFTK 1998).
pub fn expected_window(p: f64, b: f64) -> f64 {
    let offset = (2.0 + b) / (3.0 * b);
    offset + sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + offset * offset)
}

/// The full model in packets/s (PFTK 1998). It has no value at p = 1, so p stays just below.
fn packets_per_s(path: &Path, p: f64) -> f64 {
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
