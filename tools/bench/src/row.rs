//! One row of the report and of the history.

use crate::case::{Case, Measurement};
use crate::peer::PeerMeasurement;

/// The results of a case.
pub(crate) struct Row {
    pub(crate) case: Case,
    /// The fastest run.
    pub(crate) taken: Measurement,
    pub(crate) instructions_per_hop: Option<f64>,
    /// The fastest run of the peer.
    pub(crate) peer: Option<PeerMeasurement>,
}

impl Row {
    /// Packet hops per second of processor time.
    pub(crate) fn hops_per_s(&self) -> f64 {
        self.taken.hops as f64 / self.taken.run_s
    }
}
