//! Reports as bytes.
//!
//! ```text
//!         0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  0x16  | flags  | round  | 0      |   flags: 1 has a round-trip time, 2 has had a loss,
//!   4 | session                           |          4 leaving
//!   8 | receiver (64), not 0              |
//!  16 | time stamp, us of the receiver    |
//!  20 | newest send time heard, us of the source, plus the time since |
//!  24 | rate asked for  | reserved, 0     |   exponent 5, mantissa 11
//!     +-----------------------------------+
//! ```

use core::num::NonZeroU64;

use super::header::{FloatRate, HeaderError, ReceiverId, Report};

/// Bytes of a report.
const LENGTH: usize = 28;
const FLAG_HAS_RTT: u8 = 1;
const FLAG_HAS_LOSS: u8 = 2;
const FLAG_LEAVING: u8 = 4;

impl Report {
    /// Writes the report to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        self.encode_as(kind, 0, bytes)
    }

    /// The same with another first byte, and a value for the byte that is reserved here.
    pub(crate) fn encode_as<const N: usize>(&self, kind: u8, fourth: u8, bytes: &mut [u8; N]) -> usize {
        const { assert!(N >= LENGTH, "no room for a report") };
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(self.has_rtt, FLAG_HAS_RTT)
            | flag(self.has_loss, FLAG_HAS_LOSS)
            | flag(self.leaving, FLAG_LEAVING);
        let receiver = self.receiver.0.get();
        let words = [
            u32::from_be_bytes([kind, flags, self.round, fourth]),
            self.session,
            (receiver >> 32) as u32,
            receiver as u32,
            self.timestamp_us,
            self.heard_us,
            u32::from(self.rate.0) << 16,
        ];
        for (room, word) in bytes.chunks_exact_mut(4).zip(words) {
            room.copy_from_slice(&word.to_be_bytes());
        }
        LENGTH
    }

    /// Reads a report from the start of `bytes`. Never panics; trailing bytes are ignored.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Report, HeaderError> {
        Report::decode_as(kind, bytes).map(|(report, _)| report)
    }

    /// The same with another first byte; also returns the byte that is reserved here.
    pub(crate) fn decode_as(kind: u8, bytes: &[u8]) -> Result<(Report, u8), HeaderError> {
        let Some((report, _)) = bytes.split_first_chunk::<LENGTH>() else {
            return Err(HeaderError::Length { have: bytes.len() });
        };
        let &[first, flags, round, fourth, ref rest @ ..] = report;
        if first != kind {
            return Err(HeaderError::Kind(first));
        }
        if flags & !(FLAG_HAS_RTT | FLAG_HAS_LOSS | FLAG_LEAVING) != 0 {
            return Err(HeaderError::Flags(flags));
        }
        let mut words = [0; 6];
        for (word, part) in words.iter_mut().zip(rest.chunks_exact(4)) {
            *word = part.try_into().map_or(0, u32::from_be_bytes);
        }
        let [session, high, low, timestamp_us, heard_us, rate] = words;
        let receiver = NonZeroU64::new(u64::from(high) << 32 | u64::from(low));
        let report = Report {
            session,
            receiver: receiver.map(ReceiverId).ok_or(HeaderError::Receiver)?,
            timestamp_us,
            heard_us,
            round,
            has_rtt: flags & FLAG_HAS_RTT != 0,
            has_loss: flags & FLAG_HAS_LOSS != 0,
            leaving: flags & FLAG_LEAVING != 0,
            rate: FloatRate((rate >> 16) as u16),
        };
        Ok((report, fourth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const KIND: u8 = 0x16;

    fn report() -> Report {
        Report {
            session: 0x0102_0304,
            receiver: ReceiverId(NonZeroU64::new(0x1122_3344_5566_7788).unwrap()),
            timestamp_us: 7,
            heard_us: u32::MAX,
            round: 255,
            has_rtt: true,
            has_loss: false,
            leaving: true,
            rate: FloatRate(0xabcd),
        }
    }

    #[test]
    fn a_report_comes_back_and_every_truncation_is_refused() {
        for has_loss in [false, true] {
            let report = Report { has_loss, ..report() };
            let mut bytes = [0; 44];
            let length = report.encode(KIND, &mut bytes);
            assert_eq!(Report::decode(KIND, &bytes[..length]), Ok(report));
            for cut in 0..length {
                assert_eq!(Report::decode(KIND, &bytes[..cut]), Err(HeaderError::Length { have: cut }));
            }
        }
    }

    #[test]
    fn what_is_not_a_report_is_refused_by_name() {
        let mut bytes = [0; 44];
        report().encode(KIND, &mut bytes);
        let changed = |place: usize, value: u8| {
            let mut bytes = bytes;
            bytes[place] = value;
            Report::decode(KIND, &bytes)
        };
        assert_eq!(changed(0, 0x12), Err(HeaderError::Kind(0x12)));
        assert_eq!(changed(1, 8), Err(HeaderError::Flags(8)));
        bytes[8..16].fill(0);
        assert_eq!(Report::decode(KIND, &bytes), Err(HeaderError::Receiver));
    }
}
