//! A receiver's objects: from the packets of a session to files at their paths.
//!
//! The host passes packets of the session ([`Reception::packet`]), and calls [`Reception::work`] between them, which
//! compares hashes a part at a time. An object is moved to its path only when its hash is right.

mod batch;
mod decoding;
mod entries;
mod event;
mod extraction;
mod members;
mod object;
mod paths;
mod records;
mod unpacking;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use crate::disk::Disk;
use crate::journal::Identity;
use crate::listing::{InstanceError, Listing};
use crate::object::{
    AssemblyCounters, FOREIGN_TABLE_MAX, Instance, SymbolOutcome, TOI_TABLE, Toi, safe_path,
};
use crate::packet::PayloadId;
use crate::part::Part;
use crate::placed::Placed;
use crate::placing::OWN_FOLDER;
use crate::security::keys::PublicKey;
use layercast_core::cannot_be;
use object::Object;
use paths::Named;
use records::Records;

pub use decoding::{Decoders, JobOf};
pub use event::{DiskError, ObjectError, ReceptionEvent, ReceptionProgress, ReceptionSettings};

/// The maximum number of objects, and of bytes in their paths.
const OBJECTS_MAX: usize = 1 << 18;
const PATHS_MAX: usize = 32 << 20;
/// The memory for what a table names that nobody vouches for (CHOICE): some 50,000 objects. Small files are sent together in one.
const NAMED_MAX: usize = 48 << 20;
/// What a part of a file takes besides its number.
const PART: usize = 512;
/// The maximum number of events that wait for the host. Further ones are counted by the states of objects alone.
const EVENTS_MAX: usize = 1 << 16;

