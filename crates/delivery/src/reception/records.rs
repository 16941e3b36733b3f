//! Which symbols of long objects are there: in memory as far as there is space for it, and on the disk in any case. The records that
//! were not used for the longest time are given up in memory, and read again with the next symbol. A source sends for a while
//! of a few blocks, so that does not happen often.

use std::collections::BTreeMap;

use super::Reception;
use super::decoding::JobOf;
use crate::disk::Disk;

/// The memory for records (CHOICE), and the maximum number of them, as each keeps a file open. A receiver that has seen all of
/// 100 GB and lost little needs less than that; one that waits with the places of many repair symbols needs more.
const MEMORY_MAX: u64 = 8 << 20;
const OPEN_MAX: usize = 256;

/// The records in memory.
#[derive(Debug)]
pub(super) struct Records {
    most: u64,
    current: Option<JobOf>,
    /// About how much memory each took when it was last used, and when that was.
    known: BTreeMap<JobOf, (u64, u64)>,
    uses: u64,
}

impl Default for Records {
    fn default() -> Records {
        Records { most: MEMORY_MAX, current: None, known: BTreeMap::new(), uses: 0 }
    }
}

impl Records {
    fn are_too_many(&self) -> bool {
        let memory: u64 = self.known.values().map(|(memory, _)| memory).sum();
        memory > self.most || self.known.len() > OPEN_MAX
    }
}

impl<D: Disk> Reception<D> {
    /// Limits the memory for records, which is 8 MiB without this. That of one is always taken.
    pub fn limit_records(&mut self, most: u64) {
        self.records.most = most;
    }

    /// The next symbol is one of this object, or of this part of it.
    pub(super) fn use_record(&mut self, of: JobOf) {
        if self.records.current == Some(of) {
            return;
        }
        self.records.uses += 1;
        let uses = self.records.uses;
        let before = self.records.current.replace(of);
        for one in before.into_iter().chain([of]) {
            self.measure(one);
        }
        if let Some((_, used)) = self.records.known.get_mut(&of) {
            *used = uses;
        }
        if self.records.are_too_many() {
            self.put_aside(of);
        }
    }

    fn measure(&mut self, of: JobOf) {
        let memory = self.objects.get(&of.0).and_then(|object| object.record_memory(of.1));
        match memory {
            None => _ = self.records.known.remove(&of),
            Some(memory) => self.records.known.entry(of).or_insert((0, self.records.uses)).0 = memory,
        }
    }

    /// Gives up the memory of records, but not of this one.
    fn put_aside(&mut self, but: JobOf) {
        let all: Vec<JobOf> = self.records.known.keys().copied().collect();
        all.into_iter().for_each(|of| self.measure(of));
        let others = self.records.known.iter().filter(|(of, _)| **of != but);
        let mut by_use: Vec<(u64, JobOf)> = others.map(|(of, (_, used))| (*used, *of)).collect();
        by_use.sort_unstable();
        for (_, of) in by_use {
            if !self.records.are_too_many() {
                return;
            }
            // One that has work to do stays.
            if self.objects.get_mut(&of.0).is_some_and(|object| object.put_aside(of.1)) {
                self.records.known.remove(&of);
            }
        }
    }
}
