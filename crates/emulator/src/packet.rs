//! IP packets as bytes: what the emulation reads of them, and the two fields that routers change.
//!
//! Everything here takes bytes of anyone, so nothing may panic, and nothing depends on a length that was not
//! checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use layercast_delivery::ip::{Datagram, sum};
use layercast_delivery::membership::report::Report;

/// Protocol numbers (IANA).
pub mod protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IGMP.
    pub const IGMP: u8 = 2;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMPv6.
    pub const ICMP_V6: u8 = 58;
}

/// How many extension headers of IPv6 are followed.
const MOST_EXTENSIONS: usize = 8;

/// What the emulation reads of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Whom it says it is from.
    pub source: IpAddr,
    /// Whom it is for.
    pub destination: IpAddr,
    /// What its payload is: see [`protocol`].
    pub protocol: u8,
    /// Where its payload begins.
    pub payload: usize,
    /// How many bytes it has, headers included.
    pub length: usize,
    /// TTL or hop limit.
    pub hops: u8,
    /// The ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// Source and destination port of TCP or UDP; none in a later fragment.
    pub ports: Option<(u16, u16)>,
    /// The TCP header, in a first fragment with a whole one.
    pub tcp: Option<TcpView>,
}

/// What is read of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpView {
    /// The number of its first byte.
    pub seq: u32,
    /// How many bytes of data it has.
    pub data: u32,
    /// Whether it opens a connection.
    pub syn: bool,
}

impl View {
    /// Reads a packet. None if it is not a whole IPv4 or IPv6 packet.
    pub fn of(bytes: &[u8]) -> Option<View> {
        let mut view = match bytes.first()? >> 4 {
            4 => ipv4(bytes)?,
            6 => ipv6(bytes)?,
            _ => return None,
        };
        let payload = bytes.get(view.payload..view.length)?;
        if view.ports == Some((0, 0)) {
            view.ports = None;
            if let (protocol::TCP | protocol::UDP, Some(&[a, b, c, d])) =
                (view.protocol, payload.first_chunk::<4>())
            {
                view.ports = Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
            }
            if view.protocol == protocol::TCP {
                view.tcp = tcp(payload);
            }
        }
        Some(view)
    }

    /// A number for the flow that the packet belongs to: the same for all packets with the same addresses,
    /// protocol and ports, and below `bound`.
    pub fn label(&self, bound: u16) -> u16 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => address.octets().into_iter().for_each(&mut add),
                IpAddr::V6(address) => address.octets().into_iter().for_each(&mut add),
            }
        }
        let (from, to) = self.ports.unwrap_or_default();
        from.to_be_bytes().into_iter().chain(to.to_be_bytes()).for_each(&mut add);
        add(self.protocol);
        ((hash ^ hash >> 32) % u64::from(bound.max(1))) as u16
    }
}

fn ipv4(bytes: &[u8]) -> Option<View> {
    let header: &[u8; 20] = bytes.first_chunk()?;
    let payload = usize::from(header[0] & 15) * 4;
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if payload < 20 || length < payload || length > bytes.len() {
        return None;
    }
    let is_first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
    Some(View {
        source: Ipv4Addr::from([header[12], header[13], header[14], header[15]]).into(),
        destination: Ipv4Addr::from([header[16], header[17], header[18], header[19]]).into(),
        protocol: header[9],
        payload,
        length,
        hops: header[8],
        ecn: header[1] & 3,
        ports: is_first.then_some((0, 0)),
        tcp: None,
    })
}

fn ipv6(bytes: &[u8]) -> Option<View> {
    let header: &[u8; 40] = bytes.first_chunk()?;
    let length = 40 + usize::from(u16::from_be_bytes([header[4], header[5]]));
    if length > bytes.len() {
        return None;
    }
    let address = |at: usize| Some(IpAddr::from(Ipv6Addr::from(*header.get(at..)?.first_chunk::<16>()?)));
    let (mut next, mut payload, mut is_first) = (header[6], 40, true);
    for _ in 0..MOST_EXTENSIONS {
        // Hop-by-hop options, routing, destination options; fragment (RFC 8200, section 4).
        if !matches!(next, 0 | 43 | 60 | 44) {
            break;
        }
        let extension: &[u8; 8] = bytes.get(payload..length)?.first_chunk()?;
        if next == 44 {
            is_first &= u16::from_be_bytes([extension[2], extension[3]]) & 0xfff8 == 0;
            payload += 8;
        } else {
            payload += 8 * (usize::from(extension[1]) + 1);
        }
        next = extension[0];
    }
    (payload <= length).then_some(())?;
    Some(View {
        source: address(8)?,
        destination: address(24)?,
        protocol: next,
        payload,
        length,
        hops: header[7],
        ecn: header[1] >> 4 & 3,
        ports: is_first.then_some((0, 0)),
        tcp: None,
    })
}

fn tcp(payload: &[u8]) -> Option<TcpView> {
    let header: &[u8; 20] = payload.first_chunk()?;
    let offset = usize::from(header[12] >> 4) * 4;
    let data = payload.len().checked_sub(offset).filter(|_| offset >= 20)?;
    let seq = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    Some(TcpView { seq, data: data as u32, syn: header[13] & 2 != 0 })
}

/// Writes what the routers on a packet's path have changed: the hop limit, and, if one of them marked it,
/// congestion experienced. The IPv4 header gets its checksum again. Bytes that are no packet stay as they are.
pub fn rewrite(bytes: &mut [u8], hops: u8, is_marked: bool) {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => {
            let length = usize::from(bytes[0] & 15) * 4;
            if let Some(header) = bytes.get_mut(..length).filter(|header| header.len() >= 20) {
                header[8] = hops;
                if is_marked {
                    header[1] |= 3;
                }
                header[10..12].fill(0);
                let sum = sum(header);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
            }
        }
        Some(6) => {
            if let Some(header) = bytes.first_chunk_mut::<40>() {
                header[7] = hops;
                if is_marked {
                    header[1] |= 3 << 4;
                }
            }
        }
        _ => {}
    }
}

/// Whether a group is not forwarded beyond a link: 224.0.0.0/24, and IPv6 groups of interface or link scope
/// (RFC 5771, section 4; RFC 4291, section 2.7).
pub fn is_link_local_group(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.octets()[..3] == [224, 0, 0],
        IpAddr::V6(group) => matches!(group.segments()[0] & 0xff0f, 0xff01 | 0xff02),
    }
}

/// The membership report of a host in these bytes, if they are one.
pub fn membership_report(view: &View, bytes: &[u8]) -> Option<Report> {
    let is_candidate = matches!(view.protocol, protocol::IGMP | protocol::ICMP_V6);
    is_candidate.then(|| Report::read(&Datagram::read(bytes).ok()?).ok()).flatten()
}

#[cfg(test)]
pub(crate) mod tests;
