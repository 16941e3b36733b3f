//! The objects of a source, and the instances of the file delivery table that describe them.

mod path_index;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::disk::Attributes;
use crate::object::{
    Coding, Content, Entry, FilePart, Instance, NameError, OtiError, PARTS_MAX, Parts, Sha256, TABLE_MAX,
    Toi, compressed, safe_path,
};
use crate::signed_table::TableSigner;
use layercast_core::Always as _;
use path_index::{PathEntry, PathIndex, Tree};

/// Entries of an instance: few, so that a lost packet of it costs little.
const ENTRIES: usize = 64;

/// A file or an empty folder that a source sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its path at the receivers.
    pub path: String,
    /// Length and hash of a file, of one of parts that of [`Hashes::whole`](crate::object::Hashes::whole); none for a folder. A
    /// file that has a tag may get its hash later ([`Catalogue::name_hashes`]).
    pub file: Option<(u64, Option<Sha256>)>,
    /// What distinguishes this content from others of the file before its hash is known ([`Entry::tag`]).
    pub tag: Option<Sha256>,
    /// The hashes of its source blocks ([`BlockHasher`](crate::object::BlockHasher)), if the table is signed and
    /// there are several; else empty.
    pub leaves: Arc<[Sha256]>,
    /// Its parts, if it is too long for one object ([`FileHasher`](crate::object::FileHasher)).
    pub parts: Option<Arc<Parts>>,
    /// The paths of its files, if it is a package ([`Head`](crate::package::Head)); else empty.
    pub members: Arc<[String]>,
    /// Permissions and times.
    pub attributes: Attributes,
}

impl Item {
    /// The paths of the files that receivers get from it.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let own = self.members.is_empty().then_some(&self.path);
        own.into_iter().chain(self.members.iter()).map(String::as_str)
    }
}

/// What is no longer sent.
#[derive(Clone, Debug)]
enum Removal {
    Object(u32),
    /// A file of a package.
    File(u32, String),
}

impl Removal {
    fn object(&self) -> Option<Toi> {
        match self {
            Removal::Object(toi) => Some((*toi).into()),
            Removal::File(..) => None,
        }
    }

    fn file(&self) -> Option<(Toi, String)> {
        match self {
            Removal::Object(_) => None,
            Removal::File(toi, path) => Some(((*toi).into(), path.clone())),
        }
    }
}

/// Why an item cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// Receivers would reject its path.
    #[error("{path:?} cannot be sent under this name: {reason}")]
    Name {
        /// The path.
        path: String,
        /// Why.
        reason: NameError,
    },
    /// Another item has the same path.
    #[error("{path:?} is there twice: give one of them another name")]
    Twice {
        /// The path.
        path: String,
    },
    /// Some file systems cannot hold both.
    #[error(
        "{path:?} and {other:?} differ in case alone, which some receivers cannot keep apart: rename one"
    )]
    Case {
        /// The path.
        path: String,
        /// The other.
        other: String,
    },
    /// A file is also the folder of another.
    #[error("{path:?} is a file, and {other:?} needs a folder of that name")]
    Folder {
        /// The path.
        path: String,
        /// The other.
        other: String,
    },
    /// It is too long for its symbols.
    #[error("{path:?}: {reason}")]
    Length {
        /// The path.
        path: String,
        /// Why.
        reason: OtiError,
    },
    /// Its entry does not fit an instance of the table.
    #[error("{path:?}: its entry in the file delivery table, with the session description, is too long")]
    Entry {
        /// The path.
        path: String,
    },
}

/// An instance as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Its number.
    pub number: u32,
    /// Its bytes, compressed with zlib.
    pub bytes: Vec<u8>,
}

/// What the instances of a session have in common.
#[derive(Clone, Debug)]
pub struct TableSettings {
    /// The size of symbols in bytes.
    pub symbol: u16,
    /// When the table expires, in seconds since 1900.
    pub expires_s: u64,
    /// Whether receivers report completions.
    pub wants_completions: bool,
    /// The session description.
    pub session: String,
    /// What signs the table; none if it is not signed.
    pub signer: Option<TableSigner>,
}

/// What a change added and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Numbers of new objects. Those of a file of parts follow each other.
    pub added: Vec<u32>,
    /// The place of the item of each of them.
    pub items: Vec<usize>,
    /// Numbers of objects that are no longer sent.
    pub removed: Vec<u32>,
    /// How many of the instances, the last ones, are new: all of them, if the log was started again.
    pub instances: usize,
}

