//! What the packets carry.
//!
//! On LCT, besides sequence number (CCI), session (TSI) and end of session (flag A):
//!
//! ```text
//! EXT_GS      0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   95   |   3    | reserved, 0     |
//!       4 | send time, us of the source       |
//!       8 | window of the receiver that limits; 0 = none |
//!         +-----------------------------------+
//! ```
//!
//! A report:
//!
//! ```text
//!     +--------+--------+--------+--------+
//!   0 |  0x1f  | flags  | reserved, 0     |   flags: 1 leaving
//!   4 | session                           |
//!   8 | receiver (64), not 0              |
//!  16 | highest number in order           |
//!  20 | highest number allowed            |
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

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Session, number, time.
    pub base: Base,
    /// The window of the receiver that limits the source, in packets; 0 if none does.
    pub window: u32,
}

/// What a receiver allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session.
    pub session: u32,
    /// The reporting receiver.
    pub receiver: ReceiverId,
    /// Whether the receiver leaves the session.
    pub leaving: bool,
    /// The highest number up to which each packet came or was found lost.
    pub in_order: WireSeq,
    /// The highest number that may be sent.
    pub allowed: WireSeq,
    /// The newest time stamp received, in microseconds of the source's clock, plus the time since.
    pub heard_us: u32,
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Data),
    /// Feedback, from a receiver.
    Report(Report),
}

impl contract::Header for Header {
    fn nth(self, index: u16) -> Header {
        match self {
            Header::Data(data) => Header::Data(Data { base: data.base.nth(index), ..data }),
            report @ Header::Report(_) => report,
        }
    }
}

impl Data {
    /// The header as LCT fields.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        self.base.to_lct(extension, &self.window.to_be_bytes())
    }

    /// The header from LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        let (base, window) = Base::from_lct(fields)?;
        Ok(Data { base, window: u32::from_be_bytes(window) })
    }
}

impl Report {
    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        let fields = Fields {
            flags: if self.leaving { FLAG_LEAVING } else { 0 },
            half: 0,
            session: self.session,
            receiver: self.receiver,
            words: [self.in_order.0, self.allowed.0],
            heard_us: self.heard_us,
        };
        fields.encode(kind, bytes)
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are not looked at.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        let Fields { flags, half, session, receiver, words: [in_order, allowed], heard_us } =
            Fields::decode(kind, FLAG_LEAVING, bytes)?;
        if half != 0 {
            return Err(HeaderError::Reserved);
        }
        let leaving = flags & FLAG_LEAVING != 0;
        let (in_order, allowed) = (WireSeq(in_order), WireSeq(allowed));
        Ok(Report { session, receiver, leaving, in_order, allowed, heard_us })
    }
}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        match self {
            Header::Data(data) => Some(data.to_lct(numbers.extension())),
            Header::Report(_) => None,
        }
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        Data::from_lct(fields).map(Header::Data)
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
    const EXTENSION: u8 = 95;
    const KIND: u8 = 0x1f;

    #[test]
    fn headers_come_back() {
        let base = Base { session: 1, seq: WireSeq(2), timestamp_us: 3, end_of_session: true };
        let data = Data { base, window: 0x0102_0304 };
        assert_eq!(Data::from_lct(&data.to_lct(EXTENSION)), Ok(data));
        let receiver = ReceiverId(NonZeroU64::MAX);
        for leaving in [false, true] {
            let (in_order, allowed) = (WireSeq(u32::MAX), WireSeq(7));
            let report = Report { session: 1, receiver, leaving, in_order, allowed, heard_us: 9 };
            let mut bytes = [0; 44];
            let length = report.encode(KIND, &mut bytes);
            assert_eq!(Report::decode(KIND, &bytes[..length]), Ok(report));
            bytes[3] = 1;
            assert_eq!(Report::decode(KIND, &bytes), Err(HeaderError::Reserved));
        }
    }
}
