//! IP datagrams as bytes: those of IGMP and MLD, and multicast packets over UDP.

use std::net::{IpAddr, SocketAddr};

use etherparse::checksum::Sum16BitWords;
use etherparse::err::ip::SliceError;
use etherparse::{
    IpDscp, IpNumber, IpSlice, Ipv4Header, Ipv4Options, Ipv6Header, Ipv6RawExtHeader, Ipv6RawExtHeaderSlice,
};
use layercast_core::contract::Ecn;
use layercast_core::{Always as _, cannot_be};

/// The Router Alert option of IPv4 (RFC 2113, section 2.1).
const ALERT_V4: [u8; 4] = [0x94, 4, 0, 0];
/// The options of the hop-by-hop header: Router Alert with the value for MLD (RFC 2711, section 2.1), and two bytes of padding.
const ALERT_V6: [u8; 6] = [5, 2, 0, 0, 1, 0];
/// The type of the Router Alert option of IPv6.
const ALERT_V6_TYPE: u8 = 5;
/// DSCP CS6, internetwork control (RFC 3376, section 4).
const CONTROL: u8 = 48;

const UDP_HEAD: usize = 8;
const V4_HEAD: usize = 20;
const V6_HEAD: usize = 40;

/// The longest headers of a multicast packet over UDP.
pub const HEAD_MAX: usize = V6_HEAD + UDP_HEAD;

/// Why bytes are not an IP datagram.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpError {
    /// Its headers are malformed, or longer than the bytes.
    #[error("IP header: {0}")]
    Header(SliceError),
    /// The field Payload Length of IPv6 is zero.
    #[error("IP header: Payload Length is 0")]
    NoLength,
    /// The checksum of the IPv4 header is wrong.
    #[error("IP header: Header Checksum is wrong")]
    Checksum,
}

/// An IP datagram, with all lengths checked and the checksum of an IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol of the payload, by its IANA number.
    pub protocol: u8,
    /// TTL or hop limit.
    pub hops: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether it is a fragment.
    pub is_fragment: bool,
    /// Whether it has a Router Alert option.
    pub has_router_alert: bool,
    /// What follows all IP headers. Bytes after the datagram's own end are not part of it.
    pub payload: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Reads a datagram. Bytes after its end are ignored (RFC 7450, section 5.2.3.5.4).
    ///
    /// # Errors
    /// What is wrong with its headers.
    pub fn read(bytes: &'a [u8]) -> Result<Datagram<'a>, IpError> {
        let slice = IpSlice::from_slice(bytes).map_err(IpError::Header)?;
        let (source, destination) = (slice.source_addr(), slice.destination_addr());
        let (hops, ecn, has_router_alert, payload) = match &slice {
            IpSlice::Ipv4(v4) => {
                let header = v4.header();
                if sum(header.slice()) != 0 {
                    return Err(IpError::Checksum);
                }
                let alert = has_option(header.options(), true);
                (header.ttl(), header.ecn().value(), alert, v4.payload())
            }
            IpSlice::Ipv6(v6) => {
                let header = v6.header();
                if header.payload_length() == 0 {
                    return Err(IpError::NoLength);
                }
                let extensions = v6.extensions();
                let alert = extensions.first_header() == Some(IpNumber::IPV6_HEADER_HOP_BY_HOP)
                    && Ipv6RawExtHeaderSlice::from_slice(extensions.slice())
                        .is_ok_and(|header| has_option(header.payload(), false));
                (header.hop_limit(), header.ecn().value(), alert, v6.payload())
            }
        };
        // RFC 3168, section 5.
        let ecn = match ecn {
            0 => Ecn::NotCapable,
            3 => Ecn::Marked,
            _ => Ecn::Capable,
        };
        Ok(Datagram {
            source,
            destination,
            protocol: payload.ip_number.0,
            hops,
            ecn,
            is_fragment: payload.fragmented,
            has_router_alert,
            payload: payload.payload,
        })
    }

    /// Whether the checksum of a payload of IGMP, UDP or ICMPv6 is right.
    pub fn has_checksum(&self) -> bool {
        payload_sum(self.source, self.destination, self.protocol, self.payload) == 0
    }
}

