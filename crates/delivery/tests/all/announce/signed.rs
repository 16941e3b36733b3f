//! Announcements that are signed with keys as `layercast key` makes them.

use layercast_core::units::Time;
use layercast_delivery::announce::directory::{Change, Directory, Limits, Refusal};
use layercast_delivery::announce::sap::Kind;
use layercast_delivery::announce::signature::Ed25519;
use layercast_delivery::announce::signature::Signer as _;
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::security::signed::{Context, Signature};

use super::support::{address, packet, session};

#[test]
fn the_owner_is_the_key_that_signed() {
    let key = SecretKey::from_seed(&[7; 32]);
    let bytes = packet(Kind::Announcement, &session(1, "news", 1), Some(&key));
    let mut directory = Directory::new(Limits::default(), 0);
    let change = directory.receive(&bytes, address(1), &Ed25519, Time::ZERO).unwrap();
    assert!(matches!(&change, Change::New(id) if id.owner().key() == Some(&key.public().to_bytes())));
}

#[test]
fn a_changed_byte_makes_a_forgery() {
    let key = SecretKey::from_seed(&[7; 32]);
    let bytes = packet(Kind::Announcement, &session(1, "news", 1), Some(&key));
    let name = bytes.windows(4).position(|window| window == b"news").unwrap();
    // A byte of the hash, of the key, of the signature and of the name.
    for at in [3, 12, 80, name] {
        let (mut changed, mut directory) = (bytes.clone(), Directory::new(Limits::default(), 0));
        changed[at] ^= 1;
        let refused = directory.receive(&changed, address(1), &Ed25519, Time::ZERO);
        assert_eq!(refused, Err(Refusal::Forged), "byte {at}");
    }
}

#[test]
fn a_signature_for_another_purpose_is_none() {
    use layercast_delivery::announce::signature::Verifier as _;
    let key = SecretKey::from_seed(&[7; 32]);
    let signature = key.sign(Context::Description, b"bytes");
    let public = key.public().to_bytes();
    assert!(Ed25519.verify(&public, Context::Description, b"bytes", &signature));
    assert!(!Ed25519.verify(&public, Context::Announcement, b"bytes", &signature));
    // It is what the same key signs elsewhere.
    let other = Signature::sign(&key, Context::Description, b"bytes");
    assert!(other.verify(&[key.public()], Context::Description, b"bytes").is_ok());
    // No key, and the weak key under which anything is signed.
    assert!(!Ed25519.verify(&[0xff; 32], Context::Announcement, b"bytes", &[0; 64]));
    let mut weak = [0; 32];
    weak[0] = 1;
    assert!(!Ed25519.verify(&weak, Context::Announcement, b"bytes", &[0; 64]));
}
