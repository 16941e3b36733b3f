//! Reassembly of a file from symbols.

use std::collections::{BTreeSet, VecDeque};
use std::io;

use raptorq::{EncodingPacket, PayloadId as CoderId, SourceBlockDecoder};

use super::{BlockHashes, Oti};
use crate::disk::DiskFile;
use crate::packet::PayloadId;

/// The maximum number of surplus symbols of a block before its repair symbols are discarded. The
/// probability that a valid block needs three more is one in a million.
const SURPLUS_MAX: u32 = 64;

/// The outcome of inserting a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolOutcome {
    /// It was new.
    New,
    /// It completed its block without decoding or verification.
    BlockComplete,
    /// It was present already, or its block is complete.
    Needless,
    /// There is no such block, or the symbol has the wrong length.
    Refused,
}

/// The outcome of an attempt to complete a block that has enough symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It is complete.
    Complete,
    /// It needs more symbols.
    Undecodable,
    /// Its hash is wrong: a symbol of it was forged, and what may be that one was thrown away.
    Forged,
}

/// The counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssemblyCounters {
    /// Symbols that were new.
    pub useful: u64,
    /// Symbols that were present already, or whose block was complete.
    pub needless: u64,
    /// Symbols that fit no block.
    pub refused: u64,
    /// Blocks that the coder had to decode. Zero for a receiver that lost nothing.
    pub decoded: u64,
    /// Decoding attempts that needed more symbols.
    pub undecodable: u64,
    /// Blocks, and whole objects, that were thrown away since they are not what the sender has signed.
    pub forged: u64,
}

#[derive(Debug, Default)]
struct Block {
    /// One bit for each source symbol that is in the file.
    present: Vec<u64>,
    source_count: u32,
    repair_ids: BTreeSet<u32>,
    /// The repair symbols, one after the other.
    repair: Vec<u8>,
    repair_order: Vec<u32>,
    is_complete: bool,
    /// It has enough symbols to try to complete it.
    is_ready: bool,
    /// It was forged, and its repair symbols alone were thrown away.
    is_doubted: bool,
}

/// Reassembles a file from any symbols in any order.
///
/// Source symbols are written to the file at once, so that a receiver without losses decodes and stores
/// nothing. Repair symbols wait in memory: at most as many as the blocks still miss, and a few more. A block that has
/// enough symbols is ready; its owner lets it be decoded and verified when there is time ([`Assembly::complete_next`]).
/// Blocks whose hashes are not known need no verification: with all source symbols they are complete at once.
#[derive(Debug)]
pub struct Assembly<F> {
    oti: Oti,
    file: F,
    hashes: BlockHashes,
    blocks: Vec<Block>,
    complete: usize,
    /// Blocks that are ready, the oldest first.
    ready: VecDeque<u8>,
    counters: AssemblyCounters,
}

impl<F: DiskFile> Assembly<F> {
    /// An assembly into a file, which is overwritten. Blocks are verified by their hashes, if these are known.
    pub fn new(oti: Oti, file: F, hashes: BlockHashes) -> Assembly<F> {
        let mut assembly = Assembly {
            oti,
            file,
            hashes,
            blocks: Vec::new(),
            complete: 0,
            ready: VecDeque::new(),
            counters: AssemblyCounters::default(),
        };
        assembly.restart();
        assembly
    }

    /// Discards all symbols, for a file whose hash is wrong.
    pub fn restart(&mut self) {
        self.blocks = (0..self.oti.blocks()).map(|block| Block::new(self.oti.block_symbols(block))).collect();
        self.complete = 0;
        self.ready.clear();
    }

