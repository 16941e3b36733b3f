//! The symbols and blocks of a partial file.

use std::io::{self, IoSlice};

use crate::disk::DiskFile;
use crate::journal::Journal;
use crate::object::{Attempt, DecodeJob, Decoded, SymbolOutcome};
use crate::packet::PayloadId;
use crate::placing::Partial;

/// How much is hashed at a time while packets arrive: as long as a receive buffer lasts many times over.
pub(super) const AHEAD: usize = 256 << 10;

/// What opening an object found.
#[derive(Debug, Default)]
pub(in crate::reception) struct Opened {
    /// Symbols of an earlier receiver, and symbols needed.
    pub(in crate::reception) resumed: Option<(u64, u64)>,
    pub(in crate::reception) is_unrecorded: bool,
}

impl<F: DiskFile> Partial<F> {
    /// Inserts a symbol.
    pub(super) fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let outcome = self.reassembly.insert(id, symbol)?;
        // Without a record an object can be received all the same.
        if let Some(record) = &mut self.journal
            && record.record(id, self.coding, outcome).is_err()
        {
            self.journal = None;
        }
        Ok(outcome)
    }

    /// Inserts source symbols that follow each other, if they can be written together: the outcome of the last. None if they are
    /// to be inserted one by one.
    pub(super) fn insert_run(
        &mut self,
        first: PayloadId,
        symbols: &[IoSlice<'_>],
    ) -> io::Result<Option<SymbolOutcome>> {
        let Partial { coding, reassembly, journal, .. } = self;
        let Some(last) = reassembly.insert_run(first, symbols)? else { return Ok(None) };
        let mut ids = (first.esi()..).zip((0..symbols.len()).rev());
        let recorded = journal.iter_mut().try_for_each(|record| {
            ids.try_for_each(|(esi, left)| {
                let outcome = if left == 0 { last } else { SymbolOutcome::New };
                let id = PayloadId::new(first.block, esi);
                id.map_or(Ok(()), |id| record.record(id, *coding, outcome))
            })
        });
        if recorded.is_err() {
            *journal = None;
        }
        Ok(Some(last))
    }

    /// Decodes and verifies a block that has enough symbols. Whether there was one.
    pub(super) fn complete_block(&mut self) -> io::Result<bool> {
        let job = self.reassembly.take_job()?;
        job.map_or(Ok(false), |job| self.finish_job(job.run()).map(|()| true))
    }

    /// The next block that has enough symbols, to be decoded elsewhere.
    pub(super) fn take_job(&mut self) -> io::Result<Option<DecodeJob>> {
        self.reassembly.take_job()
    }

    /// Takes a block that was decoded elsewhere.
    pub(super) fn finish_job(&mut self, decoded: Decoded) -> io::Result<()> {
        let Partial { reassembly, journal, .. } = self;
        if let (Some(block), Some(record)) = (decoded.overwrites(), &mut *journal)
            && record.overwrite(block).is_err()
        {
            *journal = None;
        }
        let attempt = reassembly.finish_job(decoded)?;
        let recorded = match (attempt, &mut *journal) {
            (Some((block, Attempt::Complete)), Some(record)) => record.record_block(block),
            (Some((_, Attempt::Forged)), Some(record)) => record.keep_blocks(&reassembly.complete_blocks()),
            _ => Ok(()),
        };
        if recorded.is_err() {
            *journal = None;
        }
        Ok(())
    }

    /// Discards all symbols, since the hash of the whole is wrong.
    pub(super) fn restart(&mut self) {
        self.reassembly.restart();
        if self.journal.as_mut().is_some_and(|journal| journal.restart().is_err()) {
            self.journal = None;
        }
    }

    /// Writes the records that wait; false if that failed now.
    pub(super) fn flush(&mut self) -> bool {
        let written = self.journal.as_mut().map_or(Ok(()), Journal::flush);
        if written.is_err() {
            self.journal = None;
        }
        written.is_ok()
    }

    /// Whether all that is known of its symbols is on the disk, so that its memory can be given up for a while. Symbols that
    /// found no place in the file are lost by that.
    pub(super) fn can_be_put_aside(&mut self) -> bool {
        self.reassembly.is_idle() && !self.reassembly.is_complete() && self.flush() && self.journal.is_some()
    }
}
