//! Repair symbols, which threads generate ahead of need.
//!
//! A batch of symbols that follow each other in a block is ordered before they are sent. A thread generates it with the block's
//! encoder, of which those that were used last are kept. So the thread that sends copies bytes. Where the others cannot keep
//! up, the carousel holds, and what is needed all the same is generated here if its encoder is kept.

mod factory;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::sync::Arc;

use layercast_delivery::carousel::TURN_MAX;
use layercast_delivery::object::{BlockEncoder, Oti};

use super::read_ahead::Block;
use factory::{Factory, Made, Order};
use layercast_core::Always as _;

pub(super) use factory::ENCODERS_MAX;

/// The memory for batches that are ready (CHOICE), unless one alone takes more.
const READY_MAX: usize = 12 << 20;
/// The symbols of a batch where blocks take no turns: a part of the block's, within these bounds (CHOICE).
const PART: u32 = 8;
const BATCH_MIN: u32 = 4;
const BATCH_MAX: u32 = 256;
/// How many symbols the thread that sends generates at a time.
const HERE: u32 = 32;

/// The number of the symbol before which a turn of the block ends; none if it takes no turns. Until then the next batch is
/// ordered in the middle of one.
type Until = Option<u32>;

/// Repair symbols of a block, from `first` on.
#[derive(Debug)]
struct Batch {
    first: u32,
    symbols: Vec<u8>,
    until: Until,
}

impl Batch {
    /// The number of the symbol after the last one.
    fn end(&self, size: usize) -> u32 {
        self.first + (self.symbols.len() / size.max(1)) as u32
    }
}

/// What is ready of a block, the batch in use first.
#[derive(Debug, Default)]
struct Ready {
    batches: Vec<Batch>,
    /// Its place in the order of use.
    used: u64,
}

impl Ready {
    fn of(&self, number: u32, size: usize) -> Option<&Batch> {
        self.batches.iter().find(|batch| (batch.first..batch.end(size)).contains(&number))
    }
}

/// Where repair symbols are generated from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    /// The block.
    pub(super) block: Block,
    /// Its file.
    pub(super) file: &'a Arc<File>,
    /// Where the object begins in the file.
    pub(super) start: u64,
    /// The blocks and symbols of the object.
    pub(super) oti: Oti,
}

/// Batches that are ready, and those that were ordered.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    factory: Factory,
    ready: HashMap<Block, Ready>,
    /// The blocks of `ready` in the order of their last use.
    by_use: BTreeMap<u64, Block>,
    uses: u64,
    bytes: usize,
    /// The first symbol and the number of symbols of the last batch that was ordered of a block and is not ready.
    ordered: HashMap<Block, (u32, u32)>,
    /// The blocks that were announced to come next and are not ready.
    announced: Vec<Block>,
}

impl Repairs {
    /// Orders symbols from `first` on, `turn` of them if so many follow each other.
    pub(super) fn prepare(&mut self, of: Of<'_>, first: u32, turn: Option<u32>) {
        self.take_made();
        if self.batch(of, first).is_none() && !self.is_ordered(of.block, first) {
            self.order(of, first, turn.map(|turn| first.saturating_add(turn)));
            if self.is_ordered(of.block, first) {
                self.announced.push(of.block);
            }
        }
    }

    /// Whether symbols that were announced are not ready.
    pub(super) fn is_behind(&mut self) -> bool {
        if !self.announced.is_empty() {
            self.take_made();
        }
        !self.announced.is_empty()
    }

    /// Writes a symbol to `room`, which has its size. Waits for it if it must.
    ///
    /// # Errors
    /// That of the file, or that the block has no encoder.
    pub(super) fn symbol(&mut self, of: Of<'_>, number: u32, room: &mut [u8]) -> io::Result<()> {
        self.take_made();
        while self.batch(of, number).is_none() {
            if let Some(encoder) = self.factory.encoder(of.block) {
                self.generate(of, number, &encoder);
                continue;
            }
            if !self.is_ordered(of.block, number) {
                self.order(of, number, None);
            }
            match self.factory.wait() {
                Some(made) => {
                    let is_it = made.block == of.block;
                    self.insert(made).or_else(|error| if is_it { Err(error) } else { Ok(()) })?;
                }
                None => {
                    self.ordered.clear();
                    self.announced.clear();
                }
            }
        }
        let size = of.oti.symbol_size();
        let mut next = None;
        if let Some(batch) = self.batch(of, number) {
            let at = (number - batch.first) as usize * size;
            let symbol = batch.symbols.get(at..at + size).always("the symbol is one of the batch");
            room.iter_mut().zip(symbol).for_each(|(place, byte)| *place = *byte);
            let is_middle = number == batch.first + (batch.end(size) - batch.first) / 2;
            let end = batch.end(size);
            next = (is_middle && batch.until.is_none_or(|until| end < until)).then_some((end, batch.until));
        }
        self.use_up(of, number);
        if let Some((next, until)) = next
            && self.batch(of, next).is_none()
            && !self.is_ordered(of.block, next)
        {
            self.order(of, next, until);
        }
        Ok(())
    }