/// Packets that come together as a rule: more of them need more memory.
const BATCH: usize = 256;

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
    /// The object of each number; of a file of parts one number.
    tois: BTreeMap<Toi, Identity>,
    /// The file of each number of a part, and which part that is.
    parts: BTreeMap<Toi, (Identity, u32)>,
    /// The newest object of each path. One that was removed stays here, so that instances from before, which may come
    /// later, do not bring back what it had replaced.
    paths: BTreeMap<String, Named>,
    path_bytes: usize,
    /// How many files were named for which there is no room.
    without_room: usize,
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
    records: Records,
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
            parts: BTreeMap::new(),
            paths: BTreeMap::new(),
            path_bytes: 0,
            without_room: 0,
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
            records: Records::default(),
            wants_completions: false,
            counters: AssemblyCounters::default(),
            events: Vec::new(),
            room: vec![0; 1 << 20],
            batch: Vec::with_capacity(BATCH),
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
        self.parts.clear();
        self.paths.clear();
        self.path_bytes = 0;
        self.without_room = 0;
        self.removed.clear();
        // What the disk refused is begun again, if this session has it.
        self.objects.retain(|_, object| !object.is_refused());
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
        self.insert(part.toi, part.codepoint, |object, part| object.insert(part, id, symbol).map(Some))
            .map(|outcome| outcome.is_some())
    }

    /// Inserts symbols into an object that takes them, and opens it if they are its first. The outcome of the last symbol;
    /// none if they were not inserted.
    fn insert(
        &mut self,
        toi: Toi,
        codepoint: u8,
        insert: impl FnOnce(&mut Object<D::File>, u32) -> io::Result<Option<SymbolOutcome>>,
    ) -> Result<Option<SymbolOutcome>, DiskError> {
        let Some((identity, part)) = self.object_of(toi) else { return Ok(None) };
        let Some(object) = self.objects.get_mut(&identity) else { return Ok(None) };
        if !object.takes(part, codepoint) {
            return Ok(None);
        }
        let failed = |path: &str, source| DiskError { path: path.to_owned(), source };
        let was_busy = object.is_busy();
        if object.needs_opening(part) {
            let opened = object.open(part, &mut self.disk, &identity, &mut self.in_memory);
            let opened = opened.map_err(|source| failed(&object.entry.path, source))?;
            let path = object.entry.path.clone();
            if let Some((held, needed)) = opened.resumed {
                self.say(ReceptionEvent::Resumed { path: path.clone(), held, needed });
            }
            if opened.is_unrecorded {
                self.say(ReceptionEvent::NotRecorded { path });
            }
        }
        self.use_record((identity, part));
        let Some(object) = self.objects.get_mut(&identity) else {
            return Ok(cannot_be("using a record removes no object"));
        };
        let outcome = insert(object, part).map_err(|source| failed(&object.entry.path, source));
        // What an earlier receiver left may be complete.
        if !was_busy && object.is_busy() {
            self.busy.push_back(identity);
        }
        let outcome = outcome?;
        if let Some(outcome) = outcome {
            self.counters.count(outcome);
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
        let Some(&identity) = self.busy.front() else { return self.sweep().map(|()| false) };
        let Some(object) = self.objects.get_mut(&identity) else {
            self.busy.pop_front();
            cannot_be::<()>("an object that is removed is no longer busy");
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
        let Some(object) = self.objects.get_mut(&identity) else {
            return Ok(cannot_be("handing blocks out removes no object"));
        };
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
        let Some(object) = self.objects.get_mut(&identity) else {
            return Ok(cannot_be("an intent removes no object"));
        };
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

    /// About how much memory is taken by what tables have named.
    fn named_memory(&self) -> usize {
        let maps = self.objects.len() * size_of::<(Identity, Object<D::File>)>()
            + self.tois.len() * size_of::<(Toi, Identity)>()
            + self.parts.len() * (size_of::<(Toi, Identity, u32)>() + PART)
            + self.paths.len() * size_of::<(String, Named)>()
            + self.last_at.len() * size_of::<(String, Identity)>()
            + self.removed.len() * size_of::<(Toi, u32)>();
        // Nodes of maps are two thirds full. A path is there three times.
        maps * 3 / 2 + 3 * self.path_bytes
    }

    /// Whether there is room for another object with this path.
    fn has_room(&self, path: &str) -> bool {
        self.tois.len().max(self.parts.len()) < OBJECTS_MAX
            && self.path_bytes + path.len() <= PATHS_MAX
            && (!self.keys.is_empty() || self.named_memory() < NAMED_MAX)
    }

    /// Writes the records that wait, so that a receiver that is killed later has them. Called about twice a second.
    pub fn flush(&mut self) {
        self.listing.refill();
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

    /// What the disk refused may be received again: the disk may work by now.
    pub fn try_again(&mut self) {
        let verifies = !self.keys.is_empty();
        for identity in self.tois.values() {
            let Some(object) = self.objects.get_mut(identity) else { continue };
            let was_busy = object.is_busy();
            object.try_again(verifies);
            if object.is_busy() && !was_busy {
                self.busy.push_back(*identity);
            }
        }
    }

    /// Whether every object of the session is in its place or cannot be received, and no more will follow.
    pub fn is_complete(&self) -> bool {
        self.listing.is_whole() && self.busy.is_empty() && self.wanted().all(Object::is_over)
    }

    /// Whether every object that is known is in its place or cannot be received, and nothing new has begun to come.
    pub fn is_up_to_date(&self) -> bool {
        self.listing.has_all() && self.busy.is_empty() && self.wanted().all(Object::is_over)
    }

    /// Whether it is complete, and a mirror has also removed what the session no longer has.
    pub fn is_in_step(&self) -> bool {
        self.is_complete() && (self.is_swept || !self.settings.mirror)
    }

    /// Whether packets of the session are still of use, as far as is known: not when every block has so many symbols that
    /// the rest is decoding.
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
        let members = self.wanted().filter_map(Object::members).flat_map(members::Members::results);
        let others = (self.without_room > 0).then_some(("further files", Err(ObjectError::NoRoom)));
        objects.chain(members).chain(others)
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
        progress.objects += self.without_room;
        progress.failed += self.without_room;
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
