//! How an object is cut into symbols, for both FEC encodings.

use super::{FEC_NO_CODE, FEC_RAPTORQ, Oti, OtiError};
use crate::packet::{Fti, PayloadId};

/// How an object is cut into symbols and coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RaptorQ (RFC 6330): any symbols of a block, slightly more than its source symbols, give the block.
    RaptorQ(Oti),
    /// No code (RFC 5445, section 3): every symbol is needed.
    NoCode(NoCode),
}

/// An object in symbols without a code, in blocks (RFC 5052, section 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCode {
    length: u64,
    symbol: u16,
    max_block: u32,
}

/// The longest object without a code: its symbols are counted in a table in memory.
const NO_CODE_SYMBOLS_MAX: u64 = 1 << 24;

impl NoCode {
    /// An object of `length` bytes in symbols of `symbol` bytes, at most `max_block` of them in a block.
    ///
    /// # Errors
    /// If one of the sizes is zero, or there are too many symbols or blocks.
    pub fn new(length: u64, symbol: u16, max_block: u32) -> Result<NoCode, OtiError> {
        if symbol == 0 {
            return Err(OtiError::Symbol(symbol));
        }
        let coding = NoCode { length, symbol, max_block };
        if coding.symbols() > NO_CODE_SYMBOLS_MAX {
            return Err(OtiError::Length(length));
        }
        // Numbers of blocks and symbols have 16 bits each.
        if max_block == 0 || coding.blocks() > 1 << 16 || coding.symbols().min(u64::from(max_block)) > 1 << 16
        {
            return Err(OtiError::Blocks(max_block.min(255) as u8));
        }
        Ok(coding)
    }

    /// The object's length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The size of a symbol in bytes.
    pub fn symbol_size(&self) -> usize {
        usize::from(self.symbol)
    }

    /// The most symbols of a block.
    pub fn max_block(&self) -> u32 {
        self.max_block
    }

    /// How many symbols the object has; none if it is empty.
    pub fn symbols(&self) -> u64 {
        self.length.div_ceil(u64::from(self.symbol))
    }

    fn blocks(&self) -> u64 {
        self.symbols().div_ceil(u64::from(self.max_block.max(1)))
    }

    /// The number of a symbol in the whole object, from a payload id with 16 bits of block and 16 bits of symbol; none
    /// if there is no such symbol.
    pub fn number(&self, id: PayloadId) -> Option<u64> {
        let [b1, b0, e1, e0] = id.to_bytes();
        let (block, esi) = (u64::from(u16::from_be_bytes([b1, b0])), u64::from(u16::from_be_bytes([e1, e0])));
        let (symbols, blocks) = (self.symbols(), self.blocks());
        if block >= blocks {
            return None;
        }
        // RFC 5052, section 9.1: the first blocks are longer by one where the division leaves a rest.
        let (short, longer) = (symbols / blocks, symbols % blocks);
        let count = short + u64::from(block < longer);
        (esi < count).then(|| block * short + block.min(longer) + esi)
    }

    /// The position of a symbol in the file: its start, and its length.
    pub fn position(&self, number: u64) -> (u64, usize) {
        let start = number * u64::from(self.symbol);
        (start, self.length.saturating_sub(start).min(u64::from(self.symbol)) as usize)
    }
}

/// Where a symbol of an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolPlace {
    /// A part of the object: its start, and its length in bytes; the rest of the symbol is padding.
    Source(u64, usize),
    /// The repair symbol of this number of its block.
    Repair(Oti, u32),
}

impl Coding {
    /// Where a symbol comes from; none if the object has no such symbol.
    pub fn locate(&self, id: PayloadId) -> Option<SymbolPlace> {
        match self {
            Coding::NoCode(coding) => {
                let (start, length) = coding.position(coding.number(id)?);
                Some(SymbolPlace::Source(start, length))
            }
            Coding::RaptorQ(oti) if id.block >= oti.blocks() => None,
            Coding::RaptorQ(oti) => match id.esi().checked_sub(oti.block_symbols(id.block)) {
                Some(number) => Some(SymbolPlace::Repair(*oti, number)),
                None => {
                    let (start, length) = oti.position(id.block, id.esi());
                    Some(SymbolPlace::Source(start, length))
                }
            },
        }
    }

    /// The length of a symbol in a packet, in bytes: without a code the last one has no padding.
    pub fn symbol_length(&self, id: PayloadId) -> usize {
        match (self, self.locate(id)) {
            (Coding::NoCode(_), Some(SymbolPlace::Source(_, length))) => length,
            (Coding::NoCode(_), _) => 0,
            (Coding::RaptorQ(oti), _) => oti.symbol_size(),
        }
    }

