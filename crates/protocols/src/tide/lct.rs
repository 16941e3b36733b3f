//! Tide's headers as bytes: data on LCT, reports by unicast.
//!
//! ```text
//! CCI        slot (16 bits), channel (16), number (32)
//! flag A     end of session
//! EXT_TIDE    0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   97   | words  | waves in a cycle |   words: 3, on the base 4, with an echo 8
//!       4 | time of sending, microseconds      |
//!       8 | since the slot began, microseconds |
//!         +-----------------------------------+   the base only:
//!      12 |suppress| reserved, 0              |
//!         +-----------------------------------+   8 words only:
//!      16 | receiver                          |
//!      20 |                                   |
//!      24 | time stamp echoed                 |
//!      28 | how long it was held, us          |
//!         +-----------------------------------+
//!
//! report  +--------+--------+--------+--------+
//!       0 |  0x20  | res. 0 | waves held       |
//!       4 | receiver                          |
//!       8 |                                   |
//!      12 | time stamp, us of the receiver    |
//!      16 | round-trip time, us; 0 unknown    |
//!      20 | fair rate, 100 byte/s             |   2^32 - 1 = unbounded
//!         +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use super::header::{Base, Data, Header, HeaderError, Report};
use super::suppression::Suppression;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Channel, Layer};
use layercast_core::wire::{CciLength, MAX_REPORT, Wire, WireNumbers};
use layercast_kit::feedback::{Echo, ReceiverId};
use layercast_kit::waves::BASE;

/// Bytes of the extension's content: on a wave, on the base, on the base with an echo.
const WAVE: usize = 10;
const WITH_BASE: usize = 14;
const WITH_ECHO: usize = 30;
/// Bytes of a report.
const REPORT: usize = 24;

impl Data {
    fn to_lct(self, extension: u8) -> LctFields {
        let mut payload = ExtensionPayload::default()
            .with(&self.cycle.to_be_bytes())
            .with(&self.sent_us.to_be_bytes())
            .with(&self.phase_us.to_be_bytes());
        if let Some(base) = self.base {
            payload = payload.with(&[base.suppression.wire(), 0, 0, 0]);
            if let Some(echo) = base.echo {
                payload = payload
                    .with(&echo.receiver.0.get().to_be_bytes())
                    .with(&echo.timestamp_us.to_be_bytes())
                    .with(&echo.hold_us.to_be_bytes());
            }
        }
        let [s1, s0] = self.slot.to_be_bytes();
        let [c1, c0] = self.channel.0.to_be_bytes();
        let [n3, n2, n1, n0] = self.number.to_be_bytes();
        LctFields {
            cci: Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]),
            session: None,
            end_of_session: self.end_of_session,
            extension: payload.extension(extension),
        }
    }

    fn from_lct(fields: &LctFields) -> Result<Data, HeaderError> {
        let content = fields.extension.content();
        let have = content.len();
        let Some((&[y1, y0, t3, t2, t1, t0, p3, p2, p1, p0], rest)) = content.split_first_chunk::<WAVE>()
        else {
            return Err(HeaderError::Extension);
        };
        let Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]) = fields.cci else { return Err(HeaderError::Word) };
        let (slot, channel) = (u16::from_be_bytes([s1, s0]), u16::from_be_bytes([c1, c0]));
        let cycle = u16::from_be_bytes([y1, y0]);
        if cycle == 0 || ![WAVE, WITH_BASE, WITH_ECHO].contains(&have) {
            return Err(HeaderError::Extension);
        }
        if slot >= cycle {
            return Err(HeaderError::Slot(slot));
        }
        if channel > cycle {
            return Err(HeaderError::Channel(channel));
        }
        if (Channel(channel) == BASE) != (have > WAVE) {
            return Err(HeaderError::Base);
        }
        Ok(Data {
            slot,
            channel: Channel(channel),
            number: u32::from_be_bytes([n3, n2, n1, n0]),
            cycle,
            sent_us: u32::from_be_bytes([t3, t2, t1, t0]),
            phase_us: u32::from_be_bytes([p3, p2, p1, p0]),
            end_of_session: fields.end_of_session,
            base: base_from(rest)?,
        })
    }
}

/// The base channel's part; none if there are no bytes.
fn base_from(bytes: &[u8]) -> Result<Option<Base>, HeaderError> {
    let Some((&[suppression, _, _, _], echo)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let mut base = Base { suppression: Suppression::from_wire(suppression), echo: None };
    if let Some((receiver, rest)) = echo.split_first_chunk::<8>() {
        let receiver = receiver_from(*receiver)?;
        let &[t3, t2, t1, t0, h3, h2, h1, h0] = rest else { return Err(HeaderError::Extension) };
        base.echo = Some(Echo {
            receiver,
            timestamp_us: u32::from_be_bytes([t3, t2, t1, t0]),
            hold_us: u32::from_be_bytes([h3, h2, h1, h0]),
        });
    }
    Ok(Some(base))
}

fn receiver_from(bytes: [u8; 8]) -> Result<ReceiverId, HeaderError> {
    NonZeroU64::new(u64::from_be_bytes(bytes)).map(ReceiverId).ok_or(HeaderError::Receiver)
}

impl Report {
    fn encode(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> usize {
        let [w1, w0] = self.waves.to_be_bytes();
        bytes[..4].copy_from_slice(&[kind, 0, w1, w0]);
        bytes[4..12].copy_from_slice(&self.receiver.0.get().to_be_bytes());
        bytes[12..16].copy_from_slice(&self.timestamp_us.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.rtt_us.to_be_bytes());
        bytes[20..REPORT].copy_from_slice(&self.fair_rate.to_be_bytes());
        REPORT
    }

    /// Trailing bytes are ignored.
    fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        let truncated = HeaderError::Truncated { need: REPORT, have: bytes.len() };
        let (&[first, _, w1, w0], rest) = bytes.split_first_chunk().ok_or(truncated)?;
        if first != kind {
            return Err(HeaderError::Kind(first));
        }
        let (receiver, rest) = rest.split_first_chunk().ok_or(truncated)?;
        let &[t3, t2, t1, t0, r3, r2, r1, r0, f3, f2, f1, f0, ..] = rest else { return Err(truncated) };
        Ok(Report {
            receiver: receiver_from(*receiver)?,
            timestamp_us: u32::from_be_bytes([t3, t2, t1, t0]),
            waves: u16::from_be_bytes([w1, w0]),
            rtt_us: u32::from_be_bytes([r3, r2, r1, r0]),
            fair_rate: u32::from_be_bytes([f3, f2, f1, f0]),
        })
    }
}

impl Wire for Header {
    type Error = HeaderError;

    const CCI: CciLength = CciLength::Long;

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
            Header::Data(data) => Some(Layer(data.channel.0)),
            Header::Report(_) => None,
        }
    }

    fn encode_report(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        match self {
            Header::Report(report) => Some(report.encode(kind, bytes)),
            Header::Data(_) => None,
        }
    }

    fn decode_report(kind: u8, bytes: &[u8]) -> Option<Result<Header, HeaderError>> {
        Some(Report::decode(kind, bytes).map(Header::Report))
    }
}
