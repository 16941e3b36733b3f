//! Subscription management (thesis 6.1): when a receiver changes its level.
//!
//! A manager is given every new fair rate and asks for at most one step at a time. It knows only the
//! cumulative rates around the present level, so it works with any layer structure.

mod countdown;
mod lazy;
mod naive;
mod skeptical;

use countdown::Countdown;

use super::options::{JoinGapScope, Options, Strategy};
use layercast_core::units::{Duration, Rate, RateEstimate, Time};

pub use lazy::{join_excess, leave_excess};

/// One change of level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Join the layer above.
    Join,
    /// Leave the highest layer.
    Leave,
}

/// The cumulative rates around a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBounds {
    /// The cumulative rate one level down; none at the base layer, which is never left.
    pub below: Option<Rate>,
    /// The cumulative rate of the level held.
    pub here: Rate,
    /// The cumulative rate one level up; none at the top, or when no join is allowed now.
    pub above: Option<Rate>,
}

/// Decides when to join and when to leave. Pure: its only effect is what it returns.
#[derive(Clone, Debug)]
pub struct Manager {
    options: ManagerOptions,
    join: Countdown,
    leave: Countdown,
    pending: Option<Step>,
    last_change: Option<Time>,
    last_join: Option<Time>,
}

/// The options that a manager uses.
#[derive(Clone, Copy, Debug)]
struct ManagerOptions {
    strategy: Strategy,
    progress: bool,
    min_gap: Duration,
    join_min_gap: Duration,
    gap_for_all_joins: bool,
    t_join: Duration,
    t_leave: Duration,
    t_join_max: Duration,
    t_leave_max: Duration,
    join_exponent: f64,
    leave_exponent: f64,
    z_up: f64,
    z_down: f64,
}

impl Manager {
    /// A manager with no timer running.
    pub fn new(options: &Options) -> Manager {
        let options = ManagerOptions {
            strategy: options.strategy,
            progress: options.timer_update == super::options::TimerUpdate::Progress,
            min_gap: options.min_gap,
            join_min_gap: options.join_min_gap,
            gap_for_all_joins: options.join_gap_scope == JoinGapScope::All,
            t_join: options.t_join,
            t_leave: options.t_leave,
            t_join_max: options.t_join_max,
            t_leave_max: options.t_leave_max,
            join_exponent: options.join_reactivity,
            leave_exponent: options.leave_reactivity,
            z_up: options.z_up,
            z_down: options.z_down,
        };
        Manager {
            options,
            join: Countdown::default(),
            leave: Countdown::default(),
            pending: None,
            last_change: None,
            last_join: None,
        }
    }

    /// Accepts a new fair rate at the level that `bounds` describes. Call [`Manager::poll`] afterwards.
    pub fn on_rate(&mut self, now: Time, rate: RateEstimate, bounds: &RateBounds) {
        if rate == RateEstimate::Unknown {
            self.clear();
            return;
        }
        match self.options.strategy {
            Strategy::Naive => naive::on_rate(self, now, rate, bounds),
            Strategy::Skeptical => skeptical::on_rate(self, now, rate, bounds),
            Strategy::Lazy => lazy::on_rate(self, now, rate, bounds),
        }
    }

    /// When to poll next, unless a new rate comes first.
    pub fn next_deadline(&self) -> Option<Time> {
        match (self.join.deadline(), self.leave.deadline()) {
            (Some(join), Some(leave)) => Some(join.min(leave)),
            (join, leave) => join.or(leave),
        }
    }

    /// The step that is due at `now`. The caller takes it and then calls
    /// [`Manager::level_changed`]; until then no other step is returned.
    pub fn poll(&mut self, now: Time) -> Option<Step> {
        let due = |timer: &Countdown| timer.deadline().is_some_and(|at| at <= now);
        let step = if self.pending.is_some() {
            self.pending
        } else if due(&self.join) {
            Some(Step::Join)
        } else if due(&self.leave) {
            Some(Step::Leave)
        } else {
            return None;
        };
        self.clear();
        step
    }

    /// The level changed, for any reason: both timers stop.
    pub fn level_changed(&mut self, now: Time, step: Step) {
        self.clear();
        self.last_change = Some(now);
        if step == Step::Join {
            self.last_join = Some(now);
        }
    }

    /// Stops both timers.
    pub fn clear(&mut self) {
        self.join.stop();
        self.leave.stop();
        self.pending = None;
    }

    /// The earliest time of the next join, by the rule that keeps a receiver without losses from
    /// joining all layers in quick succession.
    fn join_allowed_from(&self, rate: RateEstimate) -> Time {
        match self.last_join {
            Some(last) if self.options.gap_for_all_joins || rate == RateEstimate::Unbounded => {
                last + self.options.join_min_gap
            }
            _ => Time::ZERO,
        }
    }
}

/// How a rate compares with a bound; an unbounded rate is above every bound.
fn above(rate: RateEstimate, bound: Rate) -> bool {
    match rate {
        RateEstimate::Known(rate) => rate > bound,
        RateEstimate::Unbounded => true,
        RateEstimate::Unknown => false,
    }
}

/// Whether a rate is known and below a bound.
fn below(rate: RateEstimate, bound: Rate) -> bool {
    rate.known().is_some_and(|rate| rate < bound)
}

#[cfg(test)]
mod tests;
