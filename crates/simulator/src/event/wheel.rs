//! The near future in slots of time.
//!
//! A slot is an unordered list; its entries are put in order when its time comes. Slots should hold an entry or
//! two: the wheel measures what it hands out and makes its slots shorter or longer. The slot length affects
//! the cost of an event, never the order of events.

use super::heap::Heap;
use super::packed::Packed;
use super::{Entry, Key, ROOM};

/// How many slots there are; a power of two.
const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
/// The first slots are of 16 microseconds.
const FIRST_SHIFT: u32 = 14;
/// Slots are of 1/16 microsecond at least, and of 17 seconds at most.
const SHIFTS: std::ops::RangeInclusive<u32> = 6..=34;
/// The slot length is adapted after this many turns.
const TURNS: u32 = 4096;
/// More entries in a slot than this, on average, are too many: putting them in order takes time.
const CROWDED: u32 = 3;
/// Fewer than half of this are too few: each turn to a slot takes time.
const SPARSE_TWICE: u32 = 3;
/// How many entries of the present slot another one may pass on the way to its place.
const MOST_STEPS: u32 = 16;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    next: u32,
}

#[derive(Debug)]
pub(super) struct TimingWheel {
    /// A slot is 2^shift nanoseconds long.
    shift: u32,
    /// The first node of the present slot, whose nodes are in order.
    first: u32,
    /// The number of the present slot, counted from time zero.
    present: u64,
    nodes: Vec<Node>,
    free: u32,
    /// Counts since the last adaptation: turns to a slot of the wheel, entries in those slots, entries put
    /// into the wheel, and entries too far ahead for it.
    turns: u32,
    brought: u32,
    near: u32,
    far: u32,
    /// A bit for each slot that has nodes.
    filled: [u64; WORDS],
    /// The first node of each slot; a slot's index is its number modulo the number of slots.
    heads: Box<[u32; SLOTS]>,
}

impl Default for TimingWheel {
    fn default() -> TimingWheel {
        TimingWheel {
            shift: FIRST_SHIFT,
            first: NONE,
            present: 0,
            nodes: Vec::with_capacity(ROOM),
            free: NONE,
            turns: 0,
            brought: 0,
            near: 0,
            far: 0,
            filled: [0; WORDS],
            heads: Box::new([NONE; SLOTS]),
        }
    }
}

