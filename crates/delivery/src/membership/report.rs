//! Membership reports: IGMPv3 (RFC 3376, section 4.2) and MLDv2 (RFC 3810, section 5.2). Those of older versions are read as
//! records of the newest (RFC 3376, section 7.3.2; RFC 3810, section 8.3.2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use layercast_core::cannot_be;

use super::{HEAD, MembershipError, Message, Reporting, append};
use crate::ip::{Datagram, with_router_alert};

/// The types of reports of the newest version.
const IGMP: u8 = 0x22;
const MLD: u8 = 143;

/// Where reports of version 3 and 2 go (RFC 3376, section 4.2.14; RFC 3810, section 5.2.14).
const ROUTERS_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 22);
const ROUTERS_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x16);

/// The maximum length of a report's message, so that an update fits the smallest MTU of IPv6 with all headers.
const MESSAGE_MAX: usize = 1100;
/// The header of a record without its addresses.
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

impl Report {
    /// Reads a report, whatever its source address, as a relay does with a Membership Update (RFC 7450, section 5.3.1).
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(datagram: &Datagram<'_>) -> Result<Report, MembershipError> {
        let message = Message::of(datagram)?;
        if datagram.hops != 1 {
            return Err(MembershipError::Hops(datagram.hops));
        }
        if !datagram.has_router_alert {
            return Err(MembershipError::NoAlert);
        }
        let single = |kind| -> Result<Vec<Record>, MembershipError> {
            let (group, _) = message.group()?;
            Ok(vec![Record { kind, group: multicast(group)?, sources: Vec::new() }])
        };
        let (is_own, records) = match (message.reporting, message.kind) {
            (Reporting::Igmp, 0x12 | 0x16) | (Reporting::Mld, 131) => (false, single(RecordKind::ToExclude)?),
            (Reporting::Igmp, 0x17) | (Reporting::Mld, 132) => (false, single(RecordKind::ToInclude)?),
            (Reporting::Igmp, IGMP) | (Reporting::Mld, MLD) => (true, records(&message)?),
            (_, other) => return Err(MembershipError::NoReport(other)),
        };
        Ok(Report { from: datagram.source, is_own, records })
    }
}

fn records(message: &Message<'_>) -> Result<Vec<Record>, MembershipError> {
    let size = message.reporting.address_bytes();
    let address = |bytes: &[u8]| message.reporting.address(bytes);
    let &[.., high, low] = message.bytes.first_chunk::<HEAD>().ok_or(MembershipError::Short("the header"))?;
    let (mut rest, mut records) = (message.after(HEAD), Vec::new());
    for _ in 0..u16::from_be_bytes([high, low]) {
        let (head, body) =
            rest.split_first_chunk::<RECORD_HEAD>().ok_or(MembershipError::Short("Group Record"))?;
        let group = address(body).ok_or(MembershipError::Short("Multicast Address"))?;
        let sources = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let end = size * (sources + 1);
        let addresses = body.get(size..end).ok_or(MembershipError::Short("Source Address"))?;
        rest = body.get(end + usize::from(head[1]) * 4..).ok_or(MembershipError::Short("Auxiliary Data"))?;
        let Some(kind) = RecordKind::of(head[0]) else { continue };
        let sources = addresses.chunks_exact(size).filter_map(address).collect();
        records.push(Record { kind, group: multicast(group)?, sources });
    }
    Ok(records)
}

fn multicast(group: IpAddr) -> Result<IpAddr, MembershipError> {
    if group.is_multicast() { Ok(group) } else { Err(MembershipError::Group(group)) }
}

/// Records as IP datagrams of reports, each short enough for one update. Records of another IP version are left out.
pub fn write(reporting: Reporting, records: &[Record]) -> Vec<Vec<u8>> {
    let is_v4 = reporting == Reporting::Igmp;
    let size = reporting.address_bytes();
    let mut messages: Vec<(u16, Vec<u8>)> = Vec::new();
    for record in records.iter().filter(|record| record.group.is_ipv4() == is_v4) {
        let most = (MESSAGE_MAX - HEAD - RECORD_HEAD) / size - 1;
        let sources: Vec<IpAddr> =
            record.sources.iter().filter(|source| source.is_ipv4() == is_v4).copied().collect();
        let mut parts = sources.chunks(most);
        let first = parts.next().unwrap_or_default();
        append_record(&mut messages, record.kind, record.group, first);
        // More sources of a change to include mode are allowed ones, so that the second report does not replace the first.
        let more = if record.kind == RecordKind::ToInclude { RecordKind::Allow } else { record.kind };
        parts.for_each(|part| append_record(&mut messages, more, record.group, part));
    }
    let (kind, to) = match reporting {
        Reporting::Igmp => (IGMP, IpAddr::from(ROUTERS_V4)),
        Reporting::Mld => (MLD, IpAddr::from(ROUTERS_V6)),
    };
    let datagram = |(count, addresses): (u16, Vec<u8>)| {
        let [high, low] = count.to_be_bytes();
        let message = [&[kind, 0, 0, 0, 0, 0, high, low][..], &addresses].concat();
        with_router_alert(reporting.unspecified(), to, message)
    };
    messages.into_iter().map(datagram).collect()
}

