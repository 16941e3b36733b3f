//! Membership reports: IGMPv3 (RFC 3376, section 4.2) and MLDv2 (RFC 3810, section 5.2). Those of IGMPv2 and MLDv1 are read as
//! records of the newer version (RFC 3376, section 7.3.2; RFC 3810, section 8.3.2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::IpNumber;

use super::Reporting;
use super::ip::{Datagram, IpError, igmp, mld, sum};
use layercast_core::{Always as _, cannot_be};

/// Where reports of version 3 and 2 go (RFC 3376, section 4.2.14; RFC 3810, section 5.2.14).
const ROUTERS_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 22);
const ROUTERS_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x16);

/// The maximum length of a report's message, so that an update fits the smallest MTU of IPv6 with all headers.
const MESSAGE_MAX: usize = 1100;
/// The header of a report, and that of a record without its addresses.
const HEAD: usize = 8;
const RECORD_HEAD: usize = 4;

/// The type of a record (RFC 3376, section 4.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// MODE_IS_INCLUDE: now, these sources only.
    IsInclude = 1,
    /// MODE_IS_EXCLUDE: now, all sources but these.
    IsExclude = 2,
    /// CHANGE_TO_INCLUDE_MODE: from now on, these sources only.
    ToInclude = 3,
    /// CHANGE_TO_EXCLUDE_MODE: from now on, all sources but these.
    ToExclude = 4,
    /// ALLOW_NEW_SOURCES: these sources too.
    Allow = 5,
    /// BLOCK_OLD_SOURCES: no longer these sources.
    Block = 6,
}

impl RecordKind {
    fn of(number: u8) -> Option<RecordKind> {
        use RecordKind::{Allow, Block, IsExclude, IsInclude, ToExclude, ToInclude};
        [IsInclude, IsExclude, ToInclude, ToExclude, Allow, Block]
            .into_iter()
            .find(|&kind| kind as u8 == number)
    }
}

/// What a report says of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What is said of the sources.
    pub kind: RecordKind,
    /// The group.
    pub group: IpAddr,
    /// The sources, of the group's IP version.
    pub sources: Vec<IpAddr>,
}

