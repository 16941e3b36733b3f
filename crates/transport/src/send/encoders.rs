//! The encoders of blocks of which repair symbols are sent.
//!
//! A thread makes them ahead of need. They are kept while there is memory; of those that were not used for the longest
//! time the first are dropped.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use layercast_delivery::object::{BlockEncoder, Oti};

/// The memory for encoders (CHOICE), unless one alone takes more.
pub(super) const MEMORY_MAX: u64 = 64 << 20;
/// The maximum number of blocks that wait for the thread.
const WAITING: usize = 256;

/// A block of an object.
pub(super) type Block = (u32, u8);

/// What the thread is to make.
struct Order {
    block: Block,
    file: Arc<File>,
    oti: Oti,
}

#[derive(Debug)]
struct Held {
    encoder: BlockEncoder,
    /// Its place in the order of use.
    used: u64,
}

/// Encoders that are ready, and those that are being made.
#[derive(Debug)]
pub(super) struct Encoders {
    held: HashMap<Block, Held>,
    /// The blocks of `held` in the order of their last use.
    by_use: BTreeMap<u64, Block>,
    uses: u64,
    bytes: u64,
    ordered: HashSet<Block>,
    orders: Option<SyncSender<Order>>,
    made: Receiver<(Block, io::Result<BlockEncoder>)>,
}

