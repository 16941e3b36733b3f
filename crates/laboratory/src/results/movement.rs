//! How a receiver moves between levels within a window, and what that costs.

use serde::{Deserialize, Serialize};

/// A receiver's level changes within one measurement window, and their cost: for one replication, or over
/// all. `docs/results.md` defines each.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Movement<T> {
    /// Layers added within the window, per minute.
    pub joins_per_min: T,
    /// Layers dropped within the window, per minute.
    pub leaves_per_min: T,
    /// The sum of both.
    pub level_changes_per_min: T,
    /// From the receiver's start to when it first held its fair level, in seconds: the highest level
    /// whose rate is at most the mean throughput in its group. None if it never did, or has no group.
    pub fair_level_after_s: T,
    /// From the window's start to the first time below the level of that moment, in seconds; none if
    /// the level did not fall.
    pub fell_after_s: T,
    /// From the window's start to when the level of that moment was first held again after a fall, in
    /// seconds; none if there was no fall, or no return before the window's end.
    pub recovered_after_s: T,
    /// Channels joined within the window, per second: with dynamic layers many more than layers.
    pub channel_joins_per_s: T,
    /// Channels left, per second.
    pub channel_leaves_per_s: T,
    /// Loss events at queues that followed a rise of the receiver's level, per minute. Like the two that
    /// follow, none with more than 10,000 receivers.
    pub loss_events_per_min: T,
    /// Packets of its own session that the queue dropped in such an event, on average; none without one.
    pub own_lost_per_event: T,
    /// Packets of all other flows.
    pub others_lost_per_event: T,
}

impl<T> Movement<T> {
    /// The measures by their names in the files.
    #[must_use]
    pub fn named(self) -> [(&'static str, T); 11] {
        [
            ("joins_per_min", self.joins_per_min),
            ("leaves_per_min", self.leaves_per_min),
            ("level_changes_per_min", self.level_changes_per_min),
            ("fair_level_after_s", self.fair_level_after_s),
            ("fell_after_s", self.fell_after_s),
            ("recovered_after_s", self.recovered_after_s),
            ("channel_joins_per_s", self.channel_joins_per_s),
            ("channel_leaves_per_s", self.channel_leaves_per_s),
            ("loss_events_per_min", self.loss_events_per_min),
            ("own_lost_per_event", self.own_lost_per_event),
            ("others_lost_per_event", self.others_lost_per_event),
        ]
    }

    /// Builds the struct from one measure at a time.
    pub(crate) fn from_each<S>(mut make: impl FnMut(fn(&Movement<S>) -> &S) -> T) -> Movement<T> {
        Movement {
            joins_per_min: make(|movement| &movement.joins_per_min),
            leaves_per_min: make(|movement| &movement.leaves_per_min),
            level_changes_per_min: make(|movement| &movement.level_changes_per_min),
            fair_level_after_s: make(|movement| &movement.fair_level_after_s),
            fell_after_s: make(|movement| &movement.fell_after_s),
            recovered_after_s: make(|movement| &movement.recovered_after_s),
            channel_joins_per_s: make(|movement| &movement.channel_joins_per_s),
            channel_leaves_per_s: make(|movement| &movement.channel_leaves_per_s),
            loss_events_per_min: make(|movement| &movement.loss_events_per_min),
            own_lost_per_event: make(|movement| &movement.own_lost_per_event),
            others_lost_per_event: make(|movement| &movement.others_lost_per_event),
        }
    }
}
