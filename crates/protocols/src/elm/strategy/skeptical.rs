//! The skeptical strategy (thesis 6.1.2): the rate must stay past the bound for a fixed time.

use super::{Manager, RateBounds, above, below};
use layercast_core::units::{RateEstimate, Time};

pub(super) fn on_rate(manager: &mut Manager, now: Time, rate: RateEstimate, rung: &RateBounds) {
    let options = manager.options;
    match rung.above {
        Some(bound) if above(rate, bound) => {
            let not_before = manager.join_allowed_from(rate);
            manager.join.set(now, options.t_join, false, not_before);
        }
        // At equality a running timer continues.
        Some(bound) if !below(rate, bound) => {}
        _ => manager.join.stop(),
    }
    match rung.below {
        Some(_) if below(rate, rung.here) => manager.leave.set(now, options.t_leave, false, Time::ZERO),
        Some(_) if !above(rate, rung.here) => {}
        _ => manager.leave.stop(),
    }
}
