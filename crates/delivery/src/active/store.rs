//! Chunks of data that are kept: until they are delivered, and for repairs of others.

use std::collections::BTreeMap;

use layercast_core::units::{Seq, WireSeq};

/// A bounded store.
#[derive(Debug)]
pub struct Store {
    most: u64,
    /// The first number that may still be stored.
    first: u64,
    /// Whether the store follows the newest chunk: what is older than the bound is dropped.
    slides: bool,
    chunks: BTreeMap<u64, Vec<u8>>,
}

impl Store {
    /// A store of `most` chunks from the first that was not released. What does not fit is not stored.
    pub fn new(most: u64) -> Store {
        Store { most: most.max(1), first: 0, slides: false, chunks: BTreeMap::new() }
    }

    /// A store of the newest chunks.
    pub fn sliding(most: u64) -> Store {
        Store { slides: true, ..Store::new(most) }
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Stores a chunk by its number on the wire, unless it is there, was released, or lies too far ahead.
    pub fn insert(&mut self, number: WireSeq, chunk: &[u8]) {
        let near = self.chunks.last_key_value().map_or(self.first, |(newest, _)| *newest);
        let number = number.expand(Seq(near)).0;
        if number < self.first || (!self.slides && number - self.first >= self.most) {
            return;
        }
        self.chunks.entry(number).or_insert_with(|| chunk.to_vec());
        if self.slides {
            let oldest = near.max(number).saturating_sub(self.most - 1);
            if oldest > 0 && oldest > self.first {
                self.release(Seq(oldest - 1));
            }
        }
    }

    /// A chunk; none if it is not there.
    pub fn get(&self, number: Seq) -> Option<&[u8]> {
        self.chunks.get(&number.0).map(Vec::as_slice)
    }

    /// The chunks that are here of those from one number through another, with their numbers.
    pub fn range(&self, first: u64, through: Seq) -> impl Iterator<Item = (u64, &[u8])> {
        let numbers = first..through.0.saturating_add(1).max(first);
        self.chunks.range(numbers).map(|(number, chunk)| (*number, chunk.as_slice()))
    }

    /// Drops the chunks up to this one.
    pub fn release(&mut self, through: Seq) {
        self.first = self.first.max(through.0.saturating_add(1));
        while self.chunks.first_key_value().is_some_and(|(oldest, _)| *oldest < self.first) {
            self.chunks.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_keeps_no_more_than_it_may() {
        let mut store = Store::new(4);
        for number in 0..9 {
            store.insert(WireSeq(number), &[number as u8]);
        }
        assert_eq!((store.len(), store.get(Seq(3)), store.get(Seq(4))), (4, Some(&[3][..]), None));
        store.release(Seq(1));
        store.insert(WireSeq(1), &[9]);
        store.insert(WireSeq(5), &[5]);
        assert_eq!((store.len(), store.get(Seq(1)), store.get(Seq(5))), (3, None, Some(&[5][..])));
    }

    #[test]
    fn a_sliding_store_keeps_the_newest() {
        let mut store = Store::sliding(4);
        for number in [0, 1, 2, 7, 6, 3, 5] {
            store.insert(WireSeq(number), &[number as u8]);
        }
        assert_eq!((store.len(), store.get(Seq(3)), store.get(Seq(5))), (3, None, Some(&[5][..])));
    }
}
