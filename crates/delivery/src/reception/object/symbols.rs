//! The symbols of an object, and its blocks.

use std::io::{self, IoSlice};

use super::{Object, State};
use crate::disk::DiskFile;
use crate::object::{Attempt, DecodeJob, Decoded, SymbolOutcome};
use crate::packet::PayloadId;
use crate::placing::Partial;

impl<F: DiskFile> Object<F> {
    /// Inserts a symbol.
    pub(in crate::reception) fn insert(&mut self, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        match &mut self.state {
            State::Short(reassembly) => reassembly.insert(id, symbol),
            State::Long(partial, _) => {
                let Partial { coding, reassembly, journal, .. } = &mut **partial;
                let outcome = reassembly.insert(id, symbol)?;
                // Without a record an object can be received all the same.
                if let Some(record) = journal
                    && record.record(id, *coding, outcome).is_err()
                {
                    *journal = None;
                }
                Ok(outcome)
            }
            _ => Ok(SymbolOutcome::Refused),
        }
    }

    /// Inserts source symbols that follow each other, if they can be written together: the outcome of the last. None if they are
    /// to be inserted one by one.
    pub(in crate::reception) fn insert_run(
        &mut self,
        first: PayloadId,
        symbols: &[IoSlice<'_>],
    ) -> io::Result<Option<SymbolOutcome>> {
        let State::Long(partial, _) = &mut self.state else { return Ok(None) };
        let Partial { coding, reassembly, journal, .. } = &mut **partial;
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
        match &mut self.state {
            State::Short(reassembly) => Ok(reassembly.complete_next()?.is_some()),
            State::Long(partial, _) => {
                let attempt = partial.reassembly.complete_next()?;
                record_attempt(partial, attempt);
                Ok(attempt.is_some())
            }
            _ => Ok(false),
        }
    }

    /// Whether a block of a long object has enough symbols.
    pub(in crate::reception) fn is_decodable(&self) -> bool {
        matches!(&self.state, State::Long(partial, _) if partial.reassembly.is_ready())
    }

    /// The next block that has enough symbols, to be decoded elsewhere.
    pub(in crate::reception) fn take_job(&mut self) -> io::Result<Option<DecodeJob>> {
        match &mut self.state {
            State::Long(partial, _) => partial.reassembly.take_job(),
            _ => Ok(None),
        }
    }

    /// Takes a block that was decoded elsewhere.
    pub(in crate::reception) fn finish_job(&mut self, decoded: Decoded) -> io::Result<()> {
        if let State::Long(partial, _) = &mut self.state {
            let attempt = partial.reassembly.finish_job(decoded)?;
            record_attempt(partial, attempt);
        }
        Ok(())
    }
}

/// Records what came of decoding a block.
fn record_attempt<F: DiskFile>(partial: &mut Partial<F>, attempt: Option<(u8, Attempt)>) {
    let Partial { reassembly, journal, .. } = partial;
    let recorded = match (attempt, &mut *journal) {
        (Some((block, Attempt::Complete)), Some(record)) => record.record_block(block),
        (Some((_, Attempt::Forged)), Some(record)) => record.keep_blocks(&reassembly.complete_blocks()),
        _ => Ok(()),
    };
    if recorded.is_err() {
        *journal = None;
    }
}
