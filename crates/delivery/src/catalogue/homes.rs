//! Which objects each path is of.

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::CatalogueError;
use crate::object::folders_above;

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// An object of its own, or the parts of a file.
    Object(Range<u32>),
    /// A file of a package, which has others that are current.
    Package(u32),
    /// The last current file of a package.
    LastOf(u32),
}

/// The object of each path: of its own, the first one of a file of parts, or a package.
#[derive(Clone, Debug, Default)]
pub(super) struct Homes {
    paths: BTreeMap<String, u32>,
    /// The paths of the files of each package, and how many of these are current.
    packages: BTreeMap<u32, (Arc<[String]>, usize)>,
    /// How many objects a file of parts has, by the first of them.
    parts: BTreeMap<u32, u32>,
}

impl Homes {
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
    pub(super) fn free(&mut self, path: &str) -> Option<Home> {
        let toi = self.paths.remove(path)?;
        let Some((_, current)) = self.packages.get_mut(&toi) else {
            let count = self.parts.remove(&toi).unwrap_or(1);
            return Some(Home::Object(toi..toi.saturating_add(count)));
        };
        *current -= 1;
        if *current > 0 {
            return Some(Home::Package(toi));
        }
        self.packages.remove(&toi);
        Some(Home::LastOf(toi))
    }

    /// The files of packages that are at no path any more.
    pub(super) fn removed(&self) -> impl Iterator<Item = (u32, &String)> {
        let members =
            self.packages.iter().flat_map(|(&toi, (members, _))| members.iter().map(move |path| (toi, path)));
        members.filter(|(_, path)| !self.paths.contains_key(*path))
    }

    /// No folder of a path may be a file, and no two paths or folders may differ in case alone.
    pub(super) fn check(&self, is_file: &dyn Fn(u32) -> bool) -> Result<(), CatalogueError> {
        let mut known: BTreeMap<String, &str> = BTreeMap::new();
        for path in self.paths.keys() {
            for folder in folders_above(path) {
                if self.paths.get(folder).is_some_and(|&toi| is_file(toi)) {
                    return Err(CatalogueError::Folder { path: folder.to_owned(), other: path.clone() });
                }
                is_alone(&mut known, folder)?;
            }
            is_alone(&mut known, path)?;
        }
        Ok(())
    }
}

/// Notes a path; an error if another differs from it in case alone.
fn is_alone<'a>(known: &mut BTreeMap<String, &'a str>, path: &'a str) -> Result<(), CatalogueError> {
    match known.insert(path.to_lowercase(), path) {
        Some(other) if other != path => {
            Err(CatalogueError::Case { path: path.to_owned(), other: other.to_owned() })
        }
        _ => Ok(()),
    }
}