    /// The coding that a source uses: none for an object of at most one symbol, which every packet carries whole, else
    /// RaptorQ.
    ///
    /// # Errors
    /// If the symbol size is too small for the object.
    pub fn plan(length: u64, symbol: u16) -> Result<Coding, OtiError> {
        let oti = Oti::plan(length, symbol)?;
        if oti.symbols() > 1 {
            return Ok(Coding::RaptorQ(oti));
        }
        NoCode::new(length, oti.symbol_size() as u16, 1).map(Coding::NoCode)
    }

    /// The coding that FEC information in a packet describes (RFC 5775, section 4.2): of no code RFC 5445, section 3.2.2;
    /// of RaptorQ RFC 6330, sections 3.3.2 and 3.3.3.
    ///
    /// # Errors
    /// What is invalid or not supported.
    pub fn from_fti(encoding: u8, fti: Fti) -> Result<Coding, OtiError> {
        let Fti([a, b, c, d, e, f, g, h, i, j, k, l, m, n]) = fti;
        match encoding {
            FEC_NO_CODE => {
                let length = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
                let (symbol, block) = (u16::from_be_bytes([i, j]), u32::from_be_bytes([k, l, m, n]));
                NoCode::new(length, symbol, block).map(Coding::NoCode)
            }
            FEC_RAPTORQ => {
                let length = u64::from_be_bytes([0, 0, 0, a, b, c, d, e]);
                Oti::new(length, u16::from_be_bytes([g, h]), [i, j, k, l]).map(Coding::RaptorQ)
            }
            other => Err(OtiError::Encoding(other.into())),
        }
    }

    /// The FEC encoding id.
    pub fn encoding_id(&self) -> u8 {
        match self {
            Coding::RaptorQ(_) => FEC_RAPTORQ,
            Coding::NoCode(_) => FEC_NO_CODE,
        }
    }

    /// The object's length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Coding::RaptorQ(oti) => oti.length(),
            Coding::NoCode(coding) => coding.length(),
        }
    }

    /// The size of a symbol in bytes.
    pub fn symbol_size(&self) -> usize {
        match self {
            Coding::RaptorQ(oti) => oti.symbol_size(),
            Coding::NoCode(coding) => coding.symbol_size(),
        }
    }

    /// The least number of symbols that give the object.
    pub fn symbols(&self) -> u64 {
        match self {
            Coding::RaptorQ(oti) if oti.length() == 0 => 0,
            Coding::RaptorQ(oti) => oti.symbols(),
            Coding::NoCode(coding) => coding.symbols(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(block: u16, esi: u16) -> PayloadId {
        let ([b1, b0], [e1, e0]) = (block.to_be_bytes(), esi.to_be_bytes());
        PayloadId::from_bytes([b1, b0, e1, e0])
    }

    #[test]
    fn symbols_without_a_code_are_partitioned_as_in_the_rfc() {
        // Eleven symbols in blocks of at most four: three blocks, of 4, 4 and 3.
        let coding = NoCode::new(1050, 100, 4).expect("a coding");
        let numbers: Vec<_> =
            (0..4).flat_map(|b| (0..5).filter_map(move |e| coding.number(id(b, e)))).collect();
        assert_eq!(numbers, (0..11).collect::<Vec<_>>());
        assert_eq!(coding.position(10), (1000, 50));
        assert!(NoCode::new(1, 0, 1).is_err() && NoCode::new(1, 1, 0).is_err());
        assert!(NoCode::new(1 << 40, 1, 1).is_err());
        assert_eq!(NoCode::new(0, 100, 1).expect("empty").number(id(0, 0)), None);
    }

    #[test]
    fn symbols_are_parts_of_the_object_or_repair_symbols() {
        let coding = Coding::plan(1050, 100).expect("a coding");
        let Coding::RaptorQ(oti) = coding else { panic!("{coding:?}") };
        let at = |block, esi| coding.locate(PayloadId::new(block, esi).expect("an id"));
        assert_eq!(at(0, 1), Some(SymbolPlace::Source(100, 100)));
        assert_eq!(at(0, 10), Some(SymbolPlace::Source(1000, 50)));
        assert_eq!(at(0, 13), Some(SymbolPlace::Repair(oti, 2)));
        assert_eq!(at(1, 0), None);
        let short = Coding::plan(70, 100).expect("a coding");
        assert_eq!(short.locate(id(0, 0)), Some(SymbolPlace::Source(0, 70)));
        assert_eq!(short.locate(id(0, 1)), None);
        assert_eq!([coding.symbol_length(id(0, 10)), short.symbol_length(id(0, 0))], [100, 70]);
    }

    #[test]
    fn only_objects_of_one_symbol_have_no_code() {
        let encoding = |length| Coding::plan(length, 100).expect("a coding").encoding_id();
        assert_eq!([encoding(0), encoding(100), encoding(101)], [FEC_NO_CODE, FEC_NO_CODE, FEC_RAPTORQ]);
    }
}
