//! The average multicast round-trip time: from joins to first packets (RFC 3738, section 3.2.2.2).

use layercast_core::math::pow;

/// The shortest average, in seconds. The equation has no value at zero (this project's guard).
const SHORTEST_S: f64 = 1e-3;

/// Averages measurements, each with a weight that falls with their scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTripFilter {
    alpha: f64,
    fall: f64,
    average_s: f64,
    mean_square: f64,
    samples: u32,
}

impl RoundTripFilter {
    /// A filter that begins with the base channel's delay, in seconds. `alpha` is the smoothing
    /// constant, and no measurement takes the average below `fall` of what it was.
    pub fn new(alpha: f64, fall: f64, first_s: f64) -> RoundTripFilter {
        let first_s = first_s.max(SHORTEST_S);
        RoundTripFilter { alpha, fall, average_s: first_s, mean_square: first_s * first_s, samples: 0 }
    }

    /// Adds a measurement in seconds, which may be negative. Returns the weight before and after
    /// the correction for few measurements [Omega, Rho].
    pub fn update(&mut self, sample_s: f64) -> (f64, f64) {
        self.samples = self.samples.saturating_add(1);
        // At most 1, so that a run of negative measurements keeps the average between them (this
        // project's guard).
        let weight = (self.alpha * self.average_s * self.average_s / self.mean_square).min(1.0);
        let corrected = weight / (1.0 - pow(1.0 - weight, f64::from(self.samples) + 1.0));
        let average = (1.0 - corrected) * self.average_s + corrected * sample_s;
        self.mean_square = (1.0 - corrected) * self.mean_square + corrected * sample_s * sample_s;
        self.average_s = average.max(self.fall * self.average_s).max(SHORTEST_S);
        (weight, corrected)
    }

    /// The average in seconds (ARTT).
    pub fn average_s(&self) -> f64 {
        self.average_s
    }

    /// The average of the squares (V).
    pub fn mean_square(&self) -> f64 {
        self.mean_square
    }

    /// The upper bound of the duration of a join, in seconds (RFC 3738, section 3.2.3.7).
    pub fn join_limit_s(&self) -> f64 {
        (2.0 * self.mean_square / self.average_s).max(10.0 * self.average_s)
    }
}
