//! The file on disk: first a partial file next to its final path, then renamed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, Flock, FlockArg, fallocate};

use super::journal::Journal;
use crate::disk::OpenFile;
use crate::error::Error;
use layercast_delivery::object::{Assembly, Table, safe_name};

/// A file that is not complete yet, as `NAME.partial`, and the record of its symbols, as `NAME.partial.symbols`.
/// Both stay when reception ends early.
#[derive(Debug)]
pub(super) struct PartialFile {
    directory: PathBuf,
    partial: PathBuf,
    symbols: PathBuf,
    target: PathBuf,
    /// Excludes other receivers while it is held.
    lock: Flock<File>,
    replace: bool,
    found: FoundPartial,
}

/// What was in the place of the partial file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundPartial {
    /// Nothing.
    Nothing,
    /// A part of the same object, with the record of its symbols.
    Same,
    /// Something else, which is overwritten.
    Other,
}

/// Checks early that files can be created in a directory.
pub(super) fn check_directory(directory: &Path) -> Result<(), Error> {
    let failed = |source| Error::file("write to", directory, source);
    let found = fs::metadata(directory).map_err(failed)?;
    if !found.is_dir() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    nix::unistd::access(directory, nix::unistd::AccessFlags::W_OK).map_err(|error| failed(error.into()))
}

impl PartialFile {
    /// Opens the partial file next to its final path, or creates it and allocates its full size.
    pub(super) fn open(directory: &Path, table: &Table, replace: bool) -> Result<PartialFile, Error> {
        let name =
            safe_name(&table.name).map_err(|source| Error::Name { name: table.name.clone(), source })?;
        let target = directory.join(name);
        if !replace && target.exists() {
            return Err(Error::FileExists { path: target });
        }
        let partial = directory.join(format!("{name}.partial"));
        let symbols = directory.join(format!("{name}.partial.symbols"));
        let failed = |source| Error::file("write", &partial, source);
        // It is not changed before the lock is held, since it may belong to a running receiver.
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&partial);
        let lock =
            Flock::lock(file.map_err(failed)?, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| {
                match error {
                    Errno::EAGAIN => Error::FileBusy { path: partial.clone() },
                    error => failed(error.into()),
                }
            })?;
        let length = table.oti.length();
        let found = match lock.metadata().map_err(failed)?.len() {
            present if present == length && Journal::describes(&symbols, table) => FoundPartial::Same,
            0 => FoundPartial::Nothing,
            _ => FoundPartial::Other,
        };
        let directory = directory.to_owned();
        let partial = PartialFile { directory, partial, symbols, target, lock, replace, found };
        if found != FoundPartial::Same {
            partial.allocate(length).inspect_err(|_| partial.remove())?;
        }
        Ok(partial)
    }

    fn allocate(&self, length: u64) -> Result<(), Error> {
        let failed = |source| Error::file("write", &self.partial, source);
        self.lock.set_len(0).and_then(|()| self.lock.set_len(length)).map_err(failed)?;
        if length > 0 {
            // A full disk is better reported now than after an hour.
            match fallocate(&*self.lock, FallocateFlags::empty(), 0, length as i64) {
                Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(())
    }

    /// What was there before.
    pub(super) fn found(&self) -> FoundPartial {
        self.found
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.partial
    }

    /// The record of its symbols; an assembly gets those of an earlier receiver.
    pub(super) fn journal(&self, table: &Table, assembly: &mut Assembly<OpenFile>) -> io::Result<Journal> {
        match self.found {
            FoundPartial::Same => Journal::resume(&self.symbols, assembly),
            FoundPartial::Nothing | FoundPartial::Other => Journal::create(&self.symbols, table),
        }
    }

    /// Removes the file and its record, where nothing in them is of use.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.partial);
        let _ = fs::remove_file(&self.symbols);
    }

    /// The file, for the assembly.
    pub(super) fn file(&self) -> Result<File, Error> {
        self.lock.try_clone().map_err(|source| Error::file("write", &self.partial, source))
    }

    /// Syncs the file to disk and renames it to its final path.
    pub(super) fn finish(&self, file: &File) -> Result<PathBuf, Error> {
        let failed = |source| Error::file("write", &self.target, source);
        file.sync_all().map_err(failed)?;
        if !self.replace && self.target.exists() {
            return Err(Error::FileExists { path: self.target.clone() });
        }
        fs::rename(&self.partial, &self.target).map_err(failed)?;
        let _ = fs::remove_file(&self.symbols);
        // The name must reach the disk too.
        File::open(&self.directory).and_then(|directory| directory.sync_all()).map_err(failed)?;
        Ok(self.target.clone())
    }
}
