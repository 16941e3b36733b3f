//! A file from symbols.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use raptorq::{EncodingPacket, PayloadId as CoderId, SourceBlockDecoder};

use super::Oti;
use crate::packet::PayloadId;

/// So many symbols more than a block needs are tried before its repair symbols are thrown away. The
/// chance that a sound block needs three more is one in a million.
const SURPLUS_MAX: u32 = 64;

/// What became of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It helped.
    New,
    /// It completed its block.
    BlockComplete,
    /// It was there already, or its block is complete.
    Needless,
    /// There is no such block, or the symbol has the wrong length.
    Refused,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssemblyCounters {
    /// Symbols that helped.
    pub useful: u64,
    /// Symbols that were there already, or whose block was complete.
    pub needless: u64,
    /// Symbols that fit no block.
    pub refused: u64,
    /// Blocks that the coder had to decode. Zero for a receiver that lost nothing.
    pub decoded: u64,
    /// Attempts at decoding that wanted more symbols.
    pub undecodable: u64,
}

#[derive(Debug, Default)]
struct Block {
    /// One bit for each source symbol that is in the file.
    held: Vec<u64>,
    source_count: u32,
    repair_ids: HashSet<u32>,
    /// The repair symbols with their numbers, one after the other.
    repair: Vec<u8>,
    repair_order: Vec<u32>,
    is_complete: bool,
}

/// Puts a file together, in any order, from any symbols.
///
/// Source symbols go to their place in the file at once, so that a receiver that loses nothing
/// decodes nothing and holds nothing. Repair symbols wait in memory: at most the size of what the
/// blocks still miss, and a few more.
#[derive(Debug)]
pub struct Assembly {
    oti: Oti,
    file: File,
    blocks: Vec<Block>,
    complete: usize,
    counters: AssemblyCounters,
}

impl Assembly {
    /// An assembly into a file, which is written over.
    pub fn new(oti: Oti, file: File) -> Assembly {
        let mut assembly =
            Assembly { oti, file, blocks: Vec::new(), complete: 0, counters: AssemblyCounters::default() };
        assembly.restart();
        assembly
    }

    /// Forgets all symbols, for a file whose hash is wrong.
    pub fn restart(&mut self) {
        let block = |block| Block {
            held: vec![0; self.oti.block_symbols(block).div_ceil(64) as usize],
            ..Block::default()
        };
        self.blocks = (0..self.oti.blocks()).map(block).collect();
        self.complete = 0;
    }

    /// Takes a symbol. Never panics, whatever it is.
    ///
    /// # Errors
    /// What the file says when it is written to or read from.
    pub fn take(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<Taken> {
        let taken = self.sort(id, symbol)?;
        let counter = match taken {
            Taken::New | Taken::BlockComplete => &mut self.counters.useful,
            Taken::Needless => &mut self.counters.needless,
            Taken::Refused => &mut self.counters.refused,
        };
        *counter += 1;
        Ok(taken)
    }

    fn sort(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<Taken> {
        let needed = self.oti.block_symbols(id.block);
        let Some(block) = self.blocks.get_mut(usize::from(id.block)) else { return Ok(Taken::Refused) };
        if symbol.len() != self.oti.symbol_size() {
            return Ok(Taken::Refused);
        }
        if block.is_complete {
            return Ok(Taken::Needless);
        }
        let is_new = if id.esi() < needed {
            let (start, length) = self.oti.place(id.block, id.esi());
            block.take_source(&self.file, id.esi(), symbol.get(..length).unwrap_or_default(), start)?
        } else {
            block.take_repair(id.esi(), symbol)
        };
        if !is_new {
            return Ok(Taken::Needless);
        }
        let held = block.source_count + block.repair_order.len() as u32;
        if block.source_count < needed && (held < needed || !self.decode(id.block)?) {
            return Ok(Taken::New);
        }
        if let Some(block) = self.blocks.get_mut(usize::from(id.block)) {
            *block = Block { is_complete: true, ..Block::default() };
        }
        self.complete += 1;
        Ok(Taken::BlockComplete)
    }

    /// Decodes a block that has as many symbols as it needs. False if it wants more.
    fn decode(&mut self, number: u8) -> io::Result<bool> {
        let oti = self.oti;
        let (needed, size) = (oti.block_symbols(number), oti.symbol_size());
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return Ok(false) };
        let mut data = vec![0; needed as usize * size];
        let (start, _) = oti.place(number, 0);
        let in_file = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
        self.file.read_exact_at(data.get_mut(..in_file).unwrap_or_default(), start)?;

        let packet =
            |esi: u32, symbol: &[u8]| EncodingPacket::new(CoderId::new(number, esi), symbol.to_vec());
        let held = |&esi: &u32| block.holds(esi);
        let source = (0..needed)
            .filter(held)
            .filter_map(|esi| Some(packet(esi, data.get(esi as usize * size..(esi as usize + 1) * size)?)));
        let repair = block.repair_order.iter().zip(block.repair.chunks_exact(size));
        let repair = repair.map(|(&esi, symbol)| packet(esi, symbol));
        let mut decoder = SourceBlockDecoder::new(number, &oti.for_coder(), data.len() as u64);
        match decoder.decode(source.chain(repair)) {
            Some(decoded) => {
                self.counters.decoded += 1;
                self.file.write_all_at(decoded.get(..in_file).unwrap_or_default(), start)?;
                Ok(true)
            }
            None => {
                self.counters.undecodable += 1;
                if block.source_count + block.repair_order.len() as u32 > needed + SURPLUS_MAX {
                    tracing::warn!(block = number, "repair symbols that do not fit together are dropped");
                    block.repair_ids.clear();
                    block.repair_order.clear();
                    block.repair.clear();
                }
                Ok(false)
            }
        }
    }

    /// Whether the file is complete.
    pub fn is_complete(&self) -> bool {
        self.complete == self.blocks.len()
    }

    /// How many blocks are complete.
    pub fn complete_blocks(&self) -> usize {
        self.complete
    }

    /// How many symbols the file needs at least, and how many of them are there.
    pub fn symbols(&self) -> (u64, u64) {
        let held = |(number, block): (usize, &Block)| {
            let needed = self.oti.block_symbols(number as u8);
            let held = block.source_count + block.repair_order.len() as u32;
            u64::from(if block.is_complete { needed } else { held.min(needed) })
        };
        (self.oti.symbols(), self.blocks.iter().enumerate().map(held).sum())
    }

    /// What was counted.
    pub fn counters(&self) -> &AssemblyCounters {
        &self.counters
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Block {
    fn holds(&self, esi: u32) -> bool {
        self.held.get(esi as usize / 64).is_some_and(|word| word >> (esi % 64) & 1 != 0)
    }

    /// Puts a source symbol to its place; false if it is there.
    fn take_source(&mut self, file: &File, esi: u32, data: &[u8], start: u64) -> io::Result<bool> {
        if self.holds(esi) {
            return Ok(false);
        }
        file.write_all_at(data, start)?;
        if let Some(word) = self.held.get_mut(esi as usize / 64) {
            *word |= 1 << (esi % 64);
        }
        self.source_count += 1;
        Ok(true)
    }

    /// Keeps a repair symbol; false if it is there.
    fn take_repair(&mut self, esi: u32, symbol: &[u8]) -> bool {
        let is_new = self.repair_ids.insert(esi);
        if is_new {
            self.repair_order.push(esi);
            self.repair.extend_from_slice(symbol);
        }
        is_new
    }
}
