//! Membership reports: IGMPv1 to IGMPv3 (RFC 1112, 2236, 3376) and MLDv1 and MLDv2 (RFC 2710, 3810).
//!
//! All are read as records of version 3: a report of an older version is a change to "all sources except none",
//! a leave one to "no source".

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{View, protocol};

/// What a record says of a group (RFC 3376, section 4.2.12; RFC 3810, section 5.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// From these sources only.
    Include,
    /// From all sources but these.
    Exclude,
    /// From these sources too.
    Allow,
    /// No longer from these sources.
    Block,
}

/// What a host reports of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRecord<'a> {
    /// The group.
    pub group: IpAddr,
    /// What is said of the sources.
    pub kind: RecordKind,
    addresses: &'a [u8],
}

impl GroupRecord<'_> {
    /// The sources.
    pub fn sources(&self) -> impl Iterator<Item = IpAddr> {
        let is_v4 = self.group.is_ipv4();
        self.addresses.chunks_exact(if is_v4 { 4 } else { 16 }).filter_map(move |bytes| address(bytes, is_v4))
    }
}

fn address(bytes: &[u8], is_v4: bool) -> Option<IpAddr> {
    Some(if is_v4 {
        Ipv4Addr::from(*bytes.first_chunk::<4>()?).into()
    } else {
        Ipv6Addr::from(*bytes.first_chunk::<16>()?).into()
    })
}

/// The records of a report.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    left: u16,
    is_v4: bool,
    /// The only one, of a report of an older version.
    single: Option<GroupRecord<'a>>,
}

impl<'a> Iterator for Records<'a> {
    type Item = GroupRecord<'a>;

    fn next(&mut self) -> Option<GroupRecord<'a>> {
        if let Some(single) = self.single.take() {
            return Some(single);
        }
        while self.left > 0 {
            self.left -= 1;
            let size = if self.is_v4 { 4 } else { 16 };
            let (head, rest) = self.rest.split_first_chunk::<4>()?;
            let group = address(rest, self.is_v4)?;
            let sources = usize::from(u16::from_be_bytes([head[2], head[3]]));
            let end = size * (sources + 1);
            let addresses = rest.get(size..end)?;
            self.rest = rest.get(end + usize::from(head[1]) * 4..).unwrap_or_default();
            let kind = match head[0] {
                1 | 3 => RecordKind::Include,
                2 | 4 => RecordKind::Exclude,
                5 => RecordKind::Allow,
                6 => RecordKind::Block,
                _ => continue,
            };
            if group.is_multicast() {
                return Some(GroupRecord { group, kind, addresses });
            }
        }
        None
    }
}

/// The records of a packet, if it is a membership report.
pub fn group_records<'a>(view: &View, bytes: &'a [u8]) -> Option<Records<'a>> {
    let payload = bytes.get(view.payload..view.length)?;
    let head: &[u8; 8] = payload.first_chunk()?;
    let is_v4 = match view.protocol {
        protocol::IGMP => true,
        protocol::ICMP_V6 => false,
        _ => return None,
    };
    let nothing = Records { rest: &[], left: 0, is_v4, single: None };
    let single = |kind| {
        let group =
            if is_v4 { address(payload.get(4..)?, true)? } else { address(payload.get(8..)?, false)? };
        let record = GroupRecord { group, kind, addresses: &[] };
        group.is_multicast().then(|| Records { single: Some(record), ..nothing.clone() })
    };
    match (is_v4, head[0]) {
        (true, 0x12 | 0x16) | (false, 131) => single(RecordKind::Exclude),
        (true, 0x17) | (false, 132) => single(RecordKind::Include),
        (true, 0x22) | (false, 143) => {
            let left = u16::from_be_bytes([head[6], head[7]]);
            Some(Records { rest: &payload[8..], left, ..nothing })
        }
        _ => None,
    }
}
