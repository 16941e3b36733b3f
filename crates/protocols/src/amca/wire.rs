//! The headers as bytes, big endian. `docs/wire-format.md` has the tables.

use alloc::vec::Vec;
use core::fmt;

use super::{Answer, Body, Data, Header, Nack, Report};
use crate::packet_bytes::{CutShort, checksum, double, seal, word, words};
use layercast_core::units::WireSeq;

/// The longest header in bytes, without payload.
pub const MAX_HEADER: usize = COMMON + 48;

const COMMON: usize = 16;
const VERSION: u8 = 1;
/// The service of active networks: DyRAM with AMCA.
pub(crate) const SERVICE: u16 = 1;
/// Where the checksum begins.
const CHECKSUM: usize = 12;

const DATA: u8 = 0;
const NACK: u8 = 1;
const REPORT: u8 = 2;
const HEARTBEAT: u8 = 3;
const ANSWER: u8 = 4;
const SOURCE_ANSWER: u8 = 5;

const REPAIR: u8 = 1;
const MARKED: u8 = 2;
const LAST: u8 = 4;
const LITERAL: u8 = 8;

/// Why bytes are not a packet of AMCA over DyRAM, or a packet has no bytes.
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
    /// A reserved field is not 0.
    Reserved,
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
            WireError::Reserved => write!(f, "a reserved field is not 0"),
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
    /// Appends the packet to `bytes`. Packets other than data have an empty payload.
    ///
    /// # Errors
    /// [`WireError::Payload`] if the payload does not fit; `bytes` is then unchanged.
    pub fn encode(&self, payload: &[u8], bytes: &mut Vec<u8>) -> Result<(), WireError> {
        let length = u16::try_from(payload.len()).map_err(|_| WireError::Payload)?;
        if length > 0 && !matches!(self.body, Body::Data(_)) {
            return Err(WireError::Payload);
        }
        let start = bytes.len();
        let (kind, flags) = kind_and_flags(&self.body);
        bytes.extend([VERSION << 4 | kind, flags]);
        bytes.extend(SERVICE.to_be_bytes());
        words(bytes, &[self.session, self.originator, 0]);
        match self.body {
            Body::Data(data) => {
                words(bytes, &[data.seq.0, data.group_lo.0]);
                bytes.extend(data.rate_bps.to_be_bytes());
                bytes.extend(length.to_be_bytes());
                bytes.extend([0; 2]);
                bytes.extend(payload);
            }
            Body::Nack(nack) => words(
                bytes,
                &[
                    nack.seq.0,
                    nack.lo.0,
                    nack.lr.0,
                    nack.max_seq.0,
                    nack.rtt_to_source_us,
                    nack.rtt_to_parent_us,
                ],
            ),
            Body::Report(report) => {
                words(bytes, &[report.lo.0, report.lr.0, report.max_seq.0]);
                words(bytes, &[report.rtt_to_source_us, report.rtt_to_parent_us, report.rtt_min_us]);
                words(bytes, &[report.period_us, report.rtt_var_us.cast_unsigned()]);
                bytes.extend(report.count.to_be_bytes());
                bytes.extend([0; 2]);
                words(bytes, &[report.serial]);
            }
            Body::Heartbeat { sent_ns } => bytes.extend(sent_ns.to_be_bytes()),
            Body::Answer(answer) => {
                bytes.extend(answer.echo_ns.to_be_bytes());
                words(bytes, &[answer.rtt_to_source_us]);
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
        let mut fields = &common[4..];
        let (session, originator, sum) = (word(&mut fields)?, word(&mut fields)?, word(&mut fields)?);
        if checksum(bytes, CHECKSUM) != sum {
            return Err(WireError::Checksum);
        }
        let allowed = match kind {
            DATA => REPAIR | LAST | LITERAL,
            REPORT => MARKED,
            NACK | HEARTBEAT | ANSWER | SOURCE_ANSWER => 0,
            other => return Err(WireError::Kind(other)),
        };
        if flags & !allowed != 0 {
            return Err(WireError::Flags(flags));
        }
        let body = read_body(kind, flags, &mut rest)?;
        match body {
            Body::Data(_) => {}
            _ if !rest.is_empty() => return Err(WireError::Length),
            _ => {}
        }
        Ok((Header { session, originator, body }, rest))
    }
}

fn kind_and_flags(body: &Body) -> (u8, u8) {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    match body {
        Body::Data(data) => {
            let flags =
                flag(data.is_repair, REPAIR) | flag(data.is_last, LAST) | flag(data.is_literal, LITERAL);
            (DATA, flags)
        }
        Body::Nack(_) => (NACK, 0),
        Body::Report(report) => (REPORT, flag(report.is_marked, MARKED)),
        Body::Heartbeat { .. } => (HEARTBEAT, 0),
        Body::Answer(Answer { is_from_source: true, .. }) => (SOURCE_ANSWER, 0),
        Body::Answer(_) => (ANSWER, 0),
    }
}

/// Reads what follows the common header. The payload of data is left in place.
fn read_body(kind: u8, flags: u8, rest: &mut &[u8]) -> Result<Body, WireError> {
    Ok(match kind {
        DATA => {
            let (seq, group_lo) = (WireSeq(word(rest)?), WireSeq(word(rest)?));
            let rate_bps = double(rest)?;
            let length = word(rest)?;
            if length & 0xffff != 0 {
                return Err(WireError::Reserved);
            }
            if rest.len() != (length >> 16) as usize {
                return Err(WireError::Length);
            }
            let is = |flag| flags & flag != 0;
            let (is_repair, is_last, is_literal) = (is(REPAIR), is(LAST), is(LITERAL));
            Body::Data(Data { seq, group_lo, rate_bps, is_repair, is_last, is_literal })
        }
        NACK => Body::Nack(Nack {
            seq: WireSeq(word(rest)?),
            lo: WireSeq(word(rest)?),
            lr: WireSeq(word(rest)?),
            max_seq: WireSeq(word(rest)?),
            rtt_to_source_us: word(rest)?,
            rtt_to_parent_us: word(rest)?,
        }),
        REPORT => {
            let mut report = Report {
                lo: WireSeq(word(rest)?),
                lr: WireSeq(word(rest)?),
                max_seq: WireSeq(word(rest)?),
                rtt_to_source_us: word(rest)?,
                rtt_to_parent_us: word(rest)?,
                rtt_min_us: word(rest)?,
                period_us: word(rest)?,
                rtt_var_us: word(rest)?.cast_signed(),
                is_marked: flags & MARKED != 0,
                ..Report::default()
            };
            let count = word(rest)?;
            if count & 0xffff != 0 {
                return Err(WireError::Reserved);
            }
            report.count = (count >> 16) as u16;
            report.serial = word(rest)?;
            Body::Report(report)
        }
        HEARTBEAT => Body::Heartbeat { sent_ns: double(rest)? },
        _ => Body::Answer(Answer {
            echo_ns: double(rest)?,
            rtt_to_source_us: word(rest)?,
            is_from_source: kind == SOURCE_ANSWER,
        }),
    })
}
