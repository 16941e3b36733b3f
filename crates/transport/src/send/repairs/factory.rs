//! The threads that generate repair symbols.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use layercast_delivery::object::{BlockEncoder, Oti};

use super::Until;
use crate::background;
use crate::send::read_ahead::Block;
use layercast_core::Always as _;

/// The memory for encoders (CHOICE), unless one alone takes more: two of blocks of 4096 symbols of 1350 bytes.
pub(in crate::send) const ENCODERS_MAX: u64 = 22 << 20;
/// The maximum number of orders that wait, each of which keeps a file open.
const WAITING: usize = 256;
/// The maximum number of threads. One processor is left to the thread that sends.
const THREADS_MAX: usize = 4;

/// Symbols to be generated.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) block: Block,
    pub(super) file: Arc<File>,
    pub(super) start: u64,
    pub(super) oti: Oti,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) until: Until,
}

/// Symbols that were generated.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) block: Block,
    pub(super) first: u32,
    pub(super) symbols: io::Result<Vec<u8>>,
    pub(super) until: Until,
}

/// The encoders that were used last.
#[derive(Debug, Default)]
struct Encoders {
    held: HashMap<Block, (Arc<BlockEncoder>, u64)>,
    uses: u64,
    bytes: u64,
}

/// Threads, and what they share.
#[derive(Debug)]
pub(super) struct Factory {
    encoders: Arc<Mutex<Encoders>>,
    /// None where no thread could be started: then symbols are generated when they are ordered.
    orders: Option<SyncSender<Order>>,
    made: Receiver<Made>,
    here: VecDeque<Made>,
}

impl Default for Factory {
    fn default() -> Factory {
        let (orders, work) = sync_channel::<Order>(WAITING);
        let (done, made) = sync_channel(WAITING);
        let encoders = Arc::new(Mutex::new(Encoders::default()));
        let shared = Arc::clone(&encoders);
        let generate = move |order: Order| done.send(order.carry_out(&shared)).is_ok();
        let count = background::threads(THREADS_MAX);
        let has_threads = background::start("repair symbols", count, work, generate) > 0;
        Factory { encoders, orders: has_threads.then_some(orders), made, here: VecDeque::new() }
    }
}

impl Factory {
    /// Takes an order; false if too many wait.
    pub(super) fn order(&mut self, order: Order) -> bool {
        let order = match &self.orders {
            None => order,
            Some(orders) => match orders.try_send(order) {
                Ok(()) => return true,
                Err(TrySendError::Full(_)) => return false,
                Err(TrySendError::Disconnected(order)) => order,
            },
        };
        self.orders = None;
        self.here.push_back(order.carry_out(&self.encoders));
        true
    }

    /// What is ready.
    pub(super) fn take(&mut self) -> Option<Made> {
        self.here.pop_front().or_else(|| self.made.try_recv().ok())
    }

    /// What is ready next; none if nothing ever will be.
    pub(super) fn wait(&mut self) -> Option<Made> {
        self.here.pop_front().or_else(|| self.made.recv().ok())
    }

    /// The encoder of a block, if it is there.
    pub(super) fn encoder(&self, block: Block) -> Option<Arc<BlockEncoder>> {
        lock(&self.encoders).get(block)
    }

    /// Forgets the encoders of an object.
    pub(super) fn remove(&mut self, toi: u32) {
        lock(&self.encoders).remove(toi);
    }
}

impl Order {
    fn carry_out(self, encoders: &Mutex<Encoders>) -> Made {
        let Order { block, first, until, .. } = self;
        let symbols = self.encoder(encoders).map(|encoder| {
            let mut symbols = vec![0; self.count as usize * self.oti.symbol_size()];
            encoder.repair(first, &mut symbols);
            symbols
        });
        Made { block, first, symbols, until }
    }

    fn encoder(&self, encoders: &Mutex<Encoders>) -> io::Result<Arc<BlockEncoder>> {
        if let Some(encoder) = lock(encoders).get(self.block) {
            return Ok(encoder);
        }
        let (_, block) = self.block;
        let mut data = vec![0; BlockEncoder::data_length(self.oti, block)];
        let (start, _) = self.oti.position(block, 0);
        let length = self.oti.length().saturating_sub(start).min(data.len() as u64) as usize;
        self.file.read_exact_at(
            data.get_mut(..length).always("the length is limited by the data"),
            self.start + start,
        )?;
        let encoder = BlockEncoder::new(self.oti, block, &data).ok_or(io::ErrorKind::InvalidData)?;
        let encoder = Arc::new(encoder);
        // That of a turn is not needed again before all other blocks had theirs, and another takes its memory by then.
        if self.until.is_none() {
            lock(encoders).insert(self.block, &encoder);
        }
        Ok(encoder)
    }
}

fn lock(encoders: &Mutex<Encoders>) -> MutexGuard<'_, Encoders> {
    encoders.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Encoders {
    fn get(&mut self, block: Block) -> Option<Arc<BlockEncoder>> {
        self.uses += 1;
        let (encoder, used) = self.held.get_mut(&block)?;
        *used = self.uses;
        Some(Arc::clone(encoder))
    }

    fn insert(&mut self, block: Block, encoder: &Arc<BlockEncoder>) {
        self.bytes += encoder.bytes();
        self.uses += 1;
        if let Some((before, _)) = self.held.insert(block, (Arc::clone(encoder), self.uses)) {
            self.bytes -= before.bytes();
        }
        while self.bytes > ENCODERS_MAX && self.held.len() > 1 {
            let oldest = self.held.iter().min_by_key(|(_, (_, used))| *used).map(|(&block, _)| block);
            oldest.into_iter().for_each(|block| self.drop_one(block));
        }
    }

    fn remove(&mut self, toi: u32) {
        let of: Vec<Block> = self.held.keys().filter(|(of, _)| *of == toi).copied().collect();
        of.into_iter().for_each(|block| self.drop_one(block));
    }

    fn drop_one(&mut self, block: Block) {
        if let Some((encoder, _)) = self.held.remove(&block) {
            self.bytes -= encoder.bytes();
        }
    }
}
