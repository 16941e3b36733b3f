//! General Queries: IGMPv3 (RFC 3376, section 4.1) and MLDv2 (RFC 3810, section 5.1).

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::IpNumber;
use layercast_core::Always as _;
use layercast_core::units::Duration;

use super::Reporting;
use super::ip::{Datagram, IpError, igmp, mld, sum};

/// All systems on a link, to which General Queries go (RFC 3376, section 4.1.12; RFC 3810, section 5.1.15).
pub(crate) const ALL_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
pub(crate) const ALL_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The types of the message.
pub(crate) const TYPE_IGMP: u8 = 0x11;
pub(crate) const TYPE_MLD: u8 = 130;
/// The length of a General Query.
pub(crate) const IGMP_BYTES: usize = 12;
pub(crate) const MLD_BYTES: usize = 28;

/// Robustness Variable and Query Interval where a query has none (RFC 3376, sections 8.1 and 8.2).
pub(crate) const ROBUSTNESS: u8 = 2;
pub(crate) const INTERVAL: Duration = Duration::from_secs(125);

/// What a General Query says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralQuery {
    /// By which protocol to report.
    pub reporting: Reporting,
    /// How often a state change is reported (QRV), 1 to 7.
    pub robustness: u8,
    /// After which time to ask for the next query (QQIC).
    pub interval: Duration,
}

/// Why a datagram is not a General Query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It is not an IP datagram.
    #[error(transparent)]
    Ip(#[from] IpError),
    /// It is a fragment.
    #[error("the query is a fragment")]
    Fragment,
    /// It carries neither IGMP nor MLD.
    #[error("protocol {0} is neither IGMP nor ICMPv6")]
    Protocol(u8),
    /// It has another type.
    #[error("Type is {0}, not that of a query")]
    Type(u8),
    /// It is shorter than a query of IGMPv3 or MLDv2, as those of older versions are.
    #[error("{0} bytes are too few for a query of IGMPv3 or MLDv2")]
    Short(usize),
    /// The checksum is wrong.
    #[error("Checksum is wrong")]
    Checksum,
    /// It asks for one group only.
    #[error("Group Address is set, so this is no General Query")]
    Specific,
}

impl GeneralQuery {
    /// Reads the IP datagram of a Membership Query, whatever its source address (RFC 7450, section 5.2.1).
    ///
    /// # Errors
    /// Why it is not a General Query.
    pub fn read(bytes: &[u8]) -> Result<GeneralQuery, QueryError> {
        let datagram = Datagram::read(bytes)?;
        if datagram.is_fragment {
            return Err(QueryError::Fragment);
        }
        let payload = datagram.payload;
        let reporting = match IpNumber(datagram.protocol) {
            IpNumber::IGMP if datagram.source.is_ipv4() => Reporting::Igmp,
            IpNumber::IPV6_ICMP if datagram.source.is_ipv6() => Reporting::Mld,
            IpNumber(other) => return Err(QueryError::Protocol(other)),
        };
        let (kind, least, at) = match reporting {
            Reporting::Igmp => (TYPE_IGMP, IGMP_BYTES, 4),
            Reporting::Mld => (TYPE_MLD, MLD_BYTES, 8),
        };
        let found = payload.first().copied().ok_or(QueryError::Short(0))?;
        if found != kind {
            return Err(QueryError::Type(found));
        }
        if payload.len() < least {
            return Err(QueryError::Short(payload.len()));
        }
        let is_right = match reporting {
            Reporting::Igmp => sum(payload) == 0,
            Reporting::Mld => datagram.has_checksum(),
        };
        if !is_right {
            return Err(QueryError::Checksum);
        }
        let tail = least - 4;
        let group = payload.get(at..tail).always("the length was checked");
        let [flags, code, sources @ ..] = payload.get(tail..least).always("the length was checked") else {
            return Err(QueryError::Short(payload.len()));
        };
        if group.iter().chain(sources).any(|&byte| byte != 0) {
            return Err(QueryError::Specific);
        }
        let robustness = match *flags & 7 {
            0 => ROBUSTNESS,
            some => some,
        };
        let interval = match *code {
            0 => INTERVAL,
            code => Duration::from_secs(seconds(code)),
        };
        Ok(GeneralQuery { reporting, robustness, interval })
    }

    /// The query as an IP datagram. The interval is rounded down to one that the code can express.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = self.robustness.min(7);
        let code = code(self.interval);
        match self.reporting {
            Reporting::Igmp => {
                // A Max Resp Code of 1 asks for a report at once (RFC 7450, section 5.3.3.3).
                let mut message = [TYPE_IGMP, 1, 0, 0, 0, 0, 0, 0, flags, code, 0, 0];
                let sum = sum(&message).to_be_bytes();
                message[2..4].copy_from_slice(&sum);
                igmp(Ipv4Addr::UNSPECIFIED, ALL_V4, &message)
            }
            Reporting::Mld => {
                let mut message = [0; MLD_BYTES];
                message[0] = TYPE_MLD;
                message[5] = 1;
                message[24] = flags;
                message[25] = code;
                mld(Ipv6Addr::UNSPECIFIED, ALL_V6, &mut message)
            }
        }
    }
}

/// The seconds of a Querier's Query Interval Code (RFC 3376, section 4.1.7).
pub(crate) fn seconds(code: u8) -> u64 {
    let (exponent, mantissa) = (u64::from(code >> 4 & 7), u64::from(code & 15));
    if code < 128 { u64::from(code) } else { (mantissa | 16) << (exponent + 3) }
}

/// The largest code of at most an interval, and at least 1: zero stands for the default.
pub(crate) fn code(interval: Duration) -> u8 {
    let wanted = interval.as_ns() / 1_000_000_000;
    (1..=u8::MAX).rev().find(|&code| seconds(code) <= wanted).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_rfc() {
        assert_eq!((seconds(125), seconds(127), seconds(128), seconds(255)), (125, 127, 128, 31 << 10));
        for code_in in 1..=u8::MAX {
            assert_eq!(code(Duration::from_secs(seconds(code_in))), code_in);
        }
        assert_eq!(code(Duration::from_ms(200)), 1);
        assert_eq!(seconds(code(Duration::from_secs(130))), 128);
    }
}
