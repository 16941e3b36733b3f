//! Symbols from files.
//!
//! Source symbols are read from the file as they are needed. Repair symbols need a whole block in memory, so a thread
//! generates a batch of them for each block ahead of need, and forgets the block.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use layercast_delivery::object::{BlockEncoder, Coding, Oti, SymbolPlace};
use layercast_delivery::packet::PayloadId;
use layercast_delivery::sender::Symbols;

use super::scan::{Fingerprint, FoundItem, open};
use crate::error::Error;

/// The maximum number of open files.
const OPEN_MAX: usize = 256;
/// The number of repair symbols that are generated at once: at most one for so many source symbols of the block, so that
/// each costs about 50 µs, and at least so many.
const BATCH_SHARE: u64 = 16;
const BATCH_MIN: u32 = 8;
/// The memory for repair symbols (CHOICE).
const MEMORY_MAX: u64 = 512 << 20;
/// The maximum number of batches that wait for the thread.
const WAITING: usize = 1024;

/// A file that is being sent.
#[derive(Clone, Debug)]
struct Source {
    path: PathBuf,
    /// None of a package, whose file is nobody else's.
    fingerprint: Option<Fingerprint>,
    coding: Coding,
}

/// Repair symbols of a block, one after the other.
#[derive(Debug)]
struct Batch {
    first: u32,
    symbols: Vec<u8>,
}

type Block = (u32, u8);

/// What the thread is to generate.
struct Order {
    block: Block,
    file: Arc<File>,
    oti: Oti,
    first: u32,
    count: u32,
}

/// The files that are being sent.
#[derive(Debug)]
pub(super) struct Store {
    sources: BTreeMap<u32, Source>,
    open: BTreeMap<u32, Arc<File>>,
    /// The files of packages, which have no names.
    packages: BTreeMap<u32, Arc<File>>,
    /// The open files in the order in which they were opened.
    opened: VecDeque<u32>,
    batches: HashMap<Block, Batch>,
    /// The batches that follow, once they are ready.
    next: HashMap<Block, Option<Batch>>,
    orders: Option<SyncSender<Order>>,
    ready: Receiver<(Block, Batch)>,
    /// A batch of a block has one repair symbol for so many source symbols.
    share: u64,
    symbols: u64,
    /// The next file to check.
    checked: u32,
}

