//! Reassembly of a file from symbols.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use super::block::Block;
use super::decoding::{Content, DecodeJob, Decoded};
use super::{BlockHashes, Oti};
use crate::disk::DiskFile;
use crate::packet::PayloadId;
use layercast_core::{Always as _, cannot_be};

/// The maximum number of surplus symbols of a block before its repair symbols are discarded.
const SURPLUS_MAX: u32 = 64;
/// With so many surplus symbols a valid block can be decoded, but for one in a million; without any, one in 200 cannot.
const SPARE: u32 = 2;

/// The outcome of inserting a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolOutcome {
    /// It was new, and is in its place in the file.
    New,
    /// It was a new repair symbol, and is in the file in the place of this source symbol.
    InPlaceOf(u32),
    /// It was a new repair symbol, and is in memory: its block has enough.
    Surplus,
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

impl AssemblyCounters {
    /// Counts the outcome of a symbol.
    pub(crate) fn count(&mut self, outcome: SymbolOutcome) {
        let counter = match outcome {
            SymbolOutcome::New
            | SymbolOutcome::InPlaceOf(_)
            | SymbolOutcome::Surplus
            | SymbolOutcome::BlockComplete => &mut self.useful,
            SymbolOutcome::Needless => &mut self.needless,
            SymbolOutcome::Refused => &mut self.refused,
        };
        *counter += 1;
    }

    /// Counts what decoding changed in the counters of an object.
    pub(crate) fn add_decoding(&mut self, before: AssemblyCounters, after: AssemblyCounters) {
        self.decoded += after.decoded.saturating_sub(before.decoded);
        self.forged += after.forged.saturating_sub(before.forged);
        self.undecodable += after.undecodable.saturating_sub(before.undecodable);
    }
}

