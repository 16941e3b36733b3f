//! Packets of a session: data and feedback in UDP, changes of membership as PIM.

use etherparse::IpNumber;
use etherparse::checksum::Sum16BitWords;
use layercast_core::family::AnyHeader;
use layercast_core::lct::{Frame, LctFields, MAX_FRAME};
use layercast_core::wire::{DATA_PORT, FEEDBACK_PORT, MAX_REPORT};
use layercast_simulator::MembershipChange;

use super::super::addresses::Address;
use super::packet::Packet;
use super::udp;

/// The FEC encoding of data (docs/wire-format.md): RaptorQ.
const CODEPOINT: u8 = 6;
/// The object of data; 0 would be a file delivery table.
const OBJECT: u32 = 1;

/// A packet on a channel: LCT and a FEC payload id as in docs/wire-format.md, the symbol cut off.
pub(super) fn data(
    source: Address,
    group: Address,
    session: u32,
    header: &impl AnyHeader,
    size: u32,
    ecn: u8,
) -> Packet {
    let content = header.to_lct().map(|fields| lct(fields, session)).unwrap_or_default();
    udp::packet(source, group, DATA_PORT, DATA_PORT, &content, size, ecn)
}

/// A packet between a receiver and the source.
pub(super) fn unicast(from: Address, to: Address, header: &impl AnyHeader, size: u32, ecn: u8) -> Packet {
    let mut room = [0; MAX_REPORT];
    let length = header.encode_report(&mut room).unwrap_or(0);
    udp::packet(from, to, FEEDBACK_PORT, FEEDBACK_PORT, &room[..length], size, ecn)
}

/// An LCT header and the payload id. No file is sent in a simulation: the symbol's number is the last 24 bits
/// of the congestion control information.
fn lct(fields: LctFields, session: u32) -> Vec<u8> {
    let frame =
        Frame { fields, tsi: session, toi: OBJECT, close_object: false, codepoint: CODEPOINT, further: &[] };
    let mut room = [0; MAX_FRAME];
    let length = frame.write(&mut room);
    let mut bytes = room.get(..length).unwrap_or_default().to_vec();
    if !fields.end_of_session {
        bytes.push(0);
        bytes.extend(fields.cci.bytes().last_chunk::<3>().copied().unwrap_or_default());
    }
    bytes
}

/// A graft or prune: a PIM Join/Prune message (RFC 7761, section 4.9.5) of one source and group from
/// the router below to the one above. It is shorter than the simulator's message of 64 bytes.
pub(super) fn membership(
    below: Address,
    above: Address,
    source: Address,
    group: Address,
    change: MembershipChange,
    ecn: u8,
) -> Packet {
    const ALL_PIM_ROUTERS: Address = [224, 0, 0, 13];
    const HOLD_TIME_S: u16 = 210;
    let (joins, prunes): (u16, u16) = match change {
        MembershipChange::Graft => (1, 0),
        MembershipChange::Prune { .. } => (0, 1),
    };
    // Version 2, type 3; the checksum comes below. Then family 1 (IPv4) with native encoding.
    let mut bytes = vec![0x23, 0, 0, 0, 1, 0];
    bytes.extend(above);
    bytes.extend([0, 1]);
    bytes.extend(HOLD_TIME_S.to_be_bytes());
    bytes.extend([1, 0, 0, 32]);
    bytes.extend(group);
    bytes.extend(joins.to_be_bytes());
    bytes.extend(prunes.to_be_bytes());
    // The sparse bit: PIM's own, for sources of shortest path trees.
    bytes.extend([1, 0, 4, 32]);
    bytes.extend(source);
    let sum = Sum16BitWords::new().add_slice(&bytes).ones_complement().to_ne_bytes();
    bytes[2..4].copy_from_slice(&sum);
    Packet::new(below, ALL_PIM_ROUTERS, IpNumber::PIM, 1, ecn, &bytes, 0)
}
