//! The LCT header of a data packet as bytes (RFC 5651, section 5.1).

use super::{Extension, LctFields, MAX_CONTENT};

/// The version of LCT and of ALC (RFC 5651, section 5.1; RFC 5775, section 4.1).
pub const VERSION: u8 = 1;

/// What a CCI of 64 bits adds to one of 32 bits.
pub const LONG_CCI: usize = 4;

/// The longest header in bytes, without [`Frame::further`]: the first word, CCI, TSI and TOI, and the
/// protocol's extension.
pub const MAX_FRAME: usize = 16 + LONG_CCI + 2 + MAX_CONTENT;

/// A data packet's LCT header: the protocol's fields and what the session adds. Session and object number
/// have 32 bits each (S = 1, O = 1, H = 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'f> {
    /// The fields of the protocol.
    pub fields: LctFields,
    /// The session (TSI), unless the fields name one.
    pub tsi: u32,
    /// The object (TOI).
    pub toi: u32,
    /// Whether the object ends (flag B).
    pub close_object: bool,
    /// The FEC encoding id, as codepoint (RFC 6726, section 5.1).
    pub codepoint: u8,
    /// Further extensions, in whole words, after the protocol's.
    pub further: &'f [u8],
}

impl Frame<'_> {
    /// Writes the header to the start of `room` and returns its length: at most [`MAX_FRAME`] and what is
    /// [`further`](Frame::further). A part that does not fit is not written.
    pub fn write(&self, room: &mut [u8]) -> usize {
        let cci = self.fields.cci.bytes();
        let extension = &self.fields.extension;
        let mut at = 4;
        let mut put = |part: &[u8]| {
            if let Some(space) = room.get_mut(at..at + part.len()) {
                space.copy_from_slice(part);
            }
            at += part.len();
        };
        put(cci);
        put(&self.fields.session.unwrap_or(self.tsi).to_be_bytes());
        put(&self.toi.to_be_bytes());
        if *extension != Extension::NONE {
            put(&[extension.kind(), ((extension.content().len() + 2) / 4) as u8]);
            put(extension.content());
        }
        put(self.further);
        // C = 0 or 1, PSI = 0: RaptorQ has one form of payload id.
        let first = VERSION << 4 | (cci.len() as u8 / 4 - 1) << 2;
        let flags = 0b1010_0000 | u8::from(self.fields.end_of_session) << 1 | u8::from(self.close_object);
        if let Some(space) = room.first_chunk_mut() {
            *space = [first, flags, (at / 4) as u8, self.codepoint];
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, MAX_FRAME};
    use crate::lct::{Cci, Extension, LctFields};

    #[test]
    fn a_header_has_the_bytes_of_the_standard() {
        let fields = LctFields {
            cci: Cci::Short([1, 2, 3, 4]),
            session: None,
            end_of_session: true,
            extension: Extension::new(80, &[9; 6]).unwrap(),
        };
        let further = [192, 0x20, 0, 5];
        let frame = Frame { fields, tsi: 7, toi: 1, close_object: false, codepoint: 6, further: &further };
        let mut room = [0; MAX_FRAME + 4];
        let length = frame.write(&mut room);
        let expected =
            [0x10, 0xa2, 7, 6, 1, 2, 3, 4, 0, 0, 0, 7, 0, 0, 0, 1, 80, 2, 9, 9, 9, 9, 9, 9, 192, 0x20, 0, 5];
        assert_eq!(room[..length], expected);
        let named = LctFields { session: Some(8), cci: Cci::Long([5; 8]), end_of_session: false, ..fields };
        let length = Frame { fields: named, further: &[], close_object: true, ..frame }.write(&mut room);
        assert_eq!((length, &room[..4], &room[12..16]), (28, &[0x14, 0xa1, 7, 6][..], &[0, 0, 0, 8][..]));
        let bare = LctFields { extension: Extension::NONE, ..fields };
        let length = Frame { fields: bare, further: &[], ..frame }.write(&mut room);
        assert_eq!((length, &room[..4]), (16, &[0x10, 0xa2, 4, 6][..]));
    }
}
