//! Symbols from a file.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::error::Error;
use layercast_delivery::object::{BlockEncoder, Oti, Sha256, sha256_while};
use layercast_delivery::packet::PayloadId;
use nix::libc::O_NONBLOCK;

/// Why a directory, a pipe or a device cannot be sent.
const NOT_PLAIN: &str = "not a plain file: its length must be known before it is sent, and its parts are read several times; \
     write it to a file first";

/// A file that is being sent.
///
/// Source symbols are read from the file as they are needed. Repair symbols need a block in memory;
/// a thread prepares the blocks in the background, so that pacing does not wait for it. When all are
/// prepared the memory is about twice the file's size.
#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    file: Arc<File>,
    opened: Metadata,
    oti: Oti,
    sha256: Sha256,
    blocks: Arc<[OnceLock<Option<BlockEncoder>>]>,
}

impl FileSource {
    /// Opens a file, reads it once for its hash, and plans its blocks and symbols.
    ///
    /// # Errors
    /// If it cannot be read, is not a plain file, or is too long for the symbol size.
    pub fn open(path: &Path, symbol: u16) -> Result<FileSource, Error> {
        FileSource::open_while(path, symbol, &mut |_, _| true)
    }

    /// [`FileSource::open`] as long as `go_on` says so, which gets how many bytes were read for the hash, and how
    /// many there are.
    ///
    /// # Errors
    /// As [`FileSource::open`], and [`Error::Interrupted`].
    pub fn open_while(
        path: &Path,
        symbol: u16,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<FileSource, Error> {
        let failed = |source| Error::file("read", path, source);
        // Not to wait for the other end of a pipe, which is refused below.
        let file = File::options().read(true).custom_flags(O_NONBLOCK).open(path).map_err(failed)?;
        let opened = file.metadata().map_err(failed)?;
        if !opened.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, NOT_PLAIN)));
        }
        let oti = Oti::plan(opened.len(), symbol)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let sha256 = sha256_while(&file, &mut |done| go_on(done, opened.len())).map_err(failed)?;
        let sha256 = sha256.ok_or(Error::Interrupted)?;
        let blocks = (0..oti.blocks()).map(|_| OnceLock::new()).collect();
        let source = FileSource { path: path.to_owned(), file: Arc::new(file), opened, oti, sha256, blocks };
        source.check()?;
        Ok(source)
    }

    /// The file's blocks and symbols (RFC 6330).
    pub fn oti(&self) -> Oti {
        self.oti
    }

    /// The file's hash.
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Starts the thread that prepares blocks for repair. It ends by itself, early if the source is
    /// dropped.
    pub fn prepare(&self) {
        let (file, oti) = (Arc::clone(&self.file), self.oti);
        let blocks = Arc::downgrade(&self.blocks);
        let work = move || {
            for block in 0..oti.blocks() {
                let Some(blocks) = blocks.upgrade() else { return };
                if let Some(cell) = blocks.get(usize::from(block)) {
                    cell.get_or_init(|| encoder(&file, oti, block).ok());
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("raptorq".into()).spawn(work) {
            // Blocks are then prepared when they are needed.
            tracing::debug!(%error, "no thread to prepare repair symbols");
        }
    }

    /// Writes a symbol to `room`, which has the size of a symbol.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn symbol(&self, id: PayloadId, room: &mut [u8]) -> Result<(), Error> {
        let source_symbols = self.oti.block_symbols(id.block);
        if let Some(repair) = id.esi().checked_sub(source_symbols) {
            return self.repair(id.block, repair, room);
        }
        let (start, length) = self.oti.position(id.block, id.esi());
        let (data, padding) = room.split_at_mut(length.min(room.len()));
        padding.fill(0);
        self.file.read_exact_at(data, start).map_err(|source| self.lost(source))
    }

    fn repair(&self, block: u8, repair: u32, room: &mut [u8]) -> Result<(), Error> {
        let prepared = self.blocks.get(usize::from(block));
        let encoder = prepared
            .and_then(|cell| cell.get_or_init(|| encoder(&self.file, self.oti, block).ok()).as_ref())
            .ok_or_else(|| self.lost(io::ErrorKind::UnexpectedEof.into()))?;
        encoder.repair(repair, room);
        Ok(())
    }

    /// Checks that the file still exists and has not changed since it was opened.
    ///
    /// # Errors
    /// [`Error::FileVanished`] or [`Error::FileChanged`].
    pub fn check(&self) -> Result<(), Error> {
        let now = std::fs::metadata(&self.path).map_err(|source| self.lost(source))?;
        let print = |of: &Metadata| (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec());
        if print(&now) == print(&self.opened) {
            return Ok(());
        }
        Err(Error::FileChanged { path: self.path.clone() })
    }

    fn lost(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => Error::FileVanished { path: self.path.clone() },
            io::ErrorKind::UnexpectedEof => Error::FileChanged { path: self.path.clone() },
            _ => Error::file("read", &self.path, source),
        }
    }
}

/// A block in memory, ready to make repair symbols.
fn encoder(file: &File, oti: Oti, block: u8) -> io::Result<BlockEncoder> {
    let mut data = vec![0; BlockEncoder::data_length(oti, block)];
    let (start, _) = oti.position(block, 0);
    let length = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
    file.read_exact_at(data.get_mut(..length).unwrap_or_default(), start)?;
    BlockEncoder::new(oti, block, &data).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
