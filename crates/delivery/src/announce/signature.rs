//! Signatures of announcements: the means that announcements need, and keys that provide them.

use crate::security::keys::{self, SecretKey};
use crate::security::signed::{Context, message};

/// An Ed25519 public key (RFC 8032, section 5.1.5).
pub type PublicKey = [u8; 32];

/// An Ed25519 signature (RFC 8032, section 5.1.6).
pub type Signature = [u8; 64];

/// Holds a private key.
pub trait Signer {
    /// The public key that goes with it.
    fn public_key(&self) -> PublicKey;
    /// The signature of `bytes` for the purpose `context`.
    fn sign(&self, context: Context, bytes: &[u8]) -> Signature;
}

/// Checks signatures.
pub trait Verifier {
    /// Whether the holder of `key` has signed `bytes` for the purpose `context`.
    fn verify(&self, key: &PublicKey, context: Context, bytes: &[u8], signature: &Signature) -> bool;
}

impl Signer for SecretKey {
    fn public_key(&self) -> PublicKey {
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
    fn verify(&self, key: &PublicKey, context: Context, bytes: &[u8], signature: &Signature) -> bool {
        // Bytes that are no key, or a weak one, have signed nothing.
        keys::PublicKey::from_bytes(key).is_ok_and(|key| key.verifies(&message(context, bytes), signature))
    }
}
