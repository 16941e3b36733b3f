//! The wire format of reports: one layout for all protocols, each of which defines the meaning of the
//! words.
//!
//! ```text
//!         0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  kind  | flags  | half            |
//!   4 | session                           |
//!   8 | receiver (64), not 0              |
//!  16 | first word                        |
//!  20 | second word                       |
//!  24 | newest send time heard, us of the source, plus the time since |
//!     +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use super::header::HeaderError;
use crate::feedback::ReceiverId;

/// Bytes of a report.
const LENGTH: usize = 28;

/// A report in its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Flags whose meaning each protocol defines.
    pub flags: u8,
    /// A 16-bit field whose meaning each protocol defines.
    pub half: u16,
    /// The session number of the packets received.
    pub session: u32,
    /// The receiver that reports.
    pub receiver: ReceiverId,
    /// Two 32-bit fields whose meaning each protocol defines.
    pub words: [u32; 2],
    /// The echoed time stamp, in microseconds: the newest send time received plus the time since.
    pub heard_us: u32,
}

impl Fields {
    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        const { assert!(N >= LENGTH, "no room for a report") };
        let receiver = self.receiver.0.get();
        let words = [
            u32::from(kind) << 24 | u32::from(self.flags) << 16 | u32::from(self.half),
            self.session,
            (receiver >> 32) as u32,
            receiver as u32,
            self.words[0],
            self.words[1],
            self.heard_us,
        ];
        for (room, word) in bytes.chunks_exact_mut(4).zip(words) {
            room.copy_from_slice(&word.to_be_bytes());
        }
        LENGTH
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are ignored.
    pub fn decode(kind: u8, flags_known: u8, bytes: &[u8]) -> Result<Fields, HeaderError> {
        let Some((report, _)) = bytes.split_first_chunk::<LENGTH>() else {
            return Err(HeaderError::Length { have: bytes.len() });
        };
        let mut words = [0; 7];
        for (word, part) in words.iter_mut().zip(report.chunks_exact(4)) {
            *word = part.try_into().map_or(0, u32::from_be_bytes);
        }
        let [head, session, high, low, first, second, heard_us] = words;
        let [first_byte, flags, ..] = head.to_be_bytes();
        if first_byte != kind {
            return Err(HeaderError::Kind(first_byte));
        }
        if flags & !flags_known != 0 {
            return Err(HeaderError::Flags(flags));
        }
        let receiver = NonZeroU64::new(u64::from(high) << 32 | u64::from(low));
        let receiver = receiver.map(ReceiverId).ok_or(HeaderError::Receiver)?;
        Ok(Fields { flags, half: head as u16, session, receiver, words: [first, second], heard_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back_and_what_is_none_is_refused_by_name() {
        let receiver = ReceiverId(NonZeroU64::new(0x1122_3344_5566_7788).unwrap());
        let words = [u32::MAX, 0x8000_0001];
        let fields = Fields { flags: 3, half: 0xfffe, session: 7, receiver, words, heard_us: 5 };
        let mut bytes = [0; 44];
        let length = fields.encode(0x1d, &mut bytes);
        assert_eq!(Fields::decode(0x1d, 3, &bytes[..length]), Ok(fields));
        for cut in 0..length {
            assert_eq!(Fields::decode(0x1d, 3, &bytes[..cut]), Err(HeaderError::Length { have: cut }));
        }
        assert_eq!(Fields::decode(0x1e, 3, &bytes), Err(HeaderError::Kind(0x1d)));
        assert_eq!(Fields::decode(0x1d, 1, &bytes), Err(HeaderError::Flags(3)));
        bytes[8..16].fill(0);
        assert_eq!(Fields::decode(0x1d, 3, &bytes), Err(HeaderError::Receiver));
    }
}
