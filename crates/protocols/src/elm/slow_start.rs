//! Slow start (thesis 6.2.4): climb one layer per interval until the rate says stop.

use super::options::{DeafPeriod, Options, SlowStartPace, Strategy};
use super::strategy::RateBounds;
use layercast_core::units::{Duration, Rate, RateEstimate, Time};

/// How many layers above the base a receiver climbs before its first round-trip time (thesis 6.2.4).
const BLIND_LAYERS: u16 = 2;

/// A step of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartStep {
    /// Join the next layer; slow start goes on.
    Join,
    /// Slow start is over at this level; nothing is left or joined.
    End,
}

/// A receiver's slow start, from one join to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    deaf_until: Time,
    next_join: Time,
}

/// How slow start is paced, from the options.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartPlan {
    interval: Duration,
    round_trips: Option<f64>,
    deaf: DeafPeriod,
    deaf_constant: Duration,
    deaf_round_trips: f64,
}

/// The deaf period after joining a level: the interval times the base rate over the level's
/// cumulative rate (thesis 6.2.4).
pub fn deaf_period(interval: Duration, base: Rate, level: Rate) -> Duration {
    if level > base { interval.scaled(base.as_bps() / level.as_bps()) } else { interval }
}

impl SlowStartPlan {
    /// The plan that the options ask for.
    pub fn new(options: &Options) -> SlowStartPlan {
        let by_round_trips = match options.slow_start_pace {
            SlowStartPace::ByStrategy => options.strategy == Strategy::Naive,
            SlowStartPace::Interval => false,
            SlowStartPace::RoundTrips => true,
        };
        SlowStartPlan {
            interval: options.slow_start_interval,
            round_trips: by_round_trips.then_some(options.slow_start_round_trips),
            deaf: options.deaf_period,
            deaf_constant: options.deaf_constant,
            deaf_round_trips: options.deaf_round_trips,
        }
    }

    /// Slow start after joining a level of cumulative rate `level` at `now`. `rtt` is the smoothed
    /// round-trip time, or the initial value before the first sample.
    pub fn after_join(&self, now: Time, rtt: Duration, base: Rate, level: Rate) -> SlowStart {
        let interval = self.round_trips.map_or(self.interval, |count| rtt.scaled(count));
        let deaf = match self.deaf {
            DeafPeriod::Scaled => deaf_period(interval, base, level),
            DeafPeriod::Constant => self.deaf_constant,
            DeafPeriod::RoundTrips => rtt.scaled(self.deaf_round_trips),
        };
        SlowStart { deaf_until: now + deaf, next_join: now + interval }
    }
}

impl SlowStart {
    /// Whether rates are ignored at `now`.
    pub fn is_deaf(&self, now: Time) -> bool {
        now < self.deaf_until
    }

    /// The step due at `now`, with the latest rate. Call it at each new rate and at the deadline.
    /// `layers_above_base` is how many layers are held in addition to the base layer.
    pub fn poll(
        &self,
        now: Time,
        rate: RateEstimate,
        bounds: &RateBounds,
        layers_above_base: u16,
    ) -> Option<SlowStartStep> {
        let below = rate.known().is_some_and(|rate| rate < bounds.here);
        if !self.is_deaf(now) && (below || bounds.above.is_none()) {
            return Some(SlowStartStep::End);
        }
        let may_climb = bounds.above.is_some() && !is_held(rate, layers_above_base);
        (may_climb && now >= self.next_join).then_some(SlowStartStep::Join)
    }

    /// When to poll unless a rate comes first; none while it waits for a round-trip time.
    pub fn next_deadline(
        &self,
        rate: RateEstimate,
        bounds: &RateBounds,
        layers_above_base: u16,
    ) -> Option<Time> {
        if bounds.above.is_none() {
            Some(self.deaf_until)
        } else if is_held(rate, layers_above_base) {
            None
        } else {
            Some(self.next_join)
        }
    }
}

fn is_held(rate: RateEstimate, layers_above_base: u16) -> bool {
    rate == RateEstimate::Unknown && layers_above_base >= BLIND_LAYERS
}

#[cfg(test)]
mod tests;
