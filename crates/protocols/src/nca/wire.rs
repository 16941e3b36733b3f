//! The headers as bytes, big endian, for hosts with routers. `docs/wire-format.md` has the tables.
//!
//! Times and loss rates have all 64 bits, so that an endpoint does the same with a header that was bytes as with one that was
//! not.

use alloc::vec::Vec;
use core::fmt;

use super::{Ack, Answer, Candidate, Data, Header, Nack, Report};
use layercast_core::units::{Duration, Time, WireSeq};

/// The longest header in bytes, without payload.
pub const MAX_HEADER: usize = COMMON + 32;

const COMMON: usize = 8;
const VERSION: u8 = 1;
/// The service of active networks: AER with NCA. That of AMCA is 1.
const SERVICE: u16 = 2;

const DATA: u8 = 0;
const REPAIR: u8 = 1;
const REPORT: u8 = 2;
const ACK: u8 = 3;
const NACK: u8 = 4;
const HEARTBEAT: u8 = 5;
const ANSWER: u8 = 6;

/// Of data: packets are released. Of a report: it has a candidate.
const FIRST: u8 = 1;
/// Of data: there is a nominee.
const SECOND: u8 = 2;

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
    /// A field that the flags call absent is not 0.
    Reserved,
    /// A loss rate that is not from 0 to 1.
    Loss,
    /// A payload in a packet without data.
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
            WireError::Reserved => write!(f, "a field that is absent is not 0"),
            WireError::Loss => write!(f, "a loss rate that is not from 0 to 1"),
            WireError::Payload => write!(f, "a payload in a packet without data"),
        }
    }
}

impl core::error::Error for WireError {}

impl Header {
    /// Appends the packet of a session to `bytes`. Packets other than data have an empty payload.
    ///
    /// # Errors
    /// [`WireError::Payload`] or [`WireError::Loss`]; `bytes` is then unchanged.
    pub fn encode(&self, session: u32, payload: &[u8], bytes: &mut Vec<u8>) -> Result<(), WireError> {
        if !payload.is_empty() && !matches!(self, Header::Data(_) | Header::Repair(_)) {
            return Err(WireError::Payload);
        }
        let candidate = match self {
            Header::Report(report) => report.worst,
            Header::Ack(ack) => Some(ack.nominee),
            _ => None,
        };
        if candidate.is_some_and(|candidate| !is_rate(candidate.loss)) {
            return Err(WireError::Loss);
        }
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let (kind, flags) = match self {
            Header::Data(data) | Header::Repair(data) => {
                let kind = if matches!(self, Header::Data(_)) { DATA } else { REPAIR };
                (kind, flag(data.released.is_some(), FIRST) | flag(data.nominee.is_some(), SECOND))
            }
            Header::Report(report) => (REPORT, flag(report.worst.is_some(), FIRST)),
            Header::Ack(_) => (ACK, 0),
            Header::Nack(_) => (NACK, 0),
            Header::Heartbeat(_) => (HEARTBEAT, 0),
            Header::Answer(_) => (ANSWER, 0),
        };
        bytes.extend([VERSION << 4 | kind, flags]);
        bytes.extend(SERVICE.to_be_bytes());
        word(bytes, session);
        match *self {
            Header::Data(data) | Header::Repair(data) => {
                word(bytes, data.seq.0);
                word(bytes, data.released.map_or(0, |seq| seq.0));
                word(bytes, data.nominee.unwrap_or_default());
                double(bytes, data.sent.as_ns());
                bytes.extend(payload);
            }
            Header::Report(report) => {
                word(bytes, report.complete.0);
                if let Some(worst) = report.worst {
                    put_candidate(bytes, worst);
                }
            }
            Header::Ack(ack) => {
                word(bytes, ack.complete.0);
                double(bytes, ack.echo.as_ns());
                put_candidate(bytes, ack.nominee);
            }
            Header::Nack(nack) => {
                word(bytes, nack.first.0);
                word(bytes, nack.more);
            }
            Header::Heartbeat(sent) => double(bytes, sent.as_ns()),
            Header::Answer(answer) => {
                double(bytes, answer.echo.as_ns());
                double(bytes, answer.rtt.as_ns());
            }
        }
        Ok(())
    }