/// Reassembles a file from any symbols in any order.
///
/// Symbols are written to the file at once: source symbols to their places, so that a receiver without losses decodes
/// nothing, and repair symbols to the places of source symbols that are missing. A source symbol whose place is taken is
/// not needed any more than another one, and sources send source symbols first. A block that has
/// enough symbols is ready; its owner lets it be decoded and verified when there is time ([`Assembly::complete_next`]).
/// Blocks whose hashes are not known need no verification: with all source symbols they are complete at once.
#[derive(Debug)]
pub struct Assembly<F> {
    oti: Oti,
    file: F,
    hashes: BlockHashes,
    blocks: Vec<Block>,
    complete: usize,
    /// How many blocks from the first on are complete.
    leading: usize,
    /// Blocks that are ready, the oldest first.
    ready: VecDeque<u8>,
    /// How many blocks are being decoded elsewhere.
    decoding: usize,
    /// How often all symbols were discarded.
    round: u32,
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
            leading: 0,
            ready: VecDeque::new(),
            decoding: 0,
            round: 0,
            counters: AssemblyCounters::default(),
        };
        assembly.restart();
        assembly
    }

    /// Discards all symbols, for a file whose hash is wrong.
    pub fn restart(&mut self) {
        self.blocks = (0..self.oti.blocks()).map(|number| new_block(&self.oti, number)).collect();
        self.complete = 0;
        self.leading = 0;
        self.ready.clear();
        self.decoding = 0;
        self.round = self.round.wrapping_add(1);
    }

    /// Inserts a symbol. Never panics on any input.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let outcome = self.sort(id, symbol)?;
        self.counters.count(outcome);
        Ok(outcome)
    }

    /// Inserts source symbols of a block that follow each other, if each of them is new and fills its place: the outcome of the
    /// last one, all others being new. None if they are to be inserted one by one.
    ///
    /// # Errors
    /// The file's error on writing; none of them is inserted then.
    pub fn insert_run(
        &mut self,
        first: PayloadId,
        symbols: &[IoSlice<'_>],
    ) -> io::Result<Option<SymbolOutcome>> {
        let (needed, size) = (self.oti.block_symbols(first.block), self.oti.symbol_size());
        let Some(block) = self.blocks.get_mut(usize::from(first.block)) else { return Ok(None) };
        let end = u64::from(first.esi()) + symbols.len() as u64;
        let Some(last) =
            u32::try_from(end).ok().filter(|&end| end <= needed).and_then(|end| end.checked_sub(1))
        else {
            return Ok(None);
        };
        let is_new = |esi: u32| !block.has_source(esi) && !block.is_filled(esi);
        let fits = !block.is_complete
            && !block.is_decoding
            && symbols.iter().all(|symbol| symbol.len() == size)
            && self.oti.position(first.block, last).1 == size
            && (first.esi()..=last).all(is_new);
        if !fits {
            return Ok(None);
        }
        let (start, _) = self.oti.position(first.block, first.esi());
        self.file.write_parts_at(start, symbols)?;
        (first.esi()..=last).for_each(|esi| block.mark(esi));
        self.counters.useful += symbols.len() as u64;
        Ok(Some(self.settle(first.block, SymbolOutcome::New)))
    }

    /// Notes a source symbol that the file has already, from an earlier assembly; false if there is none of that
    /// number.
    pub fn restore_symbol(&mut self, id: PayloadId) -> bool {
        let needed = self.oti.block_symbols(id.block);
        let Some(block) = self.blocks.get_mut(usize::from(id.block)) else { return false };
        if id.esi() >= needed {
            return false;
        }
        if !block.is_complete {
            block.mark(id.esi());
            if block.source_count() == needed {
                return self.restore_block(id.block);
            }
        }
        true
    }

    /// Notes a repair symbol that the file has already, in the place of a source symbol; false if it cannot be there.
    pub fn restore_repair(&mut self, id: PayloadId, place: u32) -> bool {
        let needed = self.oti.block_symbols(id.block);
        let Some(block) = self.blocks.get_mut(usize::from(id.block)) else { return false };
        if block.is_complete {
            return true;
        }
        if id.esi() < needed || !block.fill(id.esi(), place) {
            return false;
        }
        if block.held() >= needed {
            self.make_ready(id.block);
        }
        true
    }

    /// Notes a block that the file has already, from an earlier assembly; false if there is no such block. It is verified
    /// again, if its hash is known: the disk may have lost a part of it, and the receiver that recorded it may not have verified it.
    pub fn restore_block(&mut self, number: u8) -> bool {
        if !self.hashes.are_known() {
            return self.finish(number);
        }
        let needed = self.oti.block_symbols(number);
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return false };
        if !block.is_complete {
            block.mark_all(needed);
            self.make_ready(number);
        }
        true
    }

    /// Notes that repair symbols of a block, which an earlier assembly had, are no longer in the file; false if there is no such block.
    pub fn restore_overwritten(&mut self, number: u8) -> bool {
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return false };
        block.drop_repair();
        block.is_ready = false;
        self.ready.retain(|&ready| ready != number);
        true
    }

    /// A block is complete; false if there is no such block.
    fn finish(&mut self, number: u8) -> bool {
        let Some(block) = self.blocks.get_mut(usize::from(number)) else { return false };
        if !block.is_complete {
            *block = Block::complete();
            self.complete += 1;
            self.ready.retain(|&ready| ready != number);
            let rest = self.blocks.get(self.leading..).always("no more blocks lead than there are");
            self.leading += rest.iter().take_while(|block| block.is_complete).count();
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
        if block.is_complete || (block.is_decoding && id.esi() < needed) {
            return Ok(SymbolOutcome::Needless);
        }
        let outcome = if id.esi() < needed {
            if block.has_source(id.esi()) || block.is_filled(id.esi()) {
                return Ok(SymbolOutcome::Needless);
            }
            let (start, length) = self.oti.position(id.block, id.esi());
            self.file
                .write_at(start, symbol.get(..length).always("the last symbol is no longer than others"))?;
            block.mark(id.esi());
            SymbolOutcome::New
        } else if block.has_repair(id.esi()) {
            return Ok(SymbolOutcome::Needless);
        } else if let Some(place) = block.gap().filter(|_| !block.is_decoding) {
            let (start, _) = self.oti.position(id.block, place);
            self.file.write_at(start, symbol)?;
            block.fill(id.esi(), place);
            SymbolOutcome::InPlaceOf(place)
        } else {
            // While it waits or is decoded, a few for the next attempt, which may not be needed.
            let most = if block.is_ready || block.is_decoding { SPARE } else { SURPLUS_MAX + 1 };
            if block.held() >= needed + most {
                return Ok(SymbolOutcome::Needless);
            }
            block.keep(id.esi(), symbol);
            SymbolOutcome::Surplus
        };
        Ok(self.settle(id.block, outcome))
    }

    /// A block got symbols, the last one with this outcome: whether it has enough, or all of them.
    fn settle(&mut self, number: u8, outcome: SymbolOutcome) -> SymbolOutcome {
        let needed = self.oti.block_symbols(number);
        let Some(block) = self.blocks.get(usize::from(number)) else {
            cannot_be::<()>("it took a symbol");
            return outcome;
        };
        if block.source_count() >= needed && !self.hashes.are_known() {
            self.finish(number);
            return SymbolOutcome::BlockComplete;
        }
        if block.held() >= needed && !block.is_decoding {
            self.make_ready(number);
        }
        outcome
    }

    /// Decodes and verifies the next block that is ready. Its number, and what came of it; none if no block is ready.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn complete_next(&mut self) -> io::Result<Option<(u8, Attempt)>> {
        match self.take_job()? {
            None => Ok(None),
            Some(job) => self.finish_job(job.run()),
        }
    }

    /// The next block that is ready, to be decoded and verified elsewhere; [`Assembly::finish_job`] takes the result. Until then
    /// the block takes no symbols but a few for another attempt.
    ///
    /// # Errors
    /// The file's error on reading.
    pub fn take_job(&mut self) -> io::Result<Option<DecodeJob>> {
        while let Some(number) = self.ready.pop_front() {
            let Some(block) = self.blocks.get_mut(usize::from(number)) else {
                cannot_be::<()>("blocks that are ready exist");
                continue;
            };
            // It may have become complete by source symbols.
            if !std::mem::take(&mut block.is_ready) || block.is_complete {
                continue;
            }
            match self.job(number) {
                Ok(job) => {
                    self.decoding += 1;
                    if let Some(block) = self.blocks.get_mut(usize::from(number)) {
                        block.is_decoding = true;
                    }
                    return Ok(Some(job));
                }
                Err(error) => {
                    self.ready_again(number);
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Takes the result of a job: the block, and what came of it; none if all symbols were discarded since.
    ///
    /// # Errors
    /// The file's error on writing; then the block is ready again.
    pub fn finish_job(&mut self, decoded: Decoded) -> io::Result<Option<(u8, Attempt)>> {
        let Decoded { block: number, round, held, content } = decoded;
        if round != self.round {
            return Ok(None);
        }
        self.decoding = self.decoding.saturating_sub(1);
        let Some(block) = self.blocks.get_mut(usize::from(number)) else {
            return Ok(cannot_be("the block was handed out"));
        };
        block.is_decoding = false;
        self.counters.decoded += u64::from(matches!(content, Content::Decoded(_) | Content::Forged(true)));
        let attempt = match content {
            Content::Present => Attempt::Complete,
            Content::Decoded(bytes) => {
                let (start, _) = self.oti.position(number, 0);
                let in_file = self.oti.length().saturating_sub(start).min(bytes.len() as u64) as usize;
                if let Err(error) = self
                    .file
                    .write_at(start, bytes.get(..in_file).always("the length is limited by the bytes"))
                {
                    self.ready_again(number);
                    return Err(error);
                }
                Attempt::Complete
            }
            Content::Forged(_) => Attempt::Forged,
            Content::Undecodable => {
                self.counters.undecodable += 1;
                if block.held() > self.oti.block_symbols(number) + SURPLUS_MAX {
                    tracing::debug!(block = number, "repair symbols that do not fit together are dropped");
                    block.drop_repair();
                } else if block.held() > held {
                    self.make_ready(number);
                }
                Attempt::Undecodable
            }
        };
        match attempt {
            Attempt::Complete => drop(self.finish(number)),
            Attempt::Forged => self.throw_away(number),
            Attempt::Undecodable => {}
        }
        Ok(Some((number, attempt)))
    }

    fn ready_again(&mut self, number: u8) {
        if let Some(block) = self.blocks.get_mut(usize::from(number)) {
            block.is_ready = true;
            self.ready.push_front(number);
        }
    }

    fn job(&self, number: u8) -> io::Result<DecodeJob> {
        let oti = self.oti;
        let (needed, size) = (oti.block_symbols(number), oti.symbol_size());
        let block = self.blocks.get(usize::from(number)).ok_or(io::ErrorKind::InvalidInput)?;
        let mut data = vec![0; needed as usize * size];
        let (start, _) = oti.position(number, 0);
        let in_file = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
        self.file.read_at(start, data.get_mut(..in_file).always("the length is limited by the bytes"))?;
        Ok(DecodeJob {
            block: number,
            round: self.round,
            held: block.held(),
            oti,
            hashes: self.hashes.clone(),
            data,
            present: block.present().to_vec(),
            is_whole: block.source_count() >= needed,
            repair: block.repair().collect(),
            surplus: block.surplus().map(|(esi, symbol)| (esi, symbol.to_vec())).collect(),
        })
    }

    /// How many bytes from the beginning of the file on are complete. They change no more, unless all is discarded.
    pub fn prefix(&self) -> u64 {
        match u8::try_from(self.leading) {
            Ok(number) if self.leading < self.blocks.len() => self.oti.position(number, 0).0,
            _ => self.oti.length(),
        }
    }

    /// Whether a block is ready.
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether every block is complete, or has so many symbols that decoding will not fail.
    pub fn has_enough(&self) -> bool {
        let is_sure = |(number, block): (u8, &Block)| {
            let needed = self.oti.block_symbols(number);
            block.is_complete || block.source_count() >= needed || block.held() >= needed + SPARE
        };
        // The cheaper question first: whether every block is complete, ready or being decoded.
        self.complete + self.ready.len() + self.decoding >= self.blocks.len()
            && (0..=u8::MAX).zip(&self.blocks).all(is_sure)
    }

    /// Drops what may be forged of a block: first its repair symbols, of which a receiver takes any that are sent, and if
    /// it is forged again all of them.
    fn throw_away(&mut self, number: u8) {
        self.counters.forged += 1;
        let needed = self.oti.block_symbols(number);
        let Some(block) = self.blocks.get_mut(usize::from(number)) else {
            return cannot_be("the block was decoded");
        };
        if block.is_doubted || block.source_count() >= needed {
            *block = new_block(&self.oti, number);
        } else {
            block.drop_repair();
            block.is_doubted = true;
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
            u64::from(if block.is_complete { needed } else { block.held().min(needed) })
        };
        (self.oti.symbols(), self.blocks.iter().enumerate().map(held).sum())
    }

    /// About how much memory it takes.
    pub fn memory(&self) -> usize {
        self.blocks.iter().map(Block::memory).sum()
    }

    /// Whether no block is being decoded elsewhere, or waits for that.
    pub fn is_idle(&self) -> bool {
        self.decoding == 0 && self.ready.is_empty()
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

fn new_block(oti: &Oti, number: u8) -> Block {
    let symbols = oti.block_symbols(number);
    let (start, _) = oti.position(number, 0);
    // Places that the file has in full.
    let whole = oti.length().saturating_sub(start) / oti.symbol_size() as u64;
    Block::new(symbols, u32::try_from(whole).unwrap_or(u32::MAX).min(symbols))
}
