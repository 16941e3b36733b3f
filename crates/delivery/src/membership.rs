//! Group membership protocols: IGMPv1 to IGMPv3 for IPv4 (RFC 1112, 2236, 3376), MLDv1 and MLDv2 for IPv6 (RFC 2710, 3810).
//!
//! [`query`] and [`report`] are the messages, [`subscriptions`] is the side of a host, and `memberships` what a router keeps of
//! one host. All versions are read, and the newest is written.

pub(crate) mod memberships;
pub mod query;
pub mod report;
pub mod subscriptions;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::IpNumber;

use crate::ip::{Datagram, IpError};

/// The protocol by which memberships are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reporting {
    /// IGMPv3 (RFC 3376), for IPv4 groups.
    Igmp,
    /// MLDv2 (RFC 3810), for IPv6 groups.
    Mld,
}

impl Reporting {
    /// The protocol of a group or a host.
    pub fn of(address: IpAddr) -> Reporting {
        if address.is_ipv4() { Reporting::Igmp } else { Reporting::Mld }
    }

    fn unspecified(self) -> IpAddr {
        match self {
            Reporting::Igmp => Ipv4Addr::UNSPECIFIED.into(),
            Reporting::Mld => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// How many bytes an address has.
    fn address_bytes(self) -> usize {
        match self {
            Reporting::Igmp => 4,
            Reporting::Mld => 16,
        }
    }

    /// The address at the start of bytes.
    fn address(self, bytes: &[u8]) -> Option<IpAddr> {
        Some(match self {
            Reporting::Igmp => IpAddr::from(*bytes.first_chunk::<4>()?),
            Reporting::Mld => IpAddr::from(*bytes.first_chunk::<16>()?),
        })
    }
}

/// Why a datagram is not a message of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// It is not an IP datagram.
    #[error(transparent)]
    Ip(#[from] IpError),
    /// It is a fragment.
    #[error("the message is a fragment")]
    Fragment,
    /// It carries neither IGMP nor MLD.
    #[error("protocol {0} is neither IGMP nor ICMPv6")]
    Protocol(u8),
    /// It ends within a field.
    #[error("the message ends before the end of {0}")]
    Short(&'static str),
    /// The checksum is wrong.
    #[error("Checksum is wrong")]
    Checksum,
    /// It is no query.
    #[error("Type is {0}, not that of a query")]
    NoQuery(u8),
    /// It is a query of IGMPv2, MLDv1, or an older version.
    #[error("{0} bytes are too few for a query of IGMPv3 or MLDv2")]
    Old(usize),
    /// It is a query of one group.
    #[error("Group Address is set, so this is no General Query")]
    Specific,
    /// It is no report.
    #[error("Type is {0}, not that of a report")]
    NoReport(u8),
    /// TTL or hop limit is not 1.
    #[error("TTL is {0}; that of reports is 1")]
    Hops(u8),
    /// It has no Router Alert option.
    #[error("the report has no Router Alert option")]
    NoAlert,
    /// The group of a record is no multicast address.
    #[error("Multicast Address {0} is not a multicast address")]
    Group(IpAddr),
}

/// A message with its header and a right checksum.
struct Message<'a> {
    reporting: Reporting,
    kind: u8,
    bytes: &'a [u8],
}

/// The header of all messages, as far as it is common: of IGMPv1, IGMPv2, and of what precedes the addresses of MLD.
const HEAD: usize = 8;

impl<'a> Message<'a> {
    fn of(datagram: &Datagram<'a>) -> Result<Message<'a>, MembershipError> {
        if datagram.is_fragment {
            return Err(MembershipError::Fragment);
        }
        let reporting = match IpNumber(datagram.protocol) {
            IpNumber::IGMP if datagram.source.is_ipv4() => Reporting::Igmp,
            IpNumber::IPV6_ICMP if datagram.source.is_ipv6() => Reporting::Mld,
            IpNumber(other) => return Err(MembershipError::Protocol(other)),
        };
        let &[kind, ..] =
            datagram.payload.first_chunk::<HEAD>().ok_or(MembershipError::Short("the header"))?;
        if !datagram.has_checksum() {
            return Err(MembershipError::Checksum);
        }
        Ok(Message { reporting, kind, bytes: datagram.payload })
    }

    /// What follows so many bytes.
    fn after(&self, bytes: usize) -> &'a [u8] {
        self.bytes.get(bytes..).unwrap_or_default()
    }

    /// The group, with which messages of older versions end, and what follows it.
    fn group(&self) -> Result<(IpAddr, &'a [u8]), MembershipError> {
        let at = match self.reporting {
            Reporting::Igmp => 4,
            Reporting::Mld => HEAD,
        };
        let group =
            self.reporting.address(self.after(at)).ok_or(MembershipError::Short("Multicast Address"))?;
        Ok((group, self.after(at + self.reporting.address_bytes())))
    }
}

fn append(message: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => message.extend(address.octets()),
        IpAddr::V6(address) => message.extend(address.octets()),
    }
}
