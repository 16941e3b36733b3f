//! A journal of the symbols that a partial file holds, so that another receiver can continue with it: a file of
//! [records](crate::record).
//!
//! ```text
//! LCSYMS04, the object's identity (32 bytes)
//! records: 1, payload id (32)                a source symbol is in the partial file
//!          2, payload id (32), number (32)   a repair symbol is in the place of this source symbol
//!          3, payload id (32)                the whole block is in the partial file
//!          4, payload id (32)                the repair symbols of this block are overwritten
//! ```
//!
//! Records are appended after the partial file was written. After a crash of the machine the disk may have the record and not the
//! data; then the hash is wrong, and reception of the object starts again. Blocks whose hashes are signed are verified again, and
//! only those that are wrong are dropped.

use std::io;

use crate::disk::DiskFile;
use crate::object::{Coding, Reassembly, SymbolOutcome};
use crate::packet::PayloadId;
use crate::record::RecordFile;

const MAGIC: &[u8; 8] = b"LCSYMS04";
const HEADER: usize = 40;
const SOURCE: u8 = 1;
const REPAIR: u8 = 2;
const BLOCK: u8 = 3;
const OVERWRITTEN: u8 = 4;
/// The length of the shortest record, with its length and checksum.
const RECORD_MIN: u64 = 10;
/// Records are written when there are this many bytes of them, or when the receiver asks: with the last one, as many as a buffer
/// has that was doubled.
const BUFFER: usize = (1 << 13) - 16;

/// What an object is: the hash of its path, its length, its content's hash and its coding.
pub type Identity = [u8; 32];

/// The journal.
#[derive(Debug)]
pub struct Journal<F> {
    records: RecordFile<F>,
}

fn header(identity: &Identity) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let (magic, rest) = header.split_at_mut(MAGIC.len());
    magic.copy_from_slice(MAGIC);
    rest.copy_from_slice(identity);
    header
}

impl<F: DiskFile> Journal<F> {
    /// Whether a file is a journal of this very object.
    pub fn describes(file: &F, identity: &Identity) -> bool {
        RecordFile::has_head(file, &header(identity))
    }

    /// How many symbols a journal may have, by its length.
    pub fn held_at_most(file: &F) -> u64 {
        file.length().unwrap_or(0).saturating_sub(HEADER as u64) / RECORD_MIN
    }

    /// An empty journal in place of whatever the file held.
    ///
    /// # Errors
    /// The disk's error.
    pub fn create(file: F, identity: &Identity) -> io::Result<Journal<F>> {
        Ok(Journal { records: RecordFile::create(file, &header(identity))? })
    }

    /// Opens a journal that [`Journal::describes`] the object, and restores in the reassembly what is there. What
    /// follows a damaged record is dropped.
    ///
    /// # Errors
    /// The disk's error.
    pub fn resume<G: DiskFile>(
        file: F,
        identity: &Identity,
        reassembly: &mut Reassembly<G>,
    ) -> io::Result<Journal<F>> {
        let records = RecordFile::open(file, &header(identity), |record| restore(record, reassembly))?;
        Ok(Journal { records })
    }

    /// Records the outcome of a symbol.
    ///
    /// # Errors
    /// The disk's error.
    pub fn record(&mut self, id: PayloadId, coding: Coding, outcome: SymbolOutcome) -> io::Result<()> {
        match (outcome, coding) {
            (SymbolOutcome::New, _) | (SymbolOutcome::BlockComplete, Coding::NoCode(_)) => {
                self.append(SOURCE, id, &[])
            }
            (SymbolOutcome::InPlaceOf(place), _) => self.append(REPAIR, id, &place.to_be_bytes()),
            (SymbolOutcome::BlockComplete, Coding::RaptorQ(_)) => self.append(BLOCK, id, &[]),
            // What is in memory alone is gone with this receiver.
            (SymbolOutcome::Surplus | SymbolOutcome::Needless | SymbolOutcome::Refused, _) => Ok(()),
        }
    }

