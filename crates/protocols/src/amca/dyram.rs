//! The parts of DyRAM that its endpoints share (report, section 4.1).
//!
//! Internally, numbers are those of the first packet not included: `below` is the number after `lo`, `end` that
//! after `lr` and `limit` that after `maxseq`. So nothing is -1, and 0 means none.

mod children;
mod heartbeat;
mod missing;
mod standing;
mod table;

pub(super) use children::{ChildKey, ChildNack, Children};
pub(super) use heartbeat::Heartbeats;
pub(super) use missing::Missing;
pub(super) use standing::Standing;
pub(super) use table::Table;

use layercast_core::units::{Duration, Seq, WireSeq};

/// How long repeated NACKs for a packet are suppressed before a round-trip time is known.
pub(super) const UNKNOWN_WINDOW: Duration = Duration::from_ms(200);

/// The wire form of the number before this one: of `lo`, `lr` and `maxseq`.
pub(super) fn wire_before(next: u64) -> WireSeq {
    WireSeq((next as u32).wrapping_sub(1))
}

/// The number after one on the wire, nearest to `near`: of `below`, `end` and `limit`.
pub(super) fn after_wire(wire: WireSeq, near: u64) -> u64 {
    wire.next().expand(Seq(near)).0
}

/// A duration in microseconds for the wire.
pub(super) fn wire_us(duration: Duration) -> u32 {
    u32::try_from(duration.as_us()).unwrap_or(u32::MAX)
}
