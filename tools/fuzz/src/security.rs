//! Protected packets, keys and signatures.

use layercast_delivery::packet::View;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{GroupKey, SecretKey};
use layercast_delivery::security::protection::{AUTH_BYTES, Incoming, Outgoing, Rejection, Scheme};
use layercast_delivery::security::sequence::{ReplayWindow, Sequence};
use layercast_delivery::security::signed::{Context, Signature, Signed};

/// The session of the packets in the corpus.
pub const PROTECTED_TSI: u32 = 305_419_896;

/// The ways in which the packets of the corpus are protected.
#[must_use]
pub fn schemes() -> [Scheme; 2] {
    let key = GroupKey::from_seed(&[7; 32]);
    [Scheme::mac(&key, PROTECTED_TSI), Scheme::encryption(&key, Salt([7; 16]), PROTECTED_TSI)]
}

/// A packet at a receiver, with the group's MAC and with encryption; then the same bytes as a packet to be protected.
///
/// # Panics
/// If a packet is accepted twice, or if one that is protected is not accepted or comes back changed.
pub fn protection(bytes: &[u8]) {
    for scheme in schemes() {
        let mut incoming = Incoming::new(scheme.clone(), PROTECTED_TSI, ReplayWindow::above(0));
        if incoming.accept(&mut bytes.to_vec()).is_ok() {
            assert_eq!(incoming.accept(&mut bytes.to_vec()), Err(Rejection::Replayed));
        }
        let mut sequence = Sequence::after(0);
        sequence.grant(1);
        let mut room = [bytes, &[0; AUTH_BYTES]].concat();
        if Outgoing::new(scheme.clone(), sequence).protect(&mut room, bytes.len()).is_err() {
            continue;
        }
        let accepted = Incoming::new(scheme, PROTECTED_TSI, ReplayWindow::above(0)).accept(&mut room);
        let (before, after) = (View::new(bytes), View::new(&room));
        let (Ok(before), Ok(after)) = (before, after) else { panic!("protected, but not a packet") };
        match accepted {
            Ok(()) => assert_eq!(after.payload(), before.payload()),
            // Of another session, or with an extension of this kind already.
            Err(reason) => assert!(matches!(reason, Rejection::Session | Rejection::Scheme), "{reason:?}"),
        }
    }
}

/// Key files, signatures as text and as bytes.
///
/// # Panics
/// If what was read does not come back, or if something is verified that was not signed.
pub fn signed(bytes: &[u8]) {
    if let Ok(key) = KeyFile::parse(bytes) {
        let text = key.to_text();
        assert_eq!(KeyFile::parse(text.as_bytes()).map(|key| key.to_text()), Ok(text));
    }
    // Not the key of the corpus.
    let stranger = [SecretKey::from_seed(&[8; 32]).public()];
    if let Ok(signed) = Signed::read(bytes) {
        assert!(signed.verify(&stranger, Context::Table).is_err());
    }
    if let Ok(signature) = String::from_utf8_lossy(bytes).parse::<Signature>() {
        assert_eq!(signature.to_string().parse(), Ok(signature));
    }
}