/// Why a datagram is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// It is not an IP datagram.
    #[error(transparent)]
    Ip(#[from] IpError),
    /// It is a fragment.
    #[error("the report is a fragment")]
    Fragment,
    /// TTL or hop limit is not 1.
    #[error("TTL is {0}; that of reports is 1")]
    Hops(u8),
    /// It has no Router Alert option.
    #[error("the report has no Router Alert option")]
    NoAlert,
    /// It carries neither IGMP nor MLD.
    #[error("protocol {0} is neither IGMP nor ICMPv6")]
    Protocol(u8),
    /// It has another type.
    #[error("Type is {0}, not that of a report")]
    Type(u8),
    /// It ends within a field.
    #[error("the report ends before the end of {0}")]
    Short(&'static str),
    /// The checksum is wrong.
    #[error("Checksum is wrong")]
    Checksum,
    /// The group of a record is no multicast address.
    #[error("Multicast Address {0} is not a multicast address")]
    Group(IpAddr),
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The host that sent it; unspecified if it has no address yet.
    pub from: IpAddr,
    /// Whether it is one of IGMPv3 or MLDv2, which each host sends for itself. With older versions hosts are silent when another one has
    /// reported the group.
    pub is_own: bool,
    /// What it says of groups. Records of unknown type are left out (RFC 3376, section 4.2.12).
    pub records: Vec<Record>,
}

/// The records of [`Report::read`].
///
/// # Errors
/// Why it is not a report.
pub fn read(bytes: &[u8]) -> Result<Vec<Record>, ReportError> {
    Report::read(bytes).map(|report| report.records)
}

impl Report {
    /// Reads an IP datagram, whatever its source address, as a relay does with a Membership Update (RFC 7450, section 5.3.1).
    ///
    /// # Errors
    /// Why it is not a report.
    pub fn read(bytes: &[u8]) -> Result<Report, ReportError> {
        let datagram = Datagram::read(bytes)?;
        if datagram.is_fragment {
            return Err(ReportError::Fragment);
        }
        let is_v4 = datagram.source.is_ipv4();
        let payload = datagram.payload;
        let is_right = match IpNumber(datagram.protocol) {
            IpNumber::IGMP if is_v4 => sum(payload) == 0,
            IpNumber::IPV6_ICMP if !is_v4 => datagram.has_checksum(),
            IpNumber(other) => return Err(ReportError::Protocol(other)),
        };
        if datagram.hops != 1 {
            return Err(ReportError::Hops(datagram.hops));
        }
        if !datagram.has_router_alert {
            return Err(ReportError::NoAlert);
        }
        let head: &[u8; HEAD] = payload.first_chunk().ok_or(ReportError::Short("the header"))?;
        if !is_right {
            return Err(ReportError::Checksum);
        }
        let single = |kind| {
            let at = if is_v4 { 4 } else { 8 };
            let group = payload.get(at..).and_then(|bytes| address(bytes, is_v4));
            let group = multicast(group.ok_or(ReportError::Short("Multicast Address"))?)?;
            let records = vec![Record { kind, group, sources: Vec::new() }];
            Ok(Report { from: datagram.source, is_own: false, records })
        };
        match (is_v4, head[0]) {
            (true, 0x16) | (false, 131) => single(RecordKind::ToExclude),
            (true, 0x17) | (false, 132) => single(RecordKind::ToInclude),
            (true, 0x22) | (false, 143) => {
                let rest = payload.get(HEAD..).always("the head was read");
                let records = records(rest, u16::from_be_bytes([head[6], head[7]]), is_v4)?;
                Ok(Report { from: datagram.source, is_own: true, records })
            }
            (_, other) => Err(ReportError::Type(other)),
        }
    }
}

fn records(mut rest: &[u8], count: u16, is_v4: bool) -> Result<Vec<Record>, ReportError> {
    let size = if is_v4 { 4 } else { 16 };
    let mut records = Vec::new();
    for _ in 0..count {
        let (head, body) =
            rest.split_first_chunk::<RECORD_HEAD>().ok_or(ReportError::Short("Group Record"))?;
        let group = address(body, is_v4).ok_or(ReportError::Short("Multicast Address"))?;
        let sources = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let end = size * (sources + 1);
        let addresses = body.get(size..end).ok_or(ReportError::Short("Source Address"))?;
        rest = body.get(end + usize::from(head[1]) * 4..).ok_or(ReportError::Short("Auxiliary Data"))?;
        let Some(kind) = RecordKind::of(head[0]) else { continue };
        let sources = addresses.chunks_exact(size).filter_map(|bytes| address(bytes, is_v4)).collect();
        records.push(Record { kind, group: multicast(group)?, sources });
    }
    Ok(records)
}

fn address(bytes: &[u8], is_v4: bool) -> Option<IpAddr> {
    Some(if is_v4 {
        Ipv4Addr::from(*bytes.first_chunk::<4>()?).into()
    } else {
        Ipv6Addr::from(*bytes.first_chunk::<16>()?).into()
    })
}

fn multicast(group: IpAddr) -> Result<IpAddr, ReportError> {
    if group.is_multicast() { Ok(group) } else { Err(ReportError::Group(group)) }
}

/// Records as IP datagrams of reports, each short enough for one update. Records of another IP version are left out.
pub fn write(reporting: Reporting, records: &[Record]) -> Vec<Vec<u8>> {
    let is_v4 = reporting == Reporting::Igmp;
    let size = if is_v4 { 4 } else { 16 };
    let mut messages: Vec<(u16, Vec<u8>)> = Vec::new();
    for record in records.iter().filter(|record| record.group.is_ipv4() == is_v4) {
        let most = (MESSAGE_MAX - HEAD - RECORD_HEAD) / size - 1;
        let sources: Vec<&IpAddr> =
            record.sources.iter().filter(|source| source.is_ipv4() == is_v4).collect();
        let mut parts = sources.chunks(most);
        let first = parts.next().unwrap_or_default();
        append(&mut messages, record.kind, record.group, first);
        // More sources of a change to include mode are allowed ones, so that the second report does not replace the first.
        let more = if record.kind == RecordKind::ToInclude { RecordKind::Allow } else { record.kind };
        parts.for_each(|part| append(&mut messages, more, record.group, part));
    }
    messages.into_iter().map(|(count, message)| datagram(reporting, count, message)).collect()
}

/// Adds a record to the last message, or to a new one if it does not fit.
fn append(messages: &mut Vec<(u16, Vec<u8>)>, kind: RecordKind, group: IpAddr, sources: &[&IpAddr]) {
    let size = if group.is_ipv4() { 4 } else { 16 };
    let length = RECORD_HEAD + size * (sources.len() + 1);
    if messages.last().is_none_or(|(_, message)| message.len() + length > MESSAGE_MAX) {
        messages.push((0, vec![0; HEAD]));
    }
    let Some((count, message)) = messages.last_mut() else { return cannot_be("one was appended") };
    *count += 1;
    let number = u16::try_from(sources.len()).unwrap_or(u16::MAX).to_be_bytes();
    message.extend([kind as u8, 0, number[0], number[1]]);
    for address in std::iter::once(&group).chain(sources.iter().copied()) {
        match address {
            IpAddr::V4(address) => message.extend(address.octets()),
            IpAddr::V6(address) => message.extend(address.octets()),
        }
    }
}

fn datagram(reporting: Reporting, count: u16, mut message: Vec<u8>) -> Vec<u8> {
    if let Some(field) = message.get_mut(6..HEAD) {
        field.copy_from_slice(&count.to_be_bytes());
    }
    match reporting {
        Reporting::Igmp => {
            message[0] = 0x22;
            let sum = sum(&message).to_be_bytes();
            message[2..4].copy_from_slice(&sum);
            igmp(Ipv4Addr::UNSPECIFIED, ROUTERS_V4, &message)
        }
        Reporting::Mld => {
            message[0] = 143;
            mld(Ipv6Addr::UNSPECIFIED, ROUTERS_V6, &mut message)
        }
    }
}
