//! A receiver's objects: from the packets of a session to files at their paths.
//!
//! The host passes packets of the session ([`Reception::packet`]), and calls [`Reception::work`] between them, which
//! compares hashes a part at a time. An object is moved to its path only when its hash is right.

mod batch;
mod decoding;
mod event;
mod extraction;
mod members;
mod object;
mod paths;
mod unpacking;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use crate::disk::{Disk, Found};
use crate::journal::Identity;
use crate::listing::{InstanceError, Listing};
use crate::object::{
    AssemblyCounters, Content, Entry, FOREIGN_TABLE_MAX, Instance, SymbolOutcome, TOI_TABLE, Toi, safe_path,
};
use crate::packet::PayloadId;
use crate::part::Part;
use crate::placed::Placed;
use crate::placing::{OWN_FOLDER, identity, index_name, remove_partial, unpacked_name};
use crate::security::keys::PublicKey;
use object::Object;
use paths::Named;

pub use decoding::Decoders;
pub use event::{DiskError, ObjectError, ReceptionEvent, ReceptionProgress, ReceptionSettings};

/// The maximum number of objects, and of bytes in their paths.
const OBJECTS_MAX: usize = 1 << 18;
const PATHS_MAX: usize = 32 << 20;
/// The maximum number of events that wait for the host. Further ones are counted by the states of objects alone.
const EVENTS_MAX: usize = 1 << 16;

/// The maximum number of reasons why instances cannot be used that are reported.
const REJECTIONS_MAX: usize = 8;

/// The objects of a session at a receiver.
#[derive(Debug)]
pub struct Reception<D: Disk> {
    disk: D,
    settings: ReceptionSettings,
    /// Whose tables and blocks are taken; anyone's if empty.
    keys: Arc<[PublicKey]>,
    listing: Listing,
    objects: BTreeMap<Identity, Object<D::File>>,
    /// The object of each number, and the instance that named it.
    tois: BTreeMap<Toi, Identity>,
    /// The newest object of each path. One that was removed stays here, so that instances from before, which may come
    /// later, do not bring back what it had replaced.
    paths: BTreeMap<String, Named>,
    path_bytes: usize,
    /// The last object of each path, also of those that an earlier session had.
    last_at: BTreeMap<String, Identity>,
    removed: BTreeMap<Toi, u32>,
    /// Files that may be removed, once it is needed.
    placed: Option<Placed<D::File>>,
    /// Files that the session no longer has were looked for, and removed.
    is_swept: bool,
    /// Files that could not be removed, and were reported.
    unremoved: BTreeSet<String>,
    /// Why instances could not be used, each reason once.
    rejected: Vec<InstanceError>,
    /// How many instances no key that is trusted has signed.
    untrusted_tables: u64,
    /// Objects that have work to do, the oldest first.
    busy: VecDeque<Identity>,
    /// An object that lacked packets when it was last looked for one: as a rule it still does.
    lacking: Option<Identity>,
    in_memory: u64,
    wants_completions: bool,
    counters: AssemblyCounters,
    events: Vec<ReceptionEvent>,
    room: Vec<u8>,
    batch: Vec<batch::Waiting>,
    /// None if blocks are decoded here.
    decoders: Option<Box<dyn Decoders>>,
}

impl<D: Disk> Reception<D> {
    /// A reception into a folder.
    pub fn new(disk: D, settings: ReceptionSettings) -> Reception<D> {
        Reception::trusting(disk, settings, Arc::default())
    }

    /// A reception that takes only what one of the keys has signed: instances of the table, and the blocks of objects
    /// whose hashes are in them. It takes anything, if there are no keys.
    pub fn trusting(disk: D, settings: ReceptionSettings, keys: Arc<[PublicKey]>) -> Reception<D> {
        Reception {
            disk,
            settings,
            listing: Listing::trusting(Arc::clone(&keys)),
            keys,
            objects: BTreeMap::new(),
            tois: BTreeMap::new(),
            paths: BTreeMap::new(),
            path_bytes: 0,
            last_at: BTreeMap::new(),
            removed: BTreeMap::new(),
            placed: None,
            is_swept: false,
            unremoved: BTreeSet::new(),
            rejected: Vec::new(),
            untrusted_tables: 0,
            busy: VecDeque::new(),
            lacking: None,
            in_memory: 0,
            wants_completions: false,
            counters: AssemblyCounters::default(),
            events: Vec::new(),
            room: vec![0; 1 << 20],
            batch: Vec::new(),
            decoders: None,
        }
    }

