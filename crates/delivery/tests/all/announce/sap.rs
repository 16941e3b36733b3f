//! Packets of SAP.

use std::net::IpAddr;

use layercast_delivery::announce::sap::{
    AUTH_ED25519, Authentication, Kind, LISTEN, Message, Packet, SapError, announcement_group, is_global,
    message_hash,
};
use layercast_delivery::announce::signature::Signer as _;
use layercast_delivery::security::signed::Context;
use proptest::prelude::*;

use crate::announce::support::{Check, Toy, bytes};

const HOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

#[test]
fn an_announcement_is_as_the_rfc_has_it() {
    let vector = bytes("announcement-ipv4.txt");
    let packet = Packet::read(&vector).unwrap();
    assert_eq!((packet.kind, packet.hash, packet.origin), (Kind::Announcement, 0x1234, HOST));
    assert_eq!(packet.authentication, Authentication::None);
    assert_eq!(packet.payload, b"v=0\r\n");
    assert_eq!(packet.verify(&Check), None);
    let message = Message { kind: Kind::Announcement, hash: 0x1234, origin: HOST, payload: "v=0\r\n" };
    assert_eq!(message.write(None).unwrap(), vector);
}

#[test]
fn a_deletion_without_payload_type_is_read() {
    let vector = bytes("deletion-ipv6.txt");
    let packet = Packet::read(&vector).unwrap();
    assert_eq!((packet.kind, packet.hash), (Kind::Deletion, 0xabcd));
    assert_eq!(packet.origin, "2001:db8::1".parse::<IpAddr>().unwrap());
    assert_eq!(packet.payload, b"o=- 17 2 IN IP6 2001:db8::1\r\n");
}

#[test]
fn a_signature_is_in_the_authentication_header() {
    let vector = bytes("signed-ipv4.txt");
    let packet = Packet::read(&vector).unwrap();
    let key = core::array::from_fn(|index| index as u8);
    let signature = core::array::from_fn(|index| 0x80 + (index / 32) as u8);
    assert_eq!(packet.authentication, Authentication::Ed25519(key, signature));
    assert_eq!(packet.payload, b"v=0\r\n");
    assert_eq!(packet.verify(&Check), Some((key, false)));
}

#[test]
fn a_signature_covers_the_packet_without_authentication() {
    let toy = Toy([7; 32]);
    let message = Message { kind: Kind::Announcement, hash: 0x1234, origin: HOST, payload: "v=0\r\n" };
    let signed = message.write(Some(&toy)).unwrap();
    // Section 8: the authentication length is zero for the signature, and the data is left out.
    let signature = toy.sign(Context::Announcement, &bytes("announcement-ipv4.txt"));
    let packet = Packet::read(&signed).unwrap();
    assert_eq!(packet.authentication, Authentication::Ed25519([7; 32], signature));
    assert_eq!(packet.verify(&Check), Some(([7; 32], true)));
    for at in 0..signed.len() {
        let mut changed = signed.clone();
        changed[at] ^= 0x40;
        let verified = Packet::read(&changed).ok().and_then(|packet| packet.verify(&Check));
        // What is not signed is the padding and the length, which decides what is read at all.
        let is_padding = (8 + 97..8 + 99).contains(&at);
        assert_eq!(verified.is_some_and(|(_, is_right)| is_right), is_padding, "byte {at}");
    }
}

#[test]
fn other_authentication_is_skipped() {
    let vector = bytes("pgp-ipv4.txt");
    let packet = Packet::read(&vector).unwrap();
    assert_eq!(packet.authentication, Authentication::Other(0));
    assert_eq!(packet.payload, b"v=0\r\n");
}

#[test]
fn what_cannot_be_read_has_a_reason() {
    let vector = bytes("announcement-ipv4.txt");
    let with = |at: usize, byte: u8| {
        let mut changed = vector.clone();
        changed[at] = byte;
        Packet::read(&changed).map(|packet| packet.kind).unwrap_err()
    };
    assert_eq!(with(0, 0x00), SapError::Version(0));
    assert_eq!(with(0, 0x40), SapError::Version(2));
    assert_eq!(with(0, 0x22), SapError::Encrypted);
    assert_eq!(with(0, 0x21), SapError::Compressed);
    assert_eq!(with(1, 200), SapError::Authentication);
    assert_eq!(with(8, b'x'), SapError::PayloadType("xpplication/sdp".into()));
    let mut anonymous = vector.clone();
    anonymous[2..4].fill(0);
    assert_eq!(Packet::read(&anonymous), Err(SapError::Anonymous));
    let mut anonymous = vector.clone();
    anonymous[4..8].fill(0);
    assert_eq!(Packet::read(&anonymous), Err(SapError::Anonymous));
    assert_eq!(Packet::read(&vector[..3]), Err(SapError::Short(3)));
    assert_eq!(Packet::read(&vector[..7]), Err(SapError::Short(7)));
    assert_eq!(Packet::read(&vec![0x20; 70_000]), Err(SapError::Long(70_000)));
    let long = "a".repeat(66_000);
    let message = Message { kind: Kind::Announcement, hash: 1, origin: HOST, payload: &long };
    assert!(matches!(message.write(None), Err(SapError::Long(_))));
}

