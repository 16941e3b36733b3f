//! Smoothing of a calculated rate before decisions are based on it (thesis, sections 6.1.4 and 6.2.5).

use super::FlowStat;
use layercast_core::units::{Rate, RateEstimate};

layercast_core::choices! {
    /// How calculated rates are smoothed.
    pub enum Smoothing {
        /// Not at all.
        None = "none",
        /// By an exponentially weighted mean (thesis, equation 22).
        Ewma = "ewma",
        /// By the mean over a window (thesis, equation 23).
        WindowMean = "window-mean",
        /// By the mean of a low and a high percentile over a window (thesis, equation 24).
        PercentileMean = "percentile-mean",
    }
}

/// The options of a smoother. The default is ELM's, for the given largest rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothingConfig {
    /// The method.
    pub smoothing: Smoothing,
    /// The weight of a new value in the weighted mean, above 0 to 1; small is smooth.
    pub weight: f64,
    /// How many values the window holds, 1 to 4096.
    pub window: u32,
    /// The lower quantile, 0 to 1.
    pub low: f64,
    /// The upper quantile, 0 to 1.
    pub high: f64,
    /// The value of an unbounded rate in a mean: twice the session's full rate.
    pub largest: Rate,
    /// Whether the first bounded rate drops the values before it.
    pub clear_on_first_finite: bool,
}

impl SmoothingConfig {
    /// ELM's smoothing (thesis, section 6.2.5) with this largest rate. The thesis does not give the window;
    /// 100 values are this project's choice.
    pub fn elm(largest: Rate) -> SmoothingConfig {
        SmoothingConfig {
            smoothing: Smoothing::PercentileMean,
            weight: 0.1,
            window: 100,
            low: 0.2,
            high: 0.8,
            largest,
            clear_on_first_finite: true,
        }
    }
}

/// Smooths rates. An unknown rate changes nothing.
#[derive(Clone, Debug)]
pub struct Smoother {
    config: SmoothingConfig,
    stat: FlowStat,
    value: RateEstimate,
}

impl Smoother {
    /// A smoother without values.
    pub fn new(config: &SmoothingConfig) -> Smoother {
        let mut config = *config;
        config.weight = if config.weight > 0.0 { config.weight.min(1.0) } else { 1.0 };
        let window = match config.smoothing {
            Smoothing::None | Smoothing::Ewma => 1,
            Smoothing::WindowMean | Smoothing::PercentileMean => config.window,
        };
        let stat = FlowStat::new(window, config.largest, config.clear_on_first_finite);
        Smoother { config, stat, value: RateEstimate::Unknown }
    }

    /// Adds a rate and returns the smoothed one.
    pub fn push(&mut self, rate: RateEstimate) -> RateEstimate {
        if rate == RateEstimate::Unknown {
            return self.value;
        }
        self.value = match self.config.smoothing {
            Smoothing::None => rate,
            Smoothing::Ewma => self.weighted(rate),
            Smoothing::WindowMean => {
                self.stat.push(rate);
                if self.stat.unbounded() == self.stat.len() {
                    RateEstimate::Unbounded
                } else {
                    self.stat.mean().map_or(RateEstimate::Unknown, RateEstimate::Known)
                }
            }
            Smoothing::PercentileMean => {
                self.stat.push(rate);
                self.stat.middle(self.config.low, self.config.high)
            }
        };
        self.value
    }

    /// A bounded rate after an unbounded one restarts the mean; an unbounded one after a bounded one counts
    /// as the largest.
    fn weighted(&self, rate: RateEstimate) -> RateEstimate {
        let RateEstimate::Known(old) = self.value else { return rate };
        let new_bps = rate.known().unwrap_or(self.config.largest).as_bps();
        let weight = self.config.weight;
        RateEstimate::Known(Rate::from_bps((1.0 - weight) * old.as_bps() + weight * new_bps))
    }

    /// The smoothed rate.
    pub fn value(&self) -> RateEstimate {
        self.value
    }

    /// The values behind it, for traces.
    pub fn stat(&self) -> &FlowStat {
        &self.stat
    }

    /// Forgets all values.
    pub fn reset(&mut self) {
        self.stat.clear();
        self.value = RateEstimate::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(bps: f64) -> RateEstimate {
        RateEstimate::Known(Rate::from_bps(bps))
    }

    fn smoother(smoothing: Smoothing) -> Smoother {
        Smoother::new(&SmoothingConfig {
            smoothing,
            window: 4,
            ..SmoothingConfig::elm(Rate::from_bps(100.0))
        })
    }

    #[test]
    fn unknown_rates_change_nothing() {
        for smoothing in [Smoothing::None, Smoothing::Ewma, Smoothing::WindowMean, Smoothing::PercentileMean]
        {
            let mut smoother = smoother(smoothing);
            assert_eq!(smoother.push(RateEstimate::Unknown), RateEstimate::Unknown);
            assert_eq!(smoother.push(RateEstimate::Unbounded), RateEstimate::Unbounded);
            assert_eq!(smoother.push(known(40.0)), known(40.0));
            assert_eq!(smoother.push(RateEstimate::Unknown), known(40.0));
            smoother.reset();
            assert_eq!(smoother.value(), RateEstimate::Unknown);
        }
    }

    #[test]
    fn an_unbounded_rate_counts_as_the_largest_in_a_mean() {
        let mut smoother = smoother(Smoothing::WindowMean);
        smoother.push(known(50.0));
        assert_eq!(smoother.push(RateEstimate::Unbounded), known(75.0));
    }
}