    /// Inserts a symbol. Never panics on any input.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let taken = self.sort(id, symbol)?;
        let counter = match taken {
            SymbolOutcome::New | SymbolOutcome::BlockComplete => &mut self.counters.useful,
            SymbolOutcome::Needless => &mut self.counters.needless,
            SymbolOutcome::Refused => &mut self.counters.refused,
        };
        *counter += 1;
        Ok(taken)
    }

    /// Notes a source symbol that the file has already, from an earlier assembly; false if there is none of that
    /// number.
    pub fn restore_symbol(&mut self, id: PayloadId) -> bool {
        let needed = self.oti.block_symbols(id.block);
        let Some(block) = self.blocks.get_mut(usize::from(id.block)) else { return false };
        if id.esi() >= needed {
            return false;
        }
        if !block.is_complete && !block.contains(id.esi()) {
            block.mark(id.esi());
            if block.source_count == needed {
                return self.restore_block(id.block);
            }
        }
        true
    }

    /// Notes a block that the file has already, from an earlier assembly; false if there is no such block. It is verified
    /// again, if its hash is known: the disk may have lost a part of it, and whoever recorded it may not have verified it.
    pub fn restore_block(&mut self, number: u8) -> bool {
        if !self.hashes.are_known() {
            return self.finish(number);
        }
        let needed = self.oti.block_symbols(number);
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return false };
        if !block.is_complete {
            block.present.fill(u64::MAX);
            block.source_count = needed;
            self.make_ready(number);
        }
        true
    }

    /// A block is complete; false if there is no such block.
    fn finish(&mut self, number: u8) -> bool {
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return false };
        if !block.is_complete {
            *block = Block { is_complete: true, ..Block::default() };
            self.complete += 1;
            self.ready.retain(|&ready| ready != number);
        }
        true
    }

    fn make_ready(&mut self, number: u8) {
        if let Some(block) = self.blocks.get_mut(usize::from(number))
            && !std::mem::replace(&mut block.is_ready, true)
        {
            self.ready.push_back(number);
        }
    }

    fn sort(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let needed = self.oti.block_symbols(id.block);
        let Some(block) = self.blocks.get_mut(usize::from(id.block)) else {
            return Ok(SymbolOutcome::Refused);
        };
        if symbol.len() != self.oti.symbol_size() {
            return Ok(SymbolOutcome::Refused);
        }
        if block.is_complete {
            return Ok(SymbolOutcome::Needless);
        }
        let is_new = if id.esi() < needed {
            let (start, length) = self.oti.position(id.block, id.esi());
            block.write_source(&self.file, id.esi(), symbol.get(..length).unwrap_or_default(), start)?
        } else {
            block.store_repair(id.esi(), symbol)
        };
        if !is_new {
            return Ok(SymbolOutcome::Needless);
        }
        if block.source_count >= needed && !self.hashes.are_known() {
            self.finish(id.block);
            return Ok(SymbolOutcome::BlockComplete);
        }
        if block.source_count + block.repair_order.len() as u32 >= needed {
            self.make_ready(id.block);
        }
        Ok(SymbolOutcome::New)
    }

    /// Decodes and verifies the next block that is ready. Its number, and what came of it; none if no block is ready.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn complete_next(&mut self) -> io::Result<Option<(u8, Attempt)>> {
        while let Some(number) = self.ready.pop_front() {
            let Some(block) = self.blocks.get_mut(usize::from(number)) else { continue };
            // It may have become complete by source symbols.
            if !std::mem::take(&mut block.is_ready) || block.is_complete {
                continue;
            }
            let attempt = match self.attempt(number) {
                Ok(attempt) => attempt,
                Err(error) => {
                    if let Some(block) = self.blocks.get_mut(usize::from(number)) {
                        block.is_ready = true;
                    }
                    self.ready.push_front(number);
                    return Err(error);
                }
            };
            match attempt {
                Attempt::Complete => drop(self.finish(number)),
                Attempt::Forged => self.throw_away(number),
                Attempt::Undecodable => {}
            }
            return Ok(Some((number, attempt)));
        }
        Ok(None)
    }

    /// Whether a block is ready.
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether every block is complete or ready.
    pub fn has_enough(&self) -> bool {
        self.complete + self.ready.len() >= self.blocks.len()
    }

    /// Drops what may be forged of a block: first its repair symbols, of which a receiver takes any that are sent, and if
    /// it is forged again all of them.
    fn throw_away(&mut self, number: u8) {
        self.counters.forged += 1;
        let needed = self.oti.block_symbols(number);
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return };
        if block.is_doubted || block.source_count >= needed {
            *block = Block::new(needed);
        } else {
            block.drop_repair();
            block.is_doubted = true;
        }
    }

    /// Decodes and verifies a block that has enough symbols.
    fn attempt(&mut self, number: u8) -> io::Result<Attempt> {
        let oti = self.oti;
        let (needed, size) = (oti.block_symbols(number), oti.symbol_size());
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return Ok(Attempt::Undecodable) };
        let mut data = vec![0; needed as usize * size];
        let (start, _) = oti.position(number, 0);
        let in_file = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
        self.file.read_at(start, data.get_mut(..in_file).unwrap_or_default())?;
        let fits = |content: &[u8]| self.hashes.fit(number, content.get(..in_file).unwrap_or_default());
        if block.source_count >= needed {
            return Ok(if fits(&data) { Attempt::Complete } else { Attempt::Forged });
        }
        let packet =
            |esi: u32, symbol: &[u8]| EncodingPacket::new(CoderId::new(number, esi), symbol.to_vec());
        let held = |&esi: &u32| block.contains(esi);
        let source = (0..needed)
            .filter(held)
            .filter_map(|esi| Some(packet(esi, data.get(esi as usize * size..(esi as usize + 1) * size)?)));
        let repair = block.repair_order.iter().zip(block.repair.chunks_exact(size));
        let repair = repair.map(|(&esi, symbol)| packet(esi, symbol));
        let mut decoder = SourceBlockDecoder::new(number, &oti.for_coder(), data.len() as u64);
        match decoder.decode(source.chain(repair)) {
            Some(decoded) => {
                self.counters.decoded += 1;
                if !fits(&decoded) {
                    return Ok(Attempt::Forged);
                }
                self.file.write_at(start, decoded.get(..in_file).unwrap_or_default())?;
                Ok(Attempt::Complete)
            }
            None => {
                self.counters.undecodable += 1;
                if block.source_count + block.repair_order.len() as u32 > needed + SURPLUS_MAX {
                    tracing::debug!(block = number, "repair symbols that do not fit together are dropped");
                    block.drop_repair();
                }
                Ok(Attempt::Undecodable)
            }
        }
    }

    /// Whether the file is complete.
    pub fn is_complete(&self) -> bool {
        self.complete == self.blocks.len()
    }

    /// The blocks that are complete.
    pub fn complete_blocks(&self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).zip(&self.blocks).filter(|(_, block)| block.is_complete).map(|(number, _)| number)
    }

    /// The minimum number of symbols that the file needs, and how many of them are present.
    pub fn symbols(&self) -> (u64, u64) {
        let held = |(number, block): (usize, &Block)| {
            let needed = self.oti.block_symbols(number as u8);
            let held = block.source_count + block.repair_order.len() as u32;
            u64::from(if block.is_complete { needed } else { held.min(needed) })
        };
        (self.oti.symbols(), self.blocks.iter().enumerate().map(held).sum())
    }

    /// The counters.
    pub fn counters(&self) -> &AssemblyCounters {
        &self.counters
    }

    /// The file's blocks and symbols.
    pub fn oti(&self) -> Oti {
        self.oti
    }

    /// The file.
    pub fn file(&self) -> &F {
        &self.file
    }
}

