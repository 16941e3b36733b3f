//! FLID's header on LCT.
//!
//! ```text
//! CCI     64 bits: slot, signal, first flag and channel, number
//! TSI     the session number; flag A: the session ends
//! EXT     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |  type  |   1    | layer  |   0    |
//!         +--------+--------+--------+--------+
//! ```
//!
//! The type distinguishes the variants.

use super::{Header, HeaderError};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Channel, Layer};
use layercast_core::wire::{CciLength, Wire, WireNumbers};

impl Header {
    /// The LCT fields of the header, with the extension of a variant's type.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        LctFields {
            cci: Cci::Long(self.word()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension: ExtensionPayload::default().with(&[self.layer, 0]).extension(extension),
        }
    }

    /// The header from its LCT fields. Never panics.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn from_lct(fields: &LctFields) -> Result<Header, HeaderError> {
        let (Cci::Long(word), &[layer, _]) = (fields.cci, fields.extension.content()) else {
            return Err(HeaderError::Length);
        };
        let session = fields.session.ok_or(HeaderError::Session)?;
        Ok(Header { session, layer, end_of_session: fields.end_of_session, ..Header::from_word(word)? })
    }
}

impl Wire for Header {
    type Error = HeaderError;

    const CCI: CciLength = CciLength::Long;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        Some(Header::to_lct(self, numbers.extension()))
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        Header::from_lct(fields)
    }

    fn layer(&self) -> Option<Layer> {
        Some(Header::layer(self))
    }

    fn channel(&self) -> Option<Channel> {
        Some(Header::channel(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::lct::Extension;
    use layercast_core::stream::Stream;
    use layercast_core::units::WireSeq;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_is_refused() {
        let mut stream = Stream::new(1, "headers");
        for _ in 0..500 {
            let bits = stream.bits();
            let header = Header {
                session: stream.bits() as u32,
                slot: WireSeq(stream.bits() as u32),
                signal: (bits & 1 == 0).then_some((bits >> 8) as u8 & 127),
                first_of_slot: bits & 2 == 0,
                channel: (bits >> 16) as u8 & 127,
                seq: (bits >> 24) as u16,
                layer: (bits >> 40) as u8,
                end_of_session: bits & 4 == 0,
            };
            let fields = header.to_lct(89);
            assert_eq!(Header::from_lct(&fields), Ok(header));
            let short = LctFields { cci: Cci::Short(fields.cci.first()), ..fields };
            assert_eq!(Header::from_lct(&short), Err(HeaderError::Length));
            let nobody = LctFields { session: None, ..fields };
            assert_eq!(Header::from_lct(&nobody), Err(HeaderError::Session));
            for content in [&[][..], &[1, 2, 3, 4, 5, 6]] {
                let Ok(extension) = Extension::new(89, content) else { continue };
                assert_eq!(Header::from_lct(&LctFields { extension, ..fields }), Err(HeaderError::Length));
            }
        }
    }
}
