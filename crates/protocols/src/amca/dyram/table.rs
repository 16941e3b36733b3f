//! A map by number that keeps its memory: its capacity stays when it empties.

use alloc::vec::Vec;

/// Entries by number, ascending. For few entries: inserting in the middle moves those after it.
#[derive(Clone, Debug)]
pub(in crate::amca) struct Table<V>(Vec<(u64, V)>);

impl<V> Default for Table<V> {
    fn default() -> Self {
        Table(Vec::new())
    }
}

impl<V> Table<V> {
    pub(in crate::amca) fn len(&self) -> usize {
        self.0.len()
    }

    fn place(&self, key: u64) -> Result<usize, usize> {
        // Most look-ups are for the newest.
        match self.0.last() {
            Some((last, _)) if *last < key => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&key, |(key, _)| *key),
        }
    }

    pub(in crate::amca) fn contains(&self, key: u64) -> bool {
        self.place(key).is_ok()
    }

    pub(in crate::amca) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    /// The entry of that number, a new one if there was none.
    pub(in crate::amca) fn entry(&mut self, key: u64, new: impl FnOnce() -> V) -> &mut V {
        let place = match self.place(key) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (key, new()));
                place
            }
        };
        &mut self.0[place].1
    }

    pub(in crate::amca) fn remove(&mut self, key: u64) -> Option<V> {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Removes all whose number is below this one.
    pub(in crate::amca) fn forget(&mut self, below: u64) {
        let count = self.0.partition_point(|(key, _)| *key < below);
        self.0.drain(..count);
    }

    pub(in crate::amca) fn retain(&mut self, mut keep: impl FnMut(u64, &V) -> bool) {
        self.0.retain(|(key, value)| keep(*key, value));
    }

    pub(in crate::amca) fn first(&self) -> Option<(u64, &V)> {
        self.0.first().map(|(key, value)| (*key, value))
    }

    /// The last entry whose number is at most this one.
    pub(in crate::amca) fn at_most(&self, key: u64) -> Option<(u64, &V)> {
        let count = self.0.partition_point(|(other, _)| *other <= key);
        self.0[..count].last().map(|(key, value)| (*key, value))
    }

    /// The first entry whose number is at least this one.
    pub(in crate::amca) fn at_least(&self, key: u64) -> Option<(u64, &V)> {
        let count = self.0.partition_point(|(other, _)| *other < key);
        self.0.get(count).map(|(key, value)| (*key, value))
    }

    pub(in crate::amca) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    pub(in crate::amca) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (*key, value))
    }
}
