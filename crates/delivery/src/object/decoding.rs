//! A block that has enough symbols, apart from its file: so that another thread can decode and verify it.

use raptorq::{EncodingPacket, PayloadId as CoderId, SourceBlockDecoder};

use super::bits::has;
use super::{BlockHashes, Oti};

/// What is needed to decode and verify a block.
#[derive(Debug)]
pub struct DecodeJob {
    pub(super) block: u8,
    /// Which assembly it belongs to: one that has started again since does not take it back.
    pub(super) round: u32,
    /// How many symbols it has.
    pub(super) held: u32,
    pub(super) oti: Oti,
    pub(super) hashes: BlockHashes,
    /// What the file has of the block, with padding.
    pub(super) data: Vec<u8>,
    /// The source symbols that are in their places, a bit each.
    pub(super) present: Vec<u64>,
    pub(super) is_whole: bool,
    /// Repair symbols, and the places where they are.
    pub(super) repair: Vec<(u32, u32)>,
    pub(super) surplus: Vec<(u32, Vec<u8>)>,
}

/// What came of decoding a block.
#[derive(Debug)]
pub struct Decoded {
    pub(super) block: u8,
    pub(super) round: u32,
    /// From how many symbols.
    pub(super) held: u32,
    /// Its source symbols in order, if it is what the sender has.
    pub(super) content: Content,
}

/// The content of a block.
#[derive(Debug)]
pub(super) enum Content {
    /// It was there.
    Present,
    /// It was decoded.
    Decoded(Vec<u8>),
    /// Its hash is wrong; whether it was decoded.
    Forged(bool),
    /// The symbols do not suffice.
    Undecodable,
}

impl Decoded {
    /// The block whose repair symbols in the file are about to be overwritten by what was decoded, if so.
    pub(crate) fn overwrites(&self) -> Option<u8> {
        matches!(self.content, Content::Decoded(_)).then_some(self.block)
    }
}

impl DecodeJob {
    /// Decodes and verifies the block. It takes some microseconds for each symbol, and twice its length of memory.
    pub fn run(self) -> Decoded {
        Decoded { block: self.block, round: self.round, held: self.held, content: self.content() }
    }

    fn content(self) -> Content {
        let DecodeJob { block, oti, hashes, data, present, repair, surplus, .. } = self;
        let (start, _) = oti.position(block, 0);
        let in_file = usize::try_from(oti.length().saturating_sub(start)).unwrap_or(usize::MAX);
        let fits = |content: &[u8]| hashes.fit(block, content.get(..in_file).unwrap_or(content));
        if self.is_whole {
            return if fits(&data) { Content::Present } else { Content::Forged(false) };
        }
        let size = oti.symbol_size();
        let packet = |esi: u32, symbol: &[u8]| EncodingPacket::new(CoderId::new(block, esi), symbol.to_vec());
        let at = |place: u32| data.get(place as usize * size..(place as usize + 1) * size);
        let source = (0..oti.block_symbols(block)).filter(|&esi| has(&present, esi.into()));
        let source = source.filter_map(|esi| Some(packet(esi, at(esi)?)));
        let repair = repair.iter().filter_map(|&(esi, place)| Some(packet(esi, at(place)?)));
        let repair = repair.chain(surplus.iter().map(|(esi, symbol)| packet(*esi, symbol)));
        let mut decoder = SourceBlockDecoder::new(block, &oti.for_coder(), data.len() as u64);
        match decoder.decode(source.chain(repair)) {
            Some(decoded) if fits(&decoded) => Content::Decoded(decoded),
            Some(_) => Content::Forged(true),
            None => Content::Undecodable,
        }
    }
}