/// The objects of a source.
#[derive(Clone, Debug)]
pub struct Catalogue {
    settings: TableSettings,
    objects: BTreeMap<u32, Entry>,
    paths: PathIndex,
    next_toi: u32,
    /// The first instance of the log, and the number of the next.
    first: u32,
    next_instance: u32,
    instances: Vec<Encoded>,
    /// Whether no items are to follow.
    is_complete: bool,
    /// Entries and removals in the log.
    logged: usize,
}

impl Catalogue {
    /// An empty catalogue.
    pub fn new(settings: TableSettings) -> Catalogue {
        Catalogue {
            settings,
            objects: BTreeMap::new(),
            paths: PathIndex::default(),
            next_toi: 1,
            first: 0,
            next_instance: 0,
            instances: Vec::new(),
            is_complete: false,
            logged: 0,
        }
    }

    /// Adds items, each as a new object in place of one of the same path, and removes others. `complete` says whether
    /// the receivers should expect no more. Nothing changes after an error.
    ///
    /// # Errors
    /// Which item cannot be sent.
    pub fn change(
        &mut self,
        items: &[Item],
        removed: &[String],
        complete: bool,
    ) -> Result<Change, CatalogueError> {
        let mut next = self.clone();
        let change = next.apply(items, removed, complete)?;
        *self = next;
        Ok(change)
    }

    /// Which of these items a change could not send, and why: with all others it can. Of two that exclude each other it is the
    /// later one, or the one that is new.
    pub fn refusals(&self, items: &[&Item], removed: &[String]) -> Vec<(usize, CatalogueError)> {
        let gone: BTreeSet<&str> =
            removed.iter().map(String::as_str).chain(items.iter().flat_map(|item| item.paths())).collect();
        let mut tree = Tree::default();
        for (path, toi) in self.paths.iter().filter(|(path, _)| !gone.contains(path)) {
            // What is sent has been checked.
            let _ = tree.add(path, self.is_file(toi));
        }
        let is_new = |item: &Item| item.paths().all(|path| self.paths.toi(path).is_none());
        let (new, replaced): (Vec<_>, Vec<_>) =
            items.iter().copied().enumerate().partition(|(_, item)| is_new(item));
        let mut refused = Vec::new();
        for (at, item) in replaced.into_iter().chain(new) {
            let mut checked = self.entries(item).map(|_| ());
            for path in item.paths() {
                checked = checked.and_then(|()| tree.add(path, item.file.is_some()));
            }
            refused.extend(checked.err().map(|error| (at, error)));
        }
        refused
    }

    fn is_file(&self, toi: u32) -> bool {
        self.objects.get(&toi).is_some_and(|entry| matches!(entry.content, Content::File { .. }))
    }

    fn apply(
        &mut self,
        items: &[Item],
        removed: &[String],
        complete: bool,
    ) -> Result<Change, CatalogueError> {
        let mut change = Change::default();
        let mut gone = Vec::new();
        for path in removed {
            match self.paths.free(path) {
                None => {}
                Some(PathEntry::Object(tois)) => {
                    gone.extend(tois.clone().map(Removal::Object));
                    self.forget(tois, &mut change);
                }
                Some(PathEntry::Package(toi)) => gone.push(Removal::File(toi, path.clone())),
                Some(PathEntry::LastOf(toi)) => {
                    gone.push(Removal::File(toi, path.clone()));
                    gone.push(Removal::Object(toi));
                    self.forget([toi], &mut change);
                }
            }
        }
        let mut new = BTreeSet::new();
        for path in items.iter().flat_map(Item::paths) {
            if !new.insert(path) {
                return Err(CatalogueError::Twice { path: path.to_owned() });
            }
            match self.paths.free(path) {
                // Receivers know from its path that an object is replaced: they keep the file until the new one is there.
                Some(PathEntry::Object(tois)) => self.forget(tois, &mut change),
                Some(PathEntry::LastOf(toi)) => {
                    gone.push(Removal::Object(toi));
                    self.forget([toi], &mut change);
                }
                Some(PathEntry::Package(_)) | None => {}
            }
        }
        // What is removed and sent again is replaced.
        gone.retain(|gone| !matches!(gone, Removal::File(_, path) if new.contains(path.as_str())));
        for (place, item) in items.iter().enumerate() {
            // Those of a file of parts follow each other.
            if self.next_toi.checked_add(PARTS_MAX).is_none() {
                self.next_toi = 1;
            }
            let first = self.next_toi;
            let entries = self.entries(item)?;
            self.paths.put(first, entries.len() as u32, &item.path, &item.members);
            for entry in entries {
                change.added.push(self.next_toi);
                change.items.push(place);
                self.objects.insert(self.next_toi, entry);
                self.next_toi += 1;
            }
        }
        let mut tree = Tree::default();
        self.paths.iter().try_for_each(|(path, toi)| tree.add(path, self.is_file(toi)))?;
        self.is_complete = complete;
        // A log that is mostly history is started again.
        let changes = change.added.len() + change.removed.len() + gone.len();
        let kept = self.objects.len() + self.paths.removed().count();
        change.instances = match self.logged + changes > 2 * kept + 2 * ENTRIES {
            true => self.restart_log()?,
            false => self.log(&change.added, &gone)?,
        };
        Ok(change)
    }

