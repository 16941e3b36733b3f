//! IPv4 around everything.

use etherparse::{IpEcn, IpNumber, Ipv4Header};

use super::super::addresses::Address;

/// The bytes of a packet, without the payload at its end, which the simulator does not have.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    bytes: Vec<u8>,
    whole_length: usize,
}

impl Packet {
    /// Puts the IP header before what it carries. `size` is the packet's on the wire; a packet whose
    /// headers are longer than the simulator has it is as long as its headers.
    pub(super) fn new(
        from: Address,
        to: Address,
        protocol: IpNumber,
        ttl: u8,
        ecn: u8,
        headers: &[u8],
        size: u32,
    ) -> Packet {
        let payload = payload_length(headers.len(), size);
        let mut ip = Ipv4Header {
            ecn: IpEcn::try_new(ecn & 3).unwrap_or_default(),
            total_len: (Ipv4Header::MIN_LEN + headers.len() + payload) as u16,
            time_to_live: ttl,
            protocol,
            source: from,
            destination: to,
            dont_fragment: true,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let whole_length = usize::from(ip.total_len);
        let mut bytes = ip.to_bytes().to_vec();
        bytes.extend_from_slice(headers);
        Packet { bytes, whole_length }
    }

    /// The part that is captured.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How long the packet is with its payload.
    pub(super) fn whole_length(&self) -> usize {
        self.whole_length
    }
}

/// How many bytes follow `headers` (those after the IP header) in a packet of `size`. No IPv4 packet
/// has more than 65 535 bytes.
pub(super) fn payload_length(headers: usize, size: u32) -> usize {
    (size.min(u32::from(u16::MAX)) as usize).saturating_sub(Ipv4Header::MIN_LEN + headers)
}
