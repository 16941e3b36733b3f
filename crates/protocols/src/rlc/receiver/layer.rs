//! One layer of the receiver, and what its losses mean.

use crate::rlc::Header;
use layercast_core::units::{Layer, Seq, Time, WireSeq};
use layercast_kit::estimator::{Packet, SequenceTracker};

/// The state of bursts and points from one layer's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerReceiver {
    /// First number and length of the newest burst.
    pub(super) burst: Option<(WireSeq, u32)>,
    pub(super) point_accepted: Option<Time>,
}

/// The losses that one input revealed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewLosses {
    pub(super) in_burst: u32,
    pub(super) normal: u32,
    pub(super) first_normal: Option<(Layer, Seq)>,
}

impl NewLosses {
    pub(super) fn add(&mut self, lost: &Packet, burst: Option<(WireSeq, u32)>) {
        let in_burst = burst.is_some_and(|(first, length)| {
            u32::try_from(lost.seq.wire().distance(first)).is_ok_and(|place| place < length)
        });
        if in_burst {
            self.in_burst += 1;
        } else {
            self.normal += 1;
            self.first_normal = self.first_normal.or(Some((lost.layer, lost.seq)));
        }
    }
}

/// The wider form of a 16-bit number, nearest to the highest that arrived.
pub(super) fn widen(seq: u16, tracker: &SequenceTracker) -> WireSeq {
    // A start above zero leaves room for packets that are older than the first.
    let near = tracker.highest().map_or((1 << 16) | u32::from(seq), |highest| highest.wire().0);
    let distance = seq.wrapping_sub(near as u16) as i16;
    WireSeq(near.wrapping_add_signed(i32::from(distance)))
}

impl LayerReceiver {
    pub(super) fn learn_burst(&mut self, header: &Header, wire: WireSeq) -> Option<(WireSeq, u32)> {
        if let Some((back, length)) = header.burst_range() {
            self.burst = Some((WireSeq(wire.0.wrapping_sub(back)), length));
        }
        self.burst
    }
}
