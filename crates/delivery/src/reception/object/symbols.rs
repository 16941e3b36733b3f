//! The symbols of an object, and its blocks.

use std::io::{self, IoSlice};

use super::{Object, State};
use crate::disk::DiskFile;
use crate::object::{AssemblyCounters, DecodeJob, Decoded, SymbolOutcome};
use crate::packet::PayloadId;

impl<F: DiskFile> Object<F> {
    /// Inserts a symbol, of this part if it has several.
    pub(in crate::reception) fn insert(
        &mut self,
        part: u32,
        id: PayloadId,
        symbol: &[u8],
    ) -> io::Result<SymbolOutcome> {
        match (&mut self.state, &mut self.parts) {
            (State::Short(reassembly), _) => reassembly.insert(id, symbol),
            (State::Long(partial, _), _) => partial.insert(id, symbol),
            (State::Assembling, Some(parts)) => parts.insert(part, id, symbol),
            _ => Ok(SymbolOutcome::Refused),
        }
    }

    /// Inserts source symbols that follow each other, if they can be written together: the outcome of the last. None if they are
    /// to be inserted one by one.
    pub(in crate::reception) fn insert_run(
        &mut self,
        part: u32,
        first: PayloadId,
        symbols: &[IoSlice<'_>],
    ) -> io::Result<Option<SymbolOutcome>> {
        match (&mut self.state, &mut self.parts) {
            (State::Long(partial, _), _) => partial.insert_run(first, symbols),
            (State::Assembling, Some(parts)) => parts.insert_run(part, first, symbols),
            _ => Ok(None),
        }
    }

    /// Decodes and verifies a block that has enough symbols. Whether there was one.
    pub(super) fn complete_block(&mut self) -> io::Result<bool> {
        match (&mut self.state, &mut self.parts) {
            (State::Short(reassembly), _) => Ok(reassembly.complete_next()?.is_some()),
            (State::Long(partial, _), _) => partial.complete_block(),
            (State::Assembling, Some(parts)) => parts.complete_block(),
            _ => Ok(false),
        }
    }

    /// Whether a block of a long object has enough symbols.
    pub(in crate::reception) fn is_decodable(&self) -> bool {
        match (&self.state, &self.parts) {
            (State::Long(partial, _), _) => partial.reassembly.is_ready(),
            (State::Assembling, Some(parts)) => parts.is_decodable(),
            _ => false,
        }
    }

    /// The next block that has enough symbols, to be decoded elsewhere, and the part that it is of.
    pub(in crate::reception) fn take_job(&mut self) -> io::Result<Option<(u32, DecodeJob)>> {
        match (&mut self.state, &mut self.parts) {
            (State::Long(partial, _), _) => Ok(partial.take_job()?.map(|job| (0, job))),
            (State::Assembling, Some(parts)) => parts.take_job(),
            _ => Ok(None),
        }
    }

    /// Takes a block of a part that was decoded elsewhere.
    pub(in crate::reception) fn finish_job(&mut self, part: u32, decoded: Decoded) -> io::Result<()> {
        match (&mut self.state, &mut self.parts) {
            (State::Long(partial, _), _) => partial.finish_job(decoded),
            (State::Assembling, Some(parts)) => parts.finish_job(part, decoded),
            _ => Ok(()),
        }
    }

    /// About how much memory the record of a part takes; none if it is not in memory.
    pub(in crate::reception) fn record_memory(&self, part: u32) -> Option<u64> {
        match (&self.state, &self.parts) {
            (State::Long(partial, _), _) => Some(partial.reassembly.memory() as u64),
            (State::Assembling, Some(parts)) => parts.memory(part),
            _ => None,
        }
    }

    /// Gives up the memory of the record of a part, which is on the disk: it is read again with the next symbol. Whether that
    /// was possible.
    pub(in crate::reception) fn put_aside(&mut self, part: u32) -> bool {
        if let (State::Assembling, Some(parts)) = (&self.state, &mut self.parts) {
            return parts.put_aside(part);
        }
        if self.is_busy() {
            return false;
        }
        let State::Long(partial, hashing) = &mut self.state else { return false };
        let can = partial.can_be_put_aside();
        if can {
            let (_, held) = partial.reassembly.symbols();
            self.put_aside.add_decoding(AssemblyCounters::default(), partial.reassembly.counters());
            self.state = State::Spilled { held, hashing: hashing.clone() };
        }
        can
    }

    /// Writes the records that wait; false if that failed now.
    pub(in crate::reception) fn flush(&mut self) -> bool {
        match (&mut self.state, &mut self.parts) {
            (State::Long(partial, _), _) => partial.flush(),
            (State::Assembling, Some(parts)) => parts.flush(),
            _ => true,
        }
    }
}
