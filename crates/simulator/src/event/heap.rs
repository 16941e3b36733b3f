//! A 4-ary implicit heap of entries.

use super::{Entry, ROOM};

/// Entries in the order of their keys.
#[derive(Debug)]
pub(super) struct Heap {
    heap: Vec<Entry>,
}

const ARITY: usize = 4;

impl Default for Heap {
    fn default() -> Heap {
        Heap { heap: Vec::with_capacity(ROOM) }
    }
}

impl Heap {
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1);
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Entry> {
        self.heap.first()
    }

    #[inline]
    pub(super) fn remove_first(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down_from_top(last);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent].key <= entry.key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Puts `entry` into the hole at the top and restores the order.
    fn sift_down_from_top(&mut self, entry: Entry) {
        let length = self.heap.len();
        let rank = entry.key.rank();
        let mut at = 0;
        loop {
            let first_child = at * ARITY + 1;
            if first_child >= length {
                break;
            }
            let least = first_child + least_of(&self.heap[first_child..(first_child + ARITY).min(length)]);
            let child = self.heap[least];
            if rank <= child.key.rank() {
                break;
            }
            self.heap[at] = child;
            at = least;
        }
        self.heap[at] = entry;
    }
}

/// The index of the first of some siblings.
#[inline]
fn least_of(siblings: &[Entry]) -> usize {
    if let [a, b, c, d] = siblings {
        // In two rounds, so that the comparisons do not wait for each other.
        let ranks = [a.key.rank(), b.key.rank(), c.key.rank(), d.key.rank()];
        let left = usize::from(ranks[1] < ranks[0]);
        let right = 2 + usize::from(ranks[3] < ranks[2]);
        return if ranks[right] < ranks[left] { right } else { left };
    }
    let ranks = siblings.iter().map(|entry| entry.key.rank()).enumerate();
    ranks.min_by_key(|&(_, rank)| rank).map_or(0, |(index, _)| index)
}