impl TimingWheel {
    /// Adds an entry to its slot, or to `far` if it lies beyond the wheel or has no place in the present
    /// slot.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, event: Packed, far: &mut Heap) {
        let slot = key.time.as_ns() >> self.shift;
        // A slot before the present one is as far away as a number can be.
        let ahead = slot.wrapping_sub(self.present).wrapping_sub(1);
        if ahead < SLOTS as u64 - 1 {
            self.near += 1;
            self.put(slot, key, event);
        } else {
            self.push_otherwise(slot, key, event, far);
        }
    }

    #[inline(never)]
    fn push_otherwise(&mut self, slot: u64, key: Key, event: Packed, far: &mut Heap) {
        if slot > self.present {
            self.far += 1;
            far.push(Entry { key, event });
            return;
        }
        let node = Node { entry: Entry { key, event }, next: NONE };
        let number = match self.nodes.get_mut(self.free as usize) {
            Some(free) => std::mem::replace(&mut self.free, std::mem::replace(free, node).next),
            None => self.grow(node),
        };
        if !self.insert(number) {
            far.push(self.release(number));
        }
    }

    /// The first entry of the present slot.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry> {
        self.nodes.get(self.first as usize).map(|node| &node.entry)
    }

    /// Removes the first entry of the present slot, if there is one.
    #[inline]
    pub(super) fn remove_first(&mut self) {
        let number = self.first;
        if let Some(node) = self.nodes.get_mut(number as usize) {
            self.first = std::mem::replace(&mut node.next, self.free);
            self.free = number;
        }
    }

    /// Goes on to the next slot that has entries, or to that of the first of `far` if it comes before. Stays
    /// where it is if there is neither. The present slot must be empty.
    pub(super) fn advance(&mut self, far: &mut Heap) {
        let next = self.next_filled();
        let first_far = far.first().map(|entry| entry.key.time.as_ns() >> self.shift);
        match (next, first_far) {
            (Some(next), far_slot) if far_slot.is_none_or(|far_slot| next <= far_slot) => {
                self.present = next;
                self.load((next % SLOTS as u64) as usize, far);
            }
            (_, Some(far_slot)) => self.present = self.present.max(far_slot),
            _ => {}
        }
    }

    /// Puts the entries of a slot in order.
    fn load(&mut self, slot: usize, far: &mut Heap) {
        self.turns += 1;
        self.filled[slot / 64] &= !(1 << (slot % 64));
        let mut number = std::mem::replace(&mut self.heads[slot], NONE);
        // The last that came is the first of the list, and mostly the last to be served.
        while let Some(&Node { next, .. }) = self.nodes.get(number as usize) {
            self.brought += 1;
            if !self.insert(number) {
                far.push(self.release(number));
            }
            number = next;
        }
    }

    /// The number of the next slot that has entries.
    #[inline]
    fn next_filled(&self) -> Option<u64> {
        let index = self.present as usize % SLOTS;
        let (word, bit) = (index / 64, index % 64);
        // The bits after the present one, then whole words, and those before it at the end.
        let after = self.filled[word] & (!0 << bit);
        let found = if after != 0 {
            word * 64 + after.trailing_zeros() as usize
        } else {
            let mut words = (1..=WORDS).map(|step| (word + step) % WORDS);
            let word = words.find(|&word| self.filled[word] != 0)?;
            word * 64 + self.filled[word].trailing_zeros() as usize
        };
        Some(self.present + (found.wrapping_sub(index) % SLOTS) as u64)
    }

    /// Whether enough was counted to adapt the slot length.
    #[inline]
    pub(super) fn is_adaptation_due(&self) -> bool {
        self.turns >= TURNS
    }

    /// Makes slots shorter where they are crowded, and longer where much lies beyond the
    /// wheel. Many entries of one instant crowd a slot of any length; then slots stay long enough for
    /// the wheel to hold most of what comes. The present slot must be empty.
    #[cold]
    #[inline(never)]
    pub(super) fn adapt_slots(&mut self, far: &mut Heap) {
        let crowded = self.brought > CROWDED * self.turns && self.far < self.near / 4;
        let short = 2 * self.brought < SPARSE_TWICE * self.turns;
        (self.turns, self.brought, self.near, self.far) = (0, 0, 0, 0);
        let shift = match (crowded, short) {
            (true, _) => self.shift - 1,
            (_, true) => self.shift + 1,
            _ => return,
        };
        if SHIFTS.contains(&shift) {
            self.reshape(shift, far);
        }
    }

    /// Puts all entries where they belong with slots of another length. The present slot is the one in
    /// which the present one ended.
    fn reshape(&mut self, shift: u32, far: &mut Heap) {
        let mut list = NONE;
        for head in self.heads.iter_mut() {
            let mut number = std::mem::replace(head, NONE);
            while let Some(node) = self.nodes.get_mut(number as usize) {
                let next = std::mem::replace(&mut node.next, list);
                list = number;
                number = next;
            }
        }
        self.filled = [0; WORDS];
        let ended_ns = ((self.present + 1) << self.shift) - 1;
        (self.shift, self.present) = (shift, ended_ns >> shift);
        while let Some(&Node { next, .. }) = self.nodes.get(list as usize) {
            let Entry { key, event } = self.release(std::mem::replace(&mut list, next));
            self.push(key, event, far);
        }
    }

    /// Makes an entry the first of its slot.
    #[inline(always)]
    fn put(&mut self, slot: u64, key: Key, event: Packed) {
        let slot = slot as usize % SLOTS;
        self.filled[slot / 64] |= 1 << (slot % 64);
        let head = &mut self.heads[slot];
        // The fields are written one by one: an entry built elsewhere would be read again in larger pieces
        // than it was written, for which the processor waits.
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            let next = std::mem::replace(head, self.free);
            self.free = std::mem::replace(&mut node.next, next);
            node.entry.key.time = key.time;
            node.entry.key.order = key.order;
            node.entry.event = event;
        } else {
            let next = *head;
            self.heads[slot] = self.grow(Node { entry: Entry { key, event }, next });
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Puts a node at its place in the present slot. Returns false if that is too far from the first.
    #[inline(always)]
    fn insert(&mut self, number: u32) -> bool {
        let rank = self.nodes[number as usize].entry.key.rank();
        let (mut before, mut after) = (NONE, self.first);
        let mut steps = 0;
        while let Some(other) = self.nodes.get(after as usize)
            && other.entry.key.rank() < rank
        {
            if steps == MOST_STEPS {
                return false;
            }
            steps += 1;
            (before, after) = (after, other.next);
        }
        self.nodes[number as usize].next = after;
        match self.nodes.get_mut(before as usize) {
            Some(before) => before.next = number,
            None => self.first = number,
        }
        true
    }

    /// Frees a node that is in no slot. Returns its entry.
    #[inline]
    fn release(&mut self, number: u32) -> Entry {
        let node = &mut self.nodes[number as usize];
        node.next = std::mem::replace(&mut self.free, number);
        node.entry
    }
}
