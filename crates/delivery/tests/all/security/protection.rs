//! Protected packets: authentic ones are accepted once, all others are dropped and counted by reason.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use layercast_delivery::packet::{HET_AUTH, View};
use layercast_delivery::security::encryption::{EPOCH_PACKETS, Salt};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::{
    ASID_ENCRYPTION, ASID_MAC, AUTH_BYTES, Incoming, InsertError, Outgoing, ProtectError, Rejection, Scheme,
    TAG_BYTES,
};
use layercast_delivery::security::sequence::{ReplayWindow, SEQUENCE_MAX, Sequence, SequenceError, WINDOW};
use proptest::prelude::*;
use sha2::Sha256;

const TSI: u32 = 0x0102_0304;
const SALT: Salt = Salt([9; 16]);

fn group(number: u8) -> GroupKey {
    GroupKey::from_seed(&[number; 32])
}

fn scheme(is_encrypted: bool) -> Scheme {
    if is_encrypted { Scheme::encryption(&group(1), SALT, TSI) } else { Scheme::mac(&group(1), TSI) }
}

/// A sender that has used the packet numbers up to `stored`.
fn sender(scheme: Scheme, stored: u64) -> Outgoing {
    let mut sequence = Sequence::after(stored);
    sequence.grant(u64::MAX);
    Outgoing::new(scheme, sequence)
}

fn receiver(scheme: Scheme) -> Incoming {
    Incoming::new(scheme, TSI, ReplayWindow::above(0))
}

/// A packet as the transport sends it: 32 bits each of CCI, TSI and TOI, extensions, FEC payload id and symbol.
fn packet(extensions: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = (16 + extensions.len()) / 4;
    let head = [0x10, 0xa0, words as u8, 6, 0, 0, 0, 7];
    [&head[..], &TSI.to_be_bytes(), &[0, 0, 0, 1], extensions, payload].concat()
}

fn protected(sender: &mut Outgoing, packet: &[u8]) -> Vec<u8> {
    let mut room = [packet, &[0; AUTH_BYTES]].concat();
    let length = sender.protect(&mut room, packet.len()).unwrap();
    assert_eq!(length, room.len());
    room
}

/// Extensions of one word and of several.
fn extensions() -> impl Strategy<Value = Vec<u8>> {
    let extension = prop_oneof![
        (128..=255u8, any::<[u8; 3]>()).prop_map(|(kind, content)| [&[kind][..], &content].concat()),
        (2..128u8, 1..5u8, any::<u8>()).prop_map(|(kind, words, content)| {
            let mut bytes = vec![content; usize::from(words) * 4];
            bytes[..2].copy_from_slice(&[kind, words]);
            bytes
        }),
    ];
    prop::collection::vec(extension, 0..4).prop_map(|all| all.concat())
}

fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    (extensions(), prop::collection::vec(any::<u8>(), 0..200))
        .prop_map(|(extensions, payload)| packet(&extensions, &payload))
}

/// The form of RFC 6584, section 5.1, and its calculation, section 5.3.1, done a second time.
#[test]
fn a_mac_is_that_of_the_rfc() {
    let plain = packet(&[82, 1, 0, 5], b"payload id and symbol");
    let sent = protected(&mut sender(scheme(false), 0x12_3456_789a), &plain);
    assert_eq!(sent[2], 5 + 6, "the header is six words longer");
    assert_eq!(sent[20..28], [HET_AUTH, 6, ASID_MAC << 4 | 1, 0x12, 0x34, 0x56, 0x78, 0x9b]);
    assert_eq!(sent[44..], plain[20..]);
    let mut zeroed = sent.clone();
    zeroed[28..44].fill(0);
    let mut key = [0; 32];
    let derived = Hkdf::<Sha256>::new(Some(b"layercast group mac 1"), &[1; 32]);
    derived.expand(&TSI.to_be_bytes(), &mut key).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(&zeroed);
    assert_eq!(sent[28..44], mac.finalize().into_bytes()[..TAG_BYTES]);
    let view = View::new(&sent).unwrap();
    assert_eq!((view.payload(), view.extensions().count()), (&plain[20..], 2));
}

#[test]
fn an_encrypted_packet_shows_its_header_and_nothing_else() {
    let symbol = [0x41; 64];
    let plain = packet(&[], &symbol);
    let mut outgoing = sender(scheme(true), 0);
    let (first, second) = (protected(&mut outgoing, &plain), protected(&mut outgoing, &plain));
    assert_eq!(first.len(), plain.len() + AUTH_BYTES);
    assert_eq!(first[4..16], plain[4..16]);
    assert_eq!(first[16..24], [HET_AUTH, 6, ASID_ENCRYPTION << 4 | 1, 0, 0, 0, 0, 1]);
    assert_ne!(first[40..], second[40..], "the same symbol looks different in each packet");
    assert!(!first.windows(4).any(|window| window == [0x41; 4]));
    let mut incoming = receiver(scheme(true));
    for mut sent in [second, first] {
        assert_eq!(incoming.accept(&mut sent), Ok(()));
        assert_eq!(View::new(&sent).unwrap().payload(), symbol);
    }
}

