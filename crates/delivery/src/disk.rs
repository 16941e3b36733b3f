//! Where a receiver keeps files: a folder behind a trait, so that the same receiver runs on a real disk and on one that
//! fails on purpose.

use std::io::{self, IoSlice};
use std::sync::Arc;

/// An open file.
pub trait DiskFile {
    /// Its length in bytes.
    ///
    /// # Errors
    /// The disk's error.
    fn length(&self) -> io::Result<u64>;

    /// Makes it this long, and reserves the space where the disk can, so that a full disk is noticed now.
    ///
    /// # Errors
    /// The disk's error; [`io::ErrorKind::StorageFull`] where there is no space.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Fills `room` from `start` on.
    ///
    /// # Errors
    /// The disk's error; [`io::ErrorKind::UnexpectedEof`] if the file ends before.
    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes from `start` on. After a crash any part of them may be there until [`DiskFile::sync`].
    ///
    /// # Errors
    /// The disk's error.
    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes parts one after the other from `start` on, if the disk can by one request.
    ///
    /// # Errors
    /// As [`DiskFile::write_at`]; any of them may be written then.
    fn write_parts_at(&self, start: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut at = start;
        parts.iter().try_for_each(|part| {
            let written = self.write_at(at, part);
            at += part.len() as u64;
            written
        })
    }

    /// Makes sure that what was written survives a loss of power.
    ///
    /// # Errors
    /// The disk's error.
    fn sync(&self) -> io::Result<()>;
}

/// A part of an open file, which others have parts of too.
#[derive(Debug)]
pub struct Region<F> {
    file: Arc<F>,
    start: u64,
    length: u64,
}

impl<F> Region<F> {
    /// A part of a file that is so long already.
    pub fn new(file: Arc<F>, start: u64, length: u64) -> Region<F> {
        Region { file, start, length }
    }

    /// Where a part of it is in the file; an error if it would be outside of it.
    fn place(&self, start: u64, length: usize) -> io::Result<u64> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.length);
        end.and_then(|_| self.start.checked_add(start)).ok_or(io::ErrorKind::UnexpectedEof.into())
    }
}

impl<F: DiskFile> DiskFile for Region<F> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    /// It stays as long as it is.
    fn set_length(&self, length: u64) -> io::Result<()> {
        if length == self.length { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        self.file.read_at(self.place(start, room.len())?, room)
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(self.place(start, bytes.len())?, bytes)
    }

    fn write_parts_at(&self, start: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let length = parts.iter().map(|part| part.len()).sum();
        self.file.write_parts_at(self.place(start, length)?, parts)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A plain file of this length.
    File(u64),
    /// A folder.
    Folder,
    /// A link, a device or another thing that is never followed or overwritten.
    Other,
}

/// Permissions and times of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The permission bits of POSIX, without set-user-id, set-group-id and sticky.
    pub mode: Option<u32>,
    /// When the content was modified, in nanoseconds since 1970.
    pub modified_ns: Option<i64>,
}

/// A folder for received files. Paths are relative to it, with `/` between their parts, each of which has passed
/// [`safe_path`](crate::object::safe_path). An implementation follows no link on the path.
pub trait Disk {
    /// An open file.
    type File: DiskFile;

    /// What a path leads to.
    ///
    /// # Errors
    /// The disk's error.
    fn stat(&mut self, path: &str) -> io::Result<Found>;

    /// Opens a file for reading and writing, and creates it if it is missing.
    ///
    /// # Errors
    /// The disk's error; [`io::ErrorKind::ResourceBusy`] if another receiver writes to it.
    fn open(&mut self, path: &str) -> io::Result<Self::File>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The disk's error.
    fn read(&mut self, path: &str) -> io::Result<Self::File>;

    /// Creates a folder and those above it; no error if they exist.
    ///
    /// # Errors
    /// The disk's error.
    fn create_folder(&mut self, path: &str) -> io::Result<()>;

    /// The names of the files in a folder, and of the folders.
    ///
    /// # Errors
    /// The disk's error.
    fn names(&mut self, path: &str) -> io::Result<Vec<String>>;

    /// Gives a file its final name, over a file that has it, so that after a crash one of the two is there.
    ///
    /// # Errors
    /// The disk's error.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Gives files their final names as [`Disk::rename`] does, each from the first to the second; what became of each. It
    /// may be quicker than one after the other.
    fn rename_files(&mut self, moves: &[(String, String)]) -> Vec<io::Result<()>> {
        moves.iter().map(|(from, to)| self.rename(from, to)).collect()
    }

    /// Makes sure that what was written to these files survives a loss of power. It may be quicker than
    /// [`DiskFile::sync`] of one after the other.
    ///
    /// # Errors
    /// The disk's error; then any of them may be lost.
    fn sync_files(&mut self, files: &[&Self::File]) -> io::Result<()> {
        files.iter().try_for_each(|file| file.sync())
    }

    /// Removes a file or an empty folder; no error if there is none.
    ///
    /// # Errors
    /// The disk's error.
    fn remove(&mut self, path: &str) -> io::Result<()>;

    /// Sets permissions and times.
    ///
    /// # Errors
    /// The disk's error.
    fn set_attributes(&mut self, path: &str, attributes: Attributes) -> io::Result<()>;
}

/// How many operations [`replace`] needs.
pub const REPLACE_OPERATIONS: u64 = 5;

/// Replaces a file as a whole, by one with `.new` at the end of its name: after a crash the old content is there or the new one.
///
/// # Errors
/// The disk's error. The old content is there then, unless the name was given and could not be synchronised.
pub fn replace<D: Disk>(disk: &mut D, path: &str, bytes: &[u8]) -> io::Result<()> {
    let new = format!("{path}.new");
    let file = disk.open(&new)?;
    file.set_length(0)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.rename(&new, path)
}
