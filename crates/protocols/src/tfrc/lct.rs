//! TFRC's data header on LCT. CBR's has the type 84 in place of 83.
//!
//! ```text
//! CCI         sequence number (32)
//! TSI         session (32)
//! flag A      end of session
//! EXT_TFRC    0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   83   |   4    | round           |
//!       4 | send time, us of the sender       |
//!       8 | round-trip time, us; 0 = none yet |
//!      12 | timeout, us; 0 = none yet         |
//!         +-----------------------------------+
//! ```

use super::header::{Data, DataError};
use super::header::{Header, Report, ReportError};
use core::fmt;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};

impl Data {
    /// The LCT fields of the header, with the extension type of its protocol.
    pub(crate) fn to_lct(self, kind: u8) -> LctFields {
        let payload = ExtensionPayload::default()
            .with(&self.round.to_be_bytes())
            .with(&self.timestamp_us.to_be_bytes())
            .with(&self.rtt_us.to_be_bytes())
            .with(&self.rto_us.to_be_bytes());
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension: payload.extension(kind),
        }
    }

    /// The header from its LCT fields. Never panics.
    pub(crate) fn from_lct(fields: &LctFields) -> Result<Data, DataError> {
        let payload = fields.extension.content();
        let &[r1, r0, t3, t2, t1, t0, s3, s2, s1, s0, o3, o2, o1, o0] = payload else {
            return Err(DataError { len: payload.len() });
        };
        Ok(Data {
            session: fields.session.unwrap_or_default(),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            timestamp_us: u32::from_be_bytes([t3, t2, t1, t0]),
            rtt_us: u32::from_be_bytes([s3, s2, s1, s0]),
            rto_us: u32::from_be_bytes([o3, o2, o1, o0]),
            round: u16::from_be_bytes([r1, r0]),
            end_of_session: fields.end_of_session,
        })
    }
}

/// Why bytes are not a header of TFRC or CBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Why they are not data.
    Data(DataError),
    /// Why they are not a report.
    Report(ReportError),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Data(error) => error.fmt(f),
            HeaderError::Report(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        match self {
            Header::Data(data) => Some(data.to_lct(numbers.extension())),
            Header::Report(_) => None,
        }
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        Data::from_lct(fields).map(Header::Data).map_err(HeaderError::Data)
    }

    fn layer(&self) -> Option<Layer> {
        matches!(self, Header::Data(_)).then_some(Layer::BASE)
    }

    fn encode_report(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        match self {
            Header::Data(_) => None,
            Header::Report(report) => Some(report.encode(kind, bytes)),
        }
    }

    fn decode_report(kind: u8, bytes: &[u8]) -> Option<Result<Header, HeaderError>> {
        Some(Report::decode(kind, bytes).map(Header::Report).map_err(HeaderError::Report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const EXTENSION: u8 = 83;
    use layercast_core::lct::Extension;

    #[test]
    fn a_header_comes_back_and_other_lengths_are_refused() {
        let data = Data {
            session: 9,
            seq: WireSeq(u32::MAX),
            timestamp_us: 1 << 31,
            rtt_us: 100_000,
            rto_us: 400_000,
            round: 0xfffe,
            end_of_session: true,
        };
        let fields = data.to_lct(EXTENSION);
        assert_eq!(Data::from_lct(&fields), Ok(data));
        for len in [2, 6, 10, 18, 34] {
            let extension = Extension::new(EXTENSION, &[0; 34][..len]).expect("whole words");
            assert_eq!(Data::from_lct(&LctFields { extension, ..fields }), Err(DataError { len }));
        }
    }
}
