//! Which files of a folder a receiver put there: these alone may it remove. A file of [records](crate::record).
//!
//! ```text
//! LCPLACED2
//! records: ?PATH      the file is about to be there
//!          +PATH      it is there
//!          -PATH      it was removed
//! ```
//!
//! What follows a torn or damaged record is dropped: then a file may stay that should be removed, and none is removed that should
//! stay.

use std::collections::BTreeSet;
use std::io;

use crate::disk::{Disk, DiskFile};
use crate::placing::OWN_FOLDER;
use crate::record::RecordFile;

const HEAD: &[u8; 10] = b"LCPLACED2\n";
const NAME: &str = "placed";
const FOREIGN: &str = "`.layercast/placed` is not the record of this version: name another folder, or remove that file, and what was \
     received before is never removed";
/// A record with more history than files is written again when it is opened.
const HISTORY: usize = 64;

/// What became of a path: the first byte of a record.
const INTENDED: u8 = b'?';
const PLACED: u8 = b'+';
const REMOVED: u8 = b'-';

/// Paths of files.
#[derive(Debug, Default)]
struct Paths {
    /// Of those that are about to be there.
    intended: BTreeSet<String>,
    placed: BTreeSet<String>,
}

impl Paths {
    /// Applies a record; whether it makes sense.
    fn apply(&mut self, record: &[u8]) -> bool {
        let Some((&step, path)) = record.split_first() else { return false };
        let Ok(path) = core::str::from_utf8(path) else { return false };
        self.intended.remove(path);
        match step {
            INTENDED => self.intended.insert(path.to_owned()),
            PLACED => self.placed.insert(path.to_owned()),
            REMOVED => self.placed.remove(path),
            _ => return false,
        };
        true
    }
}

/// The record.
#[derive(Debug)]
pub struct Placed<F> {
    records: RecordFile<F>,
    /// Whether some of them wait for [`Placed::flush`].
    waits: bool,
    paths: Paths,
}

