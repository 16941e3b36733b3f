//! What limited a TCP flow within a window, as shares of the time.

use layercast_core::units::Duration;
use layercast_simulator::tcp::TcpLimits;

use crate::results::limited::Limited;

/// The shares of the time that the limits held; none if the flow was not there.
pub(super) fn shares(limits: TcpLimits) -> Limited<Option<f64>> {
    let whole_s = (limits.window + limits.application + limits.network).as_secs_f64();
    let share = |part: Duration| (whole_s > 0.0).then(|| part.as_secs_f64() / whole_s);
    Limited {
        limited_by_window: share(limits.window),
        limited_by_application: share(limits.application),
        limited_by_network: share(limits.network),
    }
}
