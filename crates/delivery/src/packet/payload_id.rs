//! FEC payload ids.

use super::PacketError;

/// Encoding symbol ids are below this (RFC 6330, section 3.2: 24 bits).
pub const ESI_LIMIT: u32 = 1 << 24;

/// Which symbol a packet carries (RFC 6330, section 3.2): source block number and encoding symbol id.
///
/// The same four bytes are the id of FEC encoding 0 with 16 bits each (RFC 5445, section 3.2.1), which the
/// file delivery table uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PayloadId {
    /// The source block.
    pub block: u8,
    esi: u32,
}

impl PayloadId {
    /// The id's length in bytes.
    pub const BYTES: usize = 4;

    /// An id; none if the symbol's number has more than 24 bits.
    pub fn new(block: u8, esi: u32) -> Option<PayloadId> {
        (esi < ESI_LIMIT).then_some(PayloadId { block, esi })
    }

    /// The number of the symbol in its block.
    pub fn esi(self) -> u32 {
        self.esi
    }

    /// The id as bytes.
    pub fn to_bytes(self) -> [u8; 4] {
        (u32::from(self.block) << 24 | self.esi).to_be_bytes()
    }

    /// The id from bytes; every value is legal.
    pub fn from_bytes(bytes: [u8; 4]) -> PayloadId {
        let word = u32::from_be_bytes(bytes);
        PayloadId { block: (word >> 24) as u8, esi: word & (ESI_LIMIT - 1) }
    }

    /// The id at the start of a payload, and the symbol that follows it.
    ///
    /// # Errors
    /// If there are fewer than four bytes.
    pub fn split(payload: &[u8]) -> Result<(PayloadId, &[u8]), PacketError> {
        match payload.split_first_chunk() {
            Some((id, symbol)) => Ok((PayloadId::from_bytes(*id), symbol)),
            None => Err(PacketError::Truncated { need: PayloadId::BYTES, have: payload.len() }),
        }
    }
}