impl<F: DiskFile> Placed<F> {
    /// Opens the record of a folder, and creates it if there is none.
    ///
    /// # Errors
    /// The disk's error; [`io::ErrorKind::ResourceBusy`] if another receiver keeps it; [`io::ErrorKind::InvalidData`] if
    /// the file is something else.
    pub fn open<D: Disk<File = F>>(disk: &mut D) -> io::Result<Placed<F>> {
        disk.create_folder(OWN_FOLDER)?;
        let name = format!("{OWN_FOLDER}/{NAME}");
        let file = disk.open(&name)?;
        let mut head = vec![0; HEAD.len().min(usize::try_from(file.length()?).unwrap_or(HEAD.len()))];
        file.read_at(0, &mut head)?;
        let mut paths = Paths::default();
        if !HEAD.starts_with(&head) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, FOREIGN));
        }
        if head.len() < HEAD.len() {
            // A new one. Its head is on the disk before it has its name: after a loss of power anything may be in its place.
            return Placed::written(disk, &name, paths);
        }
        let mut count = 0;
        let take = |record: &[u8]| {
            count += 1;
            paths.apply(record)
        };
        let records = RecordFile::open(file, HEAD, take)?;
        if count > 2 * paths.placed.len() + HISTORY {
            return Placed::written(disk, &name, paths);
        }
        Ok(Placed { records, waits: false, paths })
    }

    /// A new file without history in place of the one of this name.
    fn written<D: Disk<File = F>>(disk: &mut D, name: &str, paths: Paths) -> io::Result<Placed<F>> {
        let new = format!("{name}.new");
        let mut records = RecordFile::create(disk.open(&new)?, HEAD)?;
        for (step, paths) in [(INTENDED, &paths.intended), (PLACED, &paths.placed)] {
            for path in paths {
                records.push(&[&[step], path.as_bytes()]);
            }
        }
        records.flush()?;
        records.sync()?;
        disk.rename(&new, name)?;
        Ok(Placed { records, waits: false, paths })
    }

    fn note(&mut self, step: u8, path: &str) -> io::Result<()> {
        let record = [&[step][..], path.as_bytes()].concat();
        self.records.write(&[&record])?;
        self.waits = true;
        if step == INTENDED {
            // Before it counts: what is intended is not noted again.
            self.flush()?;
        }
        self.paths.apply(&record);
        Ok(())
    }

    /// Makes sure that all records survive a loss of power.
    ///
    /// # Errors
    /// The disk's error; they still wait then.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waits {
            self.records.sync()?;
            self.waits = false;
        }
        Ok(())
    }

    /// A file is about to be moved to its path. The record is on the disk before the file is: after a loss of power it would
    /// be nobody's otherwise, and stay for ever.
    ///
    /// # Errors
    /// The disk's error.
    pub fn intend(&mut self, path: &str) -> io::Result<()> {
        if self.contains(path) || self.paths.intended.contains(path) {
            return Ok(());
        }
        self.note(INTENDED, path)
    }

    /// A file is at its path, moved there or found: one that was found counts if it was about to be moved there.
    ///
    /// # Errors
    /// The disk's error.
    pub fn confirm(&mut self, path: &str) -> io::Result<()> {
        if self.paths.intended.contains(path) { self.note(PLACED, path) } else { Ok(()) }
    }

    /// A file was removed.
    ///
    /// # Errors
    /// The disk's error.
    pub fn removed(&mut self, path: &str) -> io::Result<()> {
        if self.contains(path) { self.note(REMOVED, path) } else { Ok(()) }
    }

    /// Whether the file at a path is one of the receiver's.
    pub fn contains(&self, path: &str) -> bool {
        self.paths.placed.contains(path)
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.placed.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryDisk;

    fn paths(disk: &mut MemoryDisk) -> Vec<String> {
        Placed::open(disk).expect("the record").paths().map(str::to_owned).collect()
    }

    fn record() -> Vec<u8> {
        let mut disk = MemoryDisk::default();
        let mut placed = Placed::open(&mut disk).expect("a record");
        for path in ["a", "b c", "d/e"] {
            placed.intend(path).expect("a line");
            placed.confirm(path).expect("a line");
        }
        placed.removed("a").expect("a line");
        placed.intend("never").expect("a line");
        placed.confirm("not ours").expect("no line");
        drop(placed);
        assert_eq!(paths(&mut disk), ["b c", "d/e"]);
        disk.files().find(|(path, _)| path.ends_with("placed")).map(|(_, bytes)| bytes).expect("its file")
    }

    #[test]
    fn however_the_record_is_torn_or_damaged_no_other_file_is_ours() {
        let whole = record();
        for length in 0..whole.len() {
            let mut disk = MemoryDisk::default();
            disk.create_folder(OWN_FOLDER).expect("a folder");
            disk.put(".layercast/placed", &whole[..length]);
            let found = paths(&mut disk);
            assert!(found.iter().all(|path| ["a", "b c", "d/e"].contains(&path.as_str())), "{found:?}");
            // What is recorded now follows what is whole.
            let mut placed = Placed::open(&mut disk).expect("the record");
            placed.intend("later").expect("a line");
            placed.confirm("later").expect("a line");
            drop(placed);
            assert!(paths(&mut disk).contains(&"later".to_owned()));
        }
        for at in HEAD.len()..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            let mut disk = MemoryDisk::default();
            disk.create_folder(OWN_FOLDER).expect("a folder");
            disk.put(".layercast/placed", &damaged);
            assert!(paths(&mut disk).iter().all(|path| ["a", "b c", "d/e"].contains(&path.as_str())));
        }
    }

    #[test]
    fn history_does_not_grow_and_another_file_is_not_overwritten() {
        let mut disk = MemoryDisk::default();
        for _ in 0..20 {
            let mut placed = Placed::open(&mut disk).expect("a record");
            for _ in 0..30 {
                placed.intend("a").expect("a line");
                placed.confirm("a").expect("a line");
                placed.removed("a").expect("a line");
            }
            placed.intend("b").expect("a line");
            placed.confirm("b").expect("a line");
        }
        assert_eq!(paths(&mut disk), ["b"]);
        let length = disk.files().map(|(_, bytes)| bytes.len()).sum::<usize>();
        assert!(length < 5000, "{length}");
        let mut disk = MemoryDisk::default();
        disk.create_folder(OWN_FOLDER).expect("a folder");
        disk.put(".layercast/placed", b"my notes");
        assert_eq!(Placed::open(&mut disk).expect_err("not ours").kind(), io::ErrorKind::InvalidData);
    }
}
