//! Symbols from files: source symbols are read as they are needed, and repair symbols come from encoders.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layercast_delivery::carousel::Ahead;
use layercast_delivery::object::{Coding, SymbolPlace};
use layercast_delivery::packet::PayloadId;
use layercast_delivery::send_state::fingerprint::Fingerprint;
use layercast_delivery::sender::Symbols;

use super::read_ahead::ReadAhead;
use super::repairs::{Of, Repairs};
use super::scan::{FoundItem, fingerprint_of, open};
use crate::error::Error;
use layercast_core::cannot_be;

/// The maximum number of open files.
const OPEN_MAX: usize = 256;

/// A file that is being sent.
#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    /// None of a package, whose file is nobody else's.
    fingerprint: Option<Fingerprint>,
    coding: Coding,
    /// Where it begins in the file.
    start: u64,
}

/// The files that are being sent.
#[derive(Debug, Default)]
pub(super) struct Store {
    sources: BTreeMap<u32, Source>,
    open: BTreeMap<u32, Arc<File>>,
    /// The files of packages, which have no names.
    packages: BTreeMap<u32, Arc<File>>,
    /// The open files in the order in which they were opened.
    opened: VecDeque<u32>,
    read_ahead: ReadAhead,
    repairs: Repairs,
    /// The next file to check.
    checked: u32,
}

impl Store {
    /// Adds the file of an object, which begins at `start` of it.
    pub(crate) fn add(&mut self, toi: u32, found: &FoundItem, start: u64, coding: Coding) {
        if found.fingerprint.is_some() {
            let (path, fingerprint) = (found.path.clone(), found.fingerprint);
            self.sources.insert(toi, Source { path, fingerprint, coding, start });
        }
    }

    /// Adds a package, whose bytes are in a file that stays as it is.
    pub(crate) fn add_package(&mut self, toi: u32, name: &str, file: Arc<File>, coding: Coding) {
        self.packages.insert(toi, file);
        self.sources.insert(toi, Source { path: PathBuf::from(name), fingerprint: None, coding, start: 0 });
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, toi: u32) {
        self.sources.remove(&toi);
        self.open.remove(&toi);
        self.packages.remove(&toi);
        self.opened.retain(|of| *of != toi);
        self.read_ahead.remove(toi);
        self.repairs.remove(toi);
    }

    /// Where the file of an object is.
    pub(crate) fn path(&self, toi: u32) -> Option<&Path> {
        self.sources.get(&toi).map(|source| source.path.as_path())
    }

    /// What identifies the content of an object's file.
    pub(crate) fn fingerprint(&self, toi: u32) -> Option<Fingerprint> {
        self.sources.get(&toi).and_then(|source| source.fingerprint)
    }

    /// Checks up to `count` further files; objects whose files changed or vanished.
    pub(crate) fn check(&mut self, count: usize) -> Vec<(u32, Error)> {
        let from = self.checked;
        let some: Vec<u32> = self
            .sources
            .range(from..)
            .map(|(&toi, _)| toi)
            .chain(self.sources.range(..from).map(|(&toi, _)| toi))
            .take(count)
            .collect();
        self.checked = some.last().map_or(0, |last| last.wrapping_add(1));
        some.into_iter().filter_map(|toi| Some((toi, self.check_one(toi).err()?))).collect()
    }

    /// Whether the file of an object is still the one that was hashed.
    fn check_one(&self, toi: u32) -> Result<(), Error> {
        let Some(source) = self.sources.get(&toi).filter(|source| source.fingerprint.is_some()) else {
            return Ok(());
        };
        let now = std::fs::metadata(&source.path).map_err(|error| self.lost(toi, error))?;
        if Some(fingerprint_of(&now)) == source.fingerprint {
            return Ok(());
        }
        Err(Error::FileChanged { path: source.path.clone() })
    }

    /// The open file of an object.
    fn file(&mut self, toi: u32) -> Result<Arc<File>, Error> {
        if let Some(file) = self.open.get(&toi).or_else(|| self.packages.get(&toi)) {
            return Ok(Arc::clone(file));
        }
        let gone = || Error::FileVanished { path: PathBuf::new() };
        let source = self.sources.get(&toi).ok_or_else(gone)?;
        let lost = |error| lost(&source.path, error);
        let file = open(&source.path).map_err(lost)?;
        if Some(fingerprint_of(&file.metadata().map_err(lost)?)) != source.fingerprint {
            return Err(Error::FileChanged { path: source.path.clone() });
        }
        if self.opened.len() >= OPEN_MAX
            && let Some(oldest) = self.opened.pop_front()
        {
            self.open.remove(&oldest);
        }
        let file = Arc::new(file);
        self.opened.push_back(toi);
        self.open.insert(toi, Arc::clone(&file));
        Ok(file)
    }

    /// The error of a file that can no longer be read.
    fn lost(&self, toi: u32, error: io::Error) -> Error {
        lost(self.path(toi).unwrap_or(Path::new("")), error)
    }
}

impl Symbols for Store {
    type Error = Error;

    fn symbol(&mut self, toi: u32, id: PayloadId, room: &mut [u8]) -> Result<(), Error> {
        let Some(&Source { coding, start: object, .. }) = self.sources.get(&toi) else {
            cannot_be::<()>("each object that is sent was added");
            return Ok(());
        };
        let (start, length) = match coding.locate(id) {
            None => return Ok(()),
            Some(SymbolPlace::Repair(oti, number)) => {
                let file = self.file(toi)?;
                let of = Of { block: (toi, id.block), file: &file, start: object, oti };
                let made = self.repairs.symbol(of, number, room);
                return made.map_err(|error| self.lost(toi, error));
            }
            Some(SymbolPlace::Source(start, length)) => (start, length),
        };
        let file = self.file(toi)?;
        let (data, padding) = room.split_at_mut(length.min(room.len()));
        padding.fill(0);
        let (start, end) = (object + start, object + coding.length());
        let read = self.read_ahead.read((toi, id.block), &file, start, end, data);
        read.map_err(|error| self.lost(toi, error))
    }

    fn is_behind(&mut self) -> bool {
        self.repairs.is_behind()
    }

    fn prepare(&mut self, ahead: Ahead) {
        let Ahead { toi, first, turn } = ahead;
        let Some(&Source { coding, start, .. }) = self.sources.get(&toi) else { return };
        let Some(SymbolPlace::Repair(oti, number)) = coding.locate(first) else { return };
        // A file that cannot be read is noticed when its symbols are sent.
        if let Ok(file) = self.file(toi) {
            self.repairs.prepare(Of { block: (toi, first.block), file: &file, start, oti }, number, turn);
        }
    }
}

fn lost(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound => Error::FileVanished { path: path.to_owned() },
        io::ErrorKind::UnexpectedEof => Error::FileChanged { path: path.to_owned() },
        _ => Error::file("read", path, source),
    }
}
