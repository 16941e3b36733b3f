//! The group-keyed MAC of RFC 6584, section 5: HMAC-SHA-256, of which 16 bytes are kept, over the whole packet with the
//! MAC field zero.
//!
//! The key is the group key's for one session: HKDF-SHA-256 (RFC 5869) of the group key with the session number, so that
//! a packet of one session is none of another.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::extension::{Place, TAG_BYTES, Tag};
use super::keys::GroupKey;

/// The MAC of one session. Its use allocates nothing.
#[derive(Clone)]
pub struct GroupMac {
    /// The state after the key.
    keyed: Hmac<Sha256>,
}

impl core::fmt::Debug for GroupMac {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("GroupMac")
    }
}

impl GroupMac {
    /// The MAC of a session.
    pub fn new(key: &GroupKey, tsi: u32) -> GroupMac {
        // HMAC fills a key up with zeros to the block of its hash (RFC 2104, section 2).
        let mut session = Zeroizing::new([0; 64]);
        let derived = Hkdf::<Sha256>::new(Some(b"layercast group mac 1"), key.bytes());
        // 32 bytes are never too many (RFC 5869, section 2.3).
        let _ = derived.expand(&tsi.to_be_bytes(), &mut session[..32]);
        GroupMac { keyed: Hmac::new(&(*session).into()) }
    }

    fn start(&self, before: &[u8], after: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(before);
        mac.update(&[0; TAG_BYTES]);
        mac.update(after);
        mac
    }

    /// The MAC of a packet.
    pub(super) fn tag(&self, packet: &[u8], place: Place) -> Tag {
        let (before, _, after) = place.split(packet).unwrap_or((&[], &[0; TAG_BYTES], &[]));
        let whole: [u8; 32] = self.start(before, after).finalize().into_bytes().into();
        let mut tag = Tag::default();
        tag.copy_from_slice(&whole[..TAG_BYTES]);
        tag
    }

    /// Whether a packet has its MAC. The comparison takes the same time for every wrong MAC.
    pub(super) fn verify(&self, packet: &[u8], place: Place) -> bool {
        place
            .split(packet)
            .is_some_and(|(before, tag, after)| self.start(before, after).verify_truncated_left(tag).is_ok())
    }
}
