//! TFMCC's data header on LCT.
//!
//! ```text
//! CCI         sequence number (32)
//! TSI         session (32)
//! flag A      end of session
//! EXT_TFMCC   0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   85   | words  | round  | 0      |   words: 6, with an echo 9
//!       4 | send time, us of the source       |
//!       8 | largest round-trip time, us       |
//!      12 | suppression     | rate            |   exponent 5, mantissa 11 each
//!      16 | limiting receiver (64); 0 = none  |
//!         +-----------------------------------+   9 words only:
//!      24 | receiver of the echo (64), not 0  |
//!      32 | its time stamp plus the hold time |
//!         +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use super::header::{Data, Echo, FloatRate, HeaderError, ReceiverId};
use super::header::{Header, Report};
use layercast_core::lct::{Cci, Extension, ExtensionPayload, LctFields};
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};

/// Bytes of payload without and with an echo.
const PLAIN: usize = 22;
const WITH_ECHO: usize = 34;

impl Data {
    /// The LCT fields of the header.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        self.lct_fields(self.lct_payload(0).extension(extension))
    }

    /// The payload of the extension, with a value for the byte that is reserved here.
    pub(crate) fn lct_payload(&self, second: u8) -> ExtensionPayload {
        let limiting = self.limiting.map_or(0, |receiver| receiver.0.get());
        let mut payload = ExtensionPayload::default()
            .with(&[self.round, second])
            .with(&self.timestamp_us.to_be_bytes())
            .with(&self.max_rtt_us.to_be_bytes())
            .with(&self.suppression.0.to_be_bytes())
            .with(&self.rate.0.to_be_bytes())
            .with(&limiting.to_be_bytes());
        if let Some(echo) = &self.echo {
            payload =
                payload.with(&echo.receiver.0.get().to_be_bytes()).with(&echo.timestamp_us.to_be_bytes());
        }
        payload
    }

    /// The LCT fields with this extension.
    pub(crate) fn lct_fields(&self, extension: Extension) -> LctFields {
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension,
        }
    }

    /// The header from its LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        Data::from_lct_payload(fields, fields.extension.content()).map(|(data, _)| data)
    }

    /// The header from the payload of another extension; also returns the byte that is reserved here.
    pub(crate) fn from_lct_payload(fields: &LctFields, payload: &[u8]) -> Result<(Data, u8), HeaderError> {
        let error = HeaderError::Length { have: payload.len() };
        let word = |at: usize| match payload.get(at..).and_then(<[u8]>::first_chunk) {
            Some(word) => Ok(u32::from_be_bytes(*word)),
            None => Err(error),
        };
        let receiver = |at: usize| -> Result<Option<ReceiverId>, HeaderError> {
            let number = u64::from(word(at)?) << 32 | u64::from(word(at + 4)?);
            Ok(NonZeroU64::new(number).map(ReceiverId))
        };
        let echo = match payload.len() {
            PLAIN => None,
            WITH_ECHO => {
                Some(Echo { receiver: receiver(22)?.ok_or(HeaderError::Receiver)?, timestamp_us: word(30)? })
            }
            _ => return Err(error),
        };
        let rates = word(10)?;
        let data = Data {
            session: fields.session.unwrap_or_default(),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            timestamp_us: word(2)?,
            end_of_session: fields.end_of_session,
            round: payload.first().copied().unwrap_or_default(),
            max_rtt_us: word(6)?,
            suppression: FloatRate((rates >> 16) as u16),
            rate: FloatRate(rates as u16),
            limiting: receiver(14)?,
            echo,
        };
        data.check()?;
        Ok((data, payload.get(1).copied().unwrap_or_default()))
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
    const EXTENSION: u8 = 85;

    fn data() -> Data {
        let receiver = ReceiverId(NonZeroU64::new(0x1122_3344_5566_7788).unwrap());
        Data {
            session: 3,
            seq: WireSeq(u32::MAX),
            timestamp_us: 5,
            end_of_session: true,
            round: 200,
            max_rtt_us: 500_000,
            suppression: FloatRate::UNBOUNDED,
            rate: FloatRate(0x1234),
            limiting: Some(receiver),
            echo: Some(Echo { receiver, timestamp_us: 0xfedc_ba98 }),
        }
    }

    #[test]
    fn a_header_comes_back() {
        for data in [data(), Data { echo: None, ..data() }, Data { limiting: None, ..data() }] {
            assert_eq!(Data::from_lct(&data.to_lct(EXTENSION)), Ok(data));
        }
    }

    #[test]
    fn other_lengths_and_impossible_values_are_refused() {
        let whole = data().to_lct(EXTENSION);
        for words in 0..9 {
            let payload = &whole.extension.content()[..4 * words + 2];
            let extension = Extension::new(EXTENSION, payload).unwrap();
            let read = Data::from_lct(&LctFields { extension, ..whole });
            assert_eq!(read.is_ok(), payload.len() == PLAIN || payload.len() == WITH_ECHO, "{words}");
        }
        let changed = |change: fn(&mut Data)| {
            let mut data = data();
            change(&mut data);
            Data::from_lct(&data.to_lct(EXTENSION))
        };
        assert_eq!(changed(|data| data.max_rtt_us = 0), Err(HeaderError::MaxRtt(0)));
        assert_eq!(changed(|data| data.max_rtt_us = 64_000_001), Err(HeaderError::MaxRtt(64_000_001)));
        assert_eq!(changed(|data| data.rate = FloatRate::UNBOUNDED), Err(HeaderError::Rate));
        let mut payload = [0; WITH_ECHO];
        payload.copy_from_slice(whole.extension.content());
        payload[22..30].fill(0);
        let extension = Extension::new(EXTENSION, &payload).unwrap();
        assert_eq!(Data::from_lct(&LctFields { extension, ..whole }), Err(HeaderError::Receiver));
    }
}
