//! A record of the symbols that a partial file holds, so that another receiver can continue with it.
//!
//! ```text
//!   0  LCSYMS01
//!   8  SHA-256 of the file
//!  40  its length (64), symbol size (16), FEC scheme-specific information (32)
//!  54  records: 1, payload id (32)                   a source symbol is in the partial file
//!               2, payload id (32), encoding symbol  a repair symbol
//!               3, payload id (32)                   the whole block is in the partial file
//! ```
//!
//! Records are appended after the partial file was written. After a crash of the machine the disk may have the
//! record and not the data; then the hash is wrong, and reception starts again.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::disk::OpenFile;
use layercast_delivery::object::{Assembly, Oti, SymbolOutcome, Table};
use layercast_delivery::packet::PayloadId;

const MAGIC: &[u8; 8] = b"LCSYMS01";
const HEADER: usize = 54;
const SOURCE: u8 = 1;
const REPAIR: u8 = 2;
const BLOCK: u8 = 3;
/// Records are written when there are this many bytes of them, or when the receiver asks.
const BUFFER: usize = 1 << 16;

/// The record.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    buffer: Vec<u8>,
}

fn header(table: &Table) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..40].copy_from_slice(&table.sha256);
    header[40..48].copy_from_slice(&table.oti.length().to_be_bytes());
    header[48..50].copy_from_slice(&(table.oti.symbol_size() as u16).to_be_bytes());
    header[50..].copy_from_slice(&table.oti.scheme());
    header
}

impl Journal {
    /// Whether there is a record of this very object.
    pub(super) fn describes(path: &Path, table: &Table) -> bool {
        let mut found = [0; HEADER];
        File::open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok() && found == header(table)
    }

    /// An empty record; one that exists is overwritten.
    pub(super) fn create(path: &Path, table: &Table) -> io::Result<Journal> {
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        file.write_all(&header(table))?;
        Ok(Journal { file, buffer: Vec::with_capacity(2 * BUFFER) })
    }

    /// Opens a record that [`Journal::describes`] the object, and restores in the assembly what is there. A last
    /// record that was cut off is dropped.
    pub(super) fn resume(path: &Path, assembly: &mut Assembly<OpenFile>) -> io::Result<Journal> {
        let file = File::options().read(true).write(true).open(path)?;
        let mut end = HEADER as u64;
        let mut reader = BufReader::new(&file);
        reader.seek(SeekFrom::Start(end))?;
        let mut symbol = vec![0; assembly.oti().symbol_size()];
        while let Some(length) = next(&mut reader, &mut symbol, assembly)? {
            end += length;
        }
        file.set_len(end)?;
        let mut file = file;
        file.seek(SeekFrom::Start(end))?;
        Ok(Journal { file, buffer: Vec::with_capacity(2 * BUFFER) })
    }

    /// Records the outcome of a symbol.
    pub(super) fn record(
        &mut self,
        id: PayloadId,
        symbol: &[u8],
        oti: Oti,
        outcome: SymbolOutcome,
    ) -> io::Result<()> {
        let is_source = id.esi() < oti.block_symbols(id.block);
        let kind = match outcome {
            SymbolOutcome::New if is_source => SOURCE,
            SymbolOutcome::New => REPAIR,
            SymbolOutcome::BlockComplete => BLOCK,
            SymbolOutcome::Needless | SymbolOutcome::Refused => return Ok(()),
        };
        self.buffer.push(kind);
        self.buffer.extend_from_slice(&id.to_bytes());
        if kind == REPAIR {
            self.buffer.extend_from_slice(symbol);
        }
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes the records that wait.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written
    }

    /// Drops all records, for a file whose hash is wrong.
    pub(super) fn restart(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.file.set_len(HEADER as u64)?;
        self.file.seek(SeekFrom::Start(HEADER as u64)).map(|_| ())
    }
}