#[test]
fn each_reason_is_counted() {
    for is_encrypted in [false, true] {
        let mut outgoing = sender(scheme(is_encrypted), 0);
        let mut incoming = receiver(scheme(is_encrypted));
        let plain = packet(&[], b"symbol");
        let first = protected(&mut outgoing, &plain);
        let mut rejected = |bytes: &[u8], reason| {
            assert_eq!(incoming.accept(&mut bytes.to_vec()), Err(reason), "{is_encrypted}");
        };
        rejected(&first[..10], Rejection::Malformed);
        rejected(&first[..first.len() - 1], Rejection::Forged);
        rejected(&[first.as_slice(), &[0]].concat(), Rejection::Forged);
        rejected(&plain, Rejection::Unprotected);
        rejected(&protected(&mut sender(scheme(!is_encrypted), 0), &plain), Rejection::Scheme);
        // Two extensions, one without a number, one with a short tag.
        rejected(&protected(&mut sender(scheme(is_encrypted), 0), &first), Rejection::Scheme);
        rejected(&packet(&[&[HET_AUTH, 5, 0, 0][..], &[0; 16]].concat(), b""), Rejection::Scheme);
        rejected(&packet(&[&[HET_AUTH, 4, 1, 0][..], &[0; 12]].concat(), b""), Rejection::Scheme);
        let mut other = first.clone();
        other[8..12].copy_from_slice(&(TSI + 1).to_be_bytes());
        rejected(&other, Rejection::Session);
        assert_eq!(incoming.accept(&mut first.clone()), Ok(()));
        assert_eq!(incoming.accept(&mut first.clone()), Err(Rejection::Replayed));
        let mut late = protected(&mut sender(scheme(is_encrypted), WINDOW + 1), &plain);
        assert_eq!(incoming.accept(&mut late), Ok(()));
        assert_eq!(incoming.accept(&mut first.clone()), Err(Rejection::Old));
        assert_eq!(incoming.highest(), WINDOW + 2);
        let counters = incoming.counters();
        let counted = Rejection::ALL.map(|reason| counters.rejected(reason));
        assert_eq!((counters.accepted, counted), (2, [1, 1, 1, 4, 1, 1, 2]));
        assert!(!counters.suggests_wrong_key());
    }
}

/// The session number is in the key, so a packet cannot be moved to another session by changing its header.
#[test]
fn packets_of_another_session_key_or_salt_are_forged() {
    let plain = packet(&[], b"symbol");
    let schemes = [
        (Scheme::mac(&group(1), TSI + 1), false),
        (Scheme::mac(&group(2), TSI), false),
        (Scheme::encryption(&group(1), SALT, TSI + 1), true),
        (Scheme::encryption(&group(2), SALT, TSI), true),
        (Scheme::encryption(&group(1), Salt([8; 16]), TSI), true),
    ];
    for (other, is_encrypted) in schemes {
        let mut outgoing = sender(other, 0);
        let mut incoming = receiver(scheme(is_encrypted));
        for _ in 0..16 {
            let mut sent = protected(&mut outgoing, &plain);
            assert_eq!(incoming.accept(&mut sent), Err(Rejection::Forged));
        }
        assert!(incoming.counters().suggests_wrong_key());
        assert_eq!(incoming.highest(), 0, "a forged packet does not move the window");
    }
}

#[test]
fn a_forged_number_does_not_move_the_window() {
    for is_encrypted in [false, true] {
        let mut outgoing = sender(scheme(is_encrypted), 0);
        let mut incoming = receiver(scheme(is_encrypted));
        let mut forged = protected(&mut outgoing, &packet(&[], b"symbol"));
        forged[19..24].fill(0xff);
        assert_eq!(incoming.accept(&mut forged), Err(Rejection::Forged));
        let mut genuine = protected(&mut outgoing, &packet(&[], b"symbol"));
        assert_eq!(incoming.accept(&mut genuine), Ok(()));
    }
}

#[test]
fn keys_change_with_the_epoch_and_receivers_follow() {
    let plain = packet(&[], b"symbol");
    let at = |number: u64| protected(&mut sender(scheme(true), number - 1), &plain);
    let mut incoming = receiver(scheme(true));
    let mut accepts = |number: u64| incoming.accept(&mut at(number));
    let boundary = EPOCH_PACKETS;
    assert_eq!(accepts(boundary - 2), Ok(()));
    assert_eq!(accepts(boundary), Ok(()), "the next epoch");
    assert_eq!(accepts(boundary - 1), Ok(()), "one of the previous epoch, late");
    assert_eq!(accepts(40 * boundary + 3), Ok(()), "after a long absence");
    assert_eq!(accepts(40 * boundary - 1), Ok(()));
    assert_eq!(accepts(41 * boundary), Ok(()));
    assert_eq!(accepts(43 * boundary - 1), Ok(()));
    assert_eq!(accepts(SEQUENCE_MAX), Ok(()));
    // A sender goes through epochs as a receiver does.
    let mut outgoing = sender(scheme(true), boundary - 2);
    let mut incoming = receiver(scheme(true));
    for _ in 0..4 {
        assert_eq!(incoming.accept(&mut protected(&mut outgoing, &plain)), Ok(()));
    }
}

