//! Keys that sign and verify announcements.

use super::keys::{PublicKey, SecretKey};
use super::signed::{Context, message};
use crate::announce::signature::{self, Signature, Signer, Verifier};

impl Signer for SecretKey {
    fn public_key(&self) -> signature::PublicKey {
        self.public().to_bytes()
    }

    fn sign(&self, context: Context, bytes: &[u8]) -> Signature {
        SecretKey::sign(self, &message(context, bytes))
    }
}

/// Verifies Ed25519 signatures of any key: whom to trust is the caller's to decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ed25519;

impl Verifier for Ed25519 {
    fn verify(
        &self,
        key: &signature::PublicKey,
        context: Context,
        bytes: &[u8],
        signature: &Signature,
    ) -> bool {
        // Bytes that are no key, or a weak one, have signed nothing.
        PublicKey::from_bytes(key).is_ok_and(|key| key.verifies(&message(context, bytes), signature))
    }
}
