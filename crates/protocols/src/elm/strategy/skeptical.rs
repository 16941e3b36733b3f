//! The skeptical strategy (thesis 6.1.2): the rate must stay past the bound for a fixed time.

use super::{Manager, RateBounds, above, below};
use layercast_core::units::{RateEstimate, Time};

pub(super) fn on_rate(manager: &mut Manager, now: Time, rate: RateEstimate, bounds: &RateBounds) {
    let options = manager.options;
    match bounds.above {
        Some(bound) if above(rate, bound) => {
            let not_before = manager.join_allowed_from(rate);
            manager.join.set(now, options.t_join, false, not_before);
        }
        // At equality a running timer continues.
        Some(bound) if !below(rate, bound) => {}
        _ => manager.join.stop(),
    }
    match bounds.below {
        Some(_) if below(rate, bounds.here) => manager.leave.set(now, options.t_leave, false, Time::ZERO),
        Some(_) if !above(rate, bounds.here) => {}
        _ => manager.leave.stop(),
    }
}