#[test]
fn authentication_data_must_have_its_form() {
    let vector = bytes("signed-ipv4.txt");
    let with = |at: usize, byte: u8| {
        let mut changed = vector.clone();
        changed[at] = byte;
        Packet::read(&changed).map(|packet| packet.authentication)
    };
    assert_eq!(with(8, 0x5f), Err(SapError::Authentication), "version 2");
    assert_eq!(with(107, 0), Err(SapError::Authentication), "no padding where there must be some");
    assert_eq!(with(107, 200), Err(SapError::Authentication), "more padding than data");
    assert_eq!(with(107, 4), Err(SapError::Authentication), "a signature of 63 bytes");
    assert_eq!(with(8, 0x30 | 2), Ok(Authentication::Other(2)));
    assert_eq!(AUTH_ED25519, 15);
}

#[test]
fn payload_types_may_have_parameters_and_capitals() {
    let bytes = |kind: &str| [&[0x20, 0, 0, 1, 192, 0, 2, 1][..], kind.as_bytes(), b"\0v=0\r\n"].concat();
    let payload = |kind: &str| Packet::read(&bytes(kind)).map(|packet| packet.payload.to_vec());
    assert_eq!(payload("Application/SDP; charset=utf-8"), Ok(b"v=0\r\n".to_vec()));
    assert_eq!(payload("text/plain"), Err(SapError::PayloadType("text/plain".into())));
    assert_eq!(payload("\x1b[31m"), Err(SapError::PayloadType("\\x1b[31m".into())));
    assert_eq!(payload(""), Err(SapError::PayloadType(String::new())));
}

#[test]
fn the_group_of_announcements_follows_from_the_scope() {
    for (session, announced) in [
        ("224.2.128.1", "224.2.127.254"),
        ("232.1.1.1", "224.2.127.254"),
        ("239.255.3.4", "239.255.255.255"),
        ("239.253.0.1", "239.255.255.255"),
        ("239.192.0.1", "239.195.255.255"),
        ("239.1.2.0", "239.195.255.255"),
        // The example of RFC 2974, section 3.
        ("ff02::1234:5678", "ff02::2:7ffe"),
        ("ff3e::8000:1", "ff0e::2:7ffe"),
    ] {
        let group = announcement_group(session.parse().unwrap());
        assert_eq!(group, announced.parse::<IpAddr>().unwrap(), "{session}");
        assert!(LISTEN.contains(&group), "a listener joins {announced}");
    }
    assert!(is_global("224.2.127.254".parse().unwrap()) && is_global("ff0e::2:7ffe".parse().unwrap()));
    assert!(!is_global("239.255.255.255".parse().unwrap()));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        is_deletion in any::<bool>(),
        hash in 1u16..,
        v6 in any::<bool>(),
        origin in 1u128..,
        payload in "\\PC{0,300}",
        key in any::<Option<[u8; 32]>>(),
    ) {
        let kind = if is_deletion { Kind::Deletion } else { Kind::Announcement };
        let v4 = IpAddr::from((origin as u32 | 1).to_be_bytes());
        let origin = if v6 { IpAddr::from(origin.to_be_bytes()) } else { v4 };
        let toy = key.map(Toy);
        let signer = toy.as_ref().map(|toy| toy as _);
        let bytes = Message { kind, hash, origin, payload: &payload }.write(signer).unwrap();
        let packet = Packet::read(&bytes).unwrap();
        prop_assert_eq!((packet.kind, packet.hash, packet.origin), (kind, hash, origin));
        prop_assert_eq!(packet.payload, payload.as_bytes());
        prop_assert_eq!(packet.verify(&Check), key.map(|key| (key, true)));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..140, byte in any::<u8>()) {
        let _ = Packet::read(&bytes);
        let mut header = vec![0x20, 0, 0, 1, 10, 0, 0, 1];
        header[0] |= bytes.first().unwrap_or(&0) & 0x14;
        header[1] = bytes.len() as u8 / 4;
        header.extend(&bytes);
        let _ = Packet::read(&header).map(|packet| packet.verify(&Check));
        let mut vector = crate::announce::support::bytes("signed-ipv4.txt");
        let at = at % vector.len();
        vector[at] = byte;
        let _ = Packet::read(&vector).map(|packet| packet.verify(&Check));
        let _ = Packet::read(&vector[..at]);
    }

    #[test]
    fn a_hash_is_never_zero(text in "\\PC{0,20}") {
        prop_assert_ne!(message_hash(&text), 0);
    }
}
