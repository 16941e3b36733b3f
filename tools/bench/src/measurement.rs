//! What a run of a case costs.

use serde::{Deserialize, Serialize};

/// The measurements of a run of a case, by this program or a peer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Processor time to set the network up, in seconds. That of a peer is its whole time for a run of 0 s.
    pub(crate) set_up_s: f64,
    /// Processor time to run it, in seconds.
    pub(crate) run_s: f64,
    /// Transmissions of a packet on a link; packets of a transfer.
    pub(crate) hops: u64,
    /// Packets delivered to receivers of the session; zero for a dumbbell.
    pub(crate) deliveries: u64,
    /// The peak resident memory, where the system reports it.
    pub(crate) peak_bytes: Option<u64>,
}

impl Measurement {
    /// Packet hops per second of processor time.
    pub(crate) fn hops_per_s(&self) -> f64 {
        self.hops as f64 / self.run_s
    }
}