    /// A reception of a FLUTE session of any sender: each instance of its table stands alone, and may be longer than ours.
    pub fn of_any_sender(disk: D, settings: ReceptionSettings) -> Reception<D> {
        Reception { listing: Listing::new(FOREIGN_TABLE_MAX), ..Reception::new(disk, settings) }
    }

    /// Continues with another session, such as that of a restarted source: numbers mean other objects, and objects of
    /// the same path and content continue.
    pub fn follow(&mut self) {
        self.listing.restart();
        self.tois.clear();
        self.paths.clear();
        self.path_bytes = 0;
        self.removed.clear();
        self.objects.values_mut().for_each(Object::forget_name);
        self.lacking = None;
        self.is_swept = false;
    }

    /// Opens the record of the files that it may remove. Without this it is opened when it is needed.
    ///
    /// # Errors
    /// The disk's error; [`std::io::ErrorKind::ResourceBusy`] if another receiver keeps this folder.
    pub fn open_record(&mut self) -> Result<&mut Placed<D::File>, DiskError> {
        let path = || OWN_FOLDER.to_owned();
        let placed = match self.placed.take() {
            Some(placed) => placed,
            None => Placed::open(&mut self.disk).map_err(|source| DiskError { path: path(), source })?,
        };
        Ok(self.placed.insert(placed))
    }

    /// Begins with an instance of the table that was read, and verified, while the session was searched.
    ///
    /// # Errors
    /// As [`Reception::packet`].
    pub fn begin(&mut self, number: u32, instance: &Instance) -> Result<(), DiskError> {
        self.listing.begin(number, instance);
        self.instance(number, instance.clone())
    }

    /// Takes a packet of the session: a part of the table or a symbol. Whether it was of use.
    ///
    /// # Errors
    /// If the disk is full or fails; reception can continue when that has passed.
    pub fn packet(&mut self, part: impl Into<Part>, payload: &[u8]) -> Result<bool, DiskError> {
        let part = part.into();
        if part.toi != Toi::from(TOI_TABLE) {
            return self.symbol(&part, payload);
        }
        match self.listing.insert(part, payload) {
            None => self.sweep().map(|()| false),
            Some((number, Ok(instance))) => self.instance(number, instance).map(|()| true),
            Some((_, Err(error))) => {
                self.untrusted_tables += u64::from(matches!(error, InstanceError::Untrusted(_)));
                if self.rejected.len() < REJECTIONS_MAX && !self.rejected.contains(&error) {
                    self.rejected.push(error);
                    self.say(ReceptionEvent::Rejected(error));
                }
                Ok(false)
            }
        }
    }

    fn instance(&mut self, number: u32, instance: Instance) -> Result<(), DiskError> {
        self.wants_completions |= instance.wants_completions;
        for (toi, path) in instance.removed_files {
            self.remove_member(toi, path, number)?;
        }
        for toi in instance.removed {
            if self.removed.len() < OBJECTS_MAX {
                self.removed.insert(toi, number);
            }
            self.remove(toi, number)?;
        }
        for entry in instance.entries {
            self.entry(number, entry)?;
        }
        Ok(())
    }

    fn entry(&mut self, number: u32, entry: Entry) -> Result<(), DiskError> {
        if let Some(named) = self.paths.get(&entry.path) {
            // A log that was started again names the same objects.
            if named.toi == entry.toi || named.is_newer_than(entry.toi, number) {
                return Ok(());
            }
            self.supersede(&entry.path);
        }
        if self.tois.len() >= OBJECTS_MAX || self.path_bytes + entry.path.len() > PATHS_MAX {
            return Ok(());
        }
        if let Some(&removed_by) = self.removed.get(&entry.toi) {
            self.note_path(entry.path, entry.toi, removed_by);
            return Ok(());
        }
        let identity = identity(&entry);
        // What another content of this path was, also in an earlier session, is over: the file may be another by now.
        if let Some(other) = self.last_at.insert(entry.path.clone(), identity)
            && other != identity
        {
            self.drop_object(other);
        }
        self.note_path(entry.path.clone(), entry.toi, number);
        self.tois.insert(entry.toi, identity);
        let (toi, is_package) = (entry.toi, entry.package.is_some());
        if !self.objects.contains_key(&identity) {
            let object = self.new_object(entry, &identity);
            let is_busy = object.is_busy();
            self.objects.insert(identity, object);
            if is_busy {
                self.busy.push_back(identity);
            }
        }
        if is_package && let Some(object) = self.objects.get_mut(&identity) {
            object.name(toi, number);
            self.adopt(&identity);
        }
        Ok(())
    }

