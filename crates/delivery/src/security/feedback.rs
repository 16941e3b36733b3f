//! The MAC of what a receiver and the source send to each other: reports of congestion control, reception reports,
//! completions, and refusals.
//!
//! These messages are not ALC packets, so RFC 6584 does not apply; the tag is made as there, HMAC-SHA-256 of which 16 bytes are
//! kept, and follows the message. Its key is derived for feedback, so that no packet of the session is a message or the
//! reverse. Messages have no number: one that was recorded can be sent again within its session. Each kind differs in its first byte,
//! so that none stands for one of another kind or direction.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

pub use super::extension::TAG_BYTES;
use super::keys::GroupKey;

/// The MAC of the feedback of one session.
#[derive(Clone)]
pub struct FeedbackMac {
    /// The state after the key.
    keyed: Hmac<Sha256>,
}

impl core::fmt::Debug for FeedbackMac {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FeedbackMac")
    }
}

impl FeedbackMac {
    /// The MAC of a session.
    pub fn new(key: &GroupKey, tsi: u32) -> FeedbackMac {
        let mut session = Zeroizing::new([0; 64]);
        let derived = Hkdf::<Sha256>::new(Some(b"layercast feedback mac 1"), key.bytes());
        // 32 bytes are never too many (RFC 5869, section 2.3).
        let _ = derived.expand(&tsi.to_be_bytes(), &mut session[..32]);
        FeedbackMac { keyed: Hmac::new(&(*session).into()) }
    }

    /// Writes a message and its tag to `room`; none if they do not fit.
    pub fn protect<'r>(&self, message: &[u8], room: &'r mut [u8]) -> Option<&'r [u8]> {
        let datagram = room.get_mut(..message.len() + TAG_BYTES)?;
        let (head, place) = datagram.split_last_chunk_mut::<TAG_BYTES>()?;
        head.copy_from_slice(message);
        let mut mac = self.keyed.clone();
        mac.update(message);
        let tag: [u8; 32] = mac.finalize().into_bytes().into();
        place.copy_from_slice(&tag[..TAG_BYTES]);
        Some(datagram)
    }

    /// The message of a datagram, if its tag is right. The comparison takes the same time for every wrong tag.
    pub fn accept<'d>(&self, datagram: &'d [u8]) -> Option<&'d [u8]> {
        let (message, tag) = datagram.split_last_chunk::<TAG_BYTES>()?;
        let mut mac = self.keyed.clone();
        mac.update(message);
        mac.verify_truncated_left(tag).ok().map(|()| message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mac(seed: u8, tsi: u32) -> FeedbackMac {
        FeedbackMac::new(&GroupKey::from_seed(&[seed; 32]), tsi)
    }

    #[test]
    fn a_message_counts_in_its_session_and_with_its_key_alone() {
        let mut room = [0; 40];
        let datagram = mac(1, 5).protect(&[7; 20], &mut room).expect("space");
        assert_eq!(mac(1, 5).accept(datagram), Some(&[7; 20][..]));
        assert_eq!(mac(2, 5).accept(datagram), None);
        assert_eq!(mac(1, 6).accept(datagram), None);
        assert_eq!(mac(1, 5).accept(&datagram[..20]), None, "a message without a tag");
        assert_eq!(mac(1, 5).protect(&[7; 25], &mut room), None, "no space");
    }

    proptest! {
        #[test]
        fn nothing_else_is_accepted(message in prop::collection::vec(any::<u8>(), 0..60), bit in 0usize..608) {
            let mut room = vec![0; message.len() + TAG_BYTES];
            prop_assert_eq!(mac(1, 1).protect(&message, &mut room).map(<[u8]>::len), Some(message.len() + TAG_BYTES));
            prop_assert_eq!(mac(1, 1).accept(&room), Some(message.as_slice()));
            let bit = bit % (room.len() * 8);
            room[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(mac(1, 1).accept(&room), None);
            prop_assert_eq!(mac(1, 1).accept(&message), None);
        }
    }
}
