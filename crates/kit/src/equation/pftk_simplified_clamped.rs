//! The equation of TFRC as ns-2 has it: the inner factor of the timeout term is at most 1.

use super::Path;
use super::inverse::bisect;
use super::pftk_simplified::with_timeouts;
use layercast_core::math::sqrt;

/// In byte/s.
pub(super) fn bytes_per_s(path: &Path, p: f64) -> f64 {
    with_timeouts(path, p, (3.0 * sqrt(3.0 * path.packets_per_ack * p / 8.0)).min(1.0))
}

/// The equation solved for p.
pub(super) fn loss_rate(path: &Path, bytes_per_s_wanted: f64) -> f64 {
    bisect(|p| bytes_per_s(path, p), bytes_per_s_wanted)
}
