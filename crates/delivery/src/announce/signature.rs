//! Signatures, as far as announcements need them: what makes and checks them is elsewhere.

use crate::security::signed::Context;

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
