//! The payload of a source: files, and the table that describes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::TryRecvError;
use std::time::{SystemTime, UNIX_EPOCH};

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Time};
use layercast_delivery::carousel::{BlockWindow, Pick};
use layercast_delivery::catalogue::{CatalogueError, Item, TableSettings};
use layercast_delivery::in_order::InOrder;
use layercast_delivery::node;
use layercast_delivery::object::{Content, Cut, Entry as Object, PART_SYMBOLS};
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::send_state::Due;
use layercast_delivery::send_state::file::{Saved, encode};
use layercast_delivery::sender::{PacketPayload, Sender};
use layercast_delivery::session::Session;
use layercast_delivery::signed_table::TableSigner;

use super::follow::Changes;
use super::hashing::Hashing;
use super::packages::{Origin, Packages, Prepared};
use super::program::Supply;
use super::repairs::ENCODERS_MAX;
use super::scan::{Found, FoundItem, LeftOut, Reading, hashed, item_of, open, scan, tag_of};
use super::store::Store;
use super::{Ends, TAGGED};
use crate::background;
use crate::error::Error;
use crate::event::Event;
use crate::notice::Notice;

/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;
/// How long a table is valid if the end of the session is not known: a year.
const TABLE_VALID_S: u64 = 365 * 24 * 3600;
/// How many files are checked at once.
const CHECKS: usize = 512;

/// What an encoder costs for each of its source symbols: 2.4 to 3.5 µs were measured.
const ENCODING_S_PER_SYMBOL: f64 = 3.5e-6;
/// The part of a processor for encoders (CHOICE), of each one but the first, which sends.
const ENCODING_MAX: f64 = 0.8;
/// The least turn of a block (CHOICE).
const TURN_MIN: f64 = 1.0 / 16.0;
/// Turns are fine up to this part (CHOICE), which is 20 Mbit/s with one thread. Then blocks become complete at about the same time, and
/// at higher rates decoding them at the end takes a receiver longer than it gains.
const FINE_MAX: f64 = TURN_MIN / 8.0;
/// For so long symbols are sent that come again (CHOICE): a receiver that waits needs 0.05 to 0.25 s from the first packet until
/// its files are open and their space is reserved.
const LEAD_S: f64 = 0.3;

/// How files are sent.
pub(super) struct FilesOptions<'k> {
    /// Whether files may be added later.
    pub(super) is_open: bool,
    /// Where the bytes of packages are kept; none if files are not joined.
    pub(super) packages: Option<PathBuf>,
    /// How they are read and cut.
    pub(super) reading: Reading,
    /// The key that signs.
    pub(super) key: Option<&'k SecretKey>,
}

/// What a sender begins with.
pub(super) struct Beginning {
    pub(super) found: Found,
    /// What the user named, which is not left out in silence.
    named: Vec<PathBuf>,
    /// How many files were left out that receivers lack.
    left_out: usize,
}

