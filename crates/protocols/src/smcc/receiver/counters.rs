//! The counters of a receiver's joins.

layercast_core::counters! {
    /// The outcomes of attempts to join layers, and of the layers joined.
    pub struct JoinCounters {
        /// Attempts to join a layer that have ended.
        attempts in "attempts",
        /// Attempts after which the layer was joined.
        joined in "attempts",
        /// Layers left because of a low rate before they had been kept for `back_off_max`.
        taken_back in "layers",
        /// Layers left because no packet of them arrived.
        silent_layers in "layers",
    }
}