/// Adds a record to the last message, or to a new one if it does not fit.
fn append_record(messages: &mut Vec<(u16, Vec<u8>)>, kind: RecordKind, group: IpAddr, sources: &[IpAddr]) {
    let length = RECORD_HEAD + Reporting::of(group).address_bytes() * (sources.len() + 1);
    if messages.last().is_none_or(|(_, message)| HEAD + message.len() + length > MESSAGE_MAX) {
        messages.push((0, Vec::new()));
    }
    let Some((count, message)) = messages.last_mut() else { return cannot_be("one was appended") };
    *count += 1;
    let [high, low] = u16::try_from(sources.len()).unwrap_or(u16::MAX).to_be_bytes();
    message.extend([kind as u8, 0, high, low]);
    append(message, group);
    sources.iter().for_each(|&source| append(message, source));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: &str, message: &[u8]) -> Result<Vec<Record>, MembershipError> {
        let from: IpAddr = from.parse().expect("an address");
        let to = if from.is_ipv4() { ROUTERS_V4.into() } else { ROUTERS_V6.into() };
        let bytes = with_router_alert(from, to, message.to_vec());
        Report::read(&Datagram::read(&bytes)?).map(|report| report.records)
    }

    fn record(kind: RecordKind, group: &str, sources: &[&str]) -> Record {
        let address = |text: &&str| text.parse().expect("an address");
        Record { kind, group: address(&group), sources: sources.iter().map(address).collect() }
    }

    #[test]
    fn igmp_reports_of_all_versions_are_read() {
        let old = |kind| read("10.0.0.1", &[kind, 0, 0, 0, 239, 1, 2, 3]);
        let one = |kind| record(kind, "239.1.2.3", &[]);
        assert_eq!(old(0x12), Ok(vec![one(RecordKind::ToExclude)]));
        assert_eq!(old(0x16), Ok(vec![one(RecordKind::ToExclude)]));
        assert_eq!(old(0x17), Ok(vec![one(RecordKind::ToInclude)]));
        // A query says nothing of memberships.
        assert_eq!(old(0x11), Err(MembershipError::NoReport(0x11)));
        let third = [
            0x22, 0, 0, 0, 0, 0, 0, 3, // three records
            4, 0, 0, 0, 239, 1, 2, 3, // all sources
            9, 0, 0, 0, 239, 1, 2, 3, // of no known type
            5, 1, 0, 2, 232, 1, 1, 1, 10, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0,
            0, // two sources, and auxiliary data
        ];
        let allowed = record(RecordKind::Allow, "232.1.1.1", &["10.0.0.1", "10.0.0.2"]);
        assert_eq!(read("10.0.0.1", &third), Ok(vec![one(RecordKind::ToExclude), allowed]));
    }

    #[test]
    fn mld_reports_of_both_versions_are_read() {
        let group = "ff0e::99".parse::<Ipv6Addr>().expect("a group").octets();
        let old = |kind| read("fe80::1", &[&[kind, 0, 0, 0, 0, 0, 0, 0], &group[..]].concat());
        let one = |kind| record(kind, "ff0e::99", &[]);
        assert_eq!(old(131), Ok(vec![one(RecordKind::ToExclude)]));
        assert_eq!(old(132), Ok(vec![one(RecordKind::ToInclude)]));
        assert_eq!(old(130), Err(MembershipError::NoReport(130)));
        let source = "fd6c:6179:6572::1".parse::<Ipv6Addr>().expect("an address").octets();
        let second = [&[143, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 1][..], &group, &source].concat();
        let blocked = record(RecordKind::Block, "ff0e::99", &["fd6c:6179:6572::1"]);
        assert_eq!(read("fe80::1", &second), Ok(vec![blocked]));
    }

    #[test]
    fn a_report_that_ends_within_a_record_is_none() {
        let whole =
            [0x22, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 239, 1, 2, 3, 4, 0, 0, 9, 239, 1, 2, 4, 10, 0, 0, 1];
        assert_eq!(read("10.0.0.1", &whole), Err(MembershipError::Short("Source Address")));
    }
}
