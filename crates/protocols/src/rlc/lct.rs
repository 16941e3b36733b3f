//! RLC's header on LCT.
//!
//! ```text
//! CCI     the congestion control word: point flag, check pattern, layer, number
//! EXT_RLC     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   81   |   3    | copy   | place  |   place in the burst
//!       4 | length | reserved, 0              |   length of the burst
//!       8 | number of the layer's newest point |
//!         +-----------------------------------+
//! ```

use super::{Header, HeaderError};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};

/// The type of RLC's extension (RFC 5651, section 9.1; not registered).
pub const EXTENSION: u8 = 81;

impl Header {
    /// The header in pieces.
    pub fn to_lct(&self) -> LctFields {
        let content = ExtensionPayload::default()
            .with(&[self.copy, self.burst_place, self.burst_length, 0, 0, 0])
            .with(&self.point.0.to_be_bytes());
        let extension = content.extension(EXTENSION);
        LctFields { cci: Cci::Short(self.word()), session: None, end_of_session: false, extension }
    }

    /// The header from its pieces. Never panics.
    ///
    /// # Errors
    /// As [`Header::decode`].
    pub fn from_lct(pieces: &LctFields) -> Result<Header, HeaderError> {
        let &[copy, place, length, _, _, _, p3, p2, p1, p0] = pieces.extension.content() else {
            return Err(HeaderError::Truncated);
        };
        let [c0, c1, c2, c3] = pieces.cci.first();
        Header::decode(&[c0, c1, c2, c3, copy, place, length, 0, p3, p2, p1, p0])
    }
}