#[test]
fn a_sender_sends_nothing_without_a_number_or_space() {
    let plain = packet(&[], b"symbol");
    let mut room = [plain.as_slice(), &[0; AUTH_BYTES]].concat();
    let mut none = Outgoing::new(scheme(true), Sequence::after(0));
    assert_eq!(none.protect(&mut room, plain.len()), Err(ProtectError::Number(SequenceError::Granted)));
    assert_eq!(room[..plain.len()], plain, "not a byte is changed");
    let mut outgoing = sender(scheme(true), 0);
    let mut refused = |room: &mut [u8], length| outgoing.protect(room, length).unwrap_err();
    assert_eq!(refused(&mut room[..plain.len() + 23], plain.len()), InsertError::Space.into());
    assert_eq!(refused(&mut room, 3), InsertError::Packet.into());
    assert_eq!(refused(&mut room, plain.len() + 25), InsertError::Packet.into());
    let long = packet(&[200, 0, 0, 0].repeat(250), b"");
    assert_eq!(
        refused(&mut [long.as_slice(), &[0; AUTH_BYTES]].concat(), long.len()),
        InsertError::Header.into()
    );
}

#[test]
fn nothing_is_allocated_for_a_packet() {
    let plain = packet(&[82, 1, 0, 5], &[5; 1000]);
    for is_encrypted in [false, true] {
        let mut outgoing = sender(scheme(is_encrypted), EPOCH_PACKETS - 2);
        let mut incoming = receiver(scheme(is_encrypted));
        let mut room = [plain.as_slice(), &[0; AUTH_BYTES]].concat();
        let info = allocation_counter::measure(|| {
            for _ in 0..4 {
                room[..plain.len()].copy_from_slice(&plain);
                let length = outgoing.protect(&mut room, plain.len()).unwrap();
                incoming.accept(&mut room[..length]).unwrap();
                let again = incoming.accept(&mut room[..length]);
                assert_eq!(again, Err(Rejection::Replayed));
            }
        });
        assert_eq!(info.count_total, 0);
    }
}

proptest! {
    #[test]
    fn what_is_protected_is_accepted_once_with_its_payload(
        plain in any_packet(),
        stored in 0..SEQUENCE_MAX,
        is_encrypted: bool,
    ) {
        let sent = protected(&mut sender(scheme(is_encrypted), stored), &plain);
        let mut incoming = receiver(scheme(is_encrypted));
        let mut received = sent.clone();
        prop_assert_eq!(incoming.accept(&mut received), Ok(()));
        let (view, before) = (View::new(&received).unwrap(), View::new(&plain).unwrap());
        prop_assert_eq!(view.payload(), before.payload());
        let further = view.extensions().filter(|extension| extension.kind != HET_AUTH);
        prop_assert!(further.eq(before.extensions()));
        prop_assert_eq!(incoming.accept(&mut sent.clone()), Err(Rejection::Replayed));
        prop_assert_eq!(incoming.highest(), stored + 1);
    }

    #[test]
    fn any_changed_bit_is_noticed(
        plain in any_packet(),
        is_encrypted: bool,
        bit: prop::sample::Index,
        cut: prop::sample::Index,
    ) {
        let sent = protected(&mut sender(scheme(is_encrypted), 5), &plain);
        let mut incoming = receiver(scheme(is_encrypted));
        let mut changed = sent.clone();
        let bit = bit.index(changed.len() * 8);
        changed[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(incoming.accept(&mut changed).is_err(), "bit {bit}");
        prop_assert!(incoming.accept(&mut sent[..cut.index(sent.len())].to_vec()).is_err());
        prop_assert_eq!(incoming.accept(&mut sent.clone()), Ok(()));
    }

    #[test]
    fn any_bytes_are_refused(
        bytes: Vec<u8>,
        auth in prop::collection::vec(any::<u8>(), 0..60),
        is_encrypted: bool,
    ) {
        let mut incoming = receiver(scheme(is_encrypted));
        prop_assert!(incoming.accept(&mut bytes.clone()).is_err());
        let words = auth.len().div_ceil(4).max(1);
        let mut extension = vec![0; words * 4];
        extension[..auth.len()].copy_from_slice(&auth);
        extension[..2].copy_from_slice(&[HET_AUTH, words as u8]);
        prop_assert!(incoming.accept(&mut packet(&extension, &bytes)).is_err());
        let mut outgoing = sender(scheme(is_encrypted), 0);
        let _ = outgoing.protect(&mut [bytes.as_slice(), &[0; AUTH_BYTES]].concat(), bytes.len());
    }
}
