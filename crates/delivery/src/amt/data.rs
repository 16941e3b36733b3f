//! Multicast packets inside of Multicast Data (RFC 7450, section 5.1.6): IP, UDP, and the ECN field of tunnels (RFC 6040).

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, UdpSlice};
use layercast_core::Always as _;
use layercast_core::contract::Ecn;

use super::ip::{Datagram, IpError, plain_header, transport_sum};

/// The length of a UDP header.
const UDP_HEAD: usize = 8;

/// A multicast packet that arrived through a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner<'a> {
    /// Its source and UDP source port.
    pub from: SocketAddr,
    /// Its group and UDP destination port.
    pub group: SocketAddr,
    /// The ECN field of its own header.
    pub ecn: Ecn,
    /// The payload of UDP.
    pub payload: &'a [u8],
}

/// Why a multicast packet is dropped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// It is not an IP datagram.
    #[error(transparent)]
    Ip(#[from] IpError),
    /// It is a fragment. Packets of sessions are never fragmented on purpose, so fragments are not put together.
    #[error("the packet is a fragment")]
    Fragment,
    /// Its destination is not a multicast address (section 5.2.3.3).
    #[error("{0} is not a multicast address")]
    Group(IpAddr),
    /// It does not carry UDP.
    #[error("protocol {0} is not UDP")]
    Protocol(u8),
    /// The field Length of UDP is less than a header or more than the packet.
    #[error("Length of UDP is wrong")]
    Length,
    /// The checksum of UDP is wrong, or missing over IPv6 (RFC 8200, section 8.1).
    #[error("Checksum of UDP is wrong")]
    Checksum,
}

impl<'a> Inner<'a> {
    /// Reads what follows the head of Multicast Data.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn read(bytes: &'a [u8]) -> Result<Inner<'a>, DataError> {
        let datagram = Datagram::read(bytes)?;
        if datagram.is_fragment {
            return Err(DataError::Fragment);
        }
        if !datagram.destination.is_multicast() {
            return Err(DataError::Group(datagram.destination));
        }
        if IpNumber(datagram.protocol) != IpNumber::UDP {
            return Err(DataError::Protocol(datagram.protocol));
        }
        let udp = UdpSlice::from_slice(datagram.payload).map_err(|_| DataError::Length)?;
        // A length of zero is for jumbograms.
        if usize::from(udp.length()) != udp.slice().len() {
            return Err(DataError::Length);
        }
        let is_right = match udp.checksum() {
            // No checksum was computed (RFC 768).
            0 => datagram.source.is_ipv4(),
            _ => {
                let (source, destination) = (datagram.source, datagram.destination);
                transport_sum(source, destination, datagram.protocol, udp.slice()) == 0
            }
        };
        if !is_right {
            return Err(DataError::Checksum);
        }
        let (_, payload) = udp.slice().split_at_checked(UDP_HEAD).ok_or(DataError::Length)?;
        // As in the two bits of IP (RFC 3168, section 5).
        let ecn = match datagram.ecn {
            0 => Ecn::NotCapable,
            3 => Ecn::Marked,
            _ => Ecn::Capable,
        };
        Ok(Inner {
            from: SocketAddr::new(datagram.source, udp.source_port()),
            group: SocketAddr::new(datagram.destination, udp.destination_port()),
            ecn,
            payload,
        })
    }

    /// The packet with its headers, as a relay puts it into Multicast Data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = UDP_HEAD + self.payload.len();
        let ecn = match self.ecn {
            Ecn::NotCapable => 0,
            Ecn::Capable => 2,
            Ecn::Marked => 3,
        };
        let udp = IpNumber::UDP.0;
        let mut bytes = plain_header(self.from.ip(), self.group.ip(), udp, ecn, length);
        let at = bytes.len();
        bytes.extend(self.from.port().to_be_bytes());
        bytes.extend(self.group.port().to_be_bytes());
        bytes.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(self.payload);
        let sum = transport_sum(
            self.from.ip(),
            self.group.ip(),
            udp,
            bytes.get(at..).always("the datagram was appended"),
        );
        // Zero stands for no checksum (RFC 768).
        let sum = if sum == 0 { u16::MAX } else { sum };
        if let Some(field) = bytes.get_mut(at + 6..at + UDP_HEAD) {
            field.copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }
}

/// The ECN field of a packet that leaves a tunnel (RFC 6040, section 4.2, figure 4); none if it must be dropped, since a mark
/// of the tunnel would be lost.
pub fn decapsulated(inner: Ecn, outer: Ecn) -> Option<Ecn> {
    match (inner, outer) {
        (Ecn::NotCapable, Ecn::Marked) => None,
        (Ecn::Capable, Ecn::Marked) => Some(Ecn::Marked),
        (inner, _) => Some(inner),
    }
}
