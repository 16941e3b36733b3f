//! Latencies of joins and leaves.

use layercast_core::stream::Stream;
use layercast_core::units::Duration;

/// How long a join or a leave takes in addition to link delays: constant, or drawn from a range for each
/// operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    low: Duration,
    spread: Duration,
}

impl Latency {
    /// No time at all.
    pub const NONE: Latency = Latency { low: Duration::ZERO, spread: Duration::ZERO };

    /// Every value from `low` to `high` is equally likely. A `high` below `low` counts as `low`.
    #[must_use]
    pub fn uniform(low: Duration, high: Duration) -> Latency {
        Latency { low, spread: high.saturating_sub(low) }
    }

    /// Whether operations differ.
    #[must_use]
    pub fn is_drawn(self) -> bool {
        !self.spread.is_zero()
    }

    /// The latency of one operation. Draws a number only if operations differ.
    pub(super) fn draw(self, stream: Option<&mut Stream>) -> Duration {
        match stream {
            Some(stream) if self.is_drawn() => self.low + stream.uniform_duration(self.spread),
            _ => self.low,
        }
    }
}

impl From<Duration> for Latency {
    /// Always the same.
    fn from(span: Duration) -> Latency {
        Latency { low: span, spread: Duration::ZERO }
    }
}

/// The latencies of joins and leaves at the edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latencies {
    pub(crate) join: Latency,
    pub(crate) leave: Latency,
}

impl Latencies {
    /// Whether operations differ.
    pub(crate) fn are_drawn(self) -> bool {
        self.join.is_drawn() || self.leave.is_drawn()
    }
}
