//! The header of PLM's packets, as a value and as bytes.
//!
//! ```text
//!      0        1        2        3
//! +--------+--------+--------+--------+
//! |F0000000|00000000|      layer      |   F: first packet of a pair
//! +--------+--------+--------+--------+
//! |  sequence number, of the layer    |
//! +-----------------------------------+
//! ```

use core::fmt;

use layercast_protocol::contract;
use layercast_protocol::units::{Layer, WireSeq};

/// The length of an encoded header.
pub const HEADER_BYTES: usize = 8;

const FIRST_FLAG: u8 = 0x80;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The layer.
    pub layer: Layer,
    /// The packet's number on its layer.
    pub seq: WireSeq,
    /// Whether it is the first packet of a pair; the next number is the second then.
    pub is_first: bool,
}

/// Why bytes are not a header of PLM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// There are fewer than [`HEADER_BYTES`] bytes.
    Truncated,
    /// A bit is set that must be 0.
    Reserved,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderError::Truncated => "the header is cut short",
            HeaderError::Reserved => "a reserved bit of the header is set",
        })
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The header as bytes, big endian.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = if self.is_first { FIRST_FLAG } else { 0 };
        bytes[2..4].copy_from_slice(&self.layer.0.to_be_bytes());
        bytes[4..].copy_from_slice(&self.seq.0.to_be_bytes());
        bytes
    }

    /// Reads a header from the start of `bytes`; what follows it is not looked at.
    ///
    /// # Errors
    /// [`HeaderError`] if the bytes are too few or a reserved bit is set.
    pub fn decode(bytes: &[u8]) -> Result<Header, HeaderError> {
        let Some(&[flags, reserved, l1, l0, s3, s2, s1, s0]) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(HeaderError::Truncated);
        };
        if flags & !FIRST_FLAG != 0 || reserved != 0 {
            return Err(HeaderError::Reserved);
        }
        Ok(Header {
            layer: Layer(u16::from_be_bytes([l1, l0])),
            seq: WireSeq(u32::from_be_bytes([s3, s2, s1, s0])),
            is_first: flags & FIRST_FLAG != 0,
        })
    }
}

impl contract::Header for Header {
    /// Runs are pairs: only the first packet has the flag.
    fn nth(self, index: u16) -> Header {
        Header { seq: self.seq.plus(u32::from(index)), is_first: self.is_first && index == 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use layercast_protocol::contract::Header as _;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_has_its_fields_at_their_places() {
        let header = Header { layer: Layer(0x0102), seq: WireSeq(0x0304_0506), is_first: true };
        assert_eq!(header.encode(), [0x80, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(Header::decode(&[0, 1, 0, 0, 0, 0, 0, 0]), Err(HeaderError::Reserved));
        assert_eq!(Header::decode(&[0x81, 0, 0, 0, 0, 0, 0, 0]), Err(HeaderError::Reserved));
    }

    #[test]
    fn the_second_packet_of_a_pair_has_the_next_number_and_no_flag() {
        let first = Header { layer: Layer(3), seq: WireSeq(u32::MAX), is_first: true };
        assert_eq!(first.nth(0), first);
        assert_eq!(first.nth(1), Header { layer: Layer(3), seq: WireSeq(0), is_first: false });
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(layer: u16, seq: u32, is_first: bool, more: [u8; 3], cut in 0..HEADER_BYTES) {
            let header = Header { layer: Layer(layer), seq: WireSeq(seq), is_first };
            let bytes = [&header.encode()[..], &more].concat();
            prop_assert_eq!(Header::decode(&bytes), Ok(header));
            prop_assert_eq!(Header::decode(&bytes[..cut]), Err(HeaderError::Truncated));
        }

        #[test]
        fn any_bytes_are_refused_or_encoded_again(bytes: [u8; HEADER_BYTES]) {
            if let Ok(header) = Header::decode(&bytes) {
                prop_assert_eq!(header.encode(), bytes);
            }
        }
    }
}
