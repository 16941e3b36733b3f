//! The packages of a sender. Their bytes are in files without a name, so that a package never changes while it is sent,
//! even if its files do.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use layercast_delivery::catalogue::Item;
use layercast_delivery::object::{Sha256, sha256};
use layercast_delivery::package::{
    Built, Group, Head, PackageError, Packing, PackingSettings, Part, build, packed,
};

use super::scan::{Found, FoundItem, fingerprint_of, leaves, open};
use crate::error::Error;

/// Where the bytes of an item are.
#[derive(Debug)]
pub(super) enum Origin {
    /// In a file of its own, or nowhere if it is a folder: its number in the change.
    Own(usize),
    /// In a file without a name.
    Package(String, Arc<File>),
}

/// What a change sends.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Objects and packages.
    pub(super) items: Vec<Item>,
    /// Where the bytes of each are.
    pub(super) origins: Vec<Origin>,
    made: Vec<(String, Head)>,
}

/// The packages that are sent.
#[derive(Debug)]
pub(super) struct Packages {
    packing: Packing,
    /// Where their bytes are kept; none if nothing is packed.
    folder: Option<PathBuf>,
    /// The size of symbols, if the table is signed.
    signed: Option<u16>,
    files: BTreeMap<String, Arc<File>>,
}

impl Packages {
    /// None yet, to be kept in a folder; without one, nothing is packed.
    pub(super) fn new(folder: Option<PathBuf>, signed: Option<u16>) -> Packages {
        let packing = Packing::new(PackingSettings::default());
        Packages { packing, folder, signed, files: BTreeMap::new() }
    }

    /// Packs short files of a change, and what is left of packages that are out of date by it.
    ///
    /// # Errors
    /// If a file is no longer the one that was found; if the packages cannot be kept.
    pub(super) fn prepare(&self, new: &Found, removed: &[String]) -> Result<Prepared, Error> {
        let items: Vec<Item> = new.iter().map(|(_, item)| item.clone()).collect();
        let groups = match self.folder {
            Some(_) => self.packing.plan(&items, removed),
            None => Vec::new(),
        };
        let mut prepared = Prepared { items: Vec::new(), origins: Vec::new(), made: Vec::new() };
        let packed = packed(&groups);
        for (number, item) in items.into_iter().enumerate().filter(|(number, _)| !packed.contains(number)) {
            prepared.items.push(item);
            prepared.origins.push(Origin::Own(number));
        }
        for group in &groups {
            let (built, file) = self.build(group, new)?;
            let leaves = self.leaves(&built, &file)?;
            prepared.items.push(built.item(leaves));
            prepared.origins.push(Origin::Package(built.name.clone(), Arc::new(file)));
            prepared.made.push((built.name, built.head));
        }
        Ok(prepared)
    }

    /// What was prepared without packages is sent.
    pub(super) fn unpacked(new: &Found) -> Prepared {
        let items = new.iter().map(|(_, item)| item.clone()).collect();
        Prepared { items, origins: (0..new.len()).map(Origin::Own).collect(), made: Vec::new() }
    }

    /// What was prepared is sent from now on.
    pub(super) fn note(&mut self, prepared: Prepared, removed: &[String]) {
        let own = prepared.items.iter().filter(|item| item.members.is_empty()).map(|item| item.path.as_str());
        let others = own.chain(removed.iter().map(String::as_str));
        let gone = self.packing.note(prepared.made, others);
        for origin in prepared.origins {
            if let Origin::Package(name, file) = origin {
                self.files.insert(name, file);
            }
        }
        gone.iter().for_each(|name| _ = self.files.remove(name));
    }

    fn lost(&self, source: io::Error) -> Error {
        Error::Packages { folder: self.folder.clone().unwrap_or_default(), source }
    }

    fn build(&self, group: &Group, new: &Found) -> Result<(Built, File), Error> {
        let folder = self.folder.as_deref().ok_or_else(|| self.lost(io::ErrorKind::NotFound.into()))?;
        let file = tempfile::tempfile_in(folder).map_err(|source| self.lost(source))?;
        let mut writer = BufWriter::new(&file);
        let mut read = |part: &Part, room: &mut [u8]| match part {
            Part::New(number) => new
                .get(*number)
                .ok_or(Failed::Package(PackageError::Size))
                .and_then(|(found, item)| content(found, item, room).map_err(Failed::File)),
            Part::Kept(name, start) => {
                let kept = self.files.get(name).ok_or(io::ErrorKind::NotFound.into());
                kept.and_then(|file| file.read_exact_at(room, *start)).map_err(Failed::Spool)
            }
        };
        let built = build(group, &mut read, &mut |part| writer.write_all(part).map_err(Failed::Spool));
        let built = built.map_err(|failed| match failed {
            Failed::File(error) => error,
            Failed::Spool(source) => self.lost(source),
            Failed::Package(reason) => self.lost(io::Error::other(reason)),
        })?;
        writer.flush().map_err(|source| self.lost(source))?;
        drop(writer);
        Ok((built, file))
    }

    /// The hashes of the blocks of a package that is signed.
    fn leaves(&self, built: &Built, mut file: &File) -> Result<Arc<[Sha256]>, Error> {
        let Some(symbol) = self.signed else { return Ok(Arc::default()) };
        file.rewind().map_err(|source| self.lost(source))?;
        let leaves = leaves(file, built.length, symbol).map_err(|source| self.lost(source))?;
        leaves.ok_or_else(|| self.lost(io::ErrorKind::UnexpectedEof.into()))
    }
}

/// Why a package was not built.
enum Failed {
    File(Error),
    Spool(io::Error),
    Package(PackageError),
}

impl From<PackageError> for Failed {
    fn from(reason: PackageError) -> Failed {
        Failed::Package(reason)
    }
}

/// Fills `room` with a file, if it is still the one that was hashed.
fn content(found: &FoundItem, item: &Item, room: &mut [u8]) -> Result<(), Error> {
    let changed = || Error::FileChanged { path: found.path.clone() };
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::FileVanished { path: found.path.clone() },
        io::ErrorKind::UnexpectedEof => changed(),
        _ => Error::file("read", &found.path, source),
    };
    let file = open(&found.path).map_err(failed)?;
    file.read_exact_at(room, 0).map_err(failed)?;
    let now = fingerprint_of(&file.metadata().map_err(failed)?);
    let is_same =
        Some(now) == found.fingerprint && item.file.is_some_and(|(_, hash)| hash == Some(sha256(room)));
    if is_same { Ok(()) } else { Err(changed()) }
}
