//! Multicast packets inside of Multicast Data (RFC 7450, section 5.1.6): IP, UDP, and the ECN field of tunnels (RFC 6040).

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, UdpSlice};
use layercast_core::Always as _;
use layercast_core::contract::Ecn;

use crate::ip::{Datagram, HEAD_MAX, IpError, write_head};

/// The length of a UDP header.
const UDP_HEAD: usize = 8;
/// The time to live of a packet that a relay puts into a tunnel.
const HOPS: u8 = 64;

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
            _ => Datagram { payload: udp.slice(), ..datagram }.has_checksum(),
        };
        if !is_right {
            return Err(DataError::Checksum);
        }
        let (_, payload) = udp.slice().split_at_checked(UDP_HEAD).ok_or(DataError::Length)?;
        Ok(Inner {
            from: SocketAddr::new(datagram.source, udp.source_port()),
            group: SocketAddr::new(datagram.destination, udp.destination_port()),
            ecn: datagram.ecn,
            payload,
        })
    }

    /// The packet with its headers, as a relay puts it into Multicast Data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut head = [0; HEAD_MAX];
        let length = write_head(self.from, self.group, HOPS, self.ecn, self.payload, &mut head);
        let length = length.always("a packet came in a datagram of one IP version");
        [head.get(..length).always("the head fits its room"), self.payload].concat()
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
