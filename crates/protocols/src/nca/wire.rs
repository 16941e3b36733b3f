//! The headers as bytes, big endian. `docs/wire-format.md` has the tables.

use alloc::vec::Vec;
use core::fmt;

use super::{Ack, Answer, Candidate, Data, Header, Nack, Report};
use crate::packet_bytes::{CutShort, checksum, double, seal, word, words};
use layercast_core::units::{Duration, Time, WireSeq};

/// The longest header in bytes, without payload.
pub const MAX_HEADER: usize = COMMON + 32;

const COMMON: usize = 8;
const VERSION: u8 = 1;
/// The service of active networks: NCA with AER.
pub(crate) const SERVICE: u16 = 2;
/// Where the checksum begins.
const CHECKSUM: usize = 4;

const DATA: u8 = 0;
const REPAIR: u8 = 1;
const REPORT: u8 = 2;
const ACK: u8 = 3;
const NACK: u8 = 4;
const HEARTBEAT: u8 = 5;
const ANSWER: u8 = 6;

const RELEASED: u8 = 1;
const NOMINEE: u8 = 2;
const WORST: u8 = 1;

/// Why bytes are not a packet of NCA, or a packet has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The packet is shorter or longer than its header says.
    Length,
    /// Another version.
    Version(u8),
    /// The type of packet is unknown.
    Kind(u8),
    /// Flags that are undefined in a packet of this type.
    Flags(u8),
    /// Another service.
    Service(u16),
    /// The checksum is wrong.
    Checksum,
    /// A field that must be 0 is not.
    Reserved,
    /// A loss rate that is not from 0 to 1.
    Loss,
    /// A payload above 65535 bytes, or one in a packet without data.
    Payload,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Length => write!(f, "wrong length"),
            WireError::Version(version) => write!(f, "version {version} is not {VERSION}"),
            WireError::Kind(kind) => write!(f, "there is no packet of type {kind}"),
            WireError::Flags(flags) => write!(f, "flags {flags:#04x} have no meaning here"),
            WireError::Service(service) => write!(f, "service {service} is not {SERVICE}"),
            WireError::Checksum => write!(f, "wrong checksum"),
            WireError::Reserved => write!(f, "a field that must be 0 is not"),
            WireError::Loss => write!(f, "a loss rate that is not from 0 to 1"),
            WireError::Payload => write!(f, "a payload that is too long, or in a packet without data"),
        }
    }
}

impl core::error::Error for WireError {}

impl From<CutShort> for WireError {
    fn from(_: CutShort) -> WireError {
        WireError::Length
    }
}

impl Header {
    /// The number of a packet of data; none for other packets.
    pub fn data_seq(&self) -> Option<WireSeq> {
        match self {
            Header::Data(data) | Header::Repair(data) => Some(data.seq),
            _ => None,
        }
    }

    /// Appends the packet to `bytes`. Packets other than data and repairs have an empty payload.
    ///
    /// # Errors
    /// [`WireError::Payload`] if the payload does not fit, [`WireError::Loss`] if a loss rate has no bytes; `bytes` is then
    /// unchanged.
    pub fn encode(&self, payload: &[u8], bytes: &mut Vec<u8>) -> Result<(), WireError> {
        let length = u16::try_from(payload.len()).map_err(|_| WireError::Payload)?;
        if length > 0 && self.data_seq().is_none() {
            return Err(WireError::Payload);
        }
        let candidate = match self {
            Header::Report(report) => report.worst,
            Header::Ack(ack) => Some(ack.nominee),
            _ => None,
        };
        if candidate.is_some_and(|candidate| !is_loss(candidate.loss)) {
            return Err(WireError::Loss);
        }
        let start = bytes.len();
        let (kind, flags) = self.kind_and_flags();
        bytes.extend([VERSION << 4 | kind, flags]);
        bytes.extend(SERVICE.to_be_bytes());
        words(bytes, &[0]);
        match *self {
            Header::Data(data) | Header::Repair(data) => {
                words(bytes, &[data.seq.0, data.released.map_or(0, |seq| seq.0), data.nominee.unwrap_or(0)]);
                bytes.extend(data.sent.as_ns().to_be_bytes());
                bytes.extend(length.to_be_bytes());
                bytes.extend([0; 2]);
                bytes.extend(payload);
            }
            Header::Report(report) => {
                words(bytes, &[report.complete.0]);
                write_candidate(bytes, report.worst);
            }
            Header::Ack(ack) => {
                words(bytes, &[ack.complete.0]);
                write_candidate(bytes, Some(ack.nominee));
                bytes.extend(ack.echo.as_ns().to_be_bytes());
            }
            Header::Nack(nack) => words(bytes, &[nack.first.0, nack.more]),
            Header::Heartbeat(sent) => bytes.extend(sent.as_ns().to_be_bytes()),
            Header::Answer(answer) => {
                bytes.extend(answer.echo.as_ns().to_be_bytes());
                bytes.extend(answer.rtt.as_ns().to_be_bytes());
            }
        }
        seal(&mut bytes[start..], CHECKSUM);
        Ok(())
    }

