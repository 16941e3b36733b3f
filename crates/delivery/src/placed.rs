//! Which files of a folder a receiver put there: these alone may it remove.
//!
//! ```text
//! LCPLACED1
//! CHECKSUM ?PATH      the file is about to be there
//! CHECKSUM +PATH      it is there
//! CHECKSUM -PATH      it was removed
//! ```
//!
//! The checksum is the CRC-32 of the rest of the line. What follows a torn or damaged line is dropped: then a file may
//! stay that should be removed, and none is removed that should stay.

use std::collections::BTreeSet;
use std::io;

use crate::disk::{Disk, DiskFile};
use crate::placing::OWN_FOLDER;

const HEAD: &str = "LCPLACED1\n";
const NAME: &str = "placed";
/// A record with more history than files is written again when it is opened.
const HISTORY: usize = 64;

/// The record.
#[derive(Debug)]
pub struct Placed<F> {
    file: F,
    end: u64,
    /// Whether lines wait for [`Placed::flush`].
    waits: bool,
    /// Files that are about to be there.
    intended: BTreeSet<String>,
    paths: BTreeSet<String>,
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
        let length = file.length()?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?];
        file.read_at(0, &mut bytes)?;
        let mut placed =
            Placed { file, end: 0, waits: false, intended: BTreeSet::new(), paths: BTreeSet::new() };
        let Some(rest) = bytes.strip_prefix(HEAD.as_bytes()) else {
            if !HEAD.as_bytes().starts_with(&bytes) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            // A new one. Its head is on the disk before it has its name: after a loss of power anything may be in its place.
            return placed.rewritten(disk, &name);
        };
        let (used, lines) = placed.restore(rest);
        placed.end = (HEAD.len() + used) as u64;
        if lines > 2 * placed.paths.len() + HISTORY {
            return placed.rewritten(disk, &name);
        }
        placed.file.set_length(placed.end)?;
        Ok(placed)
    }

    /// Applies the lines that are whole; the length of these, and how many.
    fn restore(&mut self, bytes: &[u8]) -> (usize, usize) {
        let (mut used, mut lines) = (0, 0);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some((kind, path)) = parse(line) else { break };
            self.apply(kind, path);
            used += line.len();
            lines += 1;
        }
        (used, lines)
    }

    /// A new file with the head and without history, in place of this one.
    fn rewritten<D: Disk<File = F>>(mut self, disk: &mut D, name: &str) -> io::Result<Placed<F>> {
        let new = format!("{name}.new");
        let file = disk.open(&new)?;
        file.set_length(0)?;
        let kinds = [(b'?', &self.intended), (b'+', &self.paths)];
        let lines = kinds.iter().flat_map(|(kind, paths)| paths.iter().map(|path| line(*kind, path)));
        let text: String = std::iter::once(HEAD.to_owned()).chain(lines).collect();
        file.write_at(0, text.as_bytes())?;
        file.sync()?;
        disk.rename(&new, name)?;
        (self.file, self.end) = (file, text.len() as u64);
        Ok(self)
    }

    fn append(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.write_at(at, bytes)?;
        self.end = at + bytes.len() as u64;
        Ok(())
    }

    fn apply(&mut self, kind: u8, path: &str) {
        self.intended.remove(path);
        match kind {
            b'?' => self.intended.insert(path.to_owned()),
            b'+' => self.paths.insert(path.to_owned()),
            _ => self.paths.remove(path),
        };
    }

    fn note(&mut self, kind: u8, path: &str) -> io::Result<()> {
        self.append(line(kind, path).as_bytes(), self.end)?;
        self.waits = true;
        self.apply(kind, path);
        Ok(())
    }

    /// Makes sure that all lines survive a loss of power.
    ///
    /// # Errors
    /// The disk's error; they still wait then.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waits {
            self.file.sync()?;
            self.waits = false;
        }
        Ok(())
    }

    /// A file is about to be moved to its path. The line is on the disk before the file is: after a loss of power it would
    /// be nobody's otherwise, and stay for ever.
    ///
    /// # Errors
    /// The disk's error.
    pub fn intend(&mut self, path: &str) -> io::Result<()> {
        if self.paths.contains(path) || self.intended.contains(path) {
            return Ok(());
        }
        self.append(line(b'?', path).as_bytes(), self.end)?;
        // Not before: what is intended is not noted again.
        self.file.sync()?;
        self.waits = false;
        self.apply(b'?', path);
        Ok(())
    }

    /// A file is at its path, moved there or found: one that was found counts if it was about to be moved there.
    ///
    /// # Errors
    /// The disk's error.
    pub fn confirm(&mut self, path: &str) -> io::Result<()> {
        if self.intended.contains(path) { self.note(b'+', path) } else { Ok(()) }
    }

    /// A file was removed.
    ///
    /// # Errors
    /// The disk's error.
    pub fn removed(&mut self, path: &str) -> io::Result<()> {
        if self.contains(path) { self.note(b'-', path) } else { Ok(()) }
    }

    /// Whether the file at a path is one of the receiver's.
    pub fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }
}

fn line(kind: u8, path: &str) -> String {
    let rest = format!("{}{path}", char::from(kind));
    format!("{:08x} {rest}\n", crc32fast::hash(rest.as_bytes()))
}

fn parse(bytes: &[u8]) -> Option<(u8, &str)> {
    let text = core::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let (checksum, rest) = text.split_once(' ')?;
    if checksum.len() != 8 || u32::from_str_radix(checksum, 16).ok()? != crc32fast::hash(rest.as_bytes()) {
        return None;
    }
    let kind = *rest.as_bytes().first().filter(|kind| b"?+-".contains(kind))?;
    Some((kind, rest.get(1..)?))
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
