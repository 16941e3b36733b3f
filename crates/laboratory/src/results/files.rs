//! Atomic writing of files.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ResultsError;

/// Writes a file under a temporary name and then renames it, so that no reader sees a partial file.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
    let partial = partial_name(path);
    fs::write(&partial, bytes)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|source| ResultsError::Write { path: path.to_owned(), source })
}

/// The name that a file has while it is being written.
pub(crate) fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}
