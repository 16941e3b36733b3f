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
//! The type tells the variants apart.

use super::{Header, HeaderError};
use crate::lct::{Cci, Content, Pieces};

impl Header {
    /// The header in pieces, with the extension of a variant's type.
    pub fn to_lct(&self, extension: u8) -> Pieces {
        Pieces {
            cci: Cci::Long(self.word()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension: Content::default().with(&[self.layer, 0]).extension(extension),
        }
    }

    /// The header from its pieces. Never panics.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn from_lct(pieces: &Pieces) -> Result<Header, HeaderError> {
        let (Cci::Long(word), &[layer, _]) = (pieces.cci, pieces.extension.content()) else {
            return Err(HeaderError::Length);
        };
        let session = pieces.session.ok_or(HeaderError::Session)?;
        Ok(Header { session, layer, end_of_session: pieces.end_of_session, ..Header::of_word(word)? })
    }
}