    /// Reads a packet: its header and its payload. Never panics.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
        let (common, mut rest) = bytes.split_at_checked(COMMON).ok_or(WireError::Length)?;
        let (version, kind, flags) = (common[0] >> 4, common[0] & 15, common[1]);
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let service = u16::from_be_bytes([common[2], common[3]]);
        if service != SERVICE {
            return Err(WireError::Service(service));
        }
        let sum = word(&mut &common[4..])?;
        if checksum(bytes, CHECKSUM) != sum {
            return Err(WireError::Checksum);
        }
        let allowed = match kind {
            DATA | REPAIR => RELEASED | NOMINEE,
            REPORT => WORST,
            ACK | NACK | HEARTBEAT | ANSWER => 0,
            other => return Err(WireError::Kind(other)),
        };
        if flags & !allowed != 0 {
            return Err(WireError::Flags(flags));
        }
        let header = read_body(kind, flags, &mut rest)?;
        if header.data_seq().is_none() && !rest.is_empty() {
            return Err(WireError::Length);
        }
        Ok((header, rest))
    }

    fn kind_and_flags(&self) -> (u8, u8) {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let of_data =
            |data: &Data| flag(data.released.is_some(), RELEASED) | flag(data.nominee.is_some(), NOMINEE);
        match self {
            Header::Data(data) => (DATA, of_data(data)),
            Header::Repair(data) => (REPAIR, of_data(data)),
            Header::Report(report) => (REPORT, flag(report.worst.is_some(), WORST)),
            Header::Ack(_) => (ACK, 0),
            Header::Nack(_) => (NACK, 0),
            Header::Heartbeat(_) => (HEARTBEAT, 0),
            Header::Answer(_) => (ANSWER, 0),
        }
    }
}

fn is_loss(loss: f64) -> bool {
    (0.0..=1.0).contains(&loss) && loss.is_sign_positive()
}

fn write_candidate(bytes: &mut Vec<u8>, candidate: Option<Candidate>) {
    let candidate = candidate.unwrap_or(Candidate { id: 0, loss: 0.0, rtt: Duration::ZERO });
    words(bytes, &[candidate.id]);
    bytes.extend(candidate.loss.to_bits().to_be_bytes());
    bytes.extend(candidate.rtt.as_ns().to_be_bytes());
}

fn read_candidate(rest: &mut &[u8]) -> Result<Candidate, WireError> {
    let (id, loss, rtt) = (word(rest)?, f64::from_bits(double(rest)?), Duration::from_ns(double(rest)?));
    if is_loss(loss) { Ok(Candidate { id, loss, rtt }) } else { Err(WireError::Loss) }
}

/// A field that is 0 unless its flag is set.
fn optional(rest: &mut &[u8], is_set: bool) -> Result<Option<u32>, WireError> {
    match word(rest)? {
        value if is_set => Ok(Some(value)),
        0 => Ok(None),
        _ => Err(WireError::Reserved),
    }
}

/// Reads what follows the common header. The payload of data is left in place.
fn read_body(kind: u8, flags: u8, rest: &mut &[u8]) -> Result<Header, WireError> {
    Ok(match kind {
        DATA | REPAIR => {
            let seq = WireSeq(word(rest)?);
            let released = optional(rest, flags & RELEASED != 0)?.map(WireSeq);
            let nominee = optional(rest, flags & NOMINEE != 0)?;
            let sent = Time::from_ns(double(rest)?);
            let length = word(rest)?;
            if length & 0xffff != 0 {
                return Err(WireError::Reserved);
            }
            if rest.len() != (length >> 16) as usize {
                return Err(WireError::Length);
            }
            let data = Data { seq, released, nominee, sent };
            if kind == DATA { Header::Data(data) } else { Header::Repair(data) }
        }
        REPORT => {
            let complete = WireSeq(word(rest)?);
            let worst = read_candidate(rest)?;
            let is_known = flags & WORST != 0;
            if !is_known && (worst.id != 0 || worst.loss > 0.0 || !worst.rtt.is_zero()) {
                return Err(WireError::Reserved);
            }
            Header::Report(Report { worst: is_known.then_some(worst), complete })
        }
        ACK => {
            let complete = WireSeq(word(rest)?);
            let nominee = read_candidate(rest)?;
            Header::Ack(Ack { nominee, complete, echo: Time::from_ns(double(rest)?) })
        }
        NACK => Header::Nack(Nack { first: WireSeq(word(rest)?), more: word(rest)? }),
        HEARTBEAT => Header::Heartbeat(Time::from_ns(double(rest)?)),
        _ => {
            let echo = Time::from_ns(double(rest)?);
            Header::Answer(Answer { echo, rtt: Duration::from_ns(double(rest)?) })
        }
    })
}
