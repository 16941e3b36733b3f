//! What a receiver counts.

use crate::tfmcc;

/// What a receiver counted since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What TFMCC's receiver counts, over all channels.
    pub tfmcc: tfmcc::Counters,
    /// Attempts to join a layer that have ended.
    pub attempts: u64,
    /// Attempts after which the layer was joined.
    pub joined: u64,
    /// Layers left for want of rate before they had been kept for `back_off_max`.
    pub taken_back: u64,
    /// Layers left since nothing came of them.
    pub silent: u64,
}
