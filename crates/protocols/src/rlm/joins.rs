//! When to experiment: join timers, and how long loss takes to show.

use alloc::vec::Vec;

use super::Options;
use layercast_core::math;

/// The time to an experiment from a uniform number in (0, 1], for a join timer of `timer_s`: half of it and
/// an exponential part of the same mean. None if that part is 4 means or more: draw again.
pub fn join_delay_s(timer_s: f64, uniform: f64) -> Option<f64> {
    let exponential = -timer_s * math::ln(uniform);
    (exponential < 4.0 * timer_s).then_some(timer_s / 2.0 + exponential)
}

/// The join timer of each level, in seconds. Levels count from 1, the base layer alone.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinTimers {
    timers_s: Vec<f64>,
    grow: f64,
    shrink: f64,
    least_s: f64,
    most_s: f64,
}

impl JoinTimers {
    /// The timers of so many levels, all at their smallest.
    pub fn new(options: &Options, levels: u16) -> JoinTimers {
        let least_s = options.join_timer_min.as_secs_f64();
        JoinTimers {
            timers_s: alloc::vec![least_s; usize::from(levels)],
            grow: options.backoff_factor,
            shrink: options.relax_factor,
            least_s,
            most_s: options.longest_join_timer().as_secs_f64(),
        }
    }

    /// The timer of a level; the largest for a level that does not exist.
    pub fn of(&self, level: u16) -> f64 {
        let index = usize::from(level).checked_sub(1);
        index.and_then(|index| self.timers_s.get(index)).copied().unwrap_or(self.most_s)
    }

    /// An experiment with a level failed. Those above wait at least as long.
    pub fn on_failure(&mut self, level: u16) {
        let timer = (self.grow * self.of(level)).min(self.most_s);
        let from = usize::from(level).saturating_sub(1);
        if let Some(own) = self.timers_s.get_mut(from) {
            *own = timer;
        }
        for higher in self.timers_s.iter_mut().skip(from) {
            *higher = higher.max(timer);
        }
    }

    /// A level is held without loss.
    pub fn relax(&mut self, level: u16) {
        let timer = (self.shrink * self.of(level)).max(self.least_s);
        if let Some(own) = usize::from(level).checked_sub(1).and_then(|index| self.timers_s.get_mut(index)) {
            *own = timer;
        }
    }
}

/// How long after a join its loss shows: the mean TD and its deviation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectionTime {
    /// TD.
    pub mean_s: f64,
    /// TDVAR.
    pub deviation_s: f64,
    weight: f64,
    deviation_weight: f64,
}

impl DetectionTime {
    /// The first estimate.
    pub fn new(options: &Options) -> DetectionTime {
        DetectionTime {
            mean_s: options.detection_time.as_secs_f64(),
            deviation_s: options.detection_deviation.as_secs_f64(),
            weight: options.detection_weight,
            deviation_weight: options.deviation_weight,
        }
    }

    /// A loss came so long after the join that caused it. The deviation is that from the old mean.
    pub fn on_sample(&mut self, took_s: f64) {
        let deviation = math::abs(took_s - self.mean_s);
        self.mean_s += self.weight * (took_s - self.mean_s);
        self.deviation_s += self.deviation_weight * (deviation - self.deviation_s);
    }

    /// The wait before the absence of loss counts: TD and 1.5 deviations.
    pub fn conservative_s(&self) -> f64 {
        self.mean_s + 1.5 * self.deviation_s
    }

    /// The wait before loss is measured at a level: longer for higher ones.
    pub fn wait_s(&self, level: u16) -> f64 {
        self.mean_s + (f64::from(level) / 2.0 + 1.5) * self.deviation_s
    }

    /// How long a join may still be to blame for loss.
    pub fn blame_s(&self) -> f64 {
        self.mean_s + 2.0 * self.deviation_s
    }
}
