//! Which receiver represents all (draft-ietf-rmt-bb-pgmcc-03, sections 2.3 and 2.4).

use super::options::Model;
use layercast_core::math::sqrt;

/// Loss rates below this count as this: the step of 16 bits.
pub const LEAST_LOSS: f64 = 1.0 / 65536.0;

/// What a TCP would have, in packets per unit of the round-trip time and without constants.
pub fn throughput(model: Model, rtt: f64, loss_rate: f64) -> f64 {
    let p = if loss_rate.is_nan() { LEAST_LOSS } else { loss_rate.clamp(LEAST_LOSS, 1.0) };
    let timeouts = match model {
        Model::Simple => 1.0,
        Model::Timeouts => 1.0 + 9.0 * p * (1.0 + 32.0 * p * p),
    };
    1.0 / (rtt * sqrt(p) * timeouts)
}

/// Whether a receiver with the first throughput takes the place of an acker with the second.
pub fn replaces(throughput: f64, of_acker: f64, switch: f64) -> bool {
    throughput < switch * of_acker
}
