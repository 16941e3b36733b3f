//! Which objects each path is of.

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::CatalogueError;
use crate::object::folders_above;

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathEntry {
    /// An object of its own, or the parts of a file.
    Object(Range<u32>),
    /// A file of a package, which has others that are current.
    Package(u32),
    /// The last current file of a package.
    LastOf(u32),
}

/// The object of each path: of its own, the first one of a file of parts, or a package.
#[derive(Clone, Debug, Default)]
pub(super) struct PathIndex {
    paths: BTreeMap<String, u32>,
    /// The paths of the files of each package, and how many of these are current.
    packages: BTreeMap<u32, (Arc<[String]>, usize)>,
    /// How many objects a file of parts has, by the first of them.
    parts: BTreeMap<u32, u32>,
}

impl PathIndex {
    pub(super) fn toi(&self, path: &str) -> Option<u32> {
        self.paths.get(path).copied()
    }

    /// How many paths there are.
    pub(super) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Puts an object, or so many from this one on, at their path, or a package at those of its files.
    pub(super) fn put(&mut self, toi: u32, count: u32, path: &str, members: &Arc<[String]>) {
        if count > 1 {
            self.parts.insert(toi, count);
        }
        if members.is_empty() {
            self.paths.insert(path.to_owned(), toi);
            return;
        }
        self.packages.insert(toi, (Arc::clone(members), members.len()));
        for path in members.iter() {
            self.paths.insert(path.clone(), toi);
        }
    }

    /// Frees a path.
    pub(super) fn free(&mut self, path: &str) -> Option<PathEntry> {
        let toi = self.paths.remove(path)?;
        let Some((_, current)) = self.packages.get_mut(&toi) else {
            let count = self.parts.remove(&toi).unwrap_or(1);
            return Some(PathEntry::Object(toi..toi.saturating_add(count)));
        };
        *current -= 1;
        if *current > 0 {
            return Some(PathEntry::Package(toi));
        }
        self.packages.remove(&toi);
        Some(PathEntry::LastOf(toi))
    }

    /// The files of packages that are at no path any more.
    pub(super) fn removed(&self) -> impl Iterator<Item = (u32, &String)> {
        let members =
            self.packages.iter().flat_map(|(&toi, (members, _))| members.iter().map(move |path| (toi, path)));
        members.filter(|(_, path)| !self.paths.contains_key(*path))
    }

    /// All paths, and the objects that they are of.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.paths.iter().map(|(path, &toi)| (path.as_str(), toi))
    }
}

/// The paths of a session as any file system can hold them: no folder of one is a file, and no two paths or folders differ in case
/// alone.
#[derive(Debug, Default)]
pub(super) struct Tree<'p>(BTreeMap<String, Place<'p>>);

#[derive(Debug)]
struct Place<'p> {
    path: &'p str,
    /// The path of the file or empty folder that needs it.
    of: &'p str,
    is_file: bool,
}

impl<'p> Tree<'p> {
    /// Adds the path of a file or of an empty folder.
    pub(super) fn add(&mut self, path: &'p str, is_file: bool) -> Result<(), CatalogueError> {
        for folder in folders_above(path) {
            self.put(Place { path: folder, of: path, is_file: false })?;
        }
        self.put(Place { path, of: path, is_file })
    }

    fn put(&mut self, new: Place<'p>) -> Result<(), CatalogueError> {
        let path = || new.path.to_owned();
        match self.0.get(&new.path.to_lowercase()) {
            None => _ = self.0.insert(new.path.to_lowercase(), new),
            Some(old) if old.path != new.path => {
                return Err(CatalogueError::Case { path: path(), other: old.path.to_owned() });
            }
            Some(old) if old.is_file && new.is_file => return Err(CatalogueError::Twice { path: path() }),
            Some(old) if old.is_file => {
                return Err(CatalogueError::Folder { path: path(), other: new.of.to_owned() });
            }
            Some(old) if new.is_file => {
                return Err(CatalogueError::Folder { path: path(), other: old.of.to_owned() });
            }
            Some(_) => {}
        }
        Ok(())
    }
}
