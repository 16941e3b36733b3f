//! How a receiver moves between levels within a window.

use serde::{Deserialize, Serialize};

/// What a receiver's changes of level say about one measurement window: of one replication, or over
/// all. `docs/results.md` defines each.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Movement<T> {
    /// Layers added within the window, by the minute.
    pub joins_per_min: T,
    /// Layers dropped within the window, by the minute.
    pub leaves_per_min: T,
    /// Both together.
    pub level_changes_per_min: T,
    /// From the receiver's start to when it first held its fair level, in seconds: the highest level
    /// whose rate is at most the mean throughput in its group. None if it never did, or has no group.
    pub fair_level_after_s: T,
    /// From the window's start to the first time below the level of that moment, in seconds; none if
    /// the level stayed.
    pub fell_after_s: T,
    /// From the window's start to when the level of that moment was first held again after a fall, in
    /// seconds; none if there was no fall, or no return before the window's end.
    pub recovered_after_s: T,
}

impl<T> Movement<T> {
    /// The measures by their names in the files.
    #[must_use]
    pub fn named(self) -> [(&'static str, T); 6] {
        [
            ("joins_per_min", self.joins_per_min),
            ("leaves_per_min", self.leaves_per_min),
            ("level_changes_per_min", self.level_changes_per_min),
            ("fair_level_after_s", self.fair_level_after_s),
            ("fell_after_s", self.fell_after_s),
            ("recovered_after_s", self.recovered_after_s),
        ]
    }

    /// One of these from a measure at a time.
    pub(crate) fn from_each<S>(mut make: impl FnMut(fn(&Movement<S>) -> &S) -> T) -> Movement<T> {
        Movement {
            joins_per_min: make(|movement| &movement.joins_per_min),
            leaves_per_min: make(|movement| &movement.leaves_per_min),
            level_changes_per_min: make(|movement| &movement.level_changes_per_min),
            fair_level_after_s: make(|movement| &movement.fair_level_after_s),
            fell_after_s: make(|movement| &movement.fell_after_s),
            recovered_after_s: make(|movement| &movement.recovered_after_s),
        }
    }
}
