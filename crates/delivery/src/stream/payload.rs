//! The payload of a stream's packet, and the head of a symbol.

use layercast_core::units::Size;

use crate::packet::PayloadId;

/// The codepoint of a stream's packets. It is none of the FEC encoding ids that are registered (RFC 5052, section 11).
pub const CODEPOINT: u8 = 240;

/// The most source symbols of a block (CHOICE: the encoder of a block of so many takes a millisecond, and what short blocks
/// cost in repair symbols is small from here on).
pub(super) const BLOCK_SYMBOLS: u16 = 256;

/// The bit of a repair symbol.
const REPAIR: u16 = 1 << 15;
/// The number in place of a source symbol's when all inputs have ended and all is sent.
const END: u16 = REPAIR - 1;
/// The place of the first unit in a symbol that has no beginning of a unit.
const NONE: u16 = u16::MAX;

/// The size of a stream's symbols: what is left of the session's symbols after the longer payload id, in multiples of four
/// bytes. `packet` and `headers` are those of [`crate::sender::symbol_size`].
pub fn symbol_size(packet: Size, headers: u32) -> u16 {
    let longer = (Head::BYTES - PayloadId::BYTES) as u16;
    let size = crate::sender::symbol_size(packet, headers).saturating_sub(longer);
    size - size % 4
}

/// Which symbol of a block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolId {
    /// A source symbol.
    Source {
        /// Its index in the block.
        index: u16,
        /// How many source symbols the block before has; 0 if there is none.
        before: u16,
    },
    /// A repair symbol.
    Repair {
        /// Its number, from 0 on.
        number: u16,
        /// How many source symbols its block has.
        count: u16,
    },
    /// None: all inputs of the stream have ended, and all is sent.
    End,
}

/// The payload id of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the block, modulo 2^32.
    pub block: u32,
    /// The symbol.
    pub symbol: SymbolId,
    /// When the packet was sent, in µs of the source's clock modulo 2^32.
    pub sent_us: u32,
}

/// Why a payload is not one of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// It is too short, or too long.
    #[error("a payload of {0} bytes")]
    Length(usize),
    /// A block has 1 to 256 source symbols.
    #[error("symbol {0} of a block of {1}")]
    Symbol(u16, u16),
    /// A symbol says that it has more than it has.
    #[error("a symbol with {0} bytes of data")]
    Data(u16),
}

impl Head {
    /// Its length in bytes.
    pub const BYTES: usize = 12;

    /// The head as bytes.
    pub fn to_bytes(self) -> [u8; Head::BYTES] {
        let (symbol, count) = match self.symbol {
            SymbolId::Source { index, before } => (index & !REPAIR, before),
            SymbolId::Repair { number, count } => (number | REPAIR, count),
            SymbolId::End => (END, 0),
        };
        let ([b3, b2, b1, b0], [s1, s0], [c1, c0]) =
            (self.block.to_be_bytes(), symbol.to_be_bytes(), count.to_be_bytes());
        let [t3, t2, t1, t0] = self.sent_us.to_be_bytes();
        [b3, b2, b1, b0, s1, s0, c1, c0, t3, t2, t1, t0]
    }

    /// The head of a payload, and the symbol, of which zeros at the end are left out.
    ///
    /// # Errors
    /// Why it is not valid.
    pub fn split(payload: &[u8]) -> Result<(Head, &[u8]), PayloadError> {
        let Some((&[b3, b2, b1, b0, s1, s0, c1, c0, t3, t2, t1, t0], rest)) = payload.split_first_chunk()
        else {
            return Err(PayloadError::Length(payload.len()));
        };
        let (symbol, count) = (u16::from_be_bytes([s1, s0]), u16::from_be_bytes([c1, c0]));
        let is_valid = count <= BLOCK_SYMBOLS
            && match symbol & REPAIR {
                0 => symbol < BLOCK_SYMBOLS || symbol == END && count == 0,
                _ => count > 0,
            };
        if !is_valid {
            return Err(PayloadError::Symbol(symbol, count));
        }
        let symbol = match symbol & REPAIR {
            0 if symbol == END => SymbolId::End,
            0 => SymbolId::Source { index: symbol, before: count },
            _ => SymbolId::Repair { number: symbol & !REPAIR, count },
        };
        let head = Head {
            block: u32::from_be_bytes([b3, b2, b1, b0]),
            symbol,
            sent_us: u32::from_be_bytes([t3, t2, t1, t0]),
        };
        Ok((head, rest))
    }
}

/// The head of a source symbol. It is coded with the symbol, so a repaired one has it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolHead {
    /// When the unit whose bytes come first arrived at the source, in µs of its clock modulo 2^32.
    pub entered_us: u32,
    /// The number of the first unit that begins in this symbol or after it, modulo 2^32.
    pub unit: u32,
    /// How many bytes of data follow; the rest is zero.
    pub used: u16,
    /// Where in the data the first unit begins; none if none does.
    pub start: Option<u16>,
}

impl SymbolHead {
    /// Its length in bytes.
    pub const BYTES: usize = 12;

    /// The head as bytes.
    pub fn to_bytes(self) -> [u8; SymbolHead::BYTES] {
        let ([e3, e2, e1, e0], [n3, n2, n1, n0]) = (self.entered_us.to_be_bytes(), self.unit.to_be_bytes());
        let ([u1, u0], [p1, p0]) = (self.used.to_be_bytes(), self.start.unwrap_or(NONE).to_be_bytes());
        [e3, e2, e1, e0, n3, n2, n1, n0, u1, u0, p1, p0]
    }

    /// The head of a symbol, and its data.
    ///
    /// # Errors
    /// Why it is not valid.
    pub fn split(symbol: &[u8]) -> Result<(SymbolHead, &[u8]), PayloadError> {
        let Some((&[e3, e2, e1, e0, n3, n2, n1, n0, u1, u0, p1, p0], rest)) = symbol.split_first_chunk()
        else {
            return Err(PayloadError::Length(symbol.len()));
        };
        let (used, start) = (u16::from_be_bytes([u1, u0]), u16::from_be_bytes([p1, p0]));
        let data = rest.get(..usize::from(used)).ok_or(PayloadError::Data(used))?;
        let start = Some(start).filter(|&start| start != NONE);
        if start.is_some_and(|start| start >= used) {
            return Err(PayloadError::Data(used));
        }
        let (entered_us, unit) = (u32::from_be_bytes([e3, e2, e1, e0]), u32::from_be_bytes([n3, n2, n1, n0]));
        Ok((SymbolHead { entered_us, unit, used, start }, data))
    }
}
