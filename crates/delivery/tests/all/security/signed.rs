//! Signatures over bytes and texts.

use layercast_delivery::security::keys::{PublicKey, SecretKey};
use layercast_delivery::security::signed::{Context, SIGNED_MAX, Signature, SignatureError, Signed};
use proptest::prelude::*;

fn key(number: u8) -> SecretKey {
    SecretKey::from_seed(&[number; 32])
}

fn context() -> impl Strategy<Value = Context> {
    prop::sample::select(&Context::ALL[..])
}

#[test]
fn a_signature_holds_for_one_purpose_and_the_keys_that_are_trusted() {
    let (ours, other) = (key(1), key(2));
    let trusted = [other.public(), ours.public()];
    for context in Context::ALL {
        let bytes = Signed::write(&ours, context, b"layercast = 1").unwrap();
        let signed = Signed::read(&bytes).unwrap();
        assert_eq!(signed.verify(&trusted, context), Ok(b"layercast = 1".as_slice()));
        assert_eq!(signed.verify(&[other.public()], context), Err(SignatureError::Key));
        assert_eq!(signed.verify(&[], context), Err(SignatureError::Key));
        for wrong in Context::ALL.into_iter().filter(|wrong| *wrong != context) {
            assert_eq!(signed.verify(&trusted, wrong), Err(SignatureError::Wrong));
        }
    }
}

#[test]
fn the_number_of_a_key_proves_nothing() {
    let (ours, other) = (key(1), key(2));
    let mut bytes = Signed::write(&other, Context::Table, b"table").unwrap();
    bytes[8..16].copy_from_slice(&ours.public().id().0);
    let signed = Signed::read(&bytes).unwrap();
    assert_eq!(signed.verify(&[ours.public(), other.public()], Context::Table), Err(SignatureError::Wrong));
}

#[test]
fn what_is_too_long_is_refused_at_both_ends() {
    let long = vec![0; SIGNED_MAX + 1];
    assert_eq!(Signed::write(&key(1), Context::Table, &long), Err(SignatureError::Limit(SIGNED_MAX + 1)));
    let mut bytes = Signed::write(&key(1), Context::Table, &long[1..]).unwrap();
    assert!(Signed::read(&bytes).is_ok());
    bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(Signed::read(&bytes), Err(SignatureError::Limit(u32::MAX as usize)));
}

proptest! {
    #[test]
    fn any_change_is_noticed(
        content in prop::collection::vec(any::<u8>(), 0..300),
        context in context(),
        at: prop::sample::Index,
        bit in 0..8u8,
    ) {
        let ours = key(1);
        let mut bytes = Signed::write(&ours, context, &content).unwrap();
        prop_assert_eq!(Signed::read(&bytes).unwrap().verify(&[ours.public()], context), Ok(content.as_slice()));
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let read = Signed::read(&bytes).and_then(|signed| signed.verify(&[ours.public()], context).map(<[u8]>::to_vec));
        prop_assert!(read.is_err(), "bit {bit} of byte {at}");
    }

    #[test]
    fn every_truncation_and_addition_is_refused(content: Vec<u8>, at: prop::sample::Index, more in 1..9usize) {
        let bytes = Signed::write(&key(1), Context::Announcement, &content).unwrap();
        prop_assert!(Signed::read(&bytes[..at.index(bytes.len())]).is_err());
        prop_assert!(Signed::read(&[bytes, vec![0; more]].concat()).is_err());
    }

    #[test]
    fn signatures_as_text_are_read_as_written(content: Vec<u8>, context in context(), text: String) {
        let ours = key(3);
        let signature = Signature::sign(&ours, context, &content);
        let written = signature.to_string();
        prop_assert!(written.starts_with("layercast-signature-1 "));
        let read: Signature = format!("{written}\r\n").parse().unwrap();
        prop_assert_eq!(read, signature);
        prop_assert_eq!(read.verify(&[ours.public()], context, &content), Ok(ours.public()));
        prop_assert_eq!(format!("{written}A").parse::<Signature>(), Err(SignatureError::Form));
        let _ = text.parse::<Signature>();
        let _ = format!("layercast-signature-1 {text}").parse::<Signature>();
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let trusted: [PublicKey; 1] = [key(1).public()];
        let with_magic = [b"LCS1".as_slice(), &bytes].concat();
        for bytes in [&bytes, &with_magic] {
            if let Ok(signed) = Signed::read(bytes) {
                prop_assert!(signed.verify(&trusted, Context::Table).is_err());
            }
        }
    }
}