/// Whether the options contain a Router Alert: in IPv4 type 0x94, with a length that counts type and length; in IPv6 type 5.
fn has_option(mut options: &[u8], is_v4: bool) -> bool {
    while let Some((&kind, rest)) = options.split_first() {
        let is_single = if is_v4 { kind <= 1 } else { kind == 0 };
        if is_single {
            options = rest;
            continue;
        }
        if kind == if is_v4 { ALERT_V4[0] } else { ALERT_V6_TYPE } {
            return true;
        }
        let Some(&length) = rest.first() else { return false };
        let length = usize::from(length) + if is_v4 { 0 } else { 2 };
        match options.get(length..) {
            Some(next) if length >= 2 => options = next,
            _ => return false,
        }
    }
    false
}

/// The Internet checksum (RFC 1071) of bytes; of bytes that contain their checksum, zero if it is right.
pub fn sum(bytes: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(bytes).ones_complement().to_be()
}

/// The checksum of a payload: that of IGMP alone, others with their pseudo-header (RFC 768; RFC 8200, section 8.1).
fn payload_sum(source: IpAddr, destination: IpAddr, protocol: u8, payload: &[u8]) -> u16 {
    if IpNumber(protocol) == IpNumber::IGMP {
        return sum(payload);
    }
    let mut words = Sum16BitWords::new();
    for address in [source, destination] {
        words = match address {
            IpAddr::V4(address) => words.add_4bytes(address.octets()),
            IpAddr::V6(address) => words.add_16bytes(address.octets()),
        };
    }
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    words
        .add_4bytes(length.to_be_bytes())
        .add_2bytes([0, protocol])
        .add_slice(payload)
        .ones_complement()
        .to_be()
}

/// A message of IGMP or MLD as a datagram: TTL 1 and Router Alert, and IGMP as internetwork control (RFC 3376, section 4; RFC 3810,
/// section 5). Inside of AMT the source may be unspecified (RFC 7450, sections 5.2.1 and 5.3.3.3). The message's checksum is
/// filled in.
pub(crate) fn with_router_alert(source: IpAddr, destination: IpAddr, mut message: Vec<u8>) -> Vec<u8> {
    let protocol = if source.is_ipv4() { IpNumber::IGMP } else { IpNumber::IPV6_ICMP };
    let sum = payload_sum(source, destination, protocol.0, &message).to_be_bytes();
    if let Some(field) = message.get_mut(2..4) {
        field.copy_from_slice(&sum);
    }
    let mut bytes = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = Ipv4Header {
                dscp: IpDscp::try_new(CONTROL).always("it has six bits"),
                total_len: u16::try_from(V4_HEAD + ALERT_V4.len() + message.len()).unwrap_or(u16::MAX),
                dont_fragment: true,
                time_to_live: 1,
                protocol,
                source: source.octets(),
                destination: destination.octets(),
                options: Ipv4Options::from(ALERT_V4),
                ..Ipv4Header::default()
            };
            header.header_checksum = header.calc_header_checksum();
            header.to_bytes().to_vec()
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let extension = Ipv6RawExtHeader::new_raw(protocol, &ALERT_V6).map(|header| header.to_bytes());
            let extension = extension.always("the options fill eight bytes");
            let header = Ipv6Header {
                payload_length: u16::try_from(extension.len() + message.len()).unwrap_or(u16::MAX),
                next_header: IpNumber::IPV6_HEADER_HOP_BY_HOP,
                hop_limit: 1,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv6Header::default()
            };
            [header.to_bytes().as_slice(), extension.as_slice()].concat()
        }
        _ => return cannot_be("both addresses are of one IP version"),
    };
    bytes.append(&mut message);
    bytes
}

