//! The header of RLC's packets, as a value and as bytes.
//!
//! The first 32 bits are the congestion control word of the MCL library. An extension of fixed
//! length adds what its receivers do not need: the point's number, and the place in a burst.

use core::fmt;

use layercast_core::units::{Layer, WireSeq};

/// The seven bits next to the synchronisation flag.
pub(super) const CHECK: u8 = 0x55;
pub(super) const POINT_FLAG: u8 = 0x80;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The layer.
    pub layer: u8,
    /// The packet's number on its layer, modulo 2^16.
    pub seq: u16,
    /// Whether this packet is a synchronisation point of its layer.
    pub is_point: bool,
    /// Which copy of the point this is, from 0; copies have consecutive numbers on the layer.
    pub copy: u8,
    /// The number of the layer's newest point, in base intervals since the source's start.
    pub point: WireSeq,
    /// The packet's place in a burst, from 1; 0 outside a burst.
    pub burst_place: u8,
    /// Packets of this layer in the burst: in a burst of that one, in a point of the one before it.
    pub burst_length: u8,
}

/// Why bytes are not a header of RLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The extension is too short.
    Truncated,
    /// The check pattern of the first byte is wrong.
    Pattern,
    /// The fields contradict each other.
    Inconsistent,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderError::Truncated => "the header is cut short",
            HeaderError::Pattern => "the check pattern is wrong",
            HeaderError::Inconsistent => "the fields contradict each other",
        })
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The congestion control word: point flag and check pattern, layer, number.
    pub fn word(&self) -> [u8; 4] {
        let first = if self.is_point { CHECK | POINT_FLAG } else { CHECK };
        let [high, low] = self.seq.to_be_bytes();
        [first, self.layer, high, low]
    }

    /// The layer that the packet belongs to.
    pub fn layer(&self) -> Layer {
        Layer(u16::from(self.layer))
    }

    /// How far before this packet the burst that it describes begins, and its length, in
    /// numbers of the layer. A burst packet describes its own burst, a point the one before it.
    pub(super) fn burst_range(&self) -> Option<(u32, u32)> {
        let length = u32::from(self.burst_length);
        let back = match (self.burst_length, self.burst_place) {
            (0, _) => return None,
            (_, 0) => u32::from(self.copy) + length,
            (_, place) => u32::from(place) - 1,
        };
        Some((back, length))
    }
}

impl layercast_core::contract::Header for Header {
    /// Runs are the pairs of a burst: the next number and the next place.
    fn nth(self, index: u16) -> Header {
        Header {
            seq: self.seq.wrapping_add(index),
            burst_place: self.burst_place.saturating_add(index.min(255) as u8),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_tell_where_their_burst_lies() {
        let burst = Header { burst_place: 3, burst_length: 4, ..Header::default() };
        assert_eq!(burst.burst_range(), Some((2, 4)));
        let point = Header { is_point: true, copy: 1, burst_length: 4, ..Header::default() };
        assert_eq!(point.burst_range(), Some((5, 4)));
        assert_eq!(Header::default().burst_range(), None);
    }
}