    /// Forgets the blocks of an object.
    pub(super) fn remove(&mut self, toi: u32) {
        let of: Vec<Block> = self.ready.keys().filter(|(of, _)| *of == toi).copied().collect();
        of.into_iter().for_each(|block| self.forget(block));
        // What is still being generated is dropped when it is.
        self.ordered.retain(|(of, _), _| *of != toi);
        self.announced.retain(|(of, _)| *of != toi);
        self.factory.remove(toi);
    }

    fn batch(&self, of: Of<'_>, number: u32) -> Option<&Batch> {
        self.ready.get(&of.block)?.of(number, of.oti.symbol_size())
    }

    fn is_ordered(&self, block: Block, number: u32) -> bool {
        let of = self.ordered.get(&block);
        of.is_some_and(|&(first, count)| (first..first.saturating_add(count)).contains(&number))
    }

    fn order(&mut self, of: Of<'_>, first: u32, until: Until) {
        let Of { block, file, start, oti } = of;
        let count = match until {
            None => (oti.block_symbols(block.1) / PART).clamp(BATCH_MIN, BATCH_MAX),
            // All of a turn, so that its encoder is not needed again.
            Some(until) => until.saturating_sub(first).clamp(1, TURN_MAX),
        };
        let order = Order { block, file: Arc::clone(file), start, oti, first, count, until };
        if self.factory.order(order) {
            self.ordered.insert(block, (first, count));
        }
    }

    fn take_made(&mut self) {
        while let Some(made) = self.factory.take() {
            if let Err(error) = self.insert(made) {
                // A file that cannot be read is noticed when its symbols are sent.
                tracing::debug!(%error, "no repair symbols");
            }
        }
    }

    fn insert(&mut self, made: Made) -> io::Result<()> {
        let Made { block, first, symbols, until } = made;
        self.announced.retain(|announced| *announced != block);
        // That of an object that was removed is not among those that were ordered.
        if self.ordered.get(&block).is_none_or(|&(ordered, _)| ordered != first) {
            return Ok(());
        }
        self.ordered.remove(&block);
        self.keep(block, Batch { first, symbols: symbols?, until });
        Ok(())
    }

    /// Generates some symbols here, after which the next ones are asked for again.
    fn generate(&mut self, of: Of<'_>, first: u32, encoder: &BlockEncoder) {
        let mut symbols = vec![0; HERE as usize * of.oti.symbol_size()];
        encoder.repair(first, &mut symbols);
        self.keep(of.block, Batch { first, symbols, until: Some(first.saturating_add(HERE)) });
    }

    fn keep(&mut self, block: Block, batch: Batch) {
        self.bytes += batch.symbols.len();
        self.ready.entry(block).or_default().batches.push(batch);
        self.touch(block);
        while self.bytes > READY_MAX
            && self.by_use.len() > 1
            && let Some(oldest) = self.by_use.first_key_value().map(|(_, &block)| block)
        {
            self.forget(oldest);
        }
    }

    /// Drops the batches that end with this symbol, and those before it.
    fn use_up(&mut self, of: Of<'_>, number: u32) {
        let Some(ready) = self.ready.get_mut(&of.block) else { return };
        let size = of.oti.symbol_size();
        let bytes = &mut self.bytes;
        ready.batches.retain(|batch| {
            let stays = batch.end(size) > number.saturating_add(1);
            *bytes -= if stays { 0 } else { batch.symbols.len().min(*bytes) };
            stays
        });
        if ready.batches.is_empty() { self.forget(of.block) } else { self.touch(of.block) }
    }

    fn forget(&mut self, block: Block) {
        if let Some(ready) = self.ready.remove(&block) {
            let bytes: usize = ready.batches.iter().map(|batch| batch.symbols.len()).sum();
            self.bytes -= bytes.min(self.bytes);
            self.by_use.remove(&ready.used);
        }
    }

    fn touch(&mut self, block: Block) {
        let Some(ready) =
            self.ready.get_mut(&block).filter(|ready| ready.used != self.uses || self.uses == 0)
        else {
            return;
        };
        self.by_use.remove(&ready.used);
        self.uses += 1;
        ready.used = self.uses;
        self.by_use.insert(self.uses, block);
    }
}

#[cfg(test)]
mod tests;
