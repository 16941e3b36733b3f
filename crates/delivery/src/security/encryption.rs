//! Encrypted packets: ChaCha20-Poly1305 (RFC 8439) over all that follows the LCT header, which is authenticated with it.
//!
//! The tag is carried in EXT_AUTH as a MAC is (RFC 6584), so an encrypted packet needs no MAC next to it, and is as long
//! as one with a MAC.
//!
//! *The nonce* must never repeat under a key, or both packets can be read and others forged. It is the packet number and
//! nothing else. Symbol numbers would not do: they repeat in a carousel, wrap, and stay the same when a header around
//! them changes. Packet numbers count all channels together, so layers cannot meet; they end with the session, so they
//! do not wrap; and they go on above a stored number after a restart ([`Sequence`](super::sequence::Sequence)). A sender
//! that lost the stored number draws a new [`Salt`], and with it all keys are new.
//!
//! *The key* changes every [`EPOCH_PACKETS`] packets: HKDF-SHA-256 (RFC 5869) of the group key and the salt gives one for
//! each session number and key epoch. A receiver knows the epoch from the packet number. It keeps the keys of three
//! epochs, and makes that of any other only to try one packet.

use core::fmt;
use core::str::FromStr;

use base16ct::HexDisplay;
use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::extension::{InsertError, Place, TAG_BYTES};
use super::keys::GroupKey;
use layercast_core::cannot_be;

/// How many packets are encrypted under one key: about a gigabyte.
pub const EPOCH_PACKETS: u64 = 1 << 20;

/// A number that is drawn at random when the packet numbers of a session start, and stored and described with them. It is
/// no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

/// Why a text is not a salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a salt has 32 hexadecimal digits")]
pub struct SaltError;

/// As text: 32 hexadecimal digits.
impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", HexDisplay(&self.0))
    }
}

impl FromStr for Salt {
    type Err = SaltError;

    fn from_str(text: &str) -> Result<Salt, SaltError> {
        let mut salt = [0; 16];
        let length = base16ct::mixed::decode(text, &mut salt).map_err(|_| SaltError)?.len();
        if length == salt.len() { Ok(Salt(salt)) } else { Err(SaltError) }
    }
}

/// The keys of a session.
#[derive(Clone)]
struct SessionSecret {
    derived: Hkdf<Sha256>,
    tsi: u32,
}

impl SessionSecret {
    fn epoch(&self, epoch: u64) -> ChaCha20Poly1305 {
        let mut key = Zeroizing::new([0; 32]);
        let info = [b"layercast epoch key 1".as_slice(), &self.tsi.to_be_bytes(), &epoch.to_be_bytes()];
        // 32 bytes are never too many (RFC 5869, section 2.3).
        let _ = self.derived.expand_multi_info(&info, &mut *key);
        ChaCha20Poly1305::new(&(*key).into())
    }
}

/// The keys of one session at either end. Their use allocates nothing.
#[derive(Clone)]
pub struct Encryption {
    secret: SessionSecret,
    /// The keys of the previous, the present and the next epoch.
    ring: [ChaCha20Poly1305; 3],
    present: u64,
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encryption(epoch {})", self.present)
    }
}

fn epoch_of(number: u64) -> u64 {
    number / EPOCH_PACKETS
}

/// The packet number in twelve bytes.
fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    let (_, low) = nonce.split_at_mut(4);
    low.copy_from_slice(&number.to_be_bytes());
    nonce.into()
}

impl Encryption {
    /// The keys of a session.
    pub fn new(key: &GroupKey, salt: Salt, tsi: u32) -> Encryption {
        let secret = SessionSecret { derived: Hkdf::new(Some(&salt.0), key.bytes()), tsi };
        let ring = [0, 0, 1].map(|epoch| secret.epoch(epoch));
        Encryption { secret, ring, present: 0 }
    }

    /// The key epoch that is present: that of the highest packet number so far.
    pub fn epoch(&self) -> u64 {
        self.present
    }

    /// Makes another epoch the present one. Old keys are dropped.
    fn advance(&mut self, epoch: u64) {
        if epoch == self.present + 1 {
            self.ring.rotate_left(1);
            self.ring[2] = self.secret.epoch(epoch + 1);
        } else {
            self.ring = [epoch.saturating_sub(1), epoch, epoch + 1].map(|epoch| self.secret.epoch(epoch));
        }
        self.present = epoch;
    }

    /// Encrypts the payload of a packet whose tag is zero, and puts the tag. On an error the packet must not be sent: its
    /// payload may be readable.
    pub(super) fn seal(&mut self, packet: &mut [u8], place: Place, number: u64) -> Result<(), InsertError> {
        let epoch = epoch_of(number);
        if epoch > self.present {
            self.advance(epoch);
        }
        let (header, payload) = place.parts(packet).ok_or(InsertError::Packet)?;
        let tag = self.ring[1].encrypt_inout_detached(&nonce(number), header, payload.into());
        place.put(packet, &tag.map_err(|_| InsertError::Packet)?.into());
        Ok(())
    }

    /// Decrypts the payload of a packet, and makes its tag zero; false if it is not authentic, and then the payload is as
    /// it was.
    pub(super) fn open(&mut self, packet: &mut [u8], place: Place, number: u64) -> bool {
        let epoch = epoch_of(number);
        let tried;
        let key = match (epoch + 1).checked_sub(self.present) {
            None => return false,
            Some(slot @ 0..=2) => &self.ring[slot as usize],
            Some(_) => {
                // A receiver that was away for a while.
                tried = self.secret.epoch(epoch);
                &tried
            }
        };
        let Some((_, &tag, _)) = place.split(packet) else {
            return cannot_be("the place is one in this packet");
        };
        place.put(packet, &[0; TAG_BYTES]);
        let Some((header, payload)) = place.parts(packet) else {
            return cannot_be("the place is one in this packet");
        };
        let opened = key.decrypt_inout_detached(&nonce(number), header, payload.into(), &tag.into()).is_ok();
        if opened && epoch > self.present {
            self.advance(epoch);
        }
        opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_cannot_be_encrypted_is_not_sent() {
        let mut encryption = Encryption::new(&GroupKey::from_seed(&[1; 32]), Salt([2; 16]), 1);
        let mut packet = [0; 60];
        let beyond = Place { tag: 50, header: 66, end: 70 };
        assert_eq!(encryption.seal(&mut packet, beyond, 1), Err(InsertError::Packet));
    }
}
