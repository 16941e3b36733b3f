//! The losses that one input revealed.

use layercast_core::units::{Layer, Seq};
use layercast_kit::estimator::Packet;
use layercast_kit::waves::BASE;

/// Packets that were found to be lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    pub(super) count: u32,
    /// How many of them were on the base channel.
    pub(super) on_base: u32,
    pub(super) first: Option<(Layer, Seq)>,
}

impl Losses {
    pub(super) fn add(&mut self, lost: &Packet) {
        self.count += 1;
        self.on_base += u32::from(lost.layer.0 == BASE.0);
        self.first = self.first.or(Some((lost.layer, lost.seq)));
    }
}