impl Default for Encoders {
    fn default() -> Encoders {
        let (orders, work) = sync_channel::<Order>(WAITING);
        let (done, made) = sync_channel(WAITING);
        let run = move || {
            for Order { block, file, oti } in work {
                if done.send((block, encoder(&file, oti, block.1))).is_err() {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("encoders".into()).spawn(run);
        if let Err(error) = &spawned {
            // Encoders are then made when they are needed.
            tracing::debug!(%error, "no thread to make encoders");
        }
        Encoders {
            held: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            bytes: 0,
            ordered: HashSet::new(),
            orders: spawned.is_ok().then_some(orders),
            made,
        }
    }
}

impl Encoders {
    /// Orders the encoder of a block, unless it is there.
    pub(super) fn order(&mut self, block: Block, file: Arc<File>, oti: Oti) {
        self.take_made();
        if self.held.contains_key(&block) {
            self.touch(block);
            return;
        }
        if self.ordered.contains(&block) {
            return;
        }
        match self.orders.as_ref().map(|orders| orders.try_send(Order { block, file, oti })) {
            Some(Ok(())) => drop(self.ordered.insert(block)),
            Some(Err(TrySendError::Disconnected(_))) => self.orders = None,
            // Too much waits already: it is made when it is needed.
            Some(Err(TrySendError::Full(_))) | None => {}
        }
    }

    /// Whether the encoder of a block is there. Waits for one that is being made.
    pub(super) fn has(&mut self, block: Block) -> bool {
        self.take_made();
        while !self.held.contains_key(&block) && self.ordered.contains(&block) {
            match self.made.recv() {
                Ok((made, encoder)) => self.insert(made, encoder),
                Err(_) => self.ordered.clear(),
            }
        }
        self.held.contains_key(&block)
    }

    /// Makes the encoder of a block now.
    ///
    /// # Errors
    /// The file's.
    pub(super) fn make(&mut self, block: Block, file: &File, oti: Oti) -> io::Result<()> {
        let encoder = encoder(file, oti, block.1)?;
        self.insert(block, Ok(encoder));
        Ok(())
    }

    /// Writes a repair symbol of a block, counted from 0; false if its encoder is not there.
    pub(super) fn repair(&mut self, block: Block, number: u32, room: &mut [u8]) -> bool {
        self.touch(block);
        let Some(held) = self.held.get(&block) else { return false };
        held.encoder.repair(number, room);
        true
    }

    /// Forgets the blocks of an object.
    pub(super) fn remove(&mut self, toi: u32) {
        let of: Vec<Block> = self.held.keys().filter(|(of, _)| *of == toi).copied().collect();
        of.into_iter().for_each(|block| self.forget(block));
        // What is still being made is dropped when it is made.
        self.ordered.retain(|(of, _)| *of != toi);
    }

    fn take_made(&mut self) {
        while let Ok((block, encoder)) = self.made.try_recv() {
            self.insert(block, encoder);
        }
    }

    fn insert(&mut self, block: Block, encoder: io::Result<BlockEncoder>) {
        self.ordered.remove(&block);
        let encoder = match encoder {
            Ok(encoder) => encoder,
            Err(error) => {
                // A file that cannot be read is noticed when its symbols are sent.
                tracing::debug!(%error, ?block, "no encoder");
                return;
            }
        };
        if self.held.contains_key(&block) {
            return;
        }
        self.bytes += encoder.bytes();
        while self.bytes > MEMORY_MAX
            && let Some(oldest) = self.by_use.first_key_value().map(|(_, &block)| block)
        {
            self.forget(oldest);
        }
        self.uses += 1;
        self.by_use.insert(self.uses, block);
        self.held.insert(block, Held { encoder, used: self.uses });
    }

    fn forget(&mut self, block: Block) {
        if let Some(held) = self.held.remove(&block) {
            self.bytes -= held.encoder.bytes().min(self.bytes);
            self.by_use.remove(&held.used);
        }
    }

    fn touch(&mut self, block: Block) {
        let Some(held) = self.held.get_mut(&block).filter(|held| held.used != self.uses) else { return };
        self.by_use.remove(&held.used);
        self.uses += 1;
        held.used = self.uses;
        self.by_use.insert(self.uses, block);
    }
}

/// The encoder of a block of a file.
fn encoder(file: &File, oti: Oti, block: u8) -> io::Result<BlockEncoder> {
    let mut data = vec![0; BlockEncoder::data_length(oti, block)];
    let (start, _) = oti.position(block, 0);
    let length = oti.length().saturating_sub(start).min(data.len() as u64) as usize;
    file.read_exact_at(data.get_mut(..length).unwrap_or_default(), start)?;
    BlockEncoder::new(oti, block, &data).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const SYMBOL: u16 = 1024;

    fn file(length: u64) -> (Arc<File>, Oti) {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("layercast-encoders-{}-{number}", std::process::id()));
        let bytes: Vec<u8> =
            (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        std::fs::write(&path, bytes).expect("a disk");
        let file = File::options().read(true).write(true).open(&path).expect("a file");
        std::fs::remove_file(&path).expect("a disk");
        (Arc::new(file), Oti::plan(length, SYMBOL).expect("a plan"))
    }

    #[test]
    fn an_encoder_that_was_ordered_makes_the_symbols_of_one_that_was_not() {
        let (file, oti) = file(100_000);
        let (mut ahead, mut late) = (Encoders::default(), Encoders::default());
        ahead.order((7, 0), Arc::clone(&file), oti);
        assert!(ahead.has((7, 0)) && !late.has((7, 0)) && !ahead.has((8, 0)));
        late.make((7, 0), &file, oti).expect("an encoder");
        let (mut one, mut other) = ([0; SYMBOL as usize], [1; SYMBOL as usize]);
        for number in [0, 5, 1000] {
            assert!(ahead.repair((7, 0), number, &mut one) && late.repair((7, 0), number, &mut other));
            assert_eq!(one, other);
        }
        ahead.remove(7);
        assert!(!ahead.has((7, 0)) && !ahead.repair((7, 0), 0, &mut one));
    }

    #[test]
    fn memory_is_bounded_and_what_is_in_use_stays() {
        let (file, oti) = file(40 << 20);
        let mut encoders = Encoders::default();
        for block in 0..oti.blocks() {
            encoders.order((1, block), Arc::clone(&file), oti);
            assert!(encoders.has((1, block)) && encoders.has((1, 0)), "block {block}");
            assert!(encoders.repair((1, 0), 0, &mut [0; SYMBOL as usize]));
        }
        let all = 2 * oti.length();
        assert!(all > MEMORY_MAX && encoders.bytes <= MEMORY_MAX, "{} of {all}", encoders.bytes);
        assert!(encoders.bytes > MEMORY_MAX * 3 / 4 && !encoders.has((1, 1)));
        assert_eq!(encoders.held.len(), encoders.by_use.len());
    }

    #[test]
    fn a_file_that_was_cut_has_no_encoder() {
        let (file, oti) = file(100_000);
        file.set_len(50_000).expect("a disk");
        let mut encoders = Encoders::default();
        encoders.order((1, 0), Arc::clone(&file), oti);
        assert!(!encoders.has((1, 0)));
        let error = encoders.make((1, 0), &file, oti).expect_err("a short file");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
