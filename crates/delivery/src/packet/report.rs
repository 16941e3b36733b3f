//! The reception report: what a receiver answers to a [`Poll`](super::Poll).
//!
//! ```text
//!     0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  0x19  | flags  |  poll  |exponent|   version 1, type 9; flags: 1 complete, 2 leaving, 4 the disk fails
//!   4 | session (TSI)                     |
//!   8 | receiver, not 0                   |
//!  12 |                                   |
//!  16 | share held      | level  | 0      |   share: 65535 is all; level: 255 is none
//!  20 | packets lost    | time left       |   permille, seconds; 65535: unknown
//!  24 | objects complete                  |
//!  28 | objects failed                    |
//!     +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use layercast_core::units::Level;
use layercast_core::wire::taken::RECEPTION;

use super::poll::EXPONENT_MAX;
use super::{PacketError, word};

/// The length of a reception report in bytes.
pub const REPORT_BYTES: usize = 32;
/// Everything is held.
pub const WHOLE: u16 = u16::MAX;

const COMPLETE: u8 = 1;
const LEAVING: u8 = 2;
const DISK_FAILS: u8 = 4;
const UNKNOWN: u16 = u16::MAX;
const NO_LEVEL: u8 = u8::MAX;

/// How far a receiver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceptionReport {
    /// The session.
    pub tsi: u32,
    /// The receiver: a number drawn at random.
    pub receiver: NonZeroU64,
    /// The number of the poll that it answers.
    pub poll: u8,
    /// It was sent with probability 2^-exponent, at most [`EXPONENT_MAX`].
    pub exponent: u8,
    /// Everything is in its place.
    pub is_complete: bool,
    /// The receiver ends: this is its last report.
    pub is_leaving: bool,
    /// Its disk is full or fails.
    pub disk_fails: bool,
    /// The share of the needed symbols that it holds; [`WHOLE`] is all.
    pub share: u16,
    /// The highest layer that it takes.
    pub level: Level,
    /// Packets lost over the last seconds, permille; none if unknown.
    pub lost: Option<u16>,
    /// Seconds until it is complete at its mean rate; none if unknown.
    pub left_s: Option<u16>,
    /// Objects in their place.
    pub objects: u32,
    /// Objects that it cannot receive.
    pub failed: u32,
}

impl ReceptionReport {
    /// Whether bytes start as a reception report does.
    pub fn is_report(bytes: &[u8]) -> bool {
        bytes.first() == Some(&RECEPTION)
    }

    /// The message as bytes. Values beyond their largest are sent as that.
    pub fn to_bytes(self) -> [u8; REPORT_BYTES] {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(self.is_complete, COMPLETE)
            | flag(self.is_leaving, LEAVING)
            | flag(self.disk_fails, DISK_FAILS);
        let known = |value: Option<u16>| value.map_or(UNKNOWN, |value| value.min(UNKNOWN - 1)).to_be_bytes();
        let level = u8::try_from(self.level.as_number()).unwrap_or(NO_LEVEL);
        let mut bytes = [0; REPORT_BYTES];
        bytes[..4].copy_from_slice(&[RECEPTION, flags, self.poll, self.exponent.min(EXPONENT_MAX)]);
        bytes[4..8].copy_from_slice(&self.tsi.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.receiver.get().to_be_bytes());
        bytes[16..18].copy_from_slice(&self.share.to_be_bytes());
        bytes[18] = level;
        bytes[20..22].copy_from_slice(&known(self.lost.map(|lost| lost.min(1000))));
        bytes[22..24].copy_from_slice(&known(self.left_s));
        bytes[24..28].copy_from_slice(&self.objects.to_be_bytes());
        bytes[28..].copy_from_slice(&self.failed.to_be_bytes());
        bytes
    }

    /// The message from bytes; surplus bytes and unknown flags are ignored. Never panics.
    ///
    /// # Errors
    /// Why they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<ReceptionReport, PacketError> {
        let word = |at: usize| word(bytes, at, REPORT_BYTES);
        let [first, flags, poll, exponent] = word(0)?.to_be_bytes();
        if first != RECEPTION {
            return Err(PacketError::Feedback(first));
        }
        let receiver = u64::from(word(8)?) << 32 | u64::from(word(12)?);
        let receiver = NonZeroU64::new(receiver).ok_or(PacketError::Receiver)?;
        let [share_high, share_low, level, _] = word(16)?.to_be_bytes();
        let [lost_high, lost_low, left_high, left_low] = word(20)?.to_be_bytes();
        let known = |value: u16| (value != UNKNOWN).then_some(value);
        let lost = known(u16::from_be_bytes([lost_high, lost_low]));
        if exponent > EXPONENT_MAX || lost.is_some_and(|lost| lost > 1000) {
            return Err(PacketError::Report);
        }
        Ok(ReceptionReport {
            tsi: word(4)?,
            receiver,
            poll,
            exponent,
            is_complete: flags & COMPLETE != 0,
            is_leaving: flags & LEAVING != 0,
            disk_fails: flags & DISK_FAILS != 0,
            share: u16::from_be_bytes([share_high, share_low]),
            level: Level::from_count(u16::from(level.wrapping_add(1))),
            lost,
            left_s: known(u16::from_be_bytes([left_high, left_low])),
            objects: word(24)?,
            failed: word(28)?,
        })
    }
}
