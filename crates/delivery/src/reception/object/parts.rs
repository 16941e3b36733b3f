//! A file of parts at a receiver: each part has symbols, blocks, a record and a hash of its own, and all are written into one
//! partial file. It is complete when the hash of each part is right, and those of all parts give that of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::sync::Arc;

use super::partial::{AHEAD, Opened};
use super::wrong::Wrong;
use crate::disk::{Disk, DiskFile};
use crate::journal::Identity;
use crate::object::{
    AssemblyCounters, BlockHashes, Content, DecodeJob, Decoded, Entry, Layout, Sha256, SymbolOutcome, Toi,
    whole_hash,
};
use crate::packet::PayloadId;
use crate::placing::{Hashing, Partial, held_of_part, open_part, open_whole};
use layercast_core::{Always as _, cannot_be};

/// The parts of a file.
#[derive(Debug)]
pub(super) struct Parts<F> {
    layout: Layout,
    symbol: u64,
    sha256: Sha256,
    /// The partial file, from the first symbol on.
    file: Option<Arc<F>>,
    /// The parts that are known, by their numbers.
    known: BTreeMap<u32, Part<F>>,
    /// Parts that have work to do.
    busy: BTreeSet<u32>,
    verified: u32,
    /// The counters of parts that are complete or put aside.
    before: AssemblyCounters,
}

#[derive(Debug)]
struct Part<F> {
    /// The number under which the session has it, and the instance that said so; none if that is not known of this session.
    named: Option<(Toi, u32)>,
    entry: Entry,
    sha256: Sha256,
    state: State<F>,
    wrong: Wrong,
}

#[derive(Debug)]
enum State<F> {
    /// No symbol has come.
    Waiting,
    /// The partial file has so many symbols, as far as is known, and the record on the disk says which.
    Spilled { held: u64, hashing: Hashing },
    /// With the hash of what is complete from its beginning on.
    Open(Box<Partial<F>>, Hashing),
    /// Its hash is right.
    Verified,
}

/// What came of a part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worked {
    /// There may be more.
    More,
    /// The hash of a part is wrong: it is received again. Whether that is to be reported.
    Wrong(bool),
    /// It is wrong time and again.
    Hopeless,
}

impl<F: DiskFile> State<F> {
    fn is_busy(&self) -> bool {
        match self {
            State::Open(partial, hashing) => {
                let reassembly = &partial.reassembly;
                reassembly.is_complete() || reassembly.is_ready() || reassembly.prefix() > hashing.done()
            }
            State::Waiting | State::Spilled { .. } | State::Verified => false,
        }
    }
}

impl<F: DiskFile> Part<F> {
    fn open(&mut self) -> Option<&mut Partial<F>> {
        match &mut self.state {
            State::Open(partial, _) => Some(partial),
            _ => None,
        }
    }
}

impl<F: DiskFile> Parts<F> {
    /// None known yet, of the file that an object is a part of; none if it is no part.
    pub(super) fn new(entry: &Entry) -> Option<Parts<F>> {
        let (Some(part), Content::File { coding, .. }) = (entry.part, entry.content) else { return None };
        Some(Parts {
            layout: part.layout,
            symbol: coding.symbol_size() as u64,
            sha256: part.sha256,
            file: None,
            known: BTreeMap::new(),
            busy: BTreeSet::new(),
            verified: 0,
            before: AssemblyCounters::default(),
        })
    }