    fn append(&mut self, kind: u8, id: PayloadId, place: &[u8]) -> io::Result<()> {
        if self.records.push(&[&[kind], &id.to_bytes(), place]) >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Records that a block is complete: decoded, and verified where its hash is known.
    ///
    /// # Errors
    /// The disk's error.
    pub fn record_block(&mut self, block: u8) -> io::Result<()> {
        self.append(BLOCK, of_block(block), &[])?;
        self.flush()
    }

    /// Records that the places of a block's repair symbols get its source symbols from now on. This is on the disk before those are: a
    /// receiver that is killed meanwhile would else take source symbols for repair symbols.
    ///
    /// # Errors
    /// The disk's error.
    pub fn overwrite(&mut self, block: u8) -> io::Result<()> {
        self.append(OVERWRITTEN, of_block(block), &[])?;
        self.flush()
    }

    /// Writes the records that wait.
    ///
    /// # Errors
    /// The disk's error.
    pub fn flush(&mut self) -> io::Result<()> {
        self.records.flush()
    }

    /// Drops all records but those of complete blocks, since a symbol of another block was forged. The symbols of further
    /// blocks would have to be received again by another receiver; without this the journal would grow with each forgery.
    ///
    /// # Errors
    /// The disk's error.
    pub fn keep_blocks(&mut self, complete: &[u8]) -> io::Result<()> {
        self.restart()?;
        complete.iter().try_for_each(|&block| self.append(BLOCK, of_block(block), &[]))?;
        self.flush()
    }

    /// Drops all records, for an object whose hash is wrong.
    ///
    /// # Errors
    /// The disk's error.
    pub fn restart(&mut self) -> io::Result<()> {
        self.records.clear()
    }
}

/// What stands for a whole block.
fn of_block(block: u8) -> PayloadId {
    PayloadId::from_bytes([block, 0, 0, 0])
}

/// Applies a record; whether it makes sense.
fn restore<G: DiskFile>(record: &[u8], reassembly: &mut Reassembly<G>) -> bool {
    let &[kind, i3, i2, i1, i0, ref place @ ..] = record else { return false };
    let id = PayloadId::from_bytes([i3, i2, i1, i0]);
    match (kind, place) {
        (SOURCE, []) => reassembly.restore_symbol(id),
        (BLOCK, []) => reassembly.restore_block(id.block),
        (OVERWRITTEN, []) => reassembly.restore_overwritten(id.block),
        (REPAIR, &[p3, p2, p1, p0]) => reassembly.restore_repair(id, u32::from_be_bytes([p3, p2, p1, p0])),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;
    use crate::object::{BlockHashes, Oti};

    const IDENTITY: Identity = [7; 32];

    fn oti() -> Oti {
        Oti::new(80, 8, [2, 0, 1, 4]).expect("two blocks")
    }

    fn reassembly() -> Reassembly<MemoryFile> {
        let file = MemoryFile::default();
        file.set_length(80).expect("its length");
        Reassembly::new(Coding::RaptorQ(oti()), file, BlockHashes::None)
    }

    fn copy(bytes: &[u8]) -> MemoryFile {
        let file = MemoryFile::default();
        file.write_at(0, bytes).expect("a copy");
        file
    }

    /// Two blocks of five symbols: the first complete, then two source symbols and a repair symbol of the second.
    fn recorded() -> Vec<u8> {
        let mut reassembly = reassembly();
        let coding = Coding::RaptorQ(oti());
        let mut journal = Journal::create(MemoryFile::default(), &IDENTITY).expect("a record");
        let ids = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 4), (1, 0), (1, 0), (1, 9)];
        for (block, esi) in ids {
            let id = PayloadId::new(block, esi).expect("an id");
            let symbol = [esi as u8; 8];
            let outcome = reassembly.insert(id, &symbol).expect("a symbol");
            journal.record(id, coding, outcome).expect("a record");
        }
        assert_eq!(reassembly.symbols(), (10, 8));
        journal.flush().expect("a record");
        journal.records.into_file().take()
    }

