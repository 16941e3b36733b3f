//! The headers of a packet that is sent on as multicast, with the source's address as that of its source: a router's copy.

use std::net::{IpAddr, SocketAddr};

use etherparse::checksum::Sum16BitWords;
use layercast_core::contract::Ecn;

const UDP: u8 = 17;
const UDP_HEAD: usize = 8;
const V4_HEAD: usize = 20;
const V6_HEAD: usize = 40;

/// The longest headers.
pub const HEAD_MAX: usize = V6_HEAD + UDP_HEAD;

/// Writes the headers of IP and UDP of a packet from a source to a group, with this time to live; their length, or none if the source
/// is of another IP version or the packet is too long. The source port is that of the group: a relay does not know the source's.
/// The IPv4 header's identification and checksum are left to the kernel.
pub fn write_head(
    source: IpAddr,
    group: SocketAddr,
    hops: u8,
    ecn: Ecn,
    payload: &[u8],
    room: &mut [u8; HEAD_MAX],
) -> Option<usize> {
    let length = u16::try_from(UDP_HEAD + payload.len()).ok()?;
    let ecn = match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    let mut words = Sum16BitWords::new();
    let (at, words) = match (source, group.ip()) {
        (IpAddr::V4(source), IpAddr::V4(to)) => {
            let total = length.checked_add(V4_HEAD as u16)?.to_be_bytes();
            // Not to be fragmented, as a source's packets are not.
            room[..12].copy_from_slice(&[0x45, ecn, total[0], total[1], 0, 0, 0x40, 0, hops, UDP, 0, 0]);
            room[12..16].copy_from_slice(&source.octets());
            room[16..20].copy_from_slice(&to.octets());
            (V4_HEAD, words.add_4bytes(source.octets()).add_4bytes(to.octets()))
        }
        (IpAddr::V6(source), IpAddr::V6(to)) => {
            let size = length.to_be_bytes();
            room[..8].copy_from_slice(&[0x60, ecn << 4, 0, 0, size[0], size[1], UDP, hops]);
            room[8..24].copy_from_slice(&source.octets());
            room[24..40].copy_from_slice(&to.octets());
            (V6_HEAD, words.add_16bytes(source.octets()).add_16bytes(to.octets()))
        }
        _ => return None,
    };
    let (port, size) = (group.port().to_be_bytes(), length.to_be_bytes());
    let sum = words
        .add_2bytes([0, UDP])
        .add_2bytes(size)
        .add_2bytes(port)
        .add_2bytes(port)
        .add_2bytes(size)
        .add_slice(payload)
        .ones_complement()
        .to_be();
    // Zero stands for no checksum (RFC 768).
    let sum = if sum == 0 { u16::MAX } else { sum }.to_be_bytes();
    let head = [port[0], port[1], port[0], port[1], size[0], size[1], sum[0], sum[1]];
    room[at..at + UDP_HEAD].copy_from_slice(&head);
    Some(at + UDP_HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amt::data::Inner;
    use crate::amt::ip::sum;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_read_as_it_was_written(
            v4: [u8; 4], v6: [u8; 16], is_v4: bool, hops in 1u8.., port in 1u16..,
            mark in 0usize..3, payload in proptest::collection::vec(0u8.., 0..1500),
        ) {
            let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Marked][mark];
            let source = if is_v4 { IpAddr::from(v4) } else { IpAddr::from(v6) };
            let group = if is_v4 { "239.1.2.3" } else { "ff15::1:3" };
            let group = SocketAddr::new(group.parse().expect("a group"), port);
            let mut room = [0; HEAD_MAX];
            let length = write_head(source, group, hops, ecn, &payload, &mut room).expect("it fits");
            if is_v4 {
                // The kernel does this.
                let check = sum(&room[..V4_HEAD]).to_be_bytes();
                room[10..12].copy_from_slice(&check);
            }
            let bytes = [&room[..length], &payload[..]].concat();
            let from = SocketAddr::new(source, port);
            prop_assert_eq!(Inner::read(&bytes), Ok(Inner { from, group, ecn, payload: &payload }));
        }
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let group = "239.1.2.3:5500".parse().expect("a group");
        let write = |source: &str, length: usize| {
            let source = source.parse().expect("an address");
            write_head(source, group, 9, Ecn::Capable, &vec![0; length], &mut [0; HEAD_MAX])
        };
        assert_eq!((write("2001:db8::1", 9), write("192.0.2.1", 65_508)), (None, None));
        assert_eq!(write("192.0.2.1", 65_507), Some(28));
    }
}
