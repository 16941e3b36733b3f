//! Source symbols of files, of which several are read at once where they are needed in order.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// A block of an object.
pub(super) type Block = (u32, u8);

/// The maximum number of bytes that are read ahead of a block, and of blocks for which that is done: 2 MiB together (CHOICE).
const AHEAD_MAX: usize = 1 << 16;
const BLOCKS_MAX: usize = 32;

/// What was read of a block.
#[derive(Debug)]
struct Held {
    /// None if it is not in use.
    block: Option<Block>,
    start: u64,
    length: usize,
    room: Vec<u8>,
    /// Where the next symbol begins if they are needed in order.
    next: u64,
    used: u64,
}

impl Held {
    fn begin(&mut self, block: Block) {
        self.block = Some(block);
        self.length = 0;
    }

    fn get(&self, start: u64, length: usize) -> Option<&[u8]> {
        let at = usize::try_from(start.checked_sub(self.start)?).ok()?;
        self.room.get(..self.length)?.get(at..at.checked_add(length)?)
    }

    /// Reads the bytes from `start` on, and more if they go on where the last ones ended.
    fn read(&mut self, file: &File, start: u64, end: u64, length: usize) -> io::Result<()> {
        let before = if self.next == start { self.length } else { 0 };
        let left = usize::try_from(end.saturating_sub(start)).unwrap_or(AHEAD_MAX);
        let length = (2 * before).min(AHEAD_MAX).min(left).max(length);
        self.start = start;
        self.length = 0;
        file.read_exact_at(self.room.get_mut(..length).ok_or(io::ErrorKind::InvalidInput)?, start)?;
        self.length = length;
        Ok(())
    }
}

/// What was read of the blocks that were used last.
///
/// A block's symbols are sent in order, by all channels together. How much is read doubles with each read that goes on where
/// the last one ended, so that blocks which are visited rarely, between many others, cost no more than their symbols.
#[derive(Debug)]
pub(super) struct ReadAhead {
    held: Vec<Held>,
    uses: u64,
}

impl Default for ReadAhead {
    fn default() -> ReadAhead {
        // The system provides pages when they are first used.
        let room = || vec![0; AHEAD_MAX];
        let none = || Held { block: None, start: 0, length: 0, room: room(), next: 0, used: 0 };
        ReadAhead { held: (0..BLOCKS_MAX).map(|_| none()).collect(), uses: 0 }
    }
}

impl ReadAhead {
    /// Fills `room`, of at most 64 KiB, from `start` on; `end` is that of the file.
    ///
    /// # Errors
    /// The file's.
    pub(super) fn read(
        &mut self,
        block: Block,
        file: &File,
        start: u64,
        end: u64,
        room: &mut [u8],
    ) -> io::Result<()> {
        self.uses += 1;
        let place = self.held.iter().position(|held| held.block == Some(block));
        let held = match place {
            Some(place) => self.held.get_mut(place),
            None => self.held.iter_mut().min_by_key(|held| held.used),
        };
        let held = held.ok_or(io::ErrorKind::OutOfMemory)?;
        if place.is_none() {
            held.begin(block);
        }
        held.used = self.uses;
        if held.get(start, room.len()).is_none() {
            held.read(file, start, end, room.len())?;
        }
        held.next = start + room.len() as u64;
        room.copy_from_slice(held.get(start, room.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// Forgets the blocks of an object.
    pub(super) fn remove(&mut self, toi: u32) {
        let of = self.held.iter_mut().filter(|held| held.block.is_some_and(|(of, _)| of == toi));
        of.for_each(|held| held.block = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    use proptest::prelude::*;

    fn file(length: u32) -> File {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().expect("a file");
        let bytes: Vec<u8> = (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        file.write_all(&bytes).expect("a disk");
        file
    }

    proptest! {
        #[test]
        fn what_is_read_is_in_the_file(reads in prop::collection::vec((0..90u8, 0..200u64, any::<bool>()), 1..300)) {
            let (file, length) = (file(200_000), 200_000u64);
            let (mut ahead, mut next) = (ReadAhead::default(), HashMap::new());
            for (block, symbol, in_order) in reads {
                let at = next.get(&block).copied().filter(|_| in_order).unwrap_or(symbol) % 200;
                next.insert(block, at + 1);
                let (mut found, mut right) = ([1; 1000], [2; 1000]);
                ahead.read((1, block), &file, at * 1000, length, &mut found).expect("a symbol");
                file.read_exact_at(&mut right, at * 1000).expect("a symbol");
                prop_assert_eq!(found, right);
            }
        }
    }

    #[test]
    fn more_is_read_at_once_the_longer_symbols_are_needed_in_order_and_never_beyond_the_end() {
        let file = file(100_000);
        let mut ahead = ReadAhead::default();
        let mut room = [0; 1000];
        let mut lengths = Vec::new();
        for at in 0..100 {
            ahead.read((1, 0), &file, at * 1000, 100_000, &mut room).expect("a symbol");
            lengths.push(ahead.held[0].length);
        }
        lengths.dedup();
        assert_eq!(lengths, [1000, 2000, 4000, 8000, 16_000, 32_000, 37_000]);
        ahead.read((1, 0), &file, 5000, 100_000, &mut room).expect("a symbol");
        assert_eq!(ahead.held[0].length, 1000, "out of order");
        ahead.remove(1);
        assert!(ahead.held.iter().all(|held| held.block.is_none()));
        let error = ahead.read((1, 0), &file, 99_500, 100_500, &mut room).expect_err("the file is shorter");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