    /// Describes the session otherwise from now on. How many instances there are, all of which are new.
    ///
    /// # Errors
    /// If an entry does not fit an instance with this description; nothing has changed then.
    pub fn describe(&mut self, session: String) -> Result<usize, CatalogueError> {
        let mut next = self.clone();
        next.settings.session = session;
        let new = next.restart_log()?;
        *self = next;
        Ok(new)
    }

    fn restart_log(&mut self) -> Result<usize, CatalogueError> {
        let removed: Vec<Removal> =
            self.paths.removed().map(|(toi, path)| Removal::File(toi, path.clone())).collect();
        self.instances.clear();
        self.first = self.next_instance;
        self.logged = 0;
        let all: Vec<u32> = self.objects.keys().copied().collect();
        self.log(&all, &removed)
    }

    fn forget(&mut self, tois: impl IntoIterator<Item = u32>, change: &mut Change) {
        for toi in tois {
            self.objects.remove(&toi);
            change.removed.push(toi);
        }
    }

    /// Names the hashes of objects that have a tag alone, in instances of their own. How many of the instances, the last ones, are
    /// new; none if there are no such objects.
    ///
    /// # Errors
    /// If an entry does not fit an instance with its hash; nothing has changed then.
    pub fn name_hashes(&mut self, hashes: &[(u32, Sha256)]) -> Result<usize, CatalogueError> {
        let mut next = self.clone();
        let mut named = Vec::new();
        for &(toi, sha256) in hashes {
            let Some(entry) = next.objects.get_mut(&toi).filter(|entry| entry.awaits_hash()) else {
                continue;
            };
            if let Content::File { sha256: hash, .. } = &mut entry.content {
                *hash = Some(sha256);
                named.push(toi);
            }
        }
        if named.is_empty() {
            return Ok(0);
        }
        let new = next.log(&named, &[])?;
        *self = next;
        Ok(new)
    }

    /// Whether there are objects whose hash is not named yet.
    fn awaits_hashes(&self) -> bool {
        self.objects.values().any(Entry::awaits_hash)
    }

    /// The instances that are sent, in order.
    pub fn instances(&self) -> &[Encoded] {
        &self.instances
    }

    /// The object of a number.
    pub fn object(&self, toi: u32) -> Option<&Entry> {
        self.objects.get(&toi)
    }

    /// All objects with their numbers.
    pub fn objects(&self) -> impl Iterator<Item = (u32, &Entry)> {
        self.objects.iter().map(|(&toi, entry)| (toi, entry))
    }

    /// The numbers of all parts of the file of which an object is one; its own if it is none.
    pub fn parts(&self, toi: u32) -> core::ops::Range<u32> {
        let part = self.objects.get(&toi).and_then(|entry| entry.part);
        let (first, count) = part.map_or((toi, 1), |part| (toi - part.number.min(toi), part.layout.count()));
        first..first.saturating_add(count)
    }

    /// How many files and empty folders receivers get.
    pub fn files(&self) -> usize {
        self.paths.paths()
    }

    /// The number of the object at a path: its own, that of the first part of a file, or that of a package.
    pub fn toi(&self, path: &str) -> Option<u32> {
        self.paths.toi(path)
    }

