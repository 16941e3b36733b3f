//! The file on disk: first a partial file next to its final path, then renamed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, Flock, FlockArg, fallocate};

use crate::error::Error;
use crate::object::{Table, safe_name};

/// A file that is not complete yet, as `NAME.partial`.
#[derive(Debug)]
pub(super) struct PartialFile {
    directory: PathBuf,
    partial: PathBuf,
    target: PathBuf,
    /// Excludes other receivers while it is held.
    lock: Flock<File>,
    replace: bool,
    done: bool,
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
    /// Creates the partial file next to its final path and allocates its full size.
    pub(super) fn open(directory: &Path, table: &Table, replace: bool) -> Result<PartialFile, Error> {
        let name =
            safe_name(&table.name).map_err(|source| Error::Name { name: table.name.clone(), source })?;
        let target = directory.join(name);
        if !replace && target.exists() {
            return Err(Error::FileExists { path: target });
        }
        let partial = directory.join(format!("{name}.partial"));
        let failed = |source| Error::file("write", &partial, source);
        // The partial file of an earlier receiver is overwritten: it does not record which symbols it had.
        // It is not truncated before the lock is held, since it may belong to a running receiver.
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&partial);
        let lock =
            Flock::lock(file.map_err(failed)?, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| {
                match error {
                    Errno::EAGAIN => Error::FileBusy { path: partial.clone() },
                    error => failed(error.into()),
                }
            })?;
        let partial = PartialFile {
            directory: directory.to_owned(),
            partial: partial.clone(),
            target,
            lock,
            replace,
            done: false,
        };
        let length = table.oti.length();
        partial.lock.set_len(0).and_then(|()| partial.lock.set_len(length)).map_err(failed)?;
        if length > 0 {
            // A full disk is better reported now than after an hour.
            match fallocate(&*partial.lock, FallocateFlags::empty(), 0, length as i64) {
                Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(partial)
    }

    /// The file, for the assembly.
    pub(super) fn file(&mut self) -> Result<File, Error> {
        self.lock.try_clone().map_err(|source| Error::file("write", &self.partial, source))
    }

    /// Syncs the file to disk and renames it to its final path.
    pub(super) fn finish(mut self, file: &File) -> Result<PathBuf, Error> {
        let failed = |source| Error::file("write", &self.target, source);
        file.sync_all().map_err(failed)?;
        if !self.replace && self.target.exists() {
            return Err(Error::FileExists { path: self.target.clone() });
        }
        fs::rename(&self.partial, &self.target).map_err(failed)?;
        self.done = true;
        // The name must reach the disk too.
        File::open(&self.directory).and_then(|directory| directory.sync_all()).map_err(failed)?;
        Ok(self.target.clone())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.partial);
        }
    }
}
