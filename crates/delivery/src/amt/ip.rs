//! IP datagrams inside of AMT messages.

use layercast_core::Always as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::err::ip::SliceError;
use etherparse::{
    IpDscp, IpNumber, IpSlice, Ipv4Header, Ipv4Options, Ipv6Header, Ipv6RawExtHeader, Ipv6RawExtHeaderSlice,
};

/// The Router Alert option of IPv4 (RFC 2113, section 2.1).
const ALERT_V4: [u8; 4] = [0x94, 4, 0, 0];
/// The options of the hop-by-hop header: Router Alert with the value for MLD (RFC 2711, section 2.1), and two bytes of padding.
const ALERT_V6: [u8; 6] = [5, 2, 0, 0, 1, 0];
/// The type of the Router Alert option of IPv6.
const ALERT_V6_TYPE: u8 = 5;
/// DSCP CS6, internetwork control (RFC 3376, section 4).
const CONTROL: u8 = 48;

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
    /// The ECN field, two bits.
    pub ecn: u8,
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

    /// Whether the checksum of a payload with the pseudo-header of UDP or ICMPv6 (RFC 8200, section 8.1; RFC 768) is right.
    pub fn has_checksum(&self) -> bool {
        transport_sum(self.source, self.destination, self.protocol, self.payload) == 0
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
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(bytes).ones_complement().to_be()
}

/// The checksum of a payload with its pseudo-header.
pub(super) fn transport_sum(source: IpAddr, destination: IpAddr, protocol: u8, payload: &[u8]) -> u16 {
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

/// A header of a multicast packet without options.
pub(super) fn plain_header(
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ecn: u8,
    payload: usize,
) -> Vec<u8> {
    let hops = 64;
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let payload = u16::try_from(payload).unwrap_or(u16::MAX);
            let protocol = IpNumber(protocol);
            Ipv4Header::new(payload, hops, protocol, source.octets(), destination.octets())
                .map(|mut header| {
                    header.ecn = etherparse::IpEcn::try_new(ecn & 3).always("it has two bits");
                    header.header_checksum = header.calc_header_checksum();
                    header.to_bytes().to_vec()
                })
                .always("what fits a datagram fits its length field")
        }
        (source, destination) => {
            let header = Ipv6Header {
                traffic_class: ecn & 3,
                payload_length: u16::try_from(payload).unwrap_or(u16::MAX),
                next_header: IpNumber(protocol),
                hop_limit: hops,
                source: v6(source).octets(),
                destination: v6(destination).octets(),
                ..Ipv6Header::default()
            };
            header.to_bytes().to_vec()
        }
    }
}

/// An IGMP message as a datagram: TTL 1, internetwork control, Router Alert (RFC 3376, section 4). Inside of AMT the source may
/// be unspecified (RFC 7450, sections 5.2.1 and 5.3.3.3).
pub(crate) fn igmp(source: Ipv4Addr, destination: Ipv4Addr, message: &[u8]) -> Vec<u8> {
    let options = Ipv4Options::from(ALERT_V4);
    let header = Ipv4Header {
        dscp: IpDscp::try_new(CONTROL).always("it has six bits"),
        total_len: u16::try_from(24 + message.len()).unwrap_or(u16::MAX),
        dont_fragment: true,
        time_to_live: 1,
        protocol: IpNumber::IGMP,
        source: source.octets(),
        destination: destination.octets(),
        options,
        ..Ipv4Header::default()
    };
    let mut header = header;
    header.header_checksum = header.calc_header_checksum();
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend(message);
    bytes
}

/// An MLD message as a datagram: hop limit 1, Router Alert in a hop-by-hop header (RFC 3810, section 5). Inside of AMT the source
/// may be unspecified (RFC 7450, sections 5.2.1 and 5.3.3.3). The message's checksum is filled in.
pub(crate) fn mld(source: Ipv6Addr, destination: Ipv6Addr, message: &mut [u8]) -> Vec<u8> {
    if let Some(field) = message.get_mut(2..4) {
        field.fill(0);
    }
    let sum = transport_sum(source.into(), destination.into(), IpNumber::IPV6_ICMP.0, message);
    if let Some(field) = message.get_mut(2..4) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
    let header = Ipv6Header {
        payload_length: u16::try_from(8 + message.len()).unwrap_or(u16::MAX),
        next_header: IpNumber::IPV6_HEADER_HOP_BY_HOP,
        hop_limit: 1,
        source: source.octets(),
        destination: destination.octets(),
        ..Ipv6Header::default()
    };
    let mut bytes = header.to_bytes().to_vec();
    if let Ok(extension) = Ipv6RawExtHeader::new_raw(IpNumber::IPV6_ICMP, &ALERT_V6) {
        bytes.extend(extension.to_bytes());
    }
    bytes.extend(&*message);
    bytes
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}
