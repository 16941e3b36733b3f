//! ELM's data header on LCT.
//!
//! ```text
//! CCI         sequence number of the layer (32)
//! TSI         session (32)
//! flag A      end of session
//! EXT_ELM     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   80   | words  | layer  | layers |   words: 2, base layer 5, with an echo 9
//!       4 | send time, us of the sender       |
//!         +-----------------------------------+   layer 0 only, from here on:
//!       8 | feedback interval, ms             |
//!      12 | layer  | reserved, 0              |   one entry of the rate table, in rotation
//!      16 | rate of that layer, 100 byte/s    |
//!         +-----------------------------------+   9 words only:
//!      20 | receiver                          |
//!      24 |                                   |
//!      28 | time stamp echoed                 |
//!      32 | how long it was held, us          |
//!         +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use super::header::{Base, Data, Echo, HeaderError, ReceiverId, TableEntry, WireRate};
use super::header::{Header, Report};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};

/// Bytes of payload without the base layer's part, with it, and with an echo.
const PLAIN: usize = 6;
const WITH_BASE: usize = 18;
const WITH_ECHO: usize = 34;

impl Data {
    /// The LCT fields of the header.
    pub fn to_lct(&self, extension: u8) -> LctFields {
        let mut payload = ExtensionPayload::default()
            .with(&[self.layer, self.layer_count])
            .with(&self.timestamp_us.to_be_bytes());
        if let Some(base) = &self.base {
            payload = payload
                .with(&base.feedback_interval_ms.to_be_bytes())
                .with(&[base.entry.layer, 0, 0, 0])
                .with(&base.entry.rate.0.to_be_bytes());
            if let Some(echo) = &base.echo {
                payload = payload
                    .with(&echo.receiver.0.get().to_be_bytes())
                    .with(&echo.timestamp_us.to_be_bytes())
                    .with(&echo.hold_us.to_be_bytes());
            }
        }
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension: payload.extension(extension),
        }
    }

    /// The header from its LCT fields. Never panics.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        let payload = fields.extension.content();
        let have = payload.len();
        let word = |at: usize| match payload.get(at..).and_then(<[u8]>::first_chunk) {
            Some(word) => Ok(u32::from_be_bytes(*word)),
            None => Err(HeaderError::Truncated { need: at + 4, have }),
        };
        let &[layer, layer_count, ..] = payload else {
            return Err(HeaderError::Truncated { need: PLAIN, have });
        };
        let mut data = Data {
            session: fields.session.unwrap_or_default(),
            layer,
            layer_count,
            end_of_session: fields.end_of_session,
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            timestamp_us: word(2)?,
            base: None,
        };
        if have > WITH_BASE && have != WITH_ECHO || have < WITH_BASE && have != PLAIN {
            return Err(HeaderError::Truncated { need: WITH_ECHO, have });
        }
        if have >= WITH_BASE {
            let entry = TableEntry { layer: (word(10)? >> 24) as u8, rate: WireRate(word(14)?) };
            data.base = Some(Base { feedback_interval_ms: word(6)?, entry, echo: None });
        }
        if have == WITH_ECHO {
            let receiver = u64::from(word(18)?) << 32 | u64::from(word(22)?);
            let receiver = NonZeroU64::new(receiver).map(ReceiverId).ok_or(HeaderError::Receiver)?;
            let echo = Echo { receiver, timestamp_us: word(26)?, hold_us: word(30)? };
            data.base = data.base.map(|base| Base { echo: Some(echo), ..base });
        }
        data.check()?;
        Ok(data)
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
            Header::Data(data) => Some(data.layer()),
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
