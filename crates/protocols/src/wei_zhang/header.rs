//! The header of data packets.

use layercast_core::units::{Layer, WireSeq};

/// The header of a data packet.
///
/// The report has base packets that carry the set of layers whose point it is. With hundreds of layers
/// that is a long list, so a base packet carries the time instead, and receivers, which know tau_0 and
/// the layers, see from two such times in a row which points lie between them. A base packet that is
/// lost takes no point with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The layer it was sent on.
    pub layer: Layer,
    /// Its number on that layer.
    pub seq: WireSeq,
    /// On the base layer: the time since the source's start, in parts of tau_0 (see
    /// [`TICKS`](super::TICKS)), below 2^48. Zero on others.
    pub ticks: u64,
}

impl layercast_core::contract::Header for Header {}
