//! The naive strategy (thesis 6.1.1): follow the rate, one step per evaluation.

use super::{Manager, RateBounds, Step, above, below};
use layercast_core::units::{RateEstimate, Time};

pub(super) fn on_rate(manager: &mut Manager, now: Time, rate: RateEstimate, bounds: &RateBounds) {
    manager.pending = None;
    if manager.last_change.is_some_and(|last| now < last + manager.options.min_gap) {
        return;
    }
    if bounds.above.is_some_and(|bound| above(rate, bound)) {
        if now >= manager.join_allowed_from(rate) {
            manager.pending = Some(Step::Join);
        }
    } else if bounds.below.is_some() && below(rate, bounds.here) {
        manager.pending = Some(Step::Leave);
    }
}
