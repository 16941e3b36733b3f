//! Queries on a link: IGMP (RFC 3376, section 4.1; RFC 2236, section 2) and MLD (RFC 3810, section 5.1; RFC 2710, section 3).

use std::net::IpAddr;

use etherparse::IpNumber;
use layercast_core::Always as _;
use layercast_core::units::Duration;

use crate::amt::ip::{Datagram, igmp, mld, sum};
use crate::amt::query::{
    ALL_V4, ALL_V6, IGMP_BYTES, INTERVAL, MLD_BYTES, ROBUSTNESS, TYPE_IGMP, TYPE_MLD, code, seconds,
};

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// The router that asks.
    pub(super) from: IpAddr,
    /// The group that is asked for; none for all.
    pub(super) group: Option<IpAddr>,
    /// The source that is asked for; none for all. Of several that are read, the first.
    pub(super) source: Option<IpAddr>,
    /// Within which time hosts report.
    pub(super) response: Duration,
    /// How often changes are reported (QRV), 1 to 7.
    pub(super) robustness: u8,
    /// The time between two general queries (QQIC).
    pub(super) interval: Duration,
}

impl Query {
    /// Reads a datagram; none if it is no query, of whatever version.
    pub(super) fn read(bytes: &[u8]) -> Option<Query> {
        let datagram = Datagram::read(bytes).ok()?;
        let payload = datagram.payload;
        let is_v4 = match IpNumber(datagram.protocol) {
            IpNumber::IGMP if datagram.source.is_ipv4() => true,
            IpNumber::IPV6_ICMP if datagram.source.is_ipv6() => false,
            _ => return None,
        };
        let kind = if is_v4 { TYPE_IGMP } else { TYPE_MLD };
        let is_right = if is_v4 { sum(payload) == 0 } else { datagram.has_checksum() };
        if datagram.is_fragment || datagram.hops != 1 || payload.first() != Some(&kind) || !is_right {
            return None;
        }
        let (at, tail) = if is_v4 { (4, 8) } else { (8, 24) };
        let group = address(payload.get(at..)?, is_v4)?;
        // Older versions end after the group.
        let (robustness, interval) = match payload.get(tail..tail + 2) {
            Some(&[flags, code]) => (flags & 7, seconds(code)),
            _ => (0, 0),
        };
        let source = payload.get(tail + 4..).and_then(|bytes| address(bytes, is_v4));
        let count = payload.get(tail + 2..tail + 4).is_some_and(|count| count != [0, 0]);
        Some(Query {
            from: datagram.source,
            group: (!group.is_unspecified()).then_some(group),
            source: source.filter(|_| count),
            response: response(payload, is_v4)?,
            robustness: if robustness == 0 { ROBUSTNESS } else { robustness },
            interval: if interval == 0 { INTERVAL } else { Duration::from_secs(interval) },
        })
    }

    /// The query as an IP datagram. Times are rounded down to what their codes can express, and those of responses to 12.7 s (IGMP)
    /// or 32.7 s.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Query { from, group, source, response, robustness, interval } = self;
        let flags = robustness.min(7);
        let count = u8::from(source.is_some());
        let ms = response.as_ns() / 1_000_000;
        match from {
            IpAddr::V4(from) => {
                let mut message = [0; IGMP_BYTES + 4];
                message[0] = TYPE_IGMP;
                message[1] = u8::try_from(ms / 100).unwrap_or(127).clamp(1, 127);
                put(&mut message[4..8], group);
                message[8] = flags;
                message[9] = code(interval);
                message[11] = count;
                put(&mut message[12..16], source);
                let end = IGMP_BYTES + 4 * usize::from(count);
                let message = message.get_mut(..end).always("a query with one source fits");
                let sum = sum(message).to_be_bytes();
                message[2..4].copy_from_slice(&sum);
                let to = match group {
                    Some(IpAddr::V4(group)) => group,
                    _ => ALL_V4,
                };
                igmp(from, to, message)
            }
            IpAddr::V6(from) => {
                let mut message = [0; MLD_BYTES + 16];
                message[0] = TYPE_MLD;
                let response = u16::try_from(ms).unwrap_or(32_767).clamp(1, 32_767);
                message[4..6].copy_from_slice(&response.to_be_bytes());
                put(&mut message[8..24], group);
                message[24] = flags;
                message[25] = code(interval);
                message[27] = count;
                put(&mut message[28..44], source);
                let end = MLD_BYTES + 16 * usize::from(count);
                let to = match group {
                    Some(IpAddr::V6(group)) => group,
                    _ => ALL_V6,
                };
                mld(from, to, message.get_mut(..end).always("a query with one source fits"))
            }
        }
    }
}