    /// What is to be done about an object, by what is at its path.
    fn new_object(&mut self, entry: Entry, identity: &Identity) -> Object<D::File> {
        let verifies = !self.keys.is_empty();
        // Where its files go is not known yet, and it is at no path itself.
        if entry.package.is_some() && matches!(entry.content, Content::File { .. }) {
            return Object::package(&mut self.disk, identity, entry, verifies);
        }
        if let Err(reason) = safe_path(&entry.path) {
            return self.failed(entry, ObjectError::Name(reason));
        }
        let found = match self.disk.look(&entry.path) {
            Ok(found) => found,
            // Something in the path is not a folder, or may not be read.
            Err(error) => return self.failed(entry, ObjectError::of(&error)),
        };
        match (entry.content, found) {
            (Content::Folder, Found::Nothing | Found::Folder) | (Content::File { .. }, Found::Nothing) => {
                Object::waiting(entry, verifies)
            }
            (Content::Unsupported(reason), _) => self.failed(entry, ObjectError::Table(reason)),
            (Content::File { .. }, Found::File(length)) if may_be(&entry, length) => {
                match self.disk.read(&entry.path) {
                    Ok(file) => Object::comparing(entry, file, verifies),
                    Err(_) if self.settings.replace => Object::waiting(entry, verifies),
                    Err(error) => self.failed(entry, ObjectError::of(&error)),
                }
            }
            (Content::File { .. }, Found::File(_)) if self.settings.replace => {
                Object::waiting(entry, verifies)
            }
            (Content::File { .. }, Found::File(_)) => self.failed(entry, ObjectError::Exists),
            (_, _) => self.failed(entry, ObjectError::InTheWay),
        }
    }

    fn failed(&mut self, entry: Entry, reason: ObjectError) -> Object<D::File> {
        self.say(ReceptionEvent::Failed { path: entry.path.clone(), reason });
        Object::failed(entry, reason)
    }

    /// An object that another one replaces, or that was removed, is no longer wanted.
    fn forget(&mut self, toi: Toi) -> Option<Entry> {
        let identity = self.tois.remove(&toi)?;
        let entry = self.drop_object(identity)?;
        self.paths.remove(&entry.path);
        self.path_bytes -= entry.path.len().min(self.path_bytes);
        Some(entry)
    }

    fn drop_object(&mut self, identity: Identity) -> Option<Entry> {
        let object = self.objects.remove(&identity)?;
        self.in_memory -= object.memory().min(self.in_memory);
        self.busy.retain(|busy| *busy != identity);
        if object.has_partial() {
            let _ = remove_partial(&mut self.disk, &identity);
        }
        if object.is_unpacking() {
            let _ = self.disk.remove(&unpacked_name(&identity));
        }
        if object.is_extracting() {
            extraction::clean(&mut self.disk, &identity);
        }
        Some(object.into_entry())
    }

    fn remove(&mut self, toi: Toi, number: u32) -> Result<(), DiskError> {
        let Some(entry) = self.forget(toi) else { return Ok(()) };
        self.note_path(entry.path.clone(), toi, number);
        if entry.package.is_some() {
            // Its files are removed one by one, or are in newer objects.
            let _ = self.disk.remove(&index_name(&identity(&entry)));
            return Ok(());
        }
        if self.settings.mirror && matches!(entry.content, Content::File { .. }) {
            self.remove_file(&entry.path)?;
        }
        self.say(ReceptionEvent::Removed { path: entry.path });
        Ok(())
    }

    /// Removes a file, if it is one of the receiver's. Whether it did.
    fn remove_file(&mut self, path: &str) -> Result<bool, DiskError> {
        if safe_path(path).is_err() || !self.open_record()?.contains(path) {
            return Ok(false);
        }
        if let Err(error) = self.disk.remove(path) {
            // The file stays, as does its record, until it is tried again.
            self.is_swept = false;
            if self.unremoved.insert(path.to_owned()) {
                self.say(ReceptionEvent::Failed { path: path.to_owned(), reason: ObjectError::of(&error) });
            }
            return Ok(false);
        }
        self.unremoved.remove(path);
        let noted = self.open_record()?.removed(path);
        noted.map(|()| true).map_err(|source| {
            self.is_swept = false;
            DiskError { path: path.to_owned(), source }
        })
    }

