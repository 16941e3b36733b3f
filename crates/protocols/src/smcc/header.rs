//! What SMCC's packets carry: TFMCC's headers with the layer to which they belong.

use crate::tfmcc;
pub use crate::tfmcc::header::{FloatRate, HeaderError, ReceiverId};
use layercast_core::contract;
use layercast_core::units::{Channel, Layer, Rate, WireSeq};

/// The header of a data packet of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The header of the layer's TFMCC session. Its rate is that of all layers up to this one.
    pub tfmcc: tfmcc::header::Data,
    /// The rate of all layers up to the one above; no bound if there is none above.
    pub above: FloatRate,
    /// The layer.
    pub layer: u8,
}

/// The header of a data packet of a counting layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counting {
    /// The session.
    pub session: u32,
    /// The number of the packet on its channel.
    pub seq: WireSeq,
    /// When it was sent, in microseconds of the source's clock.
    pub timestamp_us: u32,
    /// The channel, which identifies boundary and position.
    pub channel: u16,
}

/// The header of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The receiver's report to the layer's TFMCC session.
    pub tfmcc: tfmcc::header::Report,
    /// The layer.
    pub layer: u8,
}

/// The header of an SMCC packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data of a layer, from the source.
    Data(Data),
    /// Data of a counting layer, from the source.
    Counting(Counting),
    /// Feedback, from a receiver.
    Report(Report),
}

impl contract::Header for Header {}

impl Data {
    /// The layer.
    pub fn layer(&self) -> Layer {
        Layer(u16::from(self.layer))
    }

    /// The rate of all layers up to the one above; none if there is none above.
    pub fn above(&self) -> Option<Rate> {
        self.above.rate()
    }
}

impl Counting {
    /// The channel.
    pub fn channel(&self) -> Channel {
        Channel(self.channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_packets_do_not_grow() {
        assert!(size_of::<Header>() <= 56, "{}", size_of::<Header>());
    }
}
