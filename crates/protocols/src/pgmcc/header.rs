//! What pgmcc's packets carry (draft-ietf-rmt-bb-pgmcc-03, section 2.1).
//!
//! On LCT, besides sequence number (CCI), session (TSI) and end of session (flag A):
//!
//! ```text
//! EXT_PGMCC   0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   93   |   4    | reserved, 0     |
//!       4 | send time, us of the source       |
//!       8 | acker (64); 0 = none              |
//!         +-----------------------------------+
//! ```
//!
//! A report:
//!
//! ```text
//!     +--------+--------+--------+--------+
//!   0 |  0x1d  | flags  | loss rate       |   flags: 1 an ACK, 2 leaving; 65535: all is lost
//!   4 | session                           |
//!   8 | receiver (64), not 0              |
//!  16 | highest sequence number received  |
//!  20 | which of the 32 up to it came     |   least bit: the highest; 0 of a NAK
//!  24 | newest send time received, us of the source, plus the time since |
//!     +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use layercast_core::contract;
use layercast_core::lct::LctFields;
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};
pub use layercast_kit::feedback::ReceiverId;
use layercast_kit::window::codec::Fields;
use layercast_kit::window::{Base, HeaderError};

const FLAG_ACK: u8 = 1;
const FLAG_LEAVING: u8 = 2;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Session, number, time.
    pub base: Base,
    /// The receiver that acknowledges this packet; none asks for an election.
    pub acker: Option<ReceiverId>,
}

/// A report from a receiver: a NAK, or an ACK of the acker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session.
    pub session: u32,
    /// The reporting receiver.
    pub receiver: ReceiverId,
    /// Whether it acknowledges.
    pub ack: bool,
    /// Whether the receiver leaves the session.
    pub leaving: bool,
    /// The loss rate: 65535 stands for 1.
    pub loss: u16,
    /// The highest number received.
    pub highest: WireSeq,
    /// Which of the 32 numbers up to it came, the highest in the least bit; 0 of a NAK.
    pub came: u32,
    /// The newest time stamp received, in microseconds of the source's clock, plus the time since.
    pub heard_us: u32,
}

/// The header of a packet of pgmcc.
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
        let acker = self.acker.map_or(0, |acker| acker.0.get());
        self.base.to_lct(extension, &acker.to_be_bytes())
    }

    /// The header from LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        let (base, acker) = Base::from_lct(fields)?;
        Ok(Data { base, acker: NonZeroU64::new(u64::from_be_bytes(acker)).map(ReceiverId) })
    }
}

impl Report {
    /// The loss rate, 0 to 1.
    pub fn loss_rate(&self) -> f64 {
        f64::from(self.loss) / f64::from(u16::MAX)
    }

    /// The wire form of a loss rate, 0 to 1. What is above zero stays above it.
    pub fn wire_loss(loss: f64) -> u16 {
        let nearest = (loss * f64::from(u16::MAX) + 0.5) as u16;
        if loss > 0.0 { nearest.max(1) } else { 0 }
    }

    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let fields = Fields {
            flags: flag(self.ack, FLAG_ACK) | flag(self.leaving, FLAG_LEAVING),
            half: self.loss,
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
            Fields::decode(kind, FLAG_ACK | FLAG_LEAVING, bytes)?;
        let ack = flags & FLAG_ACK != 0;
        if !ack && came != 0 {
            return Err(HeaderError::Reserved);
        }
        let leaving = flags & FLAG_LEAVING != 0;
        Ok(Report { session, receiver, ack, leaving, loss: half, highest: WireSeq(highest), came, heard_us })
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
    use super::*;
    const EXTENSION: u8 = 93;
    const KIND: u8 = 0x1d;
    use layercast_core::contract::Header as _;

    #[test]
    fn headers_come_back() {
        let receiver = ReceiverId(NonZeroU64::new(u64::MAX - 1).unwrap());
        let base = Base { session: 1, seq: WireSeq(2), timestamp_us: 3, end_of_session: false };
        for acker in [None, Some(receiver)] {
            let data = Data { base, acker };
            assert_eq!(Data::from_lct(&data.to_lct(EXTENSION)), Ok(data));
            let Header::Data(third) = Header::Data(data).nth(2) else { panic!("data") };
            assert_eq!((third.base.seq, third.acker), (WireSeq(4), acker));
        }
        let ack = Report {
            session: 1,
            receiver,
            ack: true,
            leaving: false,
            loss: 7,
            highest: WireSeq(u32::MAX),
            came: 0x8000_0001,
            heard_us: 9,
        };
        for report in [ack, Report { ack: false, came: 0, leaving: true, ..ack }] {
            let mut bytes = [0; 44];
            let length = report.encode(KIND, &mut bytes);
            assert_eq!(Report::decode(KIND, &bytes[..length]), Ok(report));
        }
        let mut bytes = [0; 44];
        Report { ack: false, ..ack }.encode(KIND, &mut bytes);
        assert_eq!(Report::decode(KIND, &bytes), Err(HeaderError::Reserved), "a NAK has no map");
    }

    #[test]
    fn a_small_loss_rate_is_not_none() {
        assert_eq!(
            (Report::wire_loss(0.0), Report::wire_loss(1e-9), Report::wire_loss(1.0)),
            (0, 1, u16::MAX)
        );
    }
}
