//! How far a child has come.

use super::after_wire;
use layercast_core::units::WireSeq;

/// How far a node, or all nodes below one, have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::amca) struct Standing {
    /// All before this number is there.
    pub(in crate::amca) below: u64,
    /// Nothing from this number on has been received.
    pub(in crate::amca) end: u64,
    /// There is no room for this number and those after it.
    pub(in crate::amca) limit: u64,
}

impl Standing {
    /// What a packet from below says, read near the numbers of one who has seen all before `end`. None if it
    /// cannot be: it says that something is there that was not sent yet, or contradicts itself.
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
