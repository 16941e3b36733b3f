//! SMCC's data headers on LCT.
//!
//! ```text
//! CCI          sequence number (32)
//! TSI          session (32)
//! flag A       end of session
//! EXT_SMCC     0        1        2        3
//!          +--------+--------+--------+--------+
//!        0 |   86   | words  | round  | layer  |   words: 7, with an echo 10
//!          | as TFMCC's, 20 or 32 bytes        |
//!          +-----------------------------------+
//!    the end| rate up to the layer above | 0    |   16 bits each; 65535: no layer above
//!          +-----------------------------------+
//! EXT_COUNT    0        1        2        3
//!          +--------+--------+--------+--------+
//!        0 |   87   |   2    | channel         |
//!        4 | send time, us of the source       |
//!          +-----------------------------------+
//! ```

use super::header::{Counting, Data, FloatRate, HeaderError};
use crate::tfmcc;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::WireSeq;

/// The type of the extension of layers (RFC 5651, section 9.1; not registered).
pub const LAYER_EXTENSION: u8 = 86;
/// The type of the extension of counting layers.
pub const COUNTING_EXTENSION: u8 = 87;

/// Bytes at the end of a layer's extension that TFMCC's does not have.
const MORE: usize = 4;

impl Data {
    /// The header in pieces.
    pub fn to_lct(&self) -> LctFields {
        let content = self.told.lct_content(self.layer).with(&self.above.0.to_be_bytes()).with(&[0; 2]);
        self.told.pieces(content.extension(LAYER_EXTENSION))
    }

    /// The header from its pieces. Never panics.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_lct(pieces: &LctFields) -> Result<Data, HeaderError> {
        let content = pieces.extension.content();
        let error = HeaderError::Length { have: content.len() };
        let (own, &[high, low, ..]) = content.split_last_chunk::<MORE>().ok_or(error)?;
        let (told, layer) =
            tfmcc::header::Data::from_lct_content(pieces, own).map_err(|found| match found {
                HeaderError::Length { .. } => error,
                other => other,
            })?;
        Ok(Data { told, above: FloatRate(u16::from_be_bytes([high, low])), layer })
    }
}

impl Counting {
    /// The header in pieces.
    pub fn to_lct(&self) -> LctFields {
        let content = ExtensionPayload::default()
            .with(&self.channel.to_be_bytes())
            .with(&self.timestamp_us.to_be_bytes());
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: false,
            extension: content.extension(COUNTING_EXTENSION),
        }
    }

    /// The header from its pieces. Never panics.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_lct(pieces: &LctFields) -> Result<Counting, HeaderError> {
        let content = pieces.extension.content();
        let &[high, low, a, b, c, d] = content else {
            return Err(HeaderError::Length { have: content.len() });
        };
        Ok(Counting {
            session: pieces.session.unwrap_or_default(),
            seq: WireSeq(u32::from_be_bytes(pieces.cci.first())),
            timestamp_us: u32::from_be_bytes([a, b, c, d]),
            channel: u16::from_be_bytes([high, low]),
        })
    }
}