    #[test]
    fn what_was_recorded_is_there_again_however_much_of_the_record_was_cut_off_or_damaged() {
        let whole = recorded();
        assert!(Journal::describes(&copy(&whole), &IDENTITY));
        assert!(!Journal::describes(&copy(&whole), &[8; 32]));
        let coding = Coding::RaptorQ(oti());
        let mut most = 0;
        for length in HEADER..=whole.len() {
            let mut found = reassembly();
            let mut journal =
                Journal::resume(copy(&whole[..length]), &IDENTITY, &mut found).expect("the record");
            let (_, held) = found.symbols();
            assert!(held == most || held == most + 1, "{held} after {most}");
            most = held;
            // What is recorded now follows what is complete.
            let id = PayloadId::new(1, 3).expect("an id");
            let outcome = found.insert(id, &[3; 8]).expect("a symbol");
            journal.record(id, coding, outcome).expect("a record");
            journal.flush().expect("a record");
            let mut again = reassembly();
            Journal::resume(journal.records.into_file(), &IDENTITY, &mut again).expect("the record");
            assert_eq!(again.symbols(), found.symbols());
        }
        assert_eq!(most, 8);
        for at in HEADER..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let mut found = reassembly();
            Journal::resume(copy(&damaged), &IDENTITY, &mut found).expect("the record");
            assert!(found.symbols().1 < 8);
        }
    }

    /// A receiver that was killed while it wrote a block that it had decoded: none, one or all of its places have source symbols.
    #[test]
    fn repair_symbols_that_are_overwritten_are_not_used() {
        let (coding, data) = (Coding::RaptorQ(oti()), core::array::from_fn::<u8, 80, _>(|at| at as u8 * 3));
        let symbol = |esi: u32| -> Vec<u8> {
            let place = data.get(40 + esi as usize * 8..48 + esi as usize * 8);
            place.map(<[u8]>::to_vec).unwrap_or_else(|| {
                let mut room = vec![0; 8];
                crate::object::BlockEncoder::new(oti(), 1, &data[40..])
                    .expect("a block")
                    .repair(esi - 5, &mut room);
                room
            })
        };
        for written in 0..3 {
            let mut before = reassembly();
            let mut journal = Journal::create(MemoryFile::default(), &IDENTITY).expect("a record");
            for esi in [0, 1, 2, 5, 6] {
                let id = PayloadId::new(1, esi).expect("an id");
                let outcome = before.insert(id, &symbol(esi)).expect("a symbol");
                journal.record(id, coding, outcome).expect("a record");
            }
            assert!(before.is_ready());
            journal.overwrite(1).expect("a record");
            let file = copy(&before.file().take());
            (0..written)
                .for_each(|esi| file.write_at(64 + 8 * esi, &symbol(3 + esi as u32)).expect("a symbol"));
            let mut after = Reassembly::new(coding, file, BlockHashes::None);
            Journal::resume(journal.records.into_file(), &IDENTITY, &mut after).expect("the record");
            assert_eq!((after.symbols(), after.is_ready()), ((10, 3), false));
            for esi in [7, 8] {
                after.insert(PayloadId::new(1, esi).expect("an id"), &symbol(esi)).expect("a symbol");
            }
            after.complete_next().expect("a block");
            assert_eq!(after.file().take()[40..], data[40..], "{written}");
        }
    }

    #[test]
    fn a_record_that_starts_again_is_empty() {
        let file = copy(&recorded());
        let mut found = reassembly();
        let mut journal = Journal::resume(file, &IDENTITY, &mut found).expect("the record");
        journal.restart().expect("an empty record");
        let mut again = reassembly();
        Journal::resume(journal.records.into_file(), &IDENTITY, &mut again).expect("the record");
        assert_eq!(again.symbols(), (10, 0));
    }
}