/// The time of a Max Resp Code (RFC 3376, section 4.1.1; RFC 3810, section 5.1.3); that of IGMPv1, zero, is 10 s.
fn response(payload: &[u8], is_v4: bool) -> Option<Duration> {
    let ms = if is_v4 {
        match *payload.get(1)? {
            0 => 10_000,
            code => seconds(code) * 100,
        }
    } else {
        let code = u64::from(u16::from_be_bytes(*payload.get(4..)?.first_chunk()?));
        let (exponent, mantissa) = (code >> 12 & 7, code & 0x0fff);
        if code < 0x8000 { code } else { (mantissa | 0x1000) << (exponent + 3) }
    };
    Some(Duration::from_ms(ms))
}

fn address(bytes: &[u8], is_v4: bool) -> Option<IpAddr> {
    Some(if is_v4 {
        IpAddr::from(*bytes.first_chunk::<4>()?)
    } else {
        IpAddr::from(*bytes.first_chunk::<16>()?)
    })
}

fn put(room: &mut [u8], address: Option<IpAddr>) {
    match address {
        Some(IpAddr::V4(address)) => {
            room.iter_mut().zip(address.octets()).for_each(|(place, byte)| *place = byte)
        }
        Some(IpAddr::V6(address)) => {
            room.iter_mut().zip(address.octets()).for_each(|(place, byte)| *place = byte)
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(from: &str, group: Option<&str>, source: Option<&str>) -> Query {
        let read = |text: &str| text.parse().expect("an address");
        Query {
            from: read(from),
            group: group.map(read),
            source: source.map(read),
            response: Duration::from_ms(500),
            robustness: 2,
            interval: Duration::from_secs(30),
        }
    }

    #[test]
    fn queries_come_back() {
        for one in [
            query("192.0.2.1", None, None),
            query("192.0.2.1", Some("239.1.2.3"), None),
            query("192.0.2.1", Some("232.1.2.3"), Some("198.51.100.7")),
            query("fe80::1", None, None),
            query("fe80::1", Some("ff15::7"), None),
            query("fe80::1", Some("ff35::7"), Some("2001:db8::7")),
        ] {
            let bytes = one.to_bytes();
            assert_eq!(Query::read(&bytes), Some(one));
            for length in 0..bytes.len() {
                assert_eq!(Query::read(&bytes[..length]), None, "{length}");
            }
        }
    }

    #[test]
    fn a_query_of_igmpv2_is_one() {
        let mut message = [TYPE_IGMP, 100, 0, 0, 0, 0, 0, 0];
        let sum = sum(&message).to_be_bytes();
        message[2..4].copy_from_slice(&sum);
        let read = Query::read(&igmp([192, 0, 2, 9].into(), ALL_V4, &message)).expect("a query");
        assert_eq!((read.group, read.response, read.interval), (None, Duration::from_secs(10), INTERVAL));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_danger(mut bytes: Vec<u8>, place: usize, value: u8, is_v4: bool) {
            let _ = Query::read(&bytes);
            let from = if is_v4 { "192.0.2.1" } else { "fe80::1" };
            bytes = query(from, None, None).to_bytes();
            let place = place % bytes.len();
            bytes[place] = value;
            let _ = Query::read(&bytes);
        }
    }
}
