//! Queries: IGMP (RFC 3376, section 4.1; RFC 2236, section 2) and MLD (RFC 3810, section 5.1; RFC 2710, section 3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use layercast_core::cannot_be;
use layercast_core::units::Duration;

use super::{MembershipError, Message, Reporting, append};
use crate::ip::{Datagram, with_router_alert};

/// All systems on a link, to which General Queries go (RFC 3376, section 4.1.12; RFC 3810, section 5.1.15).
const ALL_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
const ALL_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The types of the message.
const IGMP: u8 = 0x11;
const MLD: u8 = 130;

/// Robustness Variable and Query Interval where a query has none (RFC 3376, sections 8.1 and 8.2).
const ROBUSTNESS: u8 = 2;
const INTERVAL: Duration = Duration::from_secs(125);

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// The router that asks; unspecified inside of AMT, and of switches that snoop.
    pub from: IpAddr,
    /// The group that is asked for; none for all.
    pub group: Option<IpAddr>,
    /// The source that is asked for; none for all. Of several that are read, the first.
    pub source: Option<IpAddr>,
    /// Within which time hosts report.
    pub response: Duration,
    /// How often changes are reported (QRV), 1 to 7.
    pub robustness: u8,
    /// The time between two General Queries (QQIC).
    pub interval: Duration,
}

impl Query {
    /// A General Query without an address that asks for a report at once, as AMT has it (RFC 7450, section 5.3.3.3).
    pub fn general(reporting: Reporting, robustness: u8, interval: Duration) -> Query {
        // A Max Resp Code of 1.
        let response = match reporting {
            Reporting::Igmp => Duration::from_ms(100),
            Reporting::Mld => Duration::from_ms(1),
        };
        let from = reporting.unspecified();
        Query { from, group: None, source: None, response, robustness, interval }
    }

    /// Reads a query of whatever version, source address and time to live.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(datagram: &Datagram<'_>) -> Result<Query, MembershipError> {
        let message = Message::of(datagram)?;
        if message.kind != if message.reporting == Reporting::Igmp { IGMP } else { MLD } {
            return Err(MembershipError::NoQuery(message.kind));
        }
        let (group, rest) = message.group()?;
        // Older versions end after the group.
        let (robustness, code, sources) = match rest.first_chunk() {
            Some(&[flags, code, high, low]) => (flags & 7, code, u16::from_be_bytes([high, low])),
            None => (0, 0, 0),
        };
        let source = match sources {
            0 => None,
            _ => {
                let source = rest.get(4..).and_then(|rest| message.reporting.address(rest));
                Some(source.ok_or(MembershipError::Short("Source Address"))?)
            }
        };
        Ok(Query {
            from: datagram.source,
            group: (!group.is_unspecified()).then_some(group),
            source,
            response: response(&message),
            robustness: if robustness == 0 { ROBUSTNESS } else { robustness },
            interval: if code == 0 { INTERVAL } else { Duration::from_secs(seconds(code)) },
        })
    }

    /// Reads a General Query of IGMPv3 or MLDv2, as AMT requires it, whatever its source address (RFC 7450, section 5.2.1).
    ///
    /// # Errors
    /// Why it is none.
    pub fn read_general(datagram: &Datagram<'_>) -> Result<Query, MembershipError> {
        let query = Query::read(datagram)?;
        let least = if datagram.source.is_ipv4() { 12 } else { 28 };
        match datagram.payload.len() {
            short if short < least => Err(MembershipError::Old(short)),
            _ if query.group.is_some() || query.source.is_some() => Err(MembershipError::Specific),
            _ => Ok(query),
        }
    }

    /// The query as an IP datagram. Times are rounded down to what their codes can express, and those of responses to 12.7 s (IGMP)
    /// or 32.7 s.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ms = self.response.as_ns() / 1_000_000;
        let (mut message, all) = match Reporting::of(self.from) {
            Reporting::Igmp => {
                let response = u8::try_from(ms / 100).unwrap_or(127).clamp(1, 127);
                (vec![IGMP, response, 0, 0], IpAddr::from(ALL_V4))
            }
            Reporting::Mld => {
                let [high, low] = u16::try_from(ms).unwrap_or(32_767).clamp(1, 32_767).to_be_bytes();
                (vec![MLD, 0, 0, 0, high, low, 0, 0], IpAddr::from(ALL_V6))
            }
        };
        append(&mut message, self.group.unwrap_or(Reporting::of(self.from).unspecified()));
        message.extend([self.robustness.min(7), code(self.interval), 0, u8::from(self.source.is_some())]);
        self.source.into_iter().for_each(|source| append(&mut message, source));
        with_router_alert(self.from, self.group.unwrap_or(all), message)
    }
}

/// The time of a Max Resp Code (RFC 3376, section 4.1.1; RFC 3810, section 5.1.3); that of IGMPv1, zero, is 10 s.
fn response(message: &Message<'_>) -> Duration {
    let ms = match (message.reporting, message.bytes) {
        (Reporting::Igmp, [_, 0, ..]) => 10_000,
        (Reporting::Igmp, &[_, code, ..]) => seconds(code) * 100,
        (Reporting::Mld, &[_, _, _, _, high, low, ..]) => {
            let code = u64::from(u16::from_be_bytes([high, low]));
            let (exponent, mantissa) = (code >> 12 & 7, code & 0x0fff);
            if code < 0x8000 { code } else { (mantissa | 0x1000) << (exponent + 3) }
        }
        _ => cannot_be("a message has a header"),
    };
    Duration::from_ms(ms)
}

/// The seconds of a Querier's Query Interval Code (RFC 3376, section 4.1.7).
fn seconds(code: u8) -> u64 {
    let (exponent, mantissa) = (u64::from(code >> 4 & 7), u64::from(code & 15));
    if code < 128 { u64::from(code) } else { (mantissa | 16) << (exponent + 3) }
}

/// The largest code of at most an interval, and at least 1: zero stands for the default.
fn code(interval: Duration) -> u8 {
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

    #[test]
    fn queries_of_older_versions_are_read_and_are_no_general_ones_of_amt() {
        let (v4, v6) = ("192.0.2.9".parse().expect("an address"), "fe80::1".parse().expect("an address"));
        let mld = [&[MLD, 0, 0, 0, 3, 0xe8, 0, 0][..], &[0; 16]].concat();
        for (from, to, message, seconds) in [
            (v4, ALL_V4.into(), vec![IGMP, 100, 0, 0, 0, 0, 0, 0], 10),
            (v4, ALL_V4.into(), vec![IGMP, 0, 0, 0, 0, 0, 0, 0], 10),
            (v6, ALL_V6.into(), mld, 1),
        ] {
            let length = message.len();
            let bytes = with_router_alert(from, to, message);
            let datagram = Datagram::read(&bytes).expect("a datagram");
            let read = Query::read(&datagram).expect("a query");
            let expected = (None, Duration::from_secs(seconds), INTERVAL);
            assert_eq!((read.group, read.response, read.interval), expected);
            assert_eq!(Query::read_general(&datagram), Err(MembershipError::Old(length)));
        }
    }
}
