//! What RLA's packets carry.
//!
//! On LCT, besides sequence number (CCI), session (TSI) and end of session (flag A):
//!
//! ```text
//! EXT_RLA     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   94   |   2    | reserved, 0     |
//!       4 | send time, us of the source       |
//!         +-----------------------------------+
//! ```
//!
//! A report:
//!
//! ```text
//!     +--------+--------+--------+--------+
//!   0 |  0x1e  | flags  | reserved, 0     |   flags: 1 leaving
//!   4 | session                           |
//!   8 | receiver (64), not 0              |
//!  16 | highest sequence number received  |
//!  20 | which of the 32 up to it came     |   least bit: the highest
//!  24 | newest send time received, us of the source, plus the time since |
//!     +-----------------------------------+
//! ```

use layercast_core::contract;
use layercast_core::lct::LctFields;
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};
pub use layercast_kit::feedback::ReceiverId;
use layercast_kit::window::codec::Fields;
use layercast_kit::window::{Base, HeaderError};

const FLAG_LEAVING: u8 = 1;

/// An acknowledgement from a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session.
    pub session: u32,
    /// The reporting receiver.
    pub receiver: ReceiverId,
    /// Whether the receiver leaves the session.
    pub leaving: bool,
    /// The highest number received.
    pub highest: WireSeq,
    /// Which of the 32 numbers up to it came, the highest in the least bit.
    pub came: u32,
    /// The newest time stamp received, in microseconds of the source's clock, plus the time since.
    pub heard_us: u32,
}

/// The header of a packet of RLA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Base),
    /// Feedback, from a receiver.
    Report(Report),
}

impl contract::Header for Header {
    fn nth(self, index: u16) -> Header {
        match self {
            Header::Data(base) => Header::Data(base.nth(index)),
            report @ Header::Report(_) => report,
        }
    }
}

/// A data header as LCT fields.
pub(crate) fn to_lct(data: &Base, extension: u8) -> LctFields {
    data.to_lct(extension, &[])
}

/// A data header from LCT fields. Never panics.
pub(crate) fn from_lct(fields: &LctFields) -> Result<Base, HeaderError> {
    Base::from_lct::<0>(fields).map(|(base, _)| base)
}

impl Report {
    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        let fields = Fields {
            flags: if self.leaving { FLAG_LEAVING } else { 0 },
            half: 0,
            session: self.session,
            receiver: self.receiver,
            words: [self.highest.0, self.came],
            heard_us: self.heard_us,
        };
        fields.encode(kind, bytes)
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are not looked at.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        let Fields { flags, half, session, receiver, words: [highest, came], heard_us } =
            Fields::decode(kind, FLAG_LEAVING, bytes)?;
        if half != 0 {
            return Err(HeaderError::Reserved);
        }
        let leaving = flags & FLAG_LEAVING != 0;
        Ok(Report { session, receiver, leaving, highest: WireSeq(highest), came, heard_us })
    }
}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        match self {
            Header::Data(data) => Some(to_lct(data, numbers.extension())),
            Header::Report(_) => None,
        }
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        from_lct(fields).map(Header::Data)
    }

    fn layer(&self) -> Option<Layer> {
        match self {
            Header::Data(_) => Some(Layer::BASE),
            Header::Report(_) => None,
        }
    }

    fn encode_report(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        match self {
            Header::Data(_) => None,
            Header::Report(report) => Some(report.encode(kind, bytes)),
        }
    }

    fn decode_report(kind: u8, bytes: &[u8]) -> Option<Result<Header, HeaderError>> {
        Some(Report::decode(kind, bytes).map(Header::Report))
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU64;

    use super::*;
    const EXTENSION: u8 = 94;
    const KIND: u8 = 0x1e;

    #[test]
    fn headers_come_back() {
        let base = Base { session: 1, seq: WireSeq(2), timestamp_us: 3, end_of_session: true };
        assert_eq!(from_lct(&to_lct(&base, EXTENSION)), Ok(base));
        let receiver = ReceiverId(NonZeroU64::MAX);
        for leaving in [false, true] {
            let (highest, came) = (WireSeq(u32::MAX), 0x8000_0001);
            let report = Report { session: 1, receiver, leaving, highest, came, heard_us: 9 };
            let mut bytes = [0; 44];
            let length = report.encode(KIND, &mut bytes);
            assert_eq!(Report::decode(KIND, &bytes[..length]), Ok(report));
            bytes[3] = 1;
            assert_eq!(Report::decode(KIND, &bytes), Err(HeaderError::Reserved));
        }
    }
}
