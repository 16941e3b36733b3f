//! Reports as bytes.
//!
//! ```text
//!         0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  kind  | flags  | reserved, 0     |   kind: 0x14 TFRC, 0x15 CBR
//!   4 | session                           |   flags: 1 has heard data, 2 leaving
//!   8 | newest send time heard, us        |
//!  12 | how long ago it came, us          |
//!  16 | receive rate, byte/s              |
//!  20 | loss event rate, 2^32 - 1 = all   |
//!     +-----------------------------------+
//! ```

use super::header::{Report, ReportError};

/// Bytes of a report.
const LENGTH: usize = 24;
const FLAG_HEARD: u8 = 1;
const FLAG_LEAVING: u8 = 2;

impl Report {
    /// Writes the report with the first byte of its protocol to the start of `bytes`, and returns its
    /// length.
    pub(crate) fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        const { assert!(N >= LENGTH, "no room for a report") };
        let has_data = if self.newest.is_some() { FLAG_HEARD } else { 0 };
        let leaving = if self.leaving { FLAG_LEAVING } else { 0 };
        let (newest, age) = self.newest.unwrap_or_default();
        let words = [self.session, newest, age, self.receive_rate, self.loss];
        let (start, rest) = bytes.split_at_mut(4);
        start.copy_from_slice(&[kind, has_data | leaving, 0, 0]);
        for (room, word) in rest.chunks_exact_mut(4).zip(words) {
            room.copy_from_slice(&word.to_be_bytes());
        }
        LENGTH
    }

    /// Reads a report that begins with this byte. Never panics; trailing bytes are ignored.
    pub(crate) fn decode(kind: u8, bytes: &[u8]) -> Result<Report, ReportError> {
        let truncated = ReportError::Truncated { have: bytes.len() };
        let Some((&[first, flags, _, _], rest)) = bytes.split_first_chunk() else { return Err(truncated) };
        if first != kind {
            return Err(ReportError::Kind(first));
        }
        if flags & !(FLAG_HEARD | FLAG_LEAVING) != 0 {
            return Err(ReportError::Flags(flags));
        }
        let mut words = rest.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_be_bytes));
        let mut word = || words.next().ok_or(truncated);
        let (session, newest, age) = (word()?, word()?, word()?);
        let has_data = flags & FLAG_HEARD != 0;
        Ok(Report {
            session,
            newest: has_data.then_some((newest, age)),
            receive_rate: word()?,
            loss: word()?,
            leaving: flags & FLAG_LEAVING != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: Report = Report {
        session: 0x0102_0304,
        newest: Some((7, u32::MAX)),
        receive_rate: 125_000,
        loss: 1,
        leaving: true,
    };

    #[test]
    fn a_report_comes_back_and_every_truncation_is_refused() {
        for report in [REPORT, Report { newest: None, leaving: false, ..REPORT }] {
            let mut bytes = [0; 44];
            let length = report.encode(0x14, &mut bytes);
            assert_eq!(Report::decode(0x14, &bytes[..length]), Ok(report));
            for cut in 0..length {
                let error = ReportError::Truncated { have: cut };
                assert_eq!(Report::decode(0x14, &bytes[..cut]), Err(error));
            }
        }
    }

    #[test]
    fn another_kind_and_unknown_flags_are_refused() {
        let mut bytes = [0; 44];
        REPORT.encode(0x14, &mut bytes);
        assert_eq!(Report::decode(0x15, &bytes), Err(ReportError::Kind(0x14)));
        bytes[1] = 0x80;
        assert_eq!(Report::decode(0x14, &bytes), Err(ReportError::Flags(0x80)));
    }
}
