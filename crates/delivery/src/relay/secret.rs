//! Numbers that nobody else can guess.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// A key from which such numbers are made.
#[derive(Clone)]
pub(crate) struct Secret {
    keyed: Hmac<Sha256>,
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The key of random bytes.
    pub(crate) fn new(random: [u8; 32]) -> Secret {
        let mut key = [0; 64];
        key[..32].copy_from_slice(&random);
        Secret { keyed: Hmac::new(&key.into()) }
    }

    /// The HMAC-SHA-256 of all parts, cut to 16 bytes. `purpose` separates what is made for different uses.
    pub(crate) fn mac(&self, purpose: u8, parts: &[&[u8]]) -> [u8; 16] {
        let mut mac = self.keyed.clone();
        mac.update(&[purpose]);
        parts.iter().for_each(|part| mac.update(part));
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        let mut cut = [0; 16];
        cut.copy_from_slice(&whole[..16]);
        cut
    }

    /// The same as a number, never 0.
    pub(crate) fn number(&self, purpose: u8, parts: &[&[u8]]) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.mac(purpose, parts);
        u64::from_be_bytes([a, b, c, d, e, f, g, h]).max(1)
    }

    /// Bytes of which a secret of another use is made, the one of this number.
    pub(crate) fn derived(&self, purpose: u8, number: u64) -> [u8; 32] {
        let [low, high] = [0, 1].map(|half| self.mac(purpose, &[&number.to_be_bytes(), &[half]]));
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&low);
        bytes[16..].copy_from_slice(&high);
        bytes
    }

    /// Whether a MAC is the right one, in a time that does not depend on where it is wrong.
    pub(crate) fn is_mac(&self, purpose: u8, parts: &[&[u8]], mac: &[u8; 16]) -> bool {
        let right = self.mac(purpose, parts);
        right.iter().zip(mac).fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
    }
}
