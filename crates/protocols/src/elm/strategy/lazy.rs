//! The lazy strategy (thesis 6.1.3): the further the rate is past the bound, the shorter the delay.

use super::{Manager, RateBounds, above, below};
use layercast_core::math;
use layercast_core::units::{Duration, Rate, RateEstimate, Time};

/// How far the rate is above the next level, in units of the gap to it, 0 to 1 (thesis eq. 18).
pub fn join_excess(rate: RateEstimate, here: Rate, above: Rate) -> f64 {
    match rate {
        RateEstimate::Unknown => 0.0,
        RateEstimate::Unbounded => 1.0,
        RateEstimate::Known(rate) => excess(rate.as_bps() - above.as_bps(), above.as_bps() - here.as_bps()),
    }
}

/// How far the rate is below the present level, in units of the gap to the level below, 0 to 1
/// (thesis eq. 19).
pub fn leave_excess(rate: RateEstimate, below: Rate, here: Rate) -> f64 {
    match rate {
        RateEstimate::Unknown | RateEstimate::Unbounded => 0.0,
        RateEstimate::Known(rate) => excess(here.as_bps() - rate.as_bps(), here.as_bps() - below.as_bps()),
    }
}

fn excess(beyond: f64, gap: f64) -> f64 {
    if gap > 0.0 { (beyond / gap).clamp(0.0, 1.0) } else { 1.0 }
}

/// The reactivity of an excess. The two exponents of the thesis need no power function.
fn reactivity(excess: f64, exponent: f64) -> f64 {
    if exponent == 1.0 {
        excess
    } else if exponent == 0.5 {
        math::sqrt(excess)
    } else {
        math::pow(excess, exponent).clamp(0.0, 1.0)
    }
}

/// The delay at an excess (thesis eq. 20, 21): laziness, which is one minus reactivity, times the
/// longest delay.
fn delay(longest: Duration, excess: f64, exponent: f64) -> Duration {
    longest.scaled(1.0 - reactivity(excess, exponent))
}

pub(super) fn on_rate(manager: &mut Manager, now: Time, rate: RateEstimate, bounds: &RateBounds) {
    join(manager, now, rate, bounds);
    leave(manager, now, rate, bounds);
}

fn join(manager: &mut Manager, now: Time, rate: RateEstimate, bounds: &RateBounds) {
    let Some(bound) = bounds.above else {
        manager.join.stop();
        return;
    };
    if below(rate, bound) {
        manager.join.stop();
    } else if above(rate, bound) {
        let options = manager.options;
        let start = bound + (bound - bounds.here).scaled(options.z_up);
        if manager.join.is_running() || above(rate, start) {
            let delay =
                delay(options.t_join_max, join_excess(rate, bounds.here, bound), options.join_exponent);
            let not_before = manager.join_allowed_from(rate);
            manager.join.set(now, delay, options.progress, not_before);
        }
    }
}

fn leave(manager: &mut Manager, now: Time, rate: RateEstimate, bounds: &RateBounds) {
    let Some(lower) = bounds.below else {
        manager.leave.stop();
        return;
    };
    if above(rate, bounds.here) {
        manager.leave.stop();
    } else if below(rate, bounds.here) {
        let options = manager.options;
        let start = bounds.here - (bounds.here - lower).scaled(options.z_down);
        if manager.leave.is_running() || below(rate, start) {
            let delay =
                delay(options.t_leave_max, leave_excess(rate, lower, bounds.here), options.leave_exponent);
            manager.leave.set(now, delay, options.progress, Time::ZERO);
        }
    }
}
