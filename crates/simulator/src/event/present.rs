//! The events of the present slot of time.

use layercast_core::units::Time;

use super::heap::Heap;
use super::{Entry, ROOM};

/// How many others an entry may move that comes while its slot is served.
const MOST_MOVES: usize = 8;

/// The entries of the present slot, and of those before it.
///
/// A slot is sorted once, when its time comes: mostly it has an entry or two, and many entries of one
/// instant come in order. An entry that is added later takes its place near the front; one that would move
/// many others goes into a heap.
#[derive(Debug)]
pub(super) struct Present {
    /// In descending order: the first entry is at the end.
    sorted: Vec<Entry>,
    late: Heap,
}

impl Default for Present {
    fn default() -> Present {
        Present { sorted: Vec::with_capacity(ROOM), late: Heap::default() }
    }
}

impl Present {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty() && self.late.is_empty()
    }

    /// Adds an entry in any order. [`Present::sort`] must follow before anything is taken.
    #[inline]
    pub(super) fn load(&mut self, entry: Entry) {
        self.sorted.push(entry);
    }

    /// Sorts what was loaded.
    #[inline]
    pub(super) fn sort(&mut self) {
        if self.sorted.len() > 1 {
            self.sorted.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.key.rank()));
        }
    }

    /// Adds an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let rank = entry.key.rank();
        let length = self.sorted.len();
        let moves = self.sorted.iter().rev().take(MOST_MOVES + 1).take_while(|other| other.key.rank() < rank);
        let moves = moves.count();
        if moves > MOST_MOVES {
            self.late.push(entry);
        } else {
            self.sorted.insert(length - moves, entry);
        }
    }

    /// The first entry.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry> {
        match (self.sorted.last(), self.late.first()) {
            (Some(sorted), Some(late)) if late.key < sorted.key => Some(late),
            (None, late) => late,
            (sorted, _) => sorted,
        }
    }

    /// Takes the first entry, if it is not after `end`.
    #[inline]
    pub(super) fn pop(&mut self, end: Time) -> Option<Entry> {
        if !self.late.is_empty() {
            return self.pop_of_both(end);
        }
        self.sorted.pop_if(|entry| entry.key.time <= end)
    }

    #[cold]
    fn pop_of_both(&mut self, end: Time) -> Option<Entry> {
        let first = *self.first()?;
        if first.key.time > end {
            return None;
        }
        if self.sorted.last().is_some_and(|sorted| sorted.key == first.key) {
            self.sorted.pop();
        } else {
            self.late.remove_first();
        }
        Some(first)
    }
}