impl Default for Store {
    fn default() -> Store {
        let (orders, work) = sync_channel::<Order>(WAITING);
        let (done, ready) = sync_channel(WAITING);
        let run = move || {
            for order in work {
                // A file that cannot be read is noticed when its symbols are sent.
                if let Ok(batch) = generate(&order.file, order.oti, order.block.1, order.first, order.count)
                    && done.send((order.block, batch)).is_err()
                {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("repair".into()).spawn(run);
        if let Err(error) = &spawned {
            // Repair symbols are then generated when they are needed.
            tracing::debug!(%error, "no thread to generate repair symbols");
        }
        Store {
            sources: BTreeMap::new(),
            open: BTreeMap::new(),
            packages: BTreeMap::new(),
            opened: VecDeque::with_capacity(OPEN_MAX),
            batches: HashMap::new(),
            next: HashMap::new(),
            orders: spawned.is_ok().then_some(orders),
            ready,
            share: BATCH_SHARE,
            symbols: 0,
            checked: 0,
        }
    }
}

impl Store {
    /// Adds the file of an object.
    pub(crate) fn add(&mut self, toi: u32, found: &FoundItem, coding: Coding) {
        if found.fingerprint.is_some() {
            let (path, fingerprint) = (found.path.clone(), found.fingerprint);
            self.insert(toi, Source { path, fingerprint, coding });
        }
    }

    /// Adds a package, whose bytes are in a file that stays as it is.
    pub(crate) fn add_package(&mut self, toi: u32, name: &str, file: Arc<File>, coding: Coding) {
        self.packages.insert(toi, file);
        self.insert(toi, Source { path: PathBuf::from(name), fingerprint: None, coding });
    }

    fn insert(&mut self, toi: u32, source: Source) {
        let coding = source.coding;
        let size = coding.symbol_size() as u64;
        self.sources.insert(toi, source);
        self.symbols += coding.symbols();
        // Two batches of every block fit together.
        self.share = (2 * self.symbols * size).div_ceil(MEMORY_MAX).max(BATCH_SHARE);
    }

    /// Forgets an object.
    pub(crate) fn remove(&mut self, toi: u32) {
        if let Some(source) = self.sources.remove(&toi) {
            self.symbols -= source.coding.symbols().min(self.symbols);
        }
        self.open.remove(&toi);
        self.packages.remove(&toi);
        self.opened.retain(|of| *of != toi);
        self.batches.retain(|(of, _), _| *of != toi);
        self.next.retain(|(of, _), _| *of != toi);
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
        some.into_iter().filter_map(|toi| Some((toi, self.look(toi).err()?))).collect()
    }

    /// Whether the file of an object is still the one that was hashed.
    fn look(&self, toi: u32) -> Result<(), Error> {
        let Some(source) = self.sources.get(&toi).filter(|source| source.fingerprint.is_some()) else {
            return Ok(());
        };
        let now = std::fs::metadata(&source.path).map_err(|error| self.lost(toi, error))?;
        if Some(Fingerprint::of(&now)) == source.fingerprint {
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
        if Some(Fingerprint::of(&file.metadata().map_err(lost)?)) != source.fingerprint {
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

    fn repair(&mut self, block: Block, oti: Oti, repair: u32, room: &mut [u8]) -> Result<(), Error> {
        while let Ok((block, batch)) = self.ready.try_recv() {
            if let Some(place) = self.next.get_mut(&block) {
                *place = Some(batch);
            }
        }
        let size = oti.symbol_size() as u32;
        let holds = |batch: &Batch| {
            repair.checked_sub(batch.first).filter(|&at| ((at + 1) * size) as usize <= batch.symbols.len())
        };
        if self.batches.get(&block).and_then(holds).is_none() {
            let batch = match self.next.remove(&block).flatten().filter(|batch| holds(batch).is_some()) {
                Some(batch) => batch,
                None => {
                    let file = self.file(block.0)?;
                    let count = self.batch_of(oti, block.1);
                    generate(&file, oti, block.1, repair, count).map_err(|error| self.lost(block.0, error))?
                }
            };
            self.batches.insert(block, batch);
        }
        let Some((batch, at)) = self.batches.get(&block).and_then(|batch| Some((batch, holds(batch)?)))
        else {
            return Err(self.lost(block.0, io::ErrorKind::UnexpectedEof.into()));
        };
        let start = (at * size) as usize;
        room.copy_from_slice(batch.symbols.get(start..start + size as usize).unwrap_or_default());
        let end = batch.first + batch.symbols.len() as u32 / size.max(1);
        if repair + (end - batch.first) / 2 >= end {
            self.order(block, oti, end)?;
        }
        Ok(())
    }

    /// How many repair symbols of a block are generated at once.
    fn batch_of(&self, oti: Oti, block: u8) -> u32 {
        let share = u64::from(oti.block_symbols(block)) / self.share;
        u32::try_from(share).unwrap_or(u32::MAX).max(BATCH_MIN)
    }

    /// Orders a batch, unless it was ordered before.
    fn order(&mut self, block: Block, oti: Oti, first: u32) -> Result<(), Error> {
        if self.orders.is_none() || self.next.contains_key(&block) {
            return Ok(());
        }
        let file = self.file(block.0)?;
        let order = Order { block, file, oti, first, count: self.batch_of(oti, block.1) };
        match self.orders.as_ref().map(|orders| orders.try_send(order)) {
            Some(Ok(())) => {
                self.next.insert(block, None);
            }
            Some(Err(TrySendError::Disconnected(_))) => self.orders = None,
            // Too much waits already.
            Some(Err(TrySendError::Full(_))) | None => {}
        }
        Ok(())
    }
}

impl Symbols for Store {
    type Error = Error;

    fn symbol(&mut self, toi: u32, id: PayloadId, room: &mut [u8]) -> Result<(), Error> {
        let Some(coding) = self.sources.get(&toi).map(|source| source.coding) else { return Ok(()) };
        let (start, length) = match coding.locate(id) {
            None => return Ok(()),
            Some(SymbolPlace::Repair(oti, number)) => return self.repair((toi, id.block), oti, number, room),
            Some(SymbolPlace::Source(start, length)) => (start, length),
        };
        // The first repair symbols are ready when they are needed.
        if let Coding::RaptorQ(oti) = coding
            && id.esi() == oti.block_symbols(id.block) / 2
        {
            self.order((toi, id.block), oti, 0)?;
        }
        let file = self.file(toi)?;
        let (data, padding) = room.split_at_mut(length.min(room.len()));
        padding.fill(0);
        file.read_exact_at(data, start).map_err(|error| self.lost(toi, error))
    }
}

fn lost(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound => Error::FileVanished { path: path.to_owned() },
        io::ErrorKind::UnexpectedEof => Error::FileChanged { path: path.to_owned() },
        _ => Error::file("read", path, source),
    }
}

/// Repair symbols of a block.
fn generate(file: &File, oti: Oti, block: u8, first: u32, count: u32) -> io::Result<Batch> {
    let mut data = vec![0; BlockEncoder::data_length(oti, block)];
    let (start, _) = oti.position(block, 0);
    let length = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
    file.read_exact_at(data.get_mut(..length).unwrap_or_default(), start)?;
    let encoder = BlockEncoder::new(oti, block, &data).ok_or(io::ErrorKind::InvalidData)?;
    let mut symbols = vec![0; count as usize * oti.symbol_size()];
    encoder.repair(first, &mut symbols);
    Ok(Batch { first, symbols })
}
