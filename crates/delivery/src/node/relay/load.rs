//! How much a relay sends to its children: counted, measured, and kept below the highest rate.

use layercast_core::units::{Duration, Rate, Time};

/// How often the rate is measured by which children are refused.
const MEASURED: Duration = Duration::from_secs(1);
/// From this share of the highest rate on children are refused.
const SATURATED: f64 = 0.9;
/// How much of the highest rate may be saved, and sent at once: a tenth of a second, or the longest run of packets.
const SAVED_S: f64 = 0.1;
const RUN_BYTES: f64 = 65_536.0;

/// The highest rate, as a token bucket.
#[derive(Clone, Copy, Debug)]
struct Limit {
    highest: Rate,
    /// The bytes that may be sent at once.
    saved: f64,
    filled: Time,
}

/// What is sent to children.
#[derive(Debug)]
pub(super) struct Load {
    limit: Option<Limit>,
    /// When the rate was measured last, and the bytes sent until then.
    measured: (Time, u64),
    pub(super) rate: Rate,
    /// Packets to children, each counted for itself.
    pub(super) packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub(super) bytes: u64,
    /// Packets that the network did not take, or that the highest rate did not allow.
    pub(super) dropped: u64,
}

impl Load {
    pub(super) fn new(highest: Option<Rate>, now: Time) -> Load {
        Load {
            limit: highest.map(|highest| Limit { highest, saved: 0.0, filled: now }),
            measured: (now, 0),
            rate: Rate::from_bps(0.0),
            packets: 0,
            bytes: 0,
            dropped: 0,
        }
    }

    /// Whether so many bytes may be sent now.
    pub(super) fn take(&mut self, now: Time, bytes: usize) -> bool {
        let Some(limit) = &mut self.limit else { return true };
        let bytes_per_s = limit.highest.as_bps() / 8.0;
        let passed = now.since(limit.filled).as_secs_f64();
        limit.filled = now;
        let most = (bytes_per_s * SAVED_S).max(RUN_BYTES);
        limit.saved = (limit.saved + passed * bytes_per_s).min(most);
        let may = limit.saved >= bytes as f64;
        if may {
            limit.saved -= bytes as f64;
        }
        may
    }

    /// When [`Load::measure`] has something to do; none while nothing is sent.
    pub(super) fn deadline(&self) -> Option<Time> {
        let (then, before) = self.measured;
        (self.rate.as_bps() > 0.0 || self.bytes > before).then_some(then + MEASURED)
    }

    /// Measures the rate, if it is time. Whether it is so near to the highest one that children are refused; none if it was not
    /// measured.
    pub(super) fn measure(&mut self, now: Time) -> Option<bool> {
        let (then, before) = self.measured;
        let passed = now.since(then);
        (passed >= MEASURED).then(|| {
            self.rate = Rate::from_bps((self.bytes - before) as f64 * 8.0 / passed.as_secs_f64());
            self.measured = (now, self.bytes);
            self.limit.is_some_and(|limit| self.rate.as_bps() >= SATURATED * limit.highest.as_bps())
        })
    }
}
