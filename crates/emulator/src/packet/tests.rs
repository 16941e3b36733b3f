use proptest::prelude::*;

use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::report::{self, Record, RecordKind};

use super::*;

/// An IPv4 packet with a valid header.
pub(crate) fn packet_v4(from: [u8; 4], to: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut bytes = vec![0x45, 2, 0, 0, 0, 7, 0x40, 0, 64, protocol, 0, 0];
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes.extend(from);
    bytes.extend(to);
    let sum = sum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// An IPv6 packet.
fn packet_v6(to: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0x20, 0, 0, 0, 0, protocol, 1];
    bytes[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    bytes.extend("fe80::1".parse::<Ipv6Addr>().unwrap().octets());
    bytes.extend(to.parse::<Ipv6Addr>().unwrap().octets());
    bytes.extend(payload);
    bytes
}

#[test]
fn a_udp_packet_is_read() {
    let bytes = packet_v4([10, 0, 0, 1], [10, 0, 0, 2], protocol::UDP, &[0x12, 0x34, 0, 80, 0, 8, 0, 0]);
    let view = View::of(&bytes).unwrap();
    assert_eq!((view.source, view.destination), ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()));
    assert_eq!((view.hops, view.ecn, view.length), (64, 2, 28));
    assert_eq!((view.ports, view.tcp), (Some((0x1234, 80)), None));
}

#[test]
fn a_segment_is_read() {
    let mut tcp = vec![0; 24];
    tcp[..4].copy_from_slice(&[0, 1, 0, 2]);
    tcp[4..8].copy_from_slice(&77u32.to_be_bytes());
    (tcp[12], tcp[13]) = (5 << 4, 2);
    let bytes = packet_v6("fd6c:6179:6572::2", protocol::TCP, &tcp);
    let view = View::of(&bytes).unwrap();
    assert_eq!((view.ecn, view.hops, view.payload), (2, 1, 40));
    assert_eq!(view.tcp, Some(TcpView { seq: 77, data: 4, syn: true }));
    assert_eq!(view.ports, Some((1, 2)));
}

#[test]
fn a_later_fragment_has_no_ports() {
    let mut bytes = packet_v4([10, 0, 0, 1], [10, 0, 0, 2], protocol::UDP, &[0, 1, 0, 2]);
    bytes[7] = 9;
    assert_eq!(View::of(&bytes).unwrap().ports, None);
}

#[test]
fn a_membership_report_is_read_and_a_packet_of_a_session_is_none() {
    let group = "239.1.2.3".parse().unwrap();
    let record = Record { kind: RecordKind::ToExclude, group, sources: Vec::new() };
    let bytes = report::write(Reporting::Igmp, std::slice::from_ref(&record)).remove(0);
    let read = |bytes: &[u8]| membership_report(&View::of(bytes).unwrap(), bytes);
    assert_eq!(read(&bytes).unwrap().records, [record]);
    assert_eq!(read(&packet_v4([10, 0, 0, 1], [239, 1, 2, 3], protocol::UDP, &[0; 8])), None);
}

#[test]
fn link_local_groups_stay_on_their_link() {
    let stays = |group: &str| is_link_local_group(group.parse().unwrap());
    assert!(stays("224.0.0.22") && stays("ff02::16") && stays("ff12::1") && stays("ff01::1"));
    assert!(!stays("224.0.1.1") && !stays("239.0.0.1") && !stays("ff0e::1") && !stays("ff35::1"));
}

#[test]
fn a_mark_is_seen_in_both_versions() {
    let mut four = packet_v4([10, 0, 0, 1], [10, 0, 0, 2], protocol::UDP, &[0; 8]);
    rewrite(&mut four, 61, true);
    let mut six = packet_v6("fd6c:6179:6572::2", protocol::UDP, &[0; 8]);
    rewrite(&mut six, 61, true);
    for bytes in [four, six] {
        let view = View::of(&bytes).unwrap();
        assert_eq!((view.hops, view.ecn), (61, 3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes are, nothing panics, and what is read lies within them.
    #[test]
    fn any_bytes_are_read_or_not(version in prop_oneof![Just(0x45u8), Just(0x4fu8), Just(0x60u8), any::<u8>()],
                                 kind in prop_oneof![Just(2u8), Just(6u8), Just(17u8), Just(58u8), Just(0u8), Just(44u8), any::<u8>()],
                                 mut bytes in prop::collection::vec(any::<u8>(), 0..200), fit in any::<bool>()) {
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        if let Some(slot) = bytes.get_mut(if version >> 4 == 4 { 9 } else { 6 }) {
            *slot = kind;
        }
        let length = bytes.len();
        if fit && length >= 40 {
            // A length that fits, so that more is read.
            let (at, value) = if version >> 4 == 4 { (2, length) } else { (4, length - 40) };
            bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
        }
        if let Some(view) = View::of(&bytes) {
            prop_assert!(view.payload <= view.length && view.length <= bytes.len());
            prop_assert!(view.label(1024) < 1024);
            let _ = membership_report(&view, &bytes);
        }
        rewrite(&mut bytes, 3, true);
        prop_assert_eq!(bytes.len(), length);
    }

    /// A header with its checksum sums up to nothing, whatever routers wrote, and nothing else changes.
    #[test]
    fn a_rewritten_header_has_its_sum(from in any::<[u8; 4]>(), to in any::<[u8; 4]>(),
                                           payload in prop::collection::vec(any::<u8>(), 0..60),
                                           hops in any::<u8>(), is_marked in any::<bool>()) {
        let before = packet_v4(from, to, protocol::UDP, &payload);
        let mut after = before.clone();
        rewrite(&mut after, hops, is_marked);
        prop_assert_eq!(sum(&after[..20]), 0);
        prop_assert_eq!(&before[12..], &after[12..]);
        let view = View::of(&after).unwrap();
        prop_assert_eq!((view.hops, view.ecn), (hops, if is_marked { 3 } else { 2 }));
    }
}
