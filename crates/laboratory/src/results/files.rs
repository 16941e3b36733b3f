//! Atomic writing of files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::ResultsError;

/// Writes a file under a temporary name and then renames it, so that no reader sees a partial file.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
    let mut file = PartialFile::create(path)?;
    file.write_all(bytes).map_err(|source| ResultsError::Write { path: path.to_owned(), source })?;
    file.complete()
}

/// A file under a temporary name. It gets its own when it is complete, and is removed if it never is.
pub(crate) struct PartialFile {
    path: PathBuf,
    writer: BufWriter<File>,
    is_complete: bool,
}

impl PartialFile {
    /// Starts the file that will be at `path`.
    pub(crate) fn create(path: &Path) -> Result<PartialFile, ResultsError> {
        let file = File::create(partial_name(path));
        let file = file.map_err(|source| ResultsError::Write { path: path.to_owned(), source })?;
        Ok(PartialFile { path: path.to_owned(), writer: BufWriter::new(file), is_complete: false })
    }

    /// Gives the file its name.
    pub(crate) fn complete(mut self) -> Result<(), ResultsError> {
        let done = self.writer.flush().and_then(|()| fs::rename(partial_name(&self.path), &self.path));
        self.is_complete = done.is_ok();
        done.map_err(|source| ResultsError::Write { path: self.path.clone(), source })
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // What fails here has failed before, and that error is reported.
            let _ = fs::remove_file(partial_name(&self.path));
        }
    }
}

/// The name that a file has while it is being written.
fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_completed_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("layercast-partial-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("report.html");
        let mut file = PartialFile::create(&path).unwrap();
        file.write_all(b"half of").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        write_whole(&path, b"all of it").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all of it");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        // Where the name is a folder's, the file cannot have it.
        let taken = folder.join("taken");
        fs::create_dir_all(taken.join("full")).unwrap();
        assert!(write_whole(&taken, b"no place").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
