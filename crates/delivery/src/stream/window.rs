//! The blocks of a layer that are not yet delivered, at a receiver.

use std::collections::VecDeque;

use raptorq::{EncodingPacket, PayloadId as CoderId, SourceBlockDecoder};

use super::layer_source::coder;
use super::payload::{BLOCK_SYMBOLS, SymbolId};
use layercast_core::cannot_be;

/// The most blocks: at the highest rates a block lasts some milliseconds.
const BLOCKS: usize = 128;
/// The most repair symbols of a block: as many as source symbols.
const REPAIRS: usize = BLOCK_SYMBOLS as usize;

/// A block.
#[derive(Debug, Default)]
struct Block {
    /// How many source symbols it has, if that is known.
    count: Option<u16>,
    source: Vec<u8>,
    has: Vec<bool>,
    held: usize,
    repair: Vec<u8>,
    repair_numbers: Vec<u16>,
    /// How many symbols there were when it was last decoded in vain.
    tried: usize,
}

impl Block {
    fn clear(&mut self) {
        self.count = None;
        self.source.clear();
        self.has.clear();
        self.repair.clear();
        self.repair_numbers.clear();
        (self.held, self.tried) = (0, 0);
    }

    fn bytes(&self) -> usize {
        self.source.len() + self.repair.len()
    }

    fn has(&self, index: u16) -> bool {
        self.has.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// A source symbol, with zeros where it is shorter than `size`.
    fn put(&mut self, index: u16, symbol: &[u8], size: usize) {
        let index = usize::from(index);
        if self.has.len() <= index {
            self.has.resize(index + 1, false);
            self.source.resize((index + 1) * size, 0);
        }
        let place = self.source.get_mut(index * size..).and_then(|room| room.get_mut(..symbol.len()));
        if let (Some(has), Some(place)) = (self.has.get_mut(index), place)
            && !*has
        {
            place.copy_from_slice(symbol);
            *has = true;
            self.held += 1;
        }
    }

    /// Decodes it, if there are enough symbols that were not tried before. Whether its source symbols are there now.
    fn decode(&mut self, size: usize) -> bool {
        let Some(count) = self.count else { return false };
        let all = self.held + self.repair_numbers.len();
        let enough = usize::from(count);
        if self.repair_numbers.is_empty() || all < enough || all <= self.tried {
            return false;
        }
        self.tried = all;
        let Some(config) = coder(count, size) else {
            return cannot_be("a block with repair symbols has a code");
        };
        let packet = |esi: usize, symbol: &[u8]| {
            EncodingPacket::new(CoderId::new(0, u32::try_from(esi).unwrap_or(u32::MAX)), symbol.to_vec())
        };
        let source = self.source.chunks_exact(size).enumerate().zip(&self.has);
        let source = source.filter(|(_, has)| **has).map(|((esi, symbol), _)| packet(esi, symbol));
        let repair = self.repair.chunks_exact(size).zip(&self.repair_numbers);
        let repair = repair.map(|(symbol, number)| packet(enough + usize::from(*number), symbol));
        let mut decoder = SourceBlockDecoder::new(0, &config, (enough * size) as u64);
        let Some(decoded) = decoder.decode(source.chain(repair)) else { return false };
        if decoded.len() != enough * size {
            return false;
        }
        self.source = decoded;
        self.has.clear();
        self.has.resize(enough, true);
        self.held = enough;
        true
    }
}

/// Where a symbol is: its block, counted from the first, and its index.
pub(super) type Place = (usize, u16);

/// The blocks of a layer that are not yet delivered.
#[derive(Debug)]
pub(super) struct Window {
    size: usize,
    /// The number of the first block.
    first: u32,
    blocks: VecDeque<Block>,
    spare: Vec<Block>,
    bytes: usize,
}

impl Window {
    /// None, of symbols of `size` bytes.
    pub(super) fn new(size: usize) -> Window {
        Window { size, first: 0, blocks: VecDeque::new(), spare: Vec::new(), bytes: 0 }
    }

