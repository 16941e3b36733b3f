//! UDP around what sessions send, and around nothing for flows at a constant rate.

use etherparse::{IpNumber, UdpHeader};

use super::super::addresses::Address;
use super::packet::{Packet, payload_length};

/// Where flows at a constant rate go. The discard port (RFC 863), since their payload is not used.
pub(super) const STREAM_PORT: u16 = 9;
const TTL: u8 = 64;

/// A packet from port to port whose payload begins with `content`.
pub(super) fn packet(
    from: Address,
    to: Address,
    source_port: u16,
    destination_port: u16,
    content: &[u8],
    size: u32,
    ecn: u8,
) -> Packet {
    let payload = payload_length(UdpHeader::LEN + content.len(), size);
    // A checksum of zero is none (RFC 768).
    let length = (UdpHeader::LEN + content.len() + payload) as u16;
    let header = UdpHeader { source_port, destination_port, length, checksum: 0 };
    let headers = [&header.to_bytes()[..], content].concat();
    Packet::new(from, to, IpNumber::UDP, TTL, ecn, &headers, size)
}
