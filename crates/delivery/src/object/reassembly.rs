//! Reassembly of an object in either encoding.

use std::io::{self, IoSlice};

use super::{
    Assembly, AssemblyCounters, Attempt, BlockHashes, Coding, DecodeJob, Decoded, PlainAssembly,
    SymbolOutcome,
};
use crate::disk::DiskFile;
use crate::packet::PayloadId;

/// Reassembles an object from any symbols in any order.
#[derive(Debug)]
pub enum Reassembly<F> {
    /// Of RaptorQ.
    Coded(Assembly<F>),
    /// Without a code.
    Plain(PlainAssembly<F>),
}

impl<F: DiskFile> Reassembly<F> {
    /// A reassembly into a file, which is overwritten. Blocks are verified by their hashes, if these are known.
    pub fn new(coding: Coding, file: F, hashes: BlockHashes) -> Reassembly<F> {
        match coding {
            Coding::RaptorQ(oti) => Reassembly::Coded(Assembly::new(oti, file, hashes)),
            Coding::NoCode(coding) => Reassembly::Plain(PlainAssembly::new(coding, file)),
        }
    }

    /// Discards all symbols, for a file whose hash is wrong.
    pub fn restart(&mut self) {
        match self {
            Reassembly::Coded(assembly) => assembly.restart(),
            Reassembly::Plain(assembly) => assembly.restart(),
        }
    }

    /// Inserts a symbol. Never panics on any input.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        match self {
            Reassembly::Coded(assembly) => assembly.insert(id, symbol),
            Reassembly::Plain(assembly) => assembly.insert(id, symbol),
        }
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
        match self {
            Reassembly::Coded(assembly) => assembly.insert_run(first, symbols),
            Reassembly::Plain(_) => Ok(None),
        }
    }

    /// Notes a source symbol that the file has already; false if there is none of that number.
    pub fn restore_symbol(&mut self, id: PayloadId) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.restore_symbol(id),
            Reassembly::Plain(assembly) => assembly.restore_symbol(id),
        }
    }

    /// Notes a repair symbol that the file has already, in the place of a source symbol; false if it cannot be there.
    pub fn restore_repair(&mut self, id: PayloadId, place: u32) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.restore_repair(id, place),
            Reassembly::Plain(_) => false,
        }
    }

    /// Notes a block that the file has already; false if there is no such block.
    pub fn restore_block(&mut self, block: u8) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.restore_block(block),
            Reassembly::Plain(_) => false,
        }
    }

    /// Notes that repair symbols of a block are no longer in the file; false if there is no such block.
    pub fn restore_overwritten(&mut self, block: u8) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.restore_overwritten(block),
            Reassembly::Plain(_) => false,
        }
    }

    /// Decodes and verifies the next block that has enough symbols. Its number, and what came of it; none if there is no
    /// such block.
    ///
    /// # Errors
    /// The file's error on writing or reading.
    pub fn complete_next(&mut self) -> io::Result<Option<(u8, Attempt)>> {
        match self {
            Reassembly::Coded(assembly) => assembly.complete_next(),
            Reassembly::Plain(_) => Ok(None),
        }
    }

    /// The next block that has enough symbols, to be decoded and verified elsewhere.
    ///
    /// # Errors
    /// The file's error on reading.
    pub fn take_job(&mut self) -> io::Result<Option<DecodeJob>> {
        match self {
            Reassembly::Coded(assembly) => assembly.take_job(),
            Reassembly::Plain(_) => Ok(None),
        }
    }

    /// Takes the result of a job: the block, and what came of it; none if all symbols were discarded since.
    ///
    /// # Errors
    /// The file's error on writing; then the block is ready again.
    pub fn finish_job(&mut self, decoded: Decoded) -> io::Result<Option<(u8, Attempt)>> {
        match self {
            Reassembly::Coded(assembly) => assembly.finish_job(decoded),
            Reassembly::Plain(_) => Ok(None),
        }
    }

    /// The blocks that are complete; none where there is no code.
    pub fn complete_blocks(&self) -> Vec<u8> {
        match self {
            Reassembly::Coded(assembly) => assembly.complete_blocks().collect(),
            Reassembly::Plain(_) => Vec::new(),
        }
    }

    /// How many bytes from the beginning of the file on are known to be complete. They change no more, unless all is
    /// discarded.
    pub fn prefix(&self) -> u64 {
        match self {
            Reassembly::Coded(assembly) => assembly.prefix(),
            Reassembly::Plain(_) => 0,
        }
    }

    /// Whether a block has enough symbols and waits to be decoded or verified.
    pub fn is_ready(&self) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.is_ready(),
            Reassembly::Plain(_) => false,
        }
    }

    /// About how much memory it takes.
    pub fn memory(&self) -> usize {
        match self {
            Reassembly::Coded(assembly) => assembly.memory(),
            Reassembly::Plain(assembly) => assembly.memory(),
        }
    }

    /// Whether no block is being decoded elsewhere, or waits for that.
    pub fn is_idle(&self) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.is_idle(),
            Reassembly::Plain(_) => true,
        }
    }

    /// Whether every block is complete or has so many symbols that decoding will not fail.
    pub fn has_enough(&self) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.has_enough(),
            Reassembly::Plain(assembly) => assembly.is_complete(),
        }
    }

    /// Whether the file is complete.
    pub fn is_complete(&self) -> bool {
        match self {
            Reassembly::Coded(assembly) => assembly.is_complete(),
            Reassembly::Plain(assembly) => assembly.is_complete(),
        }
    }

    /// The least number of symbols that the file needs, and how many of them are present.
    pub fn symbols(&self) -> (u64, u64) {
        match self {
            Reassembly::Coded(assembly) => assembly.symbols(),
            Reassembly::Plain(assembly) => assembly.symbols(),
        }
    }

    /// The counters of the decoder; zeros where there is no code.
    pub fn counters(&self) -> AssemblyCounters {
        match self {
            Reassembly::Coded(assembly) => *assembly.counters(),
            Reassembly::Plain(_) => AssemblyCounters::default(),
        }
    }

    /// The file.
    pub fn file(&self) -> &F {
        match self {
            Reassembly::Coded(assembly) => assembly.file(),
            Reassembly::Plain(assembly) => assembly.file(),
        }
    }
}
