//! The square-root formula.

use super::{MIN_LOSS_RATE, Path};
use layercast_core::math::sqrt;

/// The square-root formula in byte/s (thesis, equation 2).
pub(super) fn bytes_per_s(path: &Path, p: f64) -> f64 {
    path.packet_bytes * sqrt(1.5 / path.packets_per_ack) / (path.rtt_s * sqrt(p))
}

/// The square-root formula solved for p.
pub(super) fn loss_rate(path: &Path, bytes_per_s: f64) -> f64 {
    let root = path.packet_bytes * sqrt(1.5 / path.packets_per_ack) / (path.rtt_s * bytes_per_s);
    (root * root).clamp(MIN_LOSS_RATE, 1.0)
}