/// Reads a record and applies it; returns its length, none at the end or at one that makes no sense.
fn next(
    reader: &mut impl Read,
    symbol: &mut [u8],
    assembly: &mut Assembly<OpenFile>,
) -> io::Result<Option<u64>> {
    let mut head = [0; 5];
    if !filled(reader, &mut head)? {
        return Ok(None);
    }
    let [kind, id @ ..] = head;
    let id = PayloadId::from_bytes(id);
    let known = match kind {
        SOURCE => assembly.restore_symbol(id),
        BLOCK => assembly.restore_block(id.block),
        REPAIR if filled(reader, symbol)? => {
            assembly.insert(id, symbol)?;
            return Ok(Some((head.len() + symbol.len()) as u64));
        }
        _ => false,
    };
    Ok(known.then_some(head.len() as u64))
}

/// Fills the buffer; false if the reader ends before.
fn filled(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// Files that are removed when they are dropped: a partial file and its record.
    struct Files(PathBuf, PathBuf);

    impl Files {
        fn new(name: &str) -> Files {
            let path = std::env::temp_dir().join(format!("layercast-journal-{name}-{}", std::process::id()));
            Files(path.with_extension("partial"), path.with_extension("symbols"))
        }

        fn assembly(&self, oti: Oti) -> Assembly<OpenFile> {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&self.0);
            let file = file.expect("a file");
            file.set_len(oti.length()).expect("its length");
            Assembly::new(oti, OpenFile(file))
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
            let _ = fs::remove_file(&self.1);
        }
    }

    fn table(oti: Oti) -> Table {
        let (name, session) = ("a".to_owned(), String::new());
        Table { name, oti, sha256: [7; 32], expires_s: 0, wants_completions: false, session }
    }

    /// Two blocks of five symbols: the first complete, then two source symbols and a repair symbol of the second.
    fn recorded(files: &Files, oti: Oti) -> Journal {
        let mut assembly = files.assembly(oti);
        let mut journal = Journal::create(&files.1, &table(oti)).expect("a record");
        let ids = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 4), (1, 0), (1, 0), (1, 9)];
        for (block, esi) in ids {
            let id = PayloadId::new(block, esi).expect("an id");
            let symbol = [esi as u8; 8];
            let outcome = assembly.insert(id, &symbol).expect("a symbol");
            journal.record(id, &symbol, oti, outcome).expect("a record");
        }
        assert_eq!(assembly.symbols(), (10, 8));
        journal.flush().expect("a record");
        journal
    }

    #[test]
    fn what_was_recorded_is_there_again_however_much_of_the_record_was_cut_off() {
        let oti = Oti::new(80, 8, [2, 0, 1, 4]).expect("two blocks");
        let files = Files::new("cut");
        drop(recorded(&files, oti));
        assert!(Journal::describes(&files.1, &table(oti)));
        let other = Table { sha256: [8; 32], ..table(oti) };
        assert!(!Journal::describes(&files.1, &other));
        let whole = fs::read(&files.1).expect("the record");
        let mut most = 0;
        for length in HEADER..=whole.len() {
            fs::write(&files.1, &whole[..length]).expect("a part");
            let mut assembly = files.assembly(oti);
            let mut journal = Journal::resume(&files.1, &mut assembly).expect("the record");
            let (_, held) = assembly.symbols();
            assert!(held == most || held == most + 1, "{held} after {most}");
            most = held;
            // What is recorded now follows what is complete.
            let id = PayloadId::new(1, 3).expect("an id");
            let outcome = assembly.insert(id, &[3; 8]).expect("a symbol");
            journal.record(id, &[3; 8], oti, outcome).expect("a record");
            journal.flush().expect("a record");
            let mut again = files.assembly(oti);
            Journal::resume(&files.1, &mut again).expect("the record");
            assert_eq!(again.symbols(), assembly.symbols());
        }
        assert_eq!(most, 8);
        fs::write(&files.1, &whole[..HEADER - 1]).expect("a part");
        assert!(!Journal::describes(&files.1, &table(oti)));
    }

    #[test]
    fn a_record_that_starts_again_is_empty() {
        let oti = Oti::new(80, 8, [2, 0, 1, 4]).expect("two blocks");
        let files = Files::new("again");
        let mut journal = recorded(&files, oti);
        journal.restart().expect("an empty record");
        let mut assembly = files.assembly(oti);
        Journal::resume(&files.1, &mut assembly).expect("the record");
        assert_eq!(assembly.symbols(), (10, 0));
    }
}
