//! Reassembly of a file without a code.

use std::io;

use super::bits::{has, none_of, put};
use super::{NoCode, SymbolOutcome};
use crate::disk::DiskFile;
use crate::packet::PayloadId;

/// Reassembles a file whose symbols are all needed.
#[derive(Debug)]
pub struct PlainAssembly<F> {
    coding: NoCode,
    file: F,
    /// One bit for each symbol that is in the file.
    present: Vec<u64>,
    held: u64,
}

impl<F: DiskFile> PlainAssembly<F> {
    /// An assembly into a file, which is overwritten.
    pub fn new(coding: NoCode, file: F) -> PlainAssembly<F> {
        let mut assembly = PlainAssembly { coding, file, present: Vec::new(), held: 0 };
        assembly.restart();
        assembly
    }

    /// Discards all symbols, for a file whose hash is wrong.
    pub fn restart(&mut self) {
        self.present = none_of(self.coding.symbols());
        self.held = 0;
    }

    /// Inserts a symbol. Never panics on any input.
    ///
    /// # Errors
    /// The file's error on writing.
    pub fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let Some(number) = self.coding.number(id) else { return Ok(SymbolOutcome::Refused) };
        let (start, length) = self.coding.position(number);
        // The last symbol may come with or without padding.
        let Some(bytes) = symbol.get(..length).filter(|_| symbol.len() <= self.coding.symbol_size()) else {
            return Ok(SymbolOutcome::Refused);
        };
        if self.contains(number) {
            return Ok(SymbolOutcome::Needless);
        }
        self.file.write_at(start, bytes)?;
        self.mark(number);
        Ok(if self.is_complete() { SymbolOutcome::BlockComplete } else { SymbolOutcome::New })
    }

    /// Notes a symbol that the file has already, from an earlier assembly; false if there is none of that number.
    pub fn restore_symbol(&mut self, id: PayloadId) -> bool {
        let Some(number) = self.coding.number(id) else { return false };
        if !self.contains(number) {
            self.mark(number);
        }
        true
    }

    fn contains(&self, number: u64) -> bool {
        has(&self.present, number)
    }

    fn mark(&mut self, number: u64) {
        put(&mut self.present, number);
        self.held += 1;
    }

    /// Whether the file is complete.
    pub fn is_complete(&self) -> bool {
        self.held >= self.coding.symbols()
    }

    /// How many symbols the file needs, and how many of them are present.
    pub fn symbols(&self) -> (u64, u64) {
        (self.coding.symbols(), self.held)
    }

    /// About how much memory it takes.
    pub fn memory(&self) -> usize {
        8 * self.present.len()
    }

    /// The file.
    pub fn file(&self) -> &F {
        &self.file
    }
}
