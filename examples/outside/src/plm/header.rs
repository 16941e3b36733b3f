//! The header of PLM's packets, as a value and on LCT.
//!
//! ```text
//! CCI     the sequence number, of the layer (32 bits)
//! EXT     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |  type  | words  |F0000000|00000000|   words: 2; F: first packet of a pair
//!       4 |      layer      |        0        |
//!         +-----------------------------------+
//! ```

use core::fmt;

use layercast_core::contract;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Layer, WireSeq};
use layercast_core::wire::{Wire, WireNumbers};

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
    /// The extension has another length.
    Length,
    /// A bit is set that must be 0.
    Reserved,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderError::Length => "an extension of wrong length",
            HeaderError::Reserved => "a reserved bit of the header is set",
        })
    }
}

impl core::error::Error for HeaderError {}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let payload = ExtensionPayload::default()
            .with(&[if self.is_first { FIRST_FLAG } else { 0 }, 0])
            .with(&self.layer.0.to_be_bytes())
            .with(&[0, 0]);
        Some(LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: None,
            end_of_session: false,
            extension: payload.extension(numbers.extension()),
        })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[flags, r1, l1, l0, r2, r3] = fields.extension.content() else {
            return Err(HeaderError::Length);
        };
        if flags & !FIRST_FLAG != 0 || [r1, r2, r3] != [0; 3] {
            return Err(HeaderError::Reserved);
        }
        Ok(Header {
            layer: Layer(u16::from_be_bytes([l1, l0])),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            is_first: flags & FIRST_FLAG != 0,
        })
    }

    fn layer(&self) -> Option<Layer> {
        Some(self.layer)
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
    use layercast_core::contract::Header as _;
    use layercast_core::lct::Extension;
    use proptest::prelude::*;

    use super::*;

    const NUMBERS: WireNumbers = WireNumbers { extensions: &[121], report: None };

    #[test]
    fn a_header_has_its_fields_at_their_offsets() {
        let header = Header { layer: Layer(0x0102), seq: WireSeq(0x0304_0506), is_first: true };
        let fields = header.to_lct(&NUMBERS).expect("data");
        assert_eq!(fields.cci, Cci::Short([3, 4, 5, 6]));
        assert_eq!(fields.extension, Extension::new(121, &[0x80, 0, 1, 2, 0, 0]).expect("whole words"));
    }

    #[test]
    fn the_second_packet_of_a_pair_has_the_next_number_and_no_flag() {
        let first = Header { layer: Layer(3), seq: WireSeq(u32::MAX), is_first: true };
        assert_eq!(first.nth(0), first);
        assert_eq!(first.nth(1), Header { layer: Layer(3), seq: WireSeq(0), is_first: false });
    }

    proptest! {
        #[test]
        fn headers_survive_the_wire(layer: u16, seq: u32, is_first: bool) {
            let header = Header { layer: Layer(layer), seq: WireSeq(seq), is_first };
            prop_assert_eq!(Header::from_lct(&header.to_lct(&NUMBERS).expect("data"), &NUMBERS), Ok(header));
        }

        #[test]
        fn any_fields_are_rejected_or_come_back(cci: [u8; 4], words in 0usize..4, bytes: [u8; 14]) {
            let extension = Extension::new(121, &bytes[..2 + 4 * words]).expect("whole words");
            let fields = LctFields { cci: Cci::Short(cci), session: None, end_of_session: false, extension };
            match Header::from_lct(&fields, &NUMBERS) {
                Ok(header) => prop_assert_eq!(header.to_lct(&NUMBERS), Some(fields)),
                Err(error) => prop_assert_eq!(error == HeaderError::Length, words != 1),
            }
        }
    }
}