    /// Reads a packet: its session, its header and its payload. Never panics.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<(u32, Header, &[u8]), WireError> {
        let (common, rest) = bytes.split_first_chunk::<COMMON>().ok_or(WireError::Length)?;
        let [first, flags, high, low, a, b, c, d] = *common;
        let (version, kind) = (first >> 4, first & 15);
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let service = u16::from_be_bytes([high, low]);
        if service != SERVICE {
            return Err(WireError::Service(service));
        }
        let allowed = match kind {
            DATA | REPAIR => FIRST | SECOND,
            REPORT => FIRST,
            ACK | NACK | HEARTBEAT | ANSWER => 0,
            other => return Err(WireError::Kind(other)),
        };
        if flags & !allowed != 0 {
            return Err(WireError::Flags(flags));
        }
        let mut fields = Fields(rest);
        let header = match kind {
            DATA | REPAIR => {
                let seq = WireSeq(fields.word()?);
                let released = fields.optional(flags & FIRST != 0)?.map(WireSeq);
                let nominee = fields.optional(flags & SECOND != 0)?;
                let data = Data { seq, released, nominee, sent: Time::from_ns(fields.double()?) };
                if kind == DATA { Header::Data(data) } else { Header::Repair(data) }
            }
            REPORT => {
                let complete = WireSeq(fields.word()?);
                let worst = if flags & FIRST != 0 { Some(fields.candidate()?) } else { None };
                Header::Report(Report { worst, complete })
            }
            ACK => {
                let (complete, echo) = (WireSeq(fields.word()?), Time::from_ns(fields.double()?));
                Header::Ack(Ack { nominee: fields.candidate()?, complete, echo })
            }
            NACK => Header::Nack(Nack { first: WireSeq(fields.word()?), more: fields.word()? }),
            HEARTBEAT => Header::Heartbeat(Time::from_ns(fields.double()?)),
            _ => {
                let (echo, rtt) = (Time::from_ns(fields.double()?), Duration::from_ns(fields.double()?));
                Header::Answer(Answer { echo, rtt })
            }
        };
        if !matches!(kind, DATA | REPAIR) && !fields.0.is_empty() {
            return Err(WireError::Length);
        }
        Ok((u32::from_be_bytes([a, b, c, d]), header, fields.0))
    }
}

fn is_rate(loss: f64) -> bool {
    (0.0..=1.0).contains(&loss)
}

fn word(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend(word.to_be_bytes());
}

fn double(bytes: &mut Vec<u8>, double: u64) {
    bytes.extend(double.to_be_bytes());
}

fn put_candidate(bytes: &mut Vec<u8>, candidate: Candidate) {
    word(bytes, candidate.id);
    double(bytes, candidate.loss.to_bits());
    double(bytes, candidate.rtt.as_ns());
}

/// What is left of a packet.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(WireError::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn word(&mut self) -> Result<u32, WireError> {
        self.take().map(u32::from_be_bytes)
    }

    fn double(&mut self) -> Result<u64, WireError> {
        self.take().map(u64::from_be_bytes)
    }

    fn optional(&mut self, is_there: bool) -> Result<Option<u32>, WireError> {
        match (self.word()?, is_there) {
            (word, true) => Ok(Some(word)),
            (0, false) => Ok(None),
            _ => Err(WireError::Reserved),
        }
    }

    fn candidate(&mut self) -> Result<Candidate, WireError> {
        let (id, loss) = (self.word()?, f64::from_bits(self.double()?));
        if !is_rate(loss) {
            return Err(WireError::Loss);
        }
        Ok(Candidate { id, loss, rtt: Duration::from_ns(self.double()?) })
    }
}