    /// The objects of an item: one, or the parts of a file. Their numbers follow each other from the next one on.
    fn entries(&self, item: &Item) -> Result<Vec<Entry>, CatalogueError> {
        for path in item.paths() {
            safe_path(path).map_err(|reason| CatalogueError::Name { path: path.to_owned(), reason })?;
        }
        let file = |(length, sha256)| {
            let coding = Coding::plan(length, self.settings.symbol)
                .map_err(|reason| CatalogueError::Length { path: item.path.clone(), reason })?;
            Ok(Content::File { coding, sha256 })
        };
        let entry = |toi: u32, content, leaves: &Arc<[Sha256]>, part| Entry {
            leaves: Arc::clone(leaves),
            package: u32::try_from(item.members.len()).ok().filter(|&files| files > 0),
            part,
            attributes: item.attributes,
            tag: item.tag.filter(|_| part.is_none()),
            ..Entry::new(toi.into(), item.path.clone(), content)
        };
        let (Some((_, Some(sha256))), Some(parts)) = (item.file, &item.parts) else {
            let content = item.file.map_or(Ok(Content::Folder), file)?;
            return Ok(vec![entry(self.next_toi, content, &item.leaves, None)]);
        };
        let each = (0..PARTS_MAX).zip(&parts.each).map(|(number, hashes)| {
            let part = FilePart { layout: parts.layout, number, sha256 };
            let (_, length) = parts.layout.range(number).always("there are as many parts as the layout has");
            Ok(entry(
                self.next_toi + number,
                file((length, Some(hashes.sha256)))?,
                &hashes.leaves,
                Some(part),
            ))
        });
        each.collect()
    }

    /// Appends instances with these objects and removals and returns how many; at least one, so that a change of the
    /// rest is known.
    fn log(&mut self, added: &[u32], removed: &[Removal]) -> Result<usize, CatalogueError> {
        let before = self.instances.len();
        self.logged += added.len() + removed.len();
        let mut parts: Vec<(&[u32], &[Removal])> =
            added.chunks(ENTRIES).map(|part| (part, &[][..])).collect();
        match parts.last_mut() {
            Some((last, with)) if last.len() + removed.len() <= ENTRIES => *with = removed,
            None if removed.is_empty() => parts.push((&[], &[])),
            _ => parts.extend(removed.chunks(ENTRIES).map(|part| (&[][..], part))),
        }
        // The last one is appended last: it alone may say that the log is complete.
        parts.reverse();
        while let Some((added, removed)) = parts.pop() {
            let is_last = parts.is_empty();
            let encoded = self.encode(added, removed, is_last);
            if encoded.bytes.len() <= TABLE_MAX {
                self.next_instance = (self.next_instance + 1) & 0xf_ffff;
                self.instances.push(encoded);
                continue;
            }
            match added {
                // Long paths: fewer of them fit.
                [] if removed.len() > 1 => {
                    let (front, back) = removed.split_at(removed.len() / 2);
                    parts.extend([(&[][..], back), (&[][..], front)]);
                }
                [] => {}
                [one] if !removed.is_empty() => {
                    parts.push((&[], removed));
                    parts.push((std::slice::from_ref(one), &[]));
                }
                [one] => {
                    let path = self.objects.get(one).map_or(String::new(), |entry| entry.path.clone());
                    return Err(CatalogueError::Entry { path });
                }
                many => {
                    let (front, back) = many.split_at(many.len() / 2);
                    parts.push((back, removed));
                    parts.push((front, &[]));
                }
            }
        }
        Ok(self.instances.len() - before)
    }

    fn encode(&self, added: &[u32], removed: &[Removal], is_last: bool) -> Encoded {
        let settings = &self.settings;
        let instance = Instance {
            number: Some(self.next_instance),
            first: Some(self.first),
            // Hashes that are not named yet are to follow.
            complete: self.is_complete && is_last && !self.awaits_hashes(),
            expires_s: settings.expires_s,
            wants_completions: settings.wants_completions,
            session: settings.session.clone(),
            entries: added.iter().filter_map(|toi| self.objects.get(toi).cloned()).collect(),
            removed: removed.iter().filter_map(Removal::object).collect(),
            removed_files: removed.iter().filter_map(Removal::file).collect(),
        };
        let number = self.next_instance;
        let mut xml = instance.to_xml();
        if let Some(signer) = &settings.signer {
            signer.sign(number, &mut xml);
        }
        // Compressed or not, an instance has a checksum.
        Encoded { number, bytes: compressed(xml.as_bytes()) }
    }
}

#[cfg(test)]
mod tests;
