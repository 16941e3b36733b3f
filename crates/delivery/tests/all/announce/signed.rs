//! Announcements that are signed with keys as `layercast key` makes them.

use layercast_core::units::Time;
use layercast_delivery::announce::directory::{Change, Directory, FindError, Limits, Refusal};
use layercast_delivery::announce::sap::Kind;
use layercast_delivery::announce::signature::Ed25519;
use layercast_delivery::announce::signature::Signer;
use layercast_delivery::finding::{self, Place};
use layercast_delivery::search::Known;
use layercast_delivery::security::keys::{PublicKey, SecretKey};
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
fn a_name_leads_to_the_one_session_that_is_vouched_for() {
    let key = SecretKey::from_seed(&[7; 32]);
    let mut directory = Directory::new(Limits::default(), 0);
    let mut announce = |host, signer: Option<&dyn Signer>| {
        let bytes = packet(Kind::Announcement, &session(host, "news", 1), signer);
        directory.receive(&bytes, address(host), &Ed25519, Time::ZERO).unwrap();
        let found = |keys: &[PublicKey]| {
            finding::find(&directory, "news", keys).map(|found| found.map(|entry| entry.announcer))
        };
        (found(&[]), found(&[key.public()]))
    };
    assert_eq!(announce(1, None), (Ok(Some(address(1))), Ok(None)));
    let (anyone, trusted) = announce(2, Some(&key));
    assert!(matches!(anyone, Err(FindError::Ambiguous { lines, .. }) if lines.len() == 2));
    assert_eq!(trusted, Ok(Some(address(2))), "only a session that the key has signed");
    assert_eq!(announce(3, Some(&SecretKey::from_seed(&[8; 32]))).1, Ok(Some(address(2))));
    let place = Place::of(&session(1, "news", 1)).unwrap();
    assert!(matches!(place.known, Known::Flute(session) if session.source == Some(address(1))));
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