    /// Removes what the session no longer has, when the whole table is known, and forgets objects of earlier sessions.
    fn sweep(&mut self) -> Result<(), DiskError> {
        let is_due = self.settings.mirror && !self.is_swept && self.listing.is_settled();
        if !is_due || !self.wanted().all(Object::is_indexed) {
            return Ok(());
        }
        let placed: Vec<String> = self.open_record()?.paths().map(str::to_owned).collect();
        self.is_swept = true;
        let gone: Vec<String> = placed.into_iter().filter(|path| !self.has_path(path)).collect();
        for path in gone {
            if self.remove_file(&path)? {
                self.say(ReceptionEvent::Removed { path });
            }
        }
        let wanted: BTreeSet<Identity> = self.tois.values().copied().collect();
        let others: Vec<Identity> =
            self.objects.keys().filter(|identity| !wanted.contains(*identity)).copied().collect();
        for identity in others {
            self.drop_object(identity);
        }
        self.last_at.retain(|path, _| self.paths.contains_key(path));
        self.remove_old_indices(&wanted);
        Ok(())
    }

    fn symbol(&mut self, part: &Part, payload: &[u8]) -> Result<bool, DiskError> {
        let Ok((id, symbol)) = PayloadId::split(payload) else { return Ok(false) };
        self.insert(part.toi, part.codepoint, |object| object.insert(id, symbol).map(Some))
            .map(|outcome| outcome.is_some())
    }

    /// Inserts symbols into an object that takes them, and opens it if they are its first. The outcome of the last symbol;
    /// none if they were not inserted.
    fn insert(
        &mut self,
        toi: Toi,
        codepoint: u8,
        insert: impl FnOnce(&mut Object<D::File>) -> io::Result<Option<SymbolOutcome>>,
    ) -> Result<Option<SymbolOutcome>, DiskError> {
        let Some(identity) = self.tois.get(&toi).copied() else { return Ok(None) };
        let Some(object) = self.objects.get_mut(&identity) else { return Ok(None) };
        if !object.takes(codepoint) {
            return Ok(None);
        }
        let failed = |path: &str, source| DiskError { path: path.to_owned(), source };
        let is_new = object.is_waiting();
        if is_new {
            let opened = object.open(&mut self.disk, &identity, &mut self.in_memory);
            let opened = opened.map_err(|source| failed(&object.entry.path, source))?;
            let path = object.entry.path.clone();
            if let Some((held, needed)) = opened.resumed {
                self.say(ReceptionEvent::Resumed { path: path.clone(), held, needed });
            }
            if opened.is_unrecorded {
                self.say(ReceptionEvent::NotRecorded { path });
            }
        }
        let Some(object) = self.objects.get_mut(&identity) else { return Ok(None) };
        let was_busy = !is_new && object.is_busy();
        let outcome = insert(object).map_err(|source| failed(&object.entry.path, source))?;
        if let Some(outcome) = outcome {
            self.counters.count(outcome);
        }
        if !was_busy && object.is_busy() {
            self.busy.push_back(identity);
        }
        Ok(outcome)
    }

    /// Decodes blocks, compares hashes and moves files to their paths, a part at a time. Whether there is more to do.
    ///
    /// # Errors
    /// As [`Reception::packet`].
    pub fn work(&mut self) -> Result<bool, DiskError> {
        self.take_decoded()?;
        // An object at a time, the oldest first.
        let Some(&identity) = self.busy.front() else { return Ok(false) };
        let Some(object) = self.objects.get_mut(&identity) else {
            self.busy.pop_front();
            return Ok(true);
        };
        // One of an earlier session waits until this one has it.
        if !object.is_busy() {
            self.busy.pop_front();
            return Ok(!self.busy.is_empty());
        }
        if let Some(more) = self.decode_elsewhere(identity)? {
            return Ok(more);
        }
        let Some(object) = self.objects.get_mut(&identity) else { return Ok(true) };
        if object.works_on_files() {
            self.work_on_files(identity)?;
            return Ok(!self.busy.is_empty());
        }
        let memory = object.memory();
        let path = object.entry.path.clone();
        let settings = self.settings;
        if settings.mirror && object.may_be_placed() {
            let noted = self.open_record()?.intend(&path);
            noted.map_err(|source| DiskError { path: path.clone(), source })?;
        }
        let Some(object) = self.objects.get_mut(&identity) else { return Ok(true) };
        let before = object.counters();
        let worked = object.work(&mut self.disk, &identity, settings, &mut self.room);
        let after = object.counters();
        self.counters.add_decoding(before, after);
        self.in_memory = self.in_memory.saturating_sub(memory) + object.memory();
        if !object.is_busy() {
            self.busy.pop_front();
        }
        match worked {
            Ok(None) => {}
            Ok(Some(event)) => {
                let is_there =
                    matches!(event, ReceptionEvent::Complete { .. } | ReceptionEvent::Present { .. });
                self.say(event);
                if settings.mirror && is_there {
                    let noted = self.open_record()?.confirm(&path);
                    noted.map_err(|source| DiskError { path, source })?;
                }
            }
            Err(source) => return Err(DiskError { path, source }),
        }
        Ok(!self.busy.is_empty())
    }

