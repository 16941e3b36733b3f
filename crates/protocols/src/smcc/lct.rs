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
use super::header::{Header, Report};
use crate::tfmcc;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};

/// Bytes at the end of a layer's extension that TFMCC's does not have.
const MORE: usize = 4;

impl Data {
    /// The LCT fields of the header.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        let payload = self.tfmcc.lct_payload(self.layer).with(&self.above.0.to_be_bytes()).with(&[0; 2]);
        self.tfmcc.lct_fields(payload.extension(extension))
    }

    /// The header from its LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        let payload = fields.extension.content();
        let error = HeaderError::Length { have: payload.len() };
        let (own, &[high, low, ..]) = payload.split_last_chunk::<MORE>().ok_or(error)?;
        let (tfmcc, layer) =
            tfmcc::header::Data::from_lct_payload(fields, own).map_err(|found| match found {
                HeaderError::Length { .. } => error,
                other => other,
            })?;
        Ok(Data { tfmcc, above: FloatRate(u16::from_be_bytes([high, low])), layer })
    }
}

impl Counting {
    /// The LCT fields of the header.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        let payload = ExtensionPayload::default()
            .with(&self.channel.to_be_bytes())
            .with(&self.timestamp_us.to_be_bytes());
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: false,
            extension: payload.extension(extension),
        }
    }

    /// The header from its LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn from_lct(fields: &LctFields) -> Result<Counting, HeaderError> {
        let payload = fields.extension.content();
        let &[high, low, a, b, c, d] = payload else {
            return Err(HeaderError::Length { have: payload.len() });
        };
        Ok(Counting {
            session: fields.session.unwrap_or_default(),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            timestamp_us: u32::from_be_bytes([a, b, c, d]),
            channel: u16::from_be_bytes([high, low]),
        })
    }
}

/// Two extensions: the first is that of layers, the second that of counting layers.
impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        match self {
            Header::Data(data) => Some(data.to_lct(numbers.extension())),
            Header::Counting(counting) => Some(counting.to_lct(*numbers.extensions.get(1)?)),
            Header::Report(_) => None,
        }
    }

    fn from_lct(fields: &LctFields, numbers: &WireNumbers) -> Result<Header, HeaderError> {
        if fields.extension.kind() == numbers.extension() {
            Data::from_lct(fields).map(Header::Data)
        } else {
            Counting::from_lct(fields).map(Header::Counting)
        }
    }

    fn layer(&self) -> Option<Layer> {
        match self {
            Header::Data(data) => Some(data.layer()),
            Header::Counting(counting) => Some(Layer(counting.channel)),
            Header::Report(_) => None,
        }
    }

    fn encode_report(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        match self {
            Header::Report(report) => Some(report.encode(kind, bytes)),
            Header::Data(_) | Header::Counting(_) => None,
        }
    }

    fn decode_report(kind: u8, bytes: &[u8]) -> Option<Result<Header, HeaderError>> {
        Some(Report::decode(kind, bytes).map(Header::Report))
    }
}
