//! The messages between receivers and the source, other than the reports of their protocol.
//!
//! A completion differs from a report in its first byte. Reports are in the protocol's module.
//!
//! ```text
//!     0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  0x13  | reserved, 0              |   version 1, type 3
//!   4 | session (TSI)                     |
//!   8 | object (TOI)                      |
//!  12 | receiver, not 0                   |
//!  16 |                                   |
//!     +-----------------------------------+
//! ```
//!
//! A refusal is sent by the source to the address of a report when the session has as many receivers as its protocol
//! serves: the first eight bytes of a completion, with the first byte 0x18.

use core::num::NonZeroU64;

use layercast_core::wire::taken::{COMPLETION, REFUSAL};

use super::{PacketError, word};

/// The length of a completion in bytes.
pub const COMPLETION_BYTES: usize = 20;

/// The length of a refusal in bytes.
pub const REFUSAL_BYTES: usize = 8;

/// "I have the whole object, and its hash is right."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The session.
    pub tsi: u32,
    /// The object.
    pub toi: u32,
    /// The receiver: a number drawn at random.
    pub receiver: NonZeroU64,
}

impl Completion {
    /// Whether bytes start as a completion does.
    pub fn is_completion(bytes: &[u8]) -> bool {
        bytes.first() == Some(&COMPLETION)
    }

    /// The message as bytes.
    pub fn to_bytes(self) -> [u8; COMPLETION_BYTES] {
        let mut bytes = [0; COMPLETION_BYTES];
        bytes[0] = COMPLETION;
        bytes[4..8].copy_from_slice(&self.tsi.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.toi.to_be_bytes());
        bytes[12..].copy_from_slice(&self.receiver.get().to_be_bytes());
        bytes
    }

    /// The message from bytes; surplus bytes are ignored. Never panics.
    ///
    /// # Errors
    /// Why they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Completion, PacketError> {
        let word = |at: usize| word(bytes, at, COMPLETION_BYTES);
        let first = word(0)?.to_be_bytes()[0];
        if first != COMPLETION {
            return Err(PacketError::Feedback(first));
        }
        let receiver = u64::from(word(12)?) << 32 | u64::from(word(16)?);
        let receiver = NonZeroU64::new(receiver).ok_or(PacketError::Receiver)?;
        Ok(Completion { tsi: word(4)?, toi: word(8)?, receiver })
    }
}

/// "This session has as many receivers as its protocol serves."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The session.
    pub tsi: u32,
}

impl Refusal {
    /// The message as bytes.
    pub fn to_bytes(self) -> [u8; REFUSAL_BYTES] {
        let [t3, t2, t1, t0] = self.tsi.to_be_bytes();
        [REFUSAL, 0, 0, 0, t3, t2, t1, t0]
    }

    /// The message from bytes; surplus bytes are ignored. Never panics.
    ///
    /// # Errors
    /// Why they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Refusal, PacketError> {
        match bytes {
            &[REFUSAL, _, _, _, t3, t2, t1, t0, ..] => {
                Ok(Refusal { tsi: u32::from_be_bytes([t3, t2, t1, t0]) })
            }
            &[REFUSAL, ..] | [] => Err(PacketError::Truncated { need: REFUSAL_BYTES, have: bytes.len() }),
            &[first, ..] => Err(PacketError::Feedback(first)),
        }
    }
}
