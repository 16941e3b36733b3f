//! An object at a receiver.

mod assembling;
mod package;
mod partial;
mod parts;
mod refused;
mod symbols;
mod wrong;

pub(super) use package::Step;

use std::io;

use super::event::{ObjectError, is_full};
use super::extraction::Extraction;
use super::members::Members;
use super::unpacking::{Unpacked, Unpacking};
use super::{ReceptionEvent, ReceptionSettings};
use crate::disk::{Disk, DiskFile, Found};
use crate::journal::Identity;
use crate::memory::MemoryFile;
use crate::object::{AssemblyCounters, BlockHashes, Coding, Content, Entry, Hasher, Reassembly, Sha256, Toi};
use crate::placing::{
    Hashing, Partial, SHORT, in_memory, open_partial, place, place_bytes, place_unpacked, remove_partial,
    unpacked_name,
};
use layercast_core::{Always as _, cannot_be};
use partial::{AHEAD, Opened};
use parts::Parts;
use wrong::Wrong;

/// The memory for short objects that are not complete. Beyond it they are partial files too.
const MEMORY_MAX: u64 = 32 << 20;

#[derive(Debug)]
enum State<F> {
    /// No symbol has come.
    Waiting,
    /// A file of this length is at its path.
    Comparing(F, Hashing),
    Short(Reassembly<MemoryFile>),
    /// With the hash of what is complete from its beginning on.
    Long(Box<Partial<F>>, Hashing),
    /// Long, and its memory is needed for others: the record on the disk says which symbols there are, so many.
    Spilled {
        held: u64,
        hashing: Hashing,
    },
    /// A file of parts, from the first symbol on.
    Assembling,
    /// Complete; its hash is compared.
    Verifying(Box<Partial<F>>, Hashing),
    /// Complete, and compressed.
    Unpacking(Box<Unpacking<F>>),
    /// A package whose index is known: what is at the paths of its files is compared.
    Checking,
    /// A package whose hash is right.
    Extracting(Box<Extraction<F>>),
    Placed,
    Failed(ObjectError),
}

#[derive(Debug)]
pub(super) struct Object<F> {
    pub(super) entry: Entry,
    state: State<F>,
    /// The number under which the session has it, and the instance that said so, if it is a package: none if that is not
    /// known of this session.
    named: Option<(Toi, u32)>,
    /// The files of a package, once its index is known.
    members: Option<Box<Members>>,
    /// The parts of a file that has several.
    parts: Option<Box<Parts<F>>>,
    /// Whether its hashes are signed. Then what does not fit them was forged, however often it comes.
    verifies: bool,
    wrong: Wrong,
    /// The counters of what was put aside.
    put_aside: AssemblyCounters,
}

impl<F: DiskFile> Object<F> {
    pub(super) fn waiting(entry: Entry, verifies: bool) -> Object<F> {
        Object {
            parts: Parts::new(&entry).map(Box::new),
            entry,
            state: State::Waiting,
            named: None,
            members: None,
            verifies,
            wrong: Wrong::default(),
            put_aside: AssemblyCounters::default(),
        }
    }

    pub(super) fn comparing(entry: Entry, file: F, verifies: bool) -> Object<F> {
        let hashing = Hashing::of(&entry);
        Object { state: State::Comparing(file, hashing), ..Object::waiting(entry, verifies) }
    }

    pub(super) fn failed(entry: Entry, reason: ObjectError) -> Object<F> {
        Object { state: State::Failed(reason), ..Object::waiting(entry, false) }
    }

    fn block_hashes(&self) -> BlockHashes {
        if self.verifies { self.entry.block_hashes() } else { BlockHashes::None }
    }

    fn coding(&self) -> Option<Coding> {
        match self.entry.content {
            Content::File { coding, .. } => Some(coding),
            Content::Folder | Content::Unsupported(_) => None,
        }
    }

    /// Whether it takes symbols of this encoding, of this part if it has several.
    pub(super) fn takes(&self, part: u32, codepoint: u8) -> bool {
        if let Some(parts) = &self.parts {
            return parts.takes(part, codepoint) && matches!(self.state, State::Waiting | State::Assembling);
        }
        self.coding().is_some_and(|coding| coding.encoding_id() == codepoint)
            && matches!(
                self.state,
                State::Waiting | State::Spilled { .. } | State::Short(_) | State::Long(..)
            )
    }

