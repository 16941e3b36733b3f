//! What a relay uses of its host.

use rustix::time::{ClockId, clock_gettime};

/// The processor time of this process.
pub(crate) fn cpu_s() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}