/// Finds the files and reads them for their hashes, but those whose hashes an earlier sender
/// left, and those that have a tag ([`tag_of`]). What cannot be read is left out, with a notice, but not what was named.
pub(super) fn find(
    paths: &[PathBuf],
    saved: &Saved,
    how: Reading,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Beginning, Error> {
    let found = scan(paths)?;
    let mut lacking = 0;
    let mut leave_out = |one: &LeftOut, on_event: &mut dyn FnMut(&Event)| {
        lacking += usize::from(one.is_lacking);
        on_event(&Event::Notice(one.notice()));
    };
    found.left_out.iter().for_each(|one| leave_out(one, on_event));
    let is_read = |item: &&FoundItem| tag_of(item, how).is_none();
    let of: u64 = found.items.iter().filter(is_read).map(FoundItem::length).sum();
    let mut before = 0;
    let mut items = Vec::with_capacity(found.items.len());
    for one in found.items {
        let known = one.fingerprint.and_then(|fingerprint| saved.hashes(&fingerprint, how.cut));
        let tag = tag_of(&one, how);
        // What has a tag is read while it is sent.
        let read = if known.is_some() || tag.is_some() {
            open(&one.path)
                .map_err(|error| Error::file("read", &one.path, error))
                .map(|_| item_of(&one, known, tag))
        } else {
            hashed(&one, how, &mut |done| {
                on_event(&Event::Hashing { done: before + done, of });
                !stop.load(Ordering::Relaxed)
            })
        };
        before += if tag.is_none() { one.length() } else { 0 };
        match read {
            Ok(item) => items.push((one, item)),
            Err(error) if matches!(error, Error::Interrupted) || paths.contains(&one.path) => {
                return Err(error);
            }
            Err(error) => leave_out(&LeftOut::file(&one.path, &error), on_event),
        }
    }
    if items.is_empty() {
        return Err(Error::Nothing { path: paths.first().cloned().unwrap_or_default() });
    }
    Ok(Beginning { found: items, named: paths.to_vec(), left_out: lacking })
}

/// When blocks take turns, and for how long: when not all encoders fit into memory, and for so long that the processors can
/// make them, but no longer than is good for receivers.
fn block_window(session: &Session) -> BlockWindow {
    let symbol = u64::from(session.symbol_size());
    let packets_per_s = session.layers.top_rate().as_bps() / session.packet.as_bits() as f64;
    let threads = background::threads(usize::MAX);
    let turn = packets_per_s * ENCODING_S_PER_SYMBOL / (ENCODING_MAX * threads as f64);
    BlockWindow {
        all_up_to: ENCODERS_MAX / (2 * symbol.max(1)),
        turn: turn.clamp(TURN_MIN, 1.0),
        is_fine: turn <= FINE_MAX,
        lead: (packets_per_s * LEAD_S) as u32,
    }
}

/// The files of a source.
#[derive(Debug)]
pub struct Files {
    sender: Sender,
    store: Store,
    packages: Packages,
    is_single: bool,
    /// Whether changes of the files follow.
    is_open: bool,
    withdrawn: usize,
    /// How many files were left out that receivers lack, unless they may come later.
    left_out: usize,
    /// The hashes of long files that are still to be named.
    hashing: Option<Hashing>,
    /// Files that could not be read for their hashes.
    unread: Vec<(u32, Error)>,
}

impl Files {
    /// Finds files and folders, reads them for their hashes, and describes them for a session. `on_event` gets the events.
    ///
    /// # Errors
    /// If something cannot be read or sent; [`Error::Interrupted`].
    pub fn open(
        paths: &[PathBuf],
        session: &Session,
        ends: &Ends,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Files, Error> {
        let saved = Saved::default();
        let cut = Cut { symbol: session.symbol_size(), longest: PART_SYMBOLS, is_signed: false };
        let reading = Reading { cut, tagged: TAGGED };
        let beginning = find(paths, &saved, reading, stop, on_event)?;
        let how = FilesOptions { is_open: false, packages: None, reading, key: None };
        Files::new(&beginning, session, ends, &saved, how, on_event)
    }

    pub(super) fn new(
        beginning: &Beginning,
        session: &Session,
        ends: &Ends,
        saved: &Saved,
        how: FilesOptions<'_>,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Files, Error> {
        let Beginning { found, named, left_out } = beginning;
        let FilesOptions { is_open, packages, reading, key } = how;
        let since_1970_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let valid_s = ends.after.map_or(TABLE_VALID_S, |after| after.as_secs() + 60);
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: since_1970_s + NTP_OFFSET_S + valid_s,
            wants_completions: ends.completions.is_some(),
            session: session.to_string(),
            signer: key.map(|key| TableSigner { key: key.clone(), tsi: session.tsi }),
        };
        let mut sender = Sender::new(settings, session.channels);
        sender.set_block_window(block_window(session));
        let mut files = Files {
            sender,
            store: Store::default(),
            packages: Packages::new(packages, key.map(|_| session.symbol_size())),
            is_single: found.len() == 1 && !is_open,
            is_open,
            withdrawn: 0,
            left_out: *left_out,
            hashing: None,
            unread: Vec::new(),
        };
        let sent = files.apply(found, &[], named, &|object| saved.reached(object), on_event)?;
        if sent.is_empty() {
            return Err(Error::Nothing { path: named.first().cloned().unwrap_or_default() });
        }
        files.hashing = Hashing::start(&sent, reading)?;
        Ok(files)
    }

    /// Names the hashes of files that were read since the last call.
    fn name_hashes(&mut self) -> Result<(), Error> {
        let Some(hashing) = &self.hashing else { return Ok(()) };
        let read = match hashing.take() {
            Ok(read) => read,
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => {
                self.hashing = None;
                return Ok(());
            }
        };
        let mut hashes = Vec::with_capacity(read.len());
        for (name, hash) in read {
            // It may have been withdrawn, or replaced by another version, which has a hash.
            let Some(toi) = self.sender.catalogue().toi(&name) else { continue };
            match hash {
                Ok(sha256) => hashes.push((toi, sha256)),
                Err(error) => self.unread.push((toi, error)),
            }
        }
        Ok(self.sender.name_hashes(&hashes)?)
    }

    /// Whether files are still read for their hashes. Each that is named makes a new table.
    pub fn is_hashing(&self) -> bool {
        self.hashing.is_some()
    }

    fn send(
        &mut self,
        prepared: Prepared,
        new: &Found,
        removed: &[String],
        reached: &dyn Fn(&Object) -> Vec<u32>,
    ) -> Result<(), Error> {
        let change = self.sender.change(&prepared.items, removed, !self.is_open, reached)?;
        change.removed.iter().for_each(|&toi| self.store.remove(toi));
        for (&toi, &place) in change.added.iter().zip(&change.items) {
            let Some(object) = self.sender.catalogue().object(toi) else {
                cannot_be::<()>("what was added is there");
                continue;
            };
            let Content::File { coding, .. } = object.content else { continue };
            let start = object.part.map_or(0, |part| part.offset());
            match prepared.origins.get(place) {
                Some(Origin::Own(number)) => {
                    new.get(*number).iter().for_each(|(found, _)| self.store.add(toi, found, start, coding))
                }
                Some(Origin::Package(name, file)) => {
                    self.store.add_package(toi, name, Arc::clone(file), coding);
                }
                None => {}
            }
        }
        self.packages.note(prepared, removed);
        Ok(())
    }

    /// Sends what is new or changed, and no longer what is gone. What cannot be sent is left out, with a notice.
    pub(super) fn change(
        &mut self,
        changes: &Changes,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), Error> {
        let Changes { new, removed, notices } = changes;
        notices.iter().for_each(|notice| on_event(&Event::Notice(notice.clone())));
        if new.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let sent = self.apply(new, removed, &[], &|_| Vec::new(), on_event)?;
        on_event(&Event::Notice(Notice::Changed { added: sent.len(), removed: removed.len() }));
        Ok(())
    }

    /// Sends a change: what can be sent of it, which is returned. The rest is left out, with a notice, but for what the user named.
    fn apply(
        &mut self,
        new: &Found,
        removed: &[String],
        named: &[PathBuf],
        reached: &dyn Fn(&Object) -> Vec<u32>,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Found, Error> {
        let items: Vec<&Item> = new.iter().map(|(_, item)| item).collect();
        let mut refused: BTreeMap<usize, CatalogueError> =
            self.sender.catalogue().refusals(&items, removed).into_iter().collect();
        let mut left = Found::with_capacity(new.len());
        for (at, one) in new.iter().enumerate() {
            match refused.remove(&at) {
                None => left.push(one.clone()),
                Some(error) => self.leave_out(&one.0.path, error.into(), named, on_event)?,
            }
        }
        let prepared = loop {
            let error = match self.packages.prepare(&left, removed) {
                Ok(prepared) => break prepared,
                Err(error) => error,
            };
            let before = left.len();
            let path = match &error {
                Error::FileChanged { path } | Error::FileVanished { path } | Error::File { path, .. } => {
                    path.clone()
                }
                // A sender that runs goes on without packages.
                _ if named.is_empty() => break Packages::unpacked(&left),
                _ => return Err(error),
            };
            left.retain(|(found, _)| found.path != path);
            if left.len() == before {
                return Err(error);
            }
            self.leave_out(&path, error, named, on_event)?;
        };
        self.send(prepared, &left, removed, reached)?;
        Ok(left)
    }

    /// Leaves out a file that cannot be sent, unless the user named it.
    fn leave_out(
        &mut self,
        path: &Path,
        error: Error,
        named: &[PathBuf],
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), Error> {
        if named.iter().any(|named| named == path) {
            return Err(error);
        }
        // What has changed again is found later, if changes are followed.
        let comes = self.is_open && matches!(error, Error::FileChanged { .. } | Error::FileVanished { .. });
        self.left_out += 1;
        if !comes {
            on_event(&Event::Notice(LeftOut::file(path, &error).notice()));
        }
        Ok(())
    }

    /// What a sender needs that is started again ([`encode`]).
    pub(super) fn state(&self, due: &Due) -> Vec<u8> {
        encode(&self.sender, &due.numbers, due.reserve, |toi| self.store.fingerprint(toi))
    }

    /// How many files and empty folders there are.
    pub fn objects(&self) -> usize {
        self.sender.catalogue().files()
    }

    /// Symbols sent for each that the files have.
    pub fn rounds(&self) -> f64 {
        self.sender.carousel().rounds()
    }

    /// How many files were left out that receivers lack.
    pub(super) fn left_out(&self) -> usize {
        if self.is_open { 0 } else { self.left_out }
    }

    /// How many files changed or vanished.
    pub(super) fn withdrawn(&self) -> usize {
        self.withdrawn
    }

    /// Objects whose files changed or vanished since the last call.
    pub(super) fn lost(&mut self) -> Vec<(u32, Error)> {
        let mut lost = self.store.check(CHECKS);
        lost.append(&mut self.unread);
        lost
    }

    /// Whether one file is all that is sent.
    pub(super) fn is_single(&self) -> bool {
        self.is_single
    }

    /// The order in which everything is sent once.
    pub(super) fn in_order(&self) -> InOrder {
        self.sender.in_order()
    }

    /// Writes a part of the table, or a symbol.
    pub(super) fn load(&mut self, pick: Pick, room: &mut [u8]) -> Result<PacketPayload, Error> {
        self.sender.load(pick, room, &mut self.store)
    }

    /// Withdraws files that changed or vanished. An error if nothing is left.
    pub(super) fn check(&mut self, on_event: &mut dyn FnMut(&Event)) -> Result<(), Error> {
        for (toi, error) in self.lost() {
            if self.is_single {
                return Err(error);
            }
            if self.is_open {
                // It stays in the table until it is gone for good, or its new version is there: receivers keep theirs.
                for toi in self.sender.catalogue().parts(toi) {
                    self.store.remove(toi);
                    self.sender.pause(toi);
                }
                continue;
            }
            // Another part of the same file was noticed before.
            if self.store.path(toi).is_some() {
                self.withdraw(toi, &error, on_event)?;
            }
        }
        Ok(())
    }

    fn withdraw(&mut self, toi: u32, error: &Error, on_event: &mut dyn FnMut(&Event)) -> Result<(), Error> {
        let vanished = matches!(error, Error::FileVanished { .. });
        let path = self.store.path(toi).map(PathBuf::from).unwrap_or_default();
        let name = self.sender.catalogue().object(toi).map(|entry| entry.path.clone());
        self.store.remove(toi);
        let change = self.sender.change(&[], name.as_slice(), true, &|_| Vec::new())?;
        change.removed.iter().for_each(|&toi| self.store.remove(toi));
        self.withdrawn += 1;
        on_event(&Event::Notice(Notice::Withdrawn { path, vanished }));
        Ok(())
    }
}

impl Supply for Files {
    fn describe(&mut self, session: &Session) -> Result<(), Error> {
        Ok(self.sender.describe(session.to_string())?)
    }
}

impl node::Content for Files {
    type Error = Error;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<PacketPayload, Error> {
        self.name_hashes()?;
        match self.sender.next(channel, now, room, &mut self.store) {
            // It is withdrawn at the next check; until then its packets are empty.
            Err(Error::FileChanged { .. } | Error::FileVanished { .. }) if !self.is_single => {
                Ok(PacketPayload::default())
            }
            other => other,
        }
    }

    fn announce_soon(&mut self) {
        self.sender.announce_soon();
    }
}
