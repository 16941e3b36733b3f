//! What a receiver counts of its layers.

layercast_core::counters! {
    /// What became of attempts to join layers, and of the layers joined.
    pub struct JoinCounters {
        /// Attempts to join a layer that have ended.
        attempts in "attempts",
        /// Attempts after which the layer was joined.
        joined in "attempts",
        /// Layers left for want of rate before they had been kept for `back_off_max`.
        taken_back in "layers",
        /// Layers left since nothing came of them.
        silent_layers in "layers",
    }
}
