//! The blocks and symbols of a file (RFC 6330, sections 3.3 and 4.4.1.2).

use core::fmt;

use raptorq::ObjectTransmissionInformation;

/// The most source symbols of a block (RFC 6330, section 5.1.2).
pub const MAX_BLOCK_SYMBOLS: u32 = 56_403;

/// The longest object that the coder supports, slightly less than the RFC allows (section 3.3.2).
const MAX_LENGTH: u64 = 942_574_504_275;

/// The number of source symbols per block, and the number of blocks from which on they are larger (CHOICE). Larger blocks
/// need fewer symbols beyond the file's size when packets are lost, since blocks lose unequal numbers, the more so the
/// more there are: of 100 MB with 5 % lost 1.3 % more than the file, with 1024 per block 2.1 %. Smaller ones need less
/// memory and are complete sooner.
const BLOCK_SYMBOLS: core::ops::RangeInclusive<u64> = 1024..=4096;
const FEW_BLOCKS: u64 = 16;

/// The longest object of a source in symbols, so that blocks are no larger than that: longer files have parts.
pub const PART_SYMBOLS: u64 = 255 * *BLOCK_SYMBOLS.end();

/// The alignment of symbols in bytes.
const ALIGNMENT: u8 = 4;

/// Object transmission information: length, symbol size, number of blocks. One sub-block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oti {
    length: u64,
    symbol: u16,
    blocks: u8,
}

/// Why object transmission information is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtiError {
    /// The object is longer than symbols of this size can carry.
    Length(u64),
    /// A symbol's size is zero or not a multiple of the alignment.
    Symbol(u16),
    /// There are no blocks, or more than symbols, or a block has too many symbols.
    Blocks(u8),
    /// Sub-blocks are not used here.
    SubBlocks(u16),
    /// The alignment is zero.
    Alignment(u8),
    /// An unsupported FEC encoding.
    Encoding(u64),
}

impl fmt::Display for OtiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OtiError::Length(length) => write!(f, "{length} bytes are too many for symbols of this size"),
            OtiError::Symbol(size) => write!(f, "{size} bytes is not a valid symbol size"),
            OtiError::Blocks(count) => write!(f, "{count} source blocks do not fit the object"),
            OtiError::SubBlocks(count) => write!(f, "{count} sub-blocks, and only one is supported"),
            OtiError::Alignment(bytes) => write!(f, "an alignment of {bytes} bytes does not fit the symbols"),
            OtiError::Encoding(id) => {
                write!(f, "FEC encoding {id}; 0 (no code) and 6 (RaptorQ) are supported")
            }
        }
    }
}

impl core::error::Error for OtiError {}

impl Oti {
    /// The default blocks and symbols of an object. `symbol` is rounded down to the alignment.
    ///
    /// # Errors
    /// If the symbol size is too small for the object, or less than the alignment.
    pub fn plan(length: u64, symbol: u16) -> Result<Oti, OtiError> {
        let symbol = symbol - symbol % u16::from(ALIGNMENT);
        if symbol == 0 {
            return Err(OtiError::Symbol(symbol));
        }
        let symbols = length.div_ceil(u64::from(symbol)).max(1);
        let usual = symbols.div_ceil(FEW_BLOCKS).clamp(*BLOCK_SYMBOLS.start(), *BLOCK_SYMBOLS.end());
        let blocks = symbols.div_ceil(usual).min(255);
        if symbols.div_ceil(blocks) > u64::from(MAX_BLOCK_SYMBOLS) {
            return Err(OtiError::Length(length));
        }
        Oti::new(length, symbol, [blocks as u8, 0, 1, ALIGNMENT])
    }

    /// The information from its numbers; the last four bytes are scheme-specific (RFC 6330, section 3.3.3).
    ///
    /// # Errors
    /// What is invalid.
    pub fn new(length: u64, symbol: u16, scheme: [u8; 4]) -> Result<Oti, OtiError> {
        let [blocks, n1, n0, alignment] = scheme;
        let sub_blocks = u16::from_be_bytes([n1, n0]);
        if length > MAX_LENGTH {
            return Err(OtiError::Length(length));
        }
        if symbol == 0 {
            return Err(OtiError::Symbol(symbol));
        }
        if alignment == 0 || !symbol.is_multiple_of(u16::from(alignment)) {
            return Err(OtiError::Alignment(alignment));
        }
        if sub_blocks != 1 {
            return Err(OtiError::SubBlocks(sub_blocks));
        }
        let oti = Oti { length, symbol, blocks };
        let symbols = oti.symbols();
        let fits = blocks > 0 && u64::from(blocks) <= symbols;
        if !fits || symbols.div_ceil(u64::from(blocks)) > u64::from(MAX_BLOCK_SYMBOLS) {
            return Err(OtiError::Blocks(blocks));
        }
        Ok(oti)
    }

    /// The four scheme-specific bytes: Z, N, Al (RFC 6330, section 3.3.3).
    pub fn scheme(&self) -> [u8; 4] {
        // With one sub-block a symbol is one contiguous part of the file, so the alignment has no effect;
        // the largest that every symbol size allows is used.
        let alignment = if self.symbol.is_multiple_of(u16::from(ALIGNMENT)) { ALIGNMENT } else { 1 };
        [self.blocks, 0, 1, alignment]
    }

    /// The object's length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The size of a symbol in bytes.
    pub fn symbol_size(&self) -> usize {
        usize::from(self.symbol)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u8 {
        self.blocks
    }

    /// How many source symbols the object has. An empty object has one, all padding, so that there is a
    /// packet to send.
    pub fn symbols(&self) -> u64 {
        self.length.div_ceil(u64::from(self.symbol)).max(1)
    }

    /// How many source symbols a block has (RFC 6330, section 4.4.1.2: the first blocks have one
    /// more where the division leaves a rest). Zero for a block that does not exist.
    pub fn block_symbols(&self, block: u8) -> u32 {
        let (short, longer) = self.partition();
        match block {
            block if block >= self.blocks => 0,
            block if u64::from(block) < longer => short as u32 + 1,
            _ => short as u32,
        }
    }

    /// The number of a block's first symbol in the whole object.
    pub fn block_start(&self, block: u8) -> u64 {
        let (short, longer) = self.partition();
        u64::from(block) * short + u64::from(block).min(longer)
    }

    /// Symbols of a short block, and how many blocks have one more.
    fn partition(&self) -> (u64, u64) {
        let (symbols, blocks) = (self.symbols(), u64::from(self.blocks).max(1));
        (symbols / blocks, symbols % blocks)
    }

    /// The position of a source symbol in the file: its start, and the number of its bytes that are not
    /// padding.
    pub fn position(&self, block: u8, esi: u32) -> (u64, usize) {
        let start = (self.block_start(block) + u64::from(esi)) * u64::from(self.symbol);
        (start, self.length.saturating_sub(start).min(u64::from(self.symbol)) as usize)
    }

    /// The information in the coder's type. All its assertions hold, since the values were checked on
    /// construction.
    pub(crate) fn for_coder(&self) -> ObjectTransmissionInformation {
        let [_, _, _, alignment] = self.scheme();
        ObjectTransmissionInformation::new(self.length, self.symbol, self.blocks, 1, alignment)
    }
}
