//! What is on a link besides the messages between relays (`docs/wire-format.md`).
//!
//! Downwards everything has the header of data: packets on channel 0, and what a node must know on channels that no
//! session has. Upwards a packet has the number of the child before it.

use std::net::{IpAddr, Ipv4Addr};

use layercast_core::units::Channel;

use crate::relay::message::{DATA_HEAD_MAX, Data, Message};

/// The channel of packets.
pub const PACKETS: Channel = Channel(0);
/// The channel of descriptions.
pub const DESCRIPTION: Channel = Channel(u16::MAX);
/// The channel of the end of the session, without content.
pub const END: Channel = Channel(u16::MAX - 1);

/// The first byte of what goes up.
const UP: u8 = 0x50;
/// The length of the head of what goes up.
pub const UP_HEAD: usize = 12;

/// Whether bytes begin as a packet that goes up does.
pub fn is_up(bytes: &[u8]) -> bool {
    bytes.first() == Some(&UP)
}

/// Whether a datagram is one that parents send.
pub fn is_from_parent(bytes: &[u8]) -> bool {
    let is_answer = matches!(
        Message::read(bytes),
        Ok(Message::Challenge { .. }
            | Message::Welcome { .. }
            | Message::Refusal { .. }
            | Message::Ack { .. }
            | Message::Alive { .. }
            | Message::Unknown { .. })
    );
    is_answer || Data::is_data(bytes)
}

/// The head of a packet that goes up. Without a packet it asks for the description.
pub fn up_head(child: u64) -> [u8; UP_HEAD] {
    let mut head = [0; UP_HEAD];
    head[0] = UP;
    head[4..].copy_from_slice(&child.to_be_bytes());
    head
}

/// The number of the child, and the packet; none if bytes are no packet that goes up.
pub fn read_up(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&[UP, 0, 0, 0], rest) = bytes.split_first_chunk::<4>()? else { return None };
    let (child, packet) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*child), packet))
}

/// The head of what goes down, with its length.
pub fn down_head(handle: u32, channel: Channel, hops: u8) -> ([u8; DATA_HEAD_MAX], usize) {
    let mut room = [0; DATA_HEAD_MAX];
    // Only a relay that joins groups needs the address of the source.
    let data = Data { hops, channel, handle, source: IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let length = data.write(&mut room);
    (room, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_up_comes_back(child in any::<u64>(), packet in prop::collection::vec(any::<u8>(), 0..50)) {
            let bytes = [&up_head(child)[..], &packet[..]].concat();
            prop_assert!(is_up(&bytes) && !is_from_parent(&bytes));
            prop_assert_eq!(read_up(&bytes), Some((child, &packet[..])));
            for length in 0..UP_HEAD {
                prop_assert_eq!(read_up(&bytes[..length]), None);
            }
        }

        #[test]
        fn what_goes_down_comes_back(handle in any::<u32>(), channel in any::<u16>(), hops in any::<u8>()) {
            let (head, length) = down_head(handle, Channel(channel), hops);
            let (data, read) = Data::read(&head[..length]).expect("data");
            prop_assert_eq!((data.handle, data.channel, data.hops, read), (handle, Channel(channel), hops, length));
            prop_assert!(is_from_parent(&head[..length]));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (read_up(&bytes), is_from_parent(&bytes));
        }
    }
}
