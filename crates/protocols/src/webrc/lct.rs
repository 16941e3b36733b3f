//! WEBRC's header on LCT.
//!
//! ```text
//! CCI        slot, channel and number: 32 bits (8, 8, 16) or 64 bits (16, 16, 32)
//! flag A     end of session
//! EXT_WEBRC   0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   96   |   1    | waves in a cycle |
//!         +-----------------------------------+
//! ```

use super::{Header, HeaderError};
use layercast_core::lct::{ExtensionPayload, LctFields};

/// The type of WEBRC's extension (RFC 5651, section 9.1; not registered).
pub const EXTENSION: u8 = 96;

impl Header {
    /// The header in pieces.
    pub fn to_lct(&self) -> LctFields {
        let extension = ExtensionPayload::default().with(&self.cycle.to_be_bytes()).extension(EXTENSION);
        LctFields { cci: self.word(), session: None, end_of_session: self.end_of_session, extension }
    }

    /// The header from its pieces. Never panics.
    ///
    /// # Errors
    /// As [`Header::from_word`].
    pub fn from_lct(pieces: &LctFields) -> Result<Header, HeaderError> {
        let &[high, low] = pieces.extension.content() else { return Err(HeaderError::Extension) };
        Header::from_word(pieces.cci, u16::from_be_bytes([high, low]), pieces.end_of_session)
    }
}
