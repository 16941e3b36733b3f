//! A checked view of the bytes of a packet.

use layercast_core::Always as _;
use layercast_core::lct::VERSION;

use super::{Extensions, PacketError};

/// The fixed first word.
const FIRST: usize = 4;

/// A packet whose LCT header has been checked.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    cci_end: usize,
    tsi_end: usize,
    toi_end: usize,
    header_end: usize,
}

impl<'a> View<'a> {
    /// Checks a packet. Never panics, and allocates nothing.
    ///
    /// # Errors
    /// What is wrong with the header, extensions included (RFC 5775, section 4.4, step 1).
    pub fn new(bytes: &'a [u8]) -> Result<View<'a>, PacketError> {
        let have = bytes.len();
        let Some(&[first, second, words, _]) = bytes.first_chunk() else {
            return Err(PacketError::Truncated { need: FIRST, have });
        };
        if first >> 4 != VERSION {
            return Err(PacketError::Version(first >> 4));
        }
        let half = usize::from(second >> 4 & 1) * 2;
        let cci_end = FIRST + (usize::from(first >> 2 & 3) + 1) * 4;
        let tsi_end = cci_end + usize::from(second >> 7) * 4 + half;
        let toi_end = tsi_end + usize::from(second >> 5 & 3) * 4 + half;
        let header_end = usize::from(words) * 4;
        if header_end < toi_end {
            return Err(PacketError::HeaderLength { words });
        }
        if have < header_end {
            return Err(PacketError::Truncated { need: header_end, have });
        }
        let view = View { bytes, cci_end, tsi_end, toi_end, header_end };
        Extensions::check(view.part(toi_end, header_end))?;
        Ok(view)
    }

    fn part(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).always("lengths were checked at first")
    }

    fn number(&self, from: usize, to: usize) -> u128 {
        self.part(from, to).iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().always("lengths were checked at first")
    }

    /// The congestion control information: 4, 8, 12 or 16 bytes.
    pub fn cci(&self) -> &'a [u8] {
        self.part(FIRST, self.cci_end)
    }

    /// The session number (TSI); none if the field has no bits.
    pub fn tsi(&self) -> Option<u64> {
        (self.tsi_end > self.cci_end).then(|| self.number(self.cci_end, self.tsi_end) as u64)
    }

    /// The object number (TOI); none if the field has no bits.
    pub fn toi(&self) -> Option<u128> {
        (self.toi_end > self.tsi_end).then(|| self.number(self.tsi_end, self.toi_end))
    }

    /// How many bytes the session number and the object number have.
    pub fn id_lengths(&self) -> (usize, usize) {
        (self.tsi_end - self.cci_end, self.toi_end - self.tsi_end)
    }

    /// Whether the session ends (flag A).
    pub fn close_session(&self) -> bool {
        self.byte(1) & 2 != 0
    }

    /// Whether the object ends (flag B).
    pub fn close_object(&self) -> bool {
        self.byte(1) & 1 != 0
    }

    /// The codepoint: the FEC encoding id (RFC 6726, section 5.1).
    pub fn codepoint(&self) -> u8 {
        self.byte(3)
    }

    /// The header extensions in order.
    pub fn extensions(&self) -> Extensions<'a> {
        Extensions::new(self.part(self.toi_end, self.header_end))
    }

    /// The bytes after the LCT header: FEC payload id and symbol, or nothing.
    pub fn payload(&self) -> &'a [u8] {
        self.part(self.header_end, self.bytes.len())
    }
}