    /// Whether it must be opened for its next symbol, of this part if it has several.
    pub(super) fn needs_opening(&self, part: u32) -> bool {
        match (&self.state, &self.parts) {
            (State::Waiting | State::Spilled { .. }, _) => true,
            (State::Assembling, Some(parts)) => parts.needs_opening(part),
            _ => false,
        }
    }

    /// Whether it may be moved to its path by the next work.
    pub(super) fn may_be_placed(&self) -> bool {
        let is_under_way = match &self.state {
            State::Comparing(..) => true,
            State::Long(partial, _) => !partial.reassembly.is_complete(),
            State::Assembling => !self.parts.as_ref().is_some_and(|parts| parts.are_verified()),
            _ => false,
        };
        self.is_busy() && self.coding().is_some() && self.entry.package.is_none() && !is_under_way
    }

    /// Whether there is work to do without further symbols.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            State::Waiting => self.coding().is_none_or(|coding| coding.symbols() == 0),
            State::Comparing(_, hashing) | State::Verifying(_, hashing) => !self.is_waiting_for_hash(hashing),
            State::Unpacking(_) => true,
            // What an earlier session had is not put in place unless this one has it.
            State::Checking => self.named.is_some(),
            State::Extracting(_) => self.named.is_some() || self.members.is_none(),
            State::Short(reassembly) => reassembly.is_complete() || reassembly.is_ready(),
            State::Long(partial, hashing) => {
                partial.reassembly.is_complete()
                    || partial.reassembly.is_ready()
                    || partial.reassembly.prefix() > hashing.done()
            }
            State::Assembling => self.parts.as_ref().is_some_and(|parts| parts.is_busy()),
            State::Spilled { .. } | State::Placed | State::Failed(_) => false,
        }
    }

    /// Whether all is read, and the hash with which it is to be compared is not known yet.
    fn is_waiting_for_hash(&self, hashing: &Hashing) -> bool {
        self.entry.awaits_hash() && hashing.done() >= self.length()
    }

    /// A later instance names the hash.
    pub(super) fn learn(&mut self, sha256: Sha256) {
        if let Content::File { sha256: hash @ None, .. } = &mut self.entry.content {
            *hash = Some(sha256);
        }
    }

    /// Whether it needs no more packets, as far as is known before it is decoded and its hash compared.
    pub(super) fn has_enough(&self) -> bool {
        match &self.state {
            State::Waiting => self.is_busy(),
            State::Short(reassembly) => reassembly.has_enough(),
            State::Long(partial, _) => partial.reassembly.has_enough(),
            // What is there may have another content.
            State::Comparing(..) | State::Checking | State::Spilled { .. } => false,
            State::Assembling => self.parts.as_ref().is_none_or(|parts| parts.has_enough()),
            // Packets of the table, if its hash is still to come.
            State::Verifying(..) => !self.entry.awaits_hash(),
            State::Unpacking(_) | State::Extracting(_) => true,
            State::Placed | State::Failed(_) => true,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.result().is_some()
    }

    /// What became of it; a package is in its place when its files are, or cannot be.
    pub(super) fn result(&self) -> Option<Result<(), ObjectError>> {
        match self.state {
            State::Placed => Some(Ok(())),
            State::Failed(reason) => Some(Err(reason)),
            _ => None,
        }
    }

    /// The memory that its symbols take.
    pub(super) fn memory(&self) -> u64 {
        match self.state {
            State::Short(_) => self.length(),
            _ => 0,
        }
    }

    pub(super) fn has_partial(&self) -> bool {
        matches!(
            self.state,
            State::Long(..)
                | State::Spilled { .. }
                | State::Assembling
                | State::Verifying(..)
                | State::Unpacking(_)
                | State::Extracting(_)
        )
    }

    /// Whether there is a file with a part of its content.
    pub(super) fn is_unpacking(&self) -> bool {
        matches!(self.state, State::Unpacking(_))
    }

    pub(super) fn into_entry(self) -> Entry {
        self.entry
    }

    /// The length of what is sent.
    pub(super) fn length(&self) -> u64 {
        if let Some(part) = self.entry.part {
            return part.layout.length();
        }
        self.coding().map_or(0, |coding| coding.length())
    }

    /// Symbols needed, and symbols present.
    pub(super) fn symbols(&self) -> (u64, u64) {
        let (needed, of_parts) = match &self.parts {
            Some(parts) => parts.symbols(),
            None => (self.coding().map_or(0, |coding| coding.symbols()), 0),
        };
        let held = match &self.state {
            State::Spilled { held, .. } => *held,
            State::Assembling => of_parts,
            State::Waiting | State::Comparing(..) | State::Checking | State::Failed(_) => 0,
            State::Short(reassembly) => reassembly.symbols().1,
            State::Long(partial, _) => partial.reassembly.symbols().1,
            State::Verifying(..) | State::Unpacking(_) | State::Extracting(_) | State::Placed => needed,
        };
        (needed, held.min(needed))
    }

    pub(super) fn counters(&self) -> AssemblyCounters {
        let mut counters = match &self.state {
            State::Short(reassembly) => reassembly.counters(),
            State::Long(partial, _) => partial.reassembly.counters(),
            _ => AssemblyCounters::default(),
        };
        counters.add_decoding(AssemblyCounters::default(), self.put_aside);
        let mut wrong = self.wrong.count();
        if let Some(parts) = &self.parts {
            counters.add_decoding(AssemblyCounters::default(), parts.counters());
            wrong = wrong.saturating_add(parts.wrong_hashes());
        }
        if self.verifies {
            counters.forged += u64::from(wrong);
        }
        counters
    }

    /// Makes it ready for its next symbol, of this part if it has several.
    pub(super) fn open<D: Disk<File = F>>(
        &mut self,
        part: u32,
        disk: &mut D,
        identity: &Identity,
        memory: &mut u64,
    ) -> io::Result<Opened> {
        if let Some(parts) = &mut self.parts {
            let opened = parts.open(disk, identity, part, self.verifies)?;
            self.state = State::Assembling;
            return Ok(opened);
        }
        let Some(coding) = self.coding() else {
            return Ok(cannot_be("symbols are of an object with a coding"));
        };
        let is_plain =
            self.entry.compressed.is_none() && self.entry.package.is_none() && self.entry.tag.is_none();
        let is_short = coding.length() <= SHORT && is_plain;
        if is_short && *memory + coding.length() <= MEMORY_MAX {
            *memory += coding.length();
            self.state = State::Short(in_memory(coding, self.block_hashes()));
            return Ok(Opened::default());
        }
        let is_aside = matches!(self.state, State::Spilled { .. });
        if !self.entry.has_hash() && self.entry.tag.is_none() && !is_aside {
            // Nothing shows that what is there is a part of the same file.
            remove_partial(disk, identity)?;
        }
        let partial = open_partial(disk, identity, coding, self.block_hashes())?;
        let opened = Opened {
            resumed: (partial.resumed > 0 && !is_aside).then_some((partial.resumed, coding.symbols())),
            is_unrecorded: partial.journal.is_none(),
        };
        let hashing = match &self.state {
            State::Spilled { hashing, .. } if hashing.done() <= partial.reassembly.prefix() => {
                hashing.clone()
            }
            _ => Hashing::of(&self.entry),
        };
        self.state = State::Long(Box::new(partial), hashing);
        Ok(opened)
    }

    /// That the hash of the whole is wrong, the first few times.
    fn wrong_hash(&self) -> Option<ReceptionEvent> {
        self.wrong.is_reported().then(|| ReceptionEvent::WrongHash { path: self.entry.path.clone() })
    }

    /// The next part of the work: an event when a state is left.
    pub(super) fn work<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        settings: ReceptionSettings,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        if self.complete_block()? {
            return Ok(None);
        }
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Short(reassembly) if !reassembly.is_complete() => {
                self.state = State::Short(reassembly);
                Ok(None)
            }
            State::Long(partial, hashing) if !partial.reassembly.is_complete() => {
                self.hash_ahead(partial, hashing, room)
            }
            State::Comparing(file, hashing) => self.compare(file, hashing, settings, room),
            State::Long(partial, hashing) => {
                self.state = State::Verifying(partial, hashing);
                Ok(None)
            }
            State::Verifying(partial, hashing) => {
                self.verify(disk, identity, partial, hashing, settings, room)
            }
            State::Unpacking(unpacking) => self.unpack(disk, identity, unpacking, settings, room),
            State::Short(reassembly) => {
                let bytes = reassembly.file().take();
                self.finish_short(disk, identity, &bytes, settings)
            }
            State::Waiting if self.coding().is_some() => self.finish_short(disk, identity, &[], settings),
            State::Waiting => {
                let made = make_folder(disk, &self.entry.path);
                self.placed_or_failed(made)
            }
            State::Assembling => {
                self.state = State::Assembling;
                self.assemble(disk, identity, settings, room)
            }
            state @ (State::Spilled { .. }
            | State::Checking
            | State::Extracting(_)
            | State::Placed
            | State::Failed(_)) => {
                self.state = state;
                Ok(None)
            }
        }
    }

    fn compare(
        &mut self,
        file: F,
        mut hashing: Hashing,
        settings: ReceptionSettings,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        let path = self.entry.path.clone();
        match hashing.go_on(&file, self.entry.length(), room) {
            Ok(None) => {
                self.state = State::Comparing(file, hashing);
                Ok(None)
            }
            Ok(Some(_)) if self.entry.awaits_hash() => {
                self.state = State::Comparing(file, hashing);
                Ok(None)
            }
            Ok(Some(found)) if self.entry.agrees(&found) => {
                self.state = State::Placed;
                Ok(Some(ReceptionEvent::Present { path }))
            }
            // Another content, or it became shorter meanwhile.
            Ok(_) | Err(_) if settings.replace => {
                self.state = State::Waiting;
                Ok(None)
            }
            Ok(_) | Err(_) => Ok(Some(self.fail(ObjectError::Exists))),
        }
    }

    /// Hashes a part of what is complete while other blocks are on their way, so that little is left at the end.
    fn hash_ahead(
        &mut self,
        partial: Box<Partial<F>>,
        mut hashing: Hashing,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        let room = room.get_mut(..AHEAD).always("the room is that of a reception");
        let read = hashing.go_on(partial.reassembly.file(), partial.reassembly.prefix(), room);
        if read.is_err() {
            hashing = Hashing::of(&self.entry);
        }
        self.state = State::Long(partial, hashing);
        read.map(|_| None)
    }

    fn verify<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        partial: Box<Partial<F>>,
        mut hashing: Hashing,
        settings: ReceptionSettings,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        let found = match hashing.go_on(partial.reassembly.file(), self.length(), room) {
            Ok(None) => {
                self.state = State::Verifying(partial, hashing);
                return Ok(None);
            }
            Ok(Some(_)) if self.entry.awaits_hash() => {
                self.state = State::Verifying(partial, hashing);
                return Ok(None);
            }
            Ok(Some(found)) => found,
            Err(error) => {
                // Its symbols stay: it can be read again later.
                self.state = State::Verifying(partial, Hashing::of(&self.entry));
                return Err(error);
            }
        };
        if let Some(compressed) = self.entry.compressed {
            let begun = Unpacking::new(disk, identity, &self.entry, compressed, partial, found);
            return match begun {
                Ok(unpacking) => {
                    self.state = State::Unpacking(Box::new(unpacking));
                    Ok(None)
                }
                Err((partial, error)) => {
                    self.state = State::Verifying(partial, Hashing::of(&self.entry));
                    Err(error)
                }
            };
        }
        if !self.entry.agrees(&found) {
            return Ok(self.begin_again(partial, found.sha256));
        }
        if self.entry.package.is_some() {
            self.state = State::Extracting(Box::new(Extraction::new(partial)));
            return Ok(None);
        }
        if let Some(reason) = self.occupied(disk, settings) {
            return Ok(Some(self.fail(reason)));
        }
        let placed =
            place(disk, identity, partial.reassembly.file(), &self.entry.path, self.entry.attributes);
        if let Err(error) = &placed
            && is_full(error)
        {
            self.state = State::Verifying(partial, Hashing::of(&self.entry));
            return placed.map(|()| None);
        }
        self.placed_or_failed(placed)
    }

    /// A complete object whose content is wrong: it is received again.
    fn begin_again(&mut self, mut partial: Box<Partial<F>>, content: Sha256) -> Option<ReceptionEvent> {
        if self.wrong.is_hopeless(content) {
            return Some(self.fail(ObjectError::Hash));
        }
        partial.restart();
        self.state = State::Long(partial, Hashing::of(&self.entry));
        self.wrong_hash()
    }

    fn unpack<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        mut unpacking: Box<Unpacking<F>>,
        settings: ReceptionSettings,
        room: &mut [u8],
    ) -> io::Result<Option<ReceptionEvent>> {
        match unpacking.go_on(&self.entry, room) {
            Ok(Unpacked::More) => {
                self.state = State::Unpacking(unpacking);
                return Ok(None);
            }
            Err(error) => {
                self.state = State::Verifying(unpacking.partial, Hashing::of(&self.entry));
                return Err(error);
            }
            Ok(Unpacked::Done(false)) => {
                let _ = disk.remove(&unpacked_name(identity));
                return Ok(self.begin_again(unpacking.partial, unpacking.sent.sha256));
            }
            Ok(Unpacked::Done(true)) => {}
        }
        if let Some(reason) = self.occupied(disk, settings) {
            let _ = disk.remove(&unpacked_name(identity));
            return Ok(Some(self.fail(reason)));
        }
        let placed = place_unpacked(disk, identity, &unpacking.file, &self.entry.path, self.entry.attributes);
        if let Err(error) = &placed
            && is_full(error)
        {
            self.state = State::Verifying(unpacking.partial, Hashing::of(&self.entry));
            return placed.map(|()| None);
        }
        self.placed_or_failed(placed)
    }

    fn finish_short<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        bytes: &[u8],
        settings: ReceptionSettings,
    ) -> io::Result<Option<ReceptionEvent>> {
        let mut hasher = Hasher::new(self.entry.md5.is_some());
        hasher.update(bytes);
        let found = hasher.finish();
        if self.entry.has_hash() && !self.entry.agrees(&found) {
            // Nothing but this hash shows that a symbol was forged: with a key it is taken for that.
            if self.wrong.is_hopeless(found.sha256) && !self.verifies {
                return Ok(Some(self.fail(ObjectError::Hash)));
            }
            // It is short: its symbols come again soon.
            return Ok(self.wrong_hash());
        }
        if let Some(reason) = self.occupied(disk, settings) {
            return Ok(Some(self.fail(reason)));
        }
        let placed = place_bytes(disk, identity, bytes, &self.entry.path, self.entry.attributes);
        match placed {
            // The state is that before the first symbol.
            Err(error) if is_full(&error) => Err(error),
            placed => self.placed_or_failed(placed),
        }
    }

    /// Why it may not be moved to its path, which may have changed since it was first looked at.
    fn occupied<D: Disk>(&self, disk: &mut D, settings: ReceptionSettings) -> Option<ObjectError> {
        match disk.stat(&self.entry.path) {
            Ok(Found::File(_)) if !settings.replace => Some(ObjectError::Exists),
            Ok(Found::Folder | Found::Other) => Some(ObjectError::InTheWay),
            // What is wrong with the path is found when the file is moved there.
            _ => None,
        }
    }

    fn placed_or_failed(&mut self, placed: io::Result<()>) -> io::Result<Option<ReceptionEvent>> {
        match placed {
            Ok(()) => {
                self.state = State::Placed;
                if let Some(parts) = &mut self.parts {
                    parts.close();
                }
                let (path, length) = (self.entry.path.clone(), self.entry.length());
                Ok(Some(ReceptionEvent::Complete { path, length }))
            }
            Err(error) => Ok(Some(self.fail(ObjectError::of(&error)))),
        }
    }

    fn fail(&mut self, reason: ObjectError) -> ReceptionEvent {
        self.reject(reason);
        ReceptionEvent::Failed { path: self.entry.path.clone(), reason }
    }
}

fn make_folder<D: Disk>(disk: &mut D, path: &str) -> io::Result<()> {
    match disk.stat(path)? {
        Found::Nothing => disk.create_folder(path),
        Found::Folder => Ok(()),
        Found::File(_) | Found::Other => Err(io::ErrorKind::AlreadyExists.into()),
    }
}
