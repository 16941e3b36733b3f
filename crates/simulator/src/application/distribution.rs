//! Distributions of sizes and times.

use layercast_core::stream::Stream;
use layercast_core::units::Duration;

/// The distribution of a non-negative random number: a size in bytes or a time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Constant.
    Fixed(f64),
    /// Uniform from `low` to `high`.
    Uniform {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// The times between independent arrivals (a Poisson process).
    Exponential {
        /// Its mean.
        mean: f64,
    },
    /// Many small ones and few huge ones: the tail falls as x to the power of -`shape`.
    Pareto {
        /// Its mean.
        mean: f64,
        /// Above 1; up to 2 the variance is infinite.
        shape: f64,
    },
    /// The logarithm is normally distributed.
    LogNormal {
        /// Its mean, not that of the logarithm.
        mean: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// A shape below 1 has a heavier tail than the exponential, a shape above 1 a lighter one.
    Weibull {
        /// Its mean.
        mean: f64,
        /// Above 0.
        shape: f64,
    },
}

impl Distribution {
    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Fixed(value) => value,
            Distribution::Uniform { low, high } => f64::midpoint(low, high),
            Distribution::Exponential { mean }
            | Distribution::Pareto { mean, .. }
            | Distribution::LogNormal { mean, .. }
            | Distribution::Weibull { mean, .. } => mean,
        }
    }

    /// Draws a number.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Distribution::Fixed(value) => value,
            Distribution::Uniform { low, high } => stream.uniform_in(low, high),
            Distribution::Exponential { mean } => -mean * ln_of_rest(stream),
            Distribution::Pareto { mean, shape } => {
                mean * (shape - 1.0) / shape * libm::exp(-ln_of_rest(stream) / shape)
            }
            Distribution::LogNormal { mean, sigma } => {
                // Box and Muller 1958, one of the pair.
                let radius = libm::sqrt(-2.0 * ln_of_rest(stream));
                let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
                mean * libm::exp(sigma * normal - sigma * sigma / 2.0)
            }
            Distribution::Weibull { mean, shape } => {
                mean / libm::tgamma(1.0 + 1.0 / shape) * libm::pow(-ln_of_rest(stream), 1.0 / shape)
            }
        }
    }

    /// Draws a time.
    pub(super) fn draw_duration(&self, stream: &mut Stream) -> Duration {
        Duration::from_secs_f64(self.draw(stream))
    }
}

/// The logarithm of a number from above 0 to 1.
fn ln_of_rest(stream: &mut Stream) -> f64 {
    libm::log(1.0 - stream.uniform())
}

#[cfg(test)]
mod tests {
    use layercast_core::math;

    use super::*;

    /// Mean and share above the mean of 200 000 draws.
    fn drawn(distribution: Distribution) -> (f64, f64) {
        let mut stream = Stream::new(1, "law");
        let draws: Vec<f64> = (0..200_000).map(|_| distribution.draw(&mut stream)).collect();
        assert!(draws.iter().all(|&draw| draw >= 0.0 && draw.is_finite()), "{distribution:?}");
        let above = draws.iter().filter(|&&draw| draw > 3.0).count();
        (draws.iter().sum::<f64>() / draws.len() as f64, above as f64 / draws.len() as f64)
    }

    /// The shares above the mean follow from the distribution functions.
    #[test]
    fn distributions_have_their_mean_and_their_shape() {
        let cases = [
            (Distribution::Fixed(3.0), 0.0),
            (Distribution::Uniform { low: 1.0, high: 5.0 }, 0.5),
            (Distribution::Exponential { mean: 3.0 }, math::exp(-1.0)),
            (Distribution::Pareto { mean: 3.0, shape: 2.5 }, math::pow(1.5 / 2.5, 2.5)),
            // The normal distribution above sigma/2.
            (Distribution::LogNormal { mean: 3.0, sigma: 1.0 }, 0.308_54),
            (Distribution::Weibull { mean: 3.0, shape: 2.0 }, math::exp(-std::f64::consts::FRAC_PI_4)),
        ];
        for (distribution, share) in cases {
            let (mean, above) = drawn(distribution);
            assert!((mean / 3.0 - 1.0).abs() < 0.02, "{distribution:?}: {mean}");
            assert!((above - share).abs() < 0.005, "{distribution:?}: {above} not {share}");
        }
    }
}