    /// Writes the records that wait, so that a receiver that is killed later has them.
    pub fn flush(&mut self) {
        let mut unrecorded = Vec::new();
        for object in self.objects.values_mut() {
            if !object.flush() {
                unrecorded.push(object.entry.path.clone());
            }
        }
        unrecorded.into_iter().for_each(|path| self.say(ReceptionEvent::NotRecorded { path }));
        if let Some(placed) = &mut self.placed {
            // If it fails it is tried again the next time.
            let _ = placed.flush();
        }
    }

    /// Whether every object of the session is in its place or cannot be received, and no more will follow.
    pub fn is_complete(&self) -> bool {
        self.listing.is_whole() && self.busy.is_empty() && self.wanted().all(Object::is_over)
    }

    /// Whether it is complete, and a mirror has also removed what the session no longer has.
    pub fn is_in_step(&self) -> bool {
        self.is_complete() && (self.is_swept || !self.settings.mirror)
    }

    /// Whether packets of the session are still of use, as far as is known: not when every block has enough symbols and
    /// the rest is decoding, which may fail.
    pub fn needs_packets(&mut self) -> bool {
        let lacks =
            |identity: &Identity| self.objects.get(identity).is_some_and(|object| !object.has_enough());
        // It is asked at each wake-up, and there may be many objects.
        if !self.lacking.as_ref().is_some_and(lacks) {
            self.lacking = self.tois.values().find(|identity| lacks(identity)).copied();
        }
        self.lacking.is_some() || !self.listing.is_whole()
    }

    fn wanted(&self) -> impl Iterator<Item = &Object<D::File>> {
        self.tois.values().filter_map(|identity| self.objects.get(identity))
    }

    /// Files and folders in their place, and those that cannot be received, of those that the session has.
    pub fn results(&self) -> impl Iterator<Item = (&str, Result<(), ObjectError>)> {
        let own = |object: &Object<D::File>| {
            object.result().filter(|result| result.is_err() || object.members().is_none())
        };
        let objects =
            self.wanted().filter_map(move |object| Some((object.entry.path.as_str(), own(object)?)));
        objects.chain(self.wanted().filter_map(Object::members).flat_map(members::Members::results))
    }

    /// Whether any object of the session is known.
    pub fn has_objects(&self) -> bool {
        !self.tois.is_empty()
    }

    /// How far it is.
    pub fn progress(&self) -> ReceptionProgress {
        let mut progress =
            ReceptionProgress { is_open: !self.listing.is_whole(), ..ReceptionProgress::default() };
        for object in self.wanted() {
            let (needed, held) = object.symbols();
            progress.needed += needed;
            progress.held += held;
            progress.bytes += object.length();
            object.count(&mut progress);
        }
        progress
    }

    /// The path of the only object, if there is one.
    pub fn only_path(&self) -> Option<&str> {
        let mut all = self.wanted();
        let only = all.next().filter(|_| all.next().is_none());
        only.filter(|object| object.entry.package.is_none()).map(|object| object.entry.path.as_str())
    }

    /// Symbols of objects that are not complete which a later receiver will find, and symbols that these objects need.
    pub fn kept(&self) -> (u64, u64) {
        let partial = self.objects.values().filter(|object| object.has_partial());
        partial.map(Object::symbols).fold((0, 0), |(held, needed), (n, h)| (held + h, needed + n))
    }

    /// The counters of all reassemblies.
    pub fn counters(&self) -> AssemblyCounters {
        self.counters
    }

    /// Instances of the table that no key which is trusted has signed.
    pub fn untrusted_tables(&self) -> u64 {
        self.untrusted_tables
    }

    /// Whether the source wants completion messages.
    pub fn wants_completions(&self) -> bool {
        self.wants_completions
    }

    /// What happened since the last call.
    pub fn drain_events(&mut self) -> impl Iterator<Item = ReceptionEvent> {
        self.events.drain(..)
    }

    /// Removes the folder of partial files, if it is empty.
    pub fn tidy(&mut self) {
        // What is in it belongs to other receptions, or to a later one of this.
        let _ = self.disk.remove(OWN_FOLDER);
    }

    /// The disk.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    fn say(&mut self, event: ReceptionEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        }
    }
}

/// Whether a file of this length may have the content of an entry, which its hash can show.
fn may_be(entry: &Entry, length: u64) -> bool {
    entry.has_hash() && entry.length() == length
}