impl Block {
    fn new(symbols: u32) -> Block {
        Block { present: vec![0; symbols.div_ceil(64) as usize], ..Block::default() }
    }

    fn drop_repair(&mut self) {
        self.repair_ids.clear();
        self.repair_order.clear();
        self.repair.clear();
    }

    fn contains(&self, esi: u32) -> bool {
        self.present.get(esi as usize / 64).is_some_and(|word| word >> (esi % 64) & 1 != 0)
    }

    /// Writes a source symbol to the file; false if it is present already.
    fn write_source(&mut self, file: &impl DiskFile, esi: u32, data: &[u8], start: u64) -> io::Result<bool> {
        if self.contains(esi) {
            return Ok(false);
        }
        file.write_at(start, data)?;
        self.mark(esi);
        Ok(true)
    }

    fn mark(&mut self, esi: u32) {
        if let Some(word) = self.present.get_mut(esi as usize / 64) {
            *word |= 1 << (esi % 64);
        }
        self.source_count += 1;
    }

    /// Stores a repair symbol; false if it is present already.
    fn store_repair(&mut self, esi: u32, symbol: &[u8]) -> bool {
        let is_new = self.repair_ids.insert(esi);
        if is_new {
            self.repair_order.push(esi);
            self.repair.extend_from_slice(symbol);
        }
        is_new
    }
}