/// Writes the headers of IP and UDP of a packet to a group, with this time to live; their length, or none if the source is of
/// another IP version or the packet is too long.
pub fn write_head(
    source: SocketAddr,
    group: SocketAddr,
    hops: u8,
    ecn: Ecn,
    payload: &[u8],
    room: &mut [u8; HEAD_MAX],
) -> Option<usize> {
    let length = u16::try_from(UDP_HEAD + payload.len()).ok()?;
    let protocol = IpNumber::UDP.0;
    let ecn = match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    let mut words = Sum16BitWords::new();
    let at = match (source.ip(), group.ip()) {
        (IpAddr::V4(source), IpAddr::V4(to)) => {
            let total = length.checked_add(V4_HEAD as u16)?.to_be_bytes();
            // Not to be fragmented, as a source's packets are not.
            room[..12].copy_from_slice(&[0x45, ecn, total[0], total[1], 0, 0, 0x40, 0, hops, protocol, 0, 0]);
            room[12..16].copy_from_slice(&source.octets());
            room[16..20].copy_from_slice(&to.octets());
            let sum = sum(&room[..V4_HEAD]).to_be_bytes();
            room[10..12].copy_from_slice(&sum);
            words = words.add_4bytes(source.octets()).add_4bytes(to.octets());
            V4_HEAD
        }
        (IpAddr::V6(source), IpAddr::V6(to)) => {
            let size = length.to_be_bytes();
            room[..8].copy_from_slice(&[0x60, ecn << 4, 0, 0, size[0], size[1], protocol, hops]);
            room[8..24].copy_from_slice(&source.octets());
            room[24..40].copy_from_slice(&to.octets());
            words = words.add_16bytes(source.octets()).add_16bytes(to.octets());
            V6_HEAD
        }
        _ => return None,
    };
    let (from, to, size) = (source.port().to_be_bytes(), group.port().to_be_bytes(), length.to_be_bytes());
    let sum = words
        .add_2bytes([0, protocol])
        .add_2bytes(size)
        .add_2bytes(from)
        .add_2bytes(to)
        .add_2bytes(size)
        .add_slice(payload)
        .ones_complement()
        .to_be();
    // Zero stands for no checksum (RFC 768).
    let sum = if sum == 0 { u16::MAX } else { sum }.to_be_bytes();
    let head = [from[0], from[1], to[0], to[1], size[0], size[1], sum[0], sum[1]];
    room[at..at + UDP_HEAD].copy_from_slice(&head);
    Some(at + UDP_HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn heads_are_read_as_they_were_written(
            v4: [u8; 4], v6: [u8; 16], is_v4: bool, hops in 1u8.., from: u16, port in 1u16..,
            mark in 0usize..3, payload in proptest::collection::vec(0u8.., 0..1500),
        ) {
            let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Marked][mark];
            let source = if is_v4 { IpAddr::from(v4) } else { IpAddr::from(v6) };
            let group: IpAddr = if is_v4 { "239.1.2.3" } else { "ff15::1:3" }.parse().expect("a group");
            let (from, to) = (SocketAddr::new(source, from), SocketAddr::new(group, port));
            let mut room = [0; HEAD_MAX];
            let length = write_head(from, to, hops, ecn, &payload, &mut room).expect("it fits");
            let bytes = [&room[..length], &payload[..]].concat();
            let read = Datagram::read(&bytes).expect("a datagram");
            prop_assert_eq!((read.source, read.destination, read.hops, read.ecn), (source, group, hops, ecn));
            prop_assert!(read.has_checksum() && !read.is_fragment && !read.has_router_alert);
            prop_assert_eq!(&read.payload[UDP_HEAD..], &payload[..]);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let group = "239.1.2.3:5500".parse().expect("a group");
        let write = |source: &str, length: usize| {
            let source = source.parse().expect("an address");
            write_head(source, group, 9, Ecn::Capable, &vec![0; length], &mut [0; HEAD_MAX])
        };
        assert_eq!((write("[2001:db8::1]:5500", 9), write("192.0.2.1:5500", 65_508)), (None, None));
        assert_eq!(write("192.0.2.1:5500", 65_507), Some(28));
    }
}