    /// Begins again, with a block.
    pub(super) fn restart(&mut self, first: u32) {
        while !self.blocks.is_empty() {
            self.pop();
        }
        self.first = first;
    }

    /// The bytes of all symbols.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How far a block is after the first one; none if it is before it.
    pub(super) fn place(&self, block: u32) -> Option<usize> {
        let ahead = block.wrapping_sub(self.first);
        (ahead.cast_signed() >= 0).then_some(ahead as usize)
    }

    /// Whether a place is beyond what the window holds.
    pub(super) fn is_beyond(place: usize) -> bool {
        place >= BLOCKS
    }

    /// Removes the first block.
    pub(super) fn pop(&mut self) {
        if let Some(mut block) = self.blocks.pop_front() {
            self.bytes -= block.bytes();
            block.clear();
            if self.spare.len() < 2 {
                self.spare.push(block);
            }
        }
        self.first = self.first.wrapping_add(1);
    }

    /// Takes a symbol of a block at a place. Ignores what contradicts what is known.
    pub(super) fn insert(&mut self, place: usize, id: SymbolId, symbol: &[u8]) {
        if Window::is_beyond(place) {
            return;
        }
        while self.blocks.len() <= place {
            self.blocks.push_back(self.spare.pop().unwrap_or_default());
        }
        if let (SymbolId::Source { before: count @ 1.., .. }, Some(before)) = (id, place.checked_sub(1)) {
            self.set_count(before, count);
        }
        if let SymbolId::Repair { count, .. } = id {
            self.set_count(place, count);
        }
        let size = self.size;
        let Some(block) = self.blocks.get_mut(place) else { return cannot_be("the block was appended") };
        let bytes = block.bytes();
        match id {
            SymbolId::Source { index, .. } if block.count.is_none_or(|count| index < count) => {
                block.put(index, symbol, size);
            }
            SymbolId::Repair { number, count }
                if block.count == Some(count)
                    && symbol.len() == size
                    && block.repair_numbers.len() < REPAIRS
                    && !block.repair_numbers.contains(&number) =>
            {
                block.repair_numbers.push(number);
                block.repair.extend_from_slice(symbol);
            }
            _ => {}
        }
        self.bytes += block.bytes() - bytes;
    }

    /// Sets how many source symbols a block has, the first time, and if it has none beyond.
    fn set_count(&mut self, place: usize, count: u16) {
        let Some(block) = self.blocks.get_mut(place) else { return cannot_be("the block was appended") };
        if block.count.is_none() && block.has.len() <= usize::from(count) {
            block.count = Some(count);
        }
    }

    /// A source symbol of the first block.
    pub(super) fn symbol(&self, index: u16) -> Option<&[u8]> {
        let block = self.blocks.front().filter(|block| block.has(index))?;
        block.source.chunks_exact(self.size).nth(index.into())
    }

    /// Whether the first block ends before a symbol.
    pub(super) fn ends_at(&self, index: u16) -> bool {
        self.blocks.front().is_some_and(|block| block.count.is_some_and(|count| index >= count))
    }

    /// Decodes the first block, if that is possible. Whether there are new symbols.
    pub(super) fn decode(&mut self) -> bool {
        let size = self.size;
        let Some(block) = self.blocks.front_mut() else { return false };
        let bytes = block.bytes();
        let decoded = block.decode(size);
        self.bytes = (self.bytes + block.bytes()) - bytes;
        decoded
    }

    /// The first source symbol from an index of the first block on, and its bytes.
    pub(super) fn next_held(&self, from: u16) -> Option<(Place, &[u8])> {
        self.blocks.iter().enumerate().find_map(|(place, block)| {
            let from = if place == 0 { from } else { 0 };
            let index = (from..).zip(block.has.get(usize::from(from)..)?).find(|(_, has)| **has)?.0;
            let symbol = block.source.chunks_exact(self.size).nth(index.into())?;
            Some(((place, index), symbol))
        })
    }
}
