//! How far a child has got.

use super::after_wire;
use layercast_core::units::WireSeq;

/// How far a node, or all nodes below it, have got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::amca) struct Standing {
    /// All packets before this number have been received.
    pub(in crate::amca) below: u64,
    /// Nothing from this number on has been received.
    pub(in crate::amca) end: u64,
    /// There is no room for this number and those after it.
    pub(in crate::amca) limit: u64,
}

impl Standing {
    /// The position in a packet from below, read relative to a node that has seen all before `end`. None if it
    /// is impossible: it claims packets that were not sent yet, or contradicts itself.
    pub(in crate::amca) fn read(lo: WireSeq, lr: WireSeq, max_seq: WireSeq, end: u64) -> Option<Standing> {
        let standing = Standing {
            below: after_wire(lo, end),
            end: after_wire(lr, end),
            limit: after_wire(max_seq, end),
        };
        let can_be =
            standing.below <= standing.end && standing.end <= end && standing.below <= standing.limit;
        can_be.then_some(standing)
    }
}