    /// The session has a part under this number, as an instance says. The number that it had before, if it had another; none
    /// if this is not new.
    pub(super) fn join<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        entry: Entry,
        instance: u32,
    ) -> Option<Option<Toi>> {
        let (Some(part), Content::File { sha256: Some(sha256), .. }) = (entry.part, entry.content) else {
            return None;
        };
        let (toi, named) = (entry.toi, Some((entry.toi, instance)));
        if let Some(known) = self.known.get_mut(&part.number) {
            let is_older = known.named.is_some_and(|(_, of)| crate::listing::ahead(instance, of) < 0);
            // Two contents of a part cannot both give the hash of the file: the first counts.
            if is_older || known.sha256 != sha256 || known.entry.content != entry.content {
                return None;
            }
            let before = std::mem::replace(&mut known.named, named);
            known.entry.toi = toi;
            return match before {
                Some((before, _)) if before == toi => None,
                before => Some(before.map(|(toi, _)| toi)),
            };
        }
        let held = if self.file.is_some() { held_of_part(disk, identity, &entry) } else { 0 };
        let state =
            if held > 0 { State::Spilled { held, hashing: Hashing::of_part() } } else { State::Waiting };
        self.known.insert(part.number, Part { named, entry, sha256, state, wrong: Wrong::default() });
        Some(None)
    }

    /// Whether all parts are known, and their hashes do not give that of the file.
    pub(super) fn contradict(&self) -> bool {
        let hashes = || whole_hash(self.known.values().map(|part| &part.sha256));
        self.known.len() == self.layout.count() as usize && hashes() != self.sha256
    }

    /// The numbers of the parts in the session.
    pub(super) fn tois(&self) -> impl Iterator<Item = Toi> {
        self.known.values().filter_map(|part| part.named.map(|(toi, _)| toi))
    }

    /// The session no longer has a part under this number.
    pub(super) fn forget_name(&mut self, number: u32) {
        if let Some(part) = self.known.get_mut(&number) {
            part.named = None;
        }
    }

    /// Another session has other numbers.
    pub(super) fn forget_names(&mut self) {
        self.known.values_mut().for_each(|part| part.named = None);
    }

    /// Whether a part takes symbols of this encoding.
    pub(super) fn takes(&self, number: u32, codepoint: u8) -> bool {
        self.known.get(&number).is_some_and(|part| {
            let Content::File { coding, .. } = part.entry.content else {
                return cannot_be("a part is that of a file");
            };
            coding.encoding_id() == codepoint && !matches!(part.state, State::Verified)
        })
    }

    /// Whether a part must be opened for its next symbol.
    pub(super) fn needs_opening(&self, number: u32) -> bool {
        let part = self.known.get(&number);
        part.is_some_and(|part| matches!(part.state, State::Waiting | State::Spilled { .. }))
    }

    /// Makes a part ready for its next symbol. Blocks are verified by hashes that are signed, if they are (`verifies`).
    pub(super) fn open<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        identity: &Identity,
        number: u32,
        verifies: bool,
    ) -> io::Result<Opened> {
        let mut opened = Opened::default();
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = open_whole(disk, identity, self.layout.length(), self.layout.count())?;
                for part in self.known.values_mut() {
                    let held = held_of_part(disk, identity, &part.entry);
                    if held > 0 && matches!(part.state, State::Waiting) {
                        part.state = State::Spilled { held, hashing: Hashing::of_part() };
                    }
                }
                let file = Arc::clone(self.file.insert(Arc::new(file)));
                let (needed, held) = self.symbols();
                opened.resumed = (held > 0).then_some((held, needed));
                file
            }
        };
        let Some(part) = self.known.get_mut(&number) else {
            cannot_be::<()>("a part that takes symbols is known");
            return Ok(opened);
        };
        let hashes = if verifies { part.entry.block_hashes() } else { BlockHashes::None };
        if let Some(partial) = open_part(disk, identity, &file, &part.entry, hashes) {
            opened.is_unrecorded = partial.journal.is_none();
            let known = match &part.state {
                State::Spilled { hashing, .. } if hashing.done() <= partial.reassembly.prefix() => {
                    hashing.clone()
                }
                _ => Hashing::of_part(),
            };
            part.state = State::Open(Box::new(partial), known);
        }
        self.note_busy(number);
        Ok(opened)
    }

    fn note_busy(&mut self, number: u32) {
        if self.known.get(&number).is_some_and(|part| part.state.is_busy()) {
            self.busy.insert(number);
        } else {
            self.busy.remove(&number);
        }
    }

    fn partial(&mut self, number: u32) -> Option<&mut Partial<F>> {
        self.known.get_mut(&number)?.open()
    }

    pub(super) fn insert(&mut self, number: u32, id: PayloadId, symbol: &[u8]) -> io::Result<SymbolOutcome> {
        let Some(partial) = self.partial(number) else {
            cannot_be::<()>("a part is opened for its first symbol");
            return Ok(SymbolOutcome::Refused);
        };
        let outcome = partial.insert(id, symbol);
        self.note_busy(number);
        outcome
    }

    pub(super) fn insert_run(
        &mut self,
        number: u32,
        first: PayloadId,
        symbols: &[IoSlice<'_>],
    ) -> io::Result<Option<SymbolOutcome>> {
        let Some(partial) = self.partial(number) else {
            return Ok(cannot_be("a part is opened for its first symbol"));
        };
        let outcome = partial.insert_run(first, symbols);
        self.note_busy(number);
        outcome
    }

    /// Whether there is work to do.
    pub(super) fn is_busy(&self) -> bool {
        !self.busy.is_empty() || self.are_verified()
    }

    /// Whether the hashes of all parts are right.
    pub(super) fn are_verified(&self) -> bool {
        self.verified == self.layout.count()
    }

    /// Whether no part needs more packets, as far as is known.
    pub(super) fn has_enough(&self) -> bool {
        let enough = |part: &Part<F>| match &part.state {
            State::Open(partial, _) => partial.reassembly.has_enough(),
            State::Verified => true,
            State::Waiting | State::Spilled { .. } => false,
        };
        self.known.len() == self.layout.count() as usize && self.known.values().all(enough)
    }

    fn needed(&self, number: u32) -> u64 {
        self.layout.range(number).map_or(0, |(_, length)| length.div_ceil(self.symbol.max(1)))
    }

    /// Symbols needed, and symbols present.
    pub(super) fn symbols(&self) -> (u64, u64) {
        let last = self.layout.count() - 1;
        let needed = u64::from(last) * self.needed(0) + self.needed(last);
        let held = self.known.iter().map(|(&number, part)| match &part.state {
            State::Waiting => 0,
            State::Spilled { held, .. } => *held,
            State::Open(partial, _) => partial.reassembly.symbols().1,
            State::Verified => self.needed(number),
        });
        (needed, held.sum())
    }

    /// The counters of the decoder.
    pub(super) fn counters(&self) -> AssemblyCounters {
        let mut counters = self.before;
        for part in self.known.values() {
            if let State::Open(partial, _) = &part.state {
                counters.add_decoding(AssemblyCounters::default(), partial.reassembly.counters());
            }
        }
        counters
    }

    /// How many times the content of a part was wrong.
    pub(super) fn wrong_hashes(&self) -> u32 {
        self.known.values().fold(0, |count, part| count.saturating_add(part.wrong.count()))
    }

    fn decodable(&self) -> Option<u32> {
        let is_ready = |number: &&u32| {
            let part = self.known.get(number);
            part.is_some_and(
                |part| matches!(&part.state, State::Open(partial, _) if partial.reassembly.is_ready()),
            )
        };
        self.busy.iter().find(is_ready).copied()
    }

    pub(super) fn is_decodable(&self) -> bool {
        self.decodable().is_some()
    }

    pub(super) fn complete_block(&mut self) -> io::Result<bool> {
        let Some(number) = self.decodable() else { return Ok(false) };
        let done = self.partial(number).map_or(Ok(false), Partial::complete_block);
        self.note_busy(number);
        done
    }

    pub(super) fn take_job(&mut self) -> io::Result<Option<(u32, DecodeJob)>> {
        let Some(number) = self.decodable() else { return Ok(None) };
        let job = self.partial(number).map_or(Ok(None), Partial::take_job);
        self.note_busy(number);
        Ok(job?.map(|job| (number, job)))
    }

    pub(super) fn finish_job(&mut self, number: u32, decoded: Decoded) -> io::Result<()> {
        let done = self.partial(number).map_or(Ok(()), |partial| partial.finish_job(decoded));
        self.note_busy(number);
        done
    }

    /// Hashes a part of what is complete.
    pub(super) fn work(&mut self, room: &mut [u8]) -> io::Result<Worked> {
        let Some(&number) = self.busy.first() else { return Ok(Worked::More) };
        let worked = self.hash(number, room);
        self.note_busy(number);
        worked
    }

    fn hash(&mut self, number: u32, room: &mut [u8]) -> io::Result<Worked> {
        let Some(part) = self.known.get_mut(&number) else {
            cannot_be::<()>("a busy part is known");
            return Ok(Worked::More);
        };
        let State::Open(partial, hashing) = &mut part.state else {
            cannot_be::<()>("a busy part is open");
            return Ok(Worked::More);
        };
        let reassembly = &partial.reassembly;
        let is_complete = reassembly.is_complete();
        let end = if is_complete { partial.coding.length() } else { reassembly.prefix() };
        // Other parts are still on their way.
        let room = room.get_mut(..AHEAD).always("the room is that of a reception");
        let found = match hashing.go_on(reassembly.file(), end, room) {
            Ok(found) => found.filter(|_| is_complete),
            Err(error) => {
                *hashing = Hashing::of_part();
                return Err(error);
            }
        };
        let Some(found) = found else { return Ok(Worked::More) };
        if found.sha256 == part.sha256 {
            self.before.add_decoding(AssemblyCounters::default(), reassembly.counters());
            part.state = State::Verified;
            self.verified += 1;
            return Ok(Worked::More);
        }
        if part.wrong.is_hopeless(found.sha256) {
            return Ok(Worked::Hopeless);
        }
        partial.restart();
        *hashing = Hashing::of_part();
        Ok(Worked::Wrong(part.wrong.is_reported()))
    }

    pub(super) fn flush(&mut self) -> bool {
        let mut is_written = true;
        for partial in self.known.values_mut().filter_map(Part::open) {
            is_written &= partial.flush();
        }
        is_written
    }

    /// About how much memory the record of a part takes; none if it is not in memory.
    pub(super) fn memory(&self, number: u32) -> Option<u64> {
        match &self.known.get(&number)?.state {
            State::Open(partial, _) => Some(partial.reassembly.memory() as u64),
            State::Waiting | State::Spilled { .. } | State::Verified => None,
        }
    }

    /// Gives up the memory of the record of a part. Whether that was possible.
    pub(super) fn put_aside(&mut self, number: u32) -> bool {
        let Some(part) = self.known.get_mut(&number).filter(|part| !part.state.is_busy()) else {
            return false;
        };
        let State::Open(partial, hashing) = &mut part.state else { return false };
        let can = partial.can_be_put_aside();
        if can {
            let (_, held) = partial.reassembly.symbols();
            self.before.add_decoding(AssemblyCounters::default(), partial.reassembly.counters());
            part.state = State::Spilled { held, hashing: hashing.clone() };
        }
        can
    }

    /// The partial file, if it is open.
    pub(super) fn file(&self) -> Option<Arc<F>> {
        self.file.clone()
    }

    /// Closes the partial file and the records: the file is in its place, or cannot be received.
    pub(super) fn close(&mut self) {
        self.before = self.counters();
        self.known.values_mut().for_each(|part| part.state = State::Waiting);
        self.busy.clear();
        self.verified = 0;
        self.file = None;
    }
}
