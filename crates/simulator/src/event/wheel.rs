//! The near future in slots of time.
//!
//! A slot is an unordered list that is sorted when its time comes. Slots should hold an entry or two: the
//! wheel measures what it hands out and makes its slots shorter or longer. The slot length affects the cost
//! of an event, never the order of events.

use layercast_core::units::Time;

use super::heap::Heap;
use super::present::Present;
use super::{Entry, ROOM};

/// How many slots there are; a power of two.
const SLOTS: u64 = 4096;
const WORDS: usize = (SLOTS / 64) as usize;
/// The first slots are of 16 microseconds.
const FIRST_SHIFT: u32 = 14;
/// Slots are of 1/16 microsecond at least, and of 17 seconds at most.
const SHIFTS: std::ops::RangeInclusive<u32> = 6..=34;
/// The slot length is adapted after this many turns.
const TURNS: u32 = 4096;
/// More entries in a slot than this, on average, are too many: sorting them takes time.
const CROWDED: u32 = 8;
/// Fewer are too few: each turn to a slot takes time.
const SPARSE: u32 = 2;

const NONE: u32 = u32::MAX;

/// Where an entry belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// In the present slot, or before it.
    Present,
    /// In a slot of the wheel.
    Slot(usize),
    /// Beyond the wheel.
    Far,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    next: u32,
}

#[derive(Debug)]
pub(super) struct TimingWheel {
    /// A slot is 2^shift nanoseconds long.
    shift: u32,
    /// The number of the present slot, counted from time zero.
    present: u64,
    /// The first node of each slot; a slot's index is its number modulo the number of slots.
    heads: Vec<u32>,
    /// A bit for each slot that has nodes.
    filled: [u64; WORDS],
    nodes: Vec<Node>,
    free: u32,
    /// Counts since the last adaptation: turns to a slot of the wheel, entries in those slots, entries put
    /// into the wheel, and entries too far ahead for it.
    turns: u32,
    brought: u32,
    near: u32,
    far: u32,
}

impl Default for TimingWheel {
    fn default() -> TimingWheel {
        TimingWheel {
            shift: FIRST_SHIFT,
            present: 0,
            heads: vec![NONE; SLOTS as usize],
            filled: [0; WORDS],
            nodes: Vec::with_capacity(ROOM),
            free: NONE,
            turns: 0,
            brought: 0,
            near: 0,
            far: 0,
        }
    }
}

impl TimingWheel {
    /// The region of an entry with this time.
    #[inline]
    pub(super) fn region_of(&mut self, time: Time) -> Region {
        let slot = time.as_ns() >> self.shift;
        if slot <= self.present {
            Region::Present
        } else if slot - self.present < SLOTS {
            self.near += 1;
            Region::Slot((slot % SLOTS) as usize)
        } else {
            self.far += 1;
            Region::Far
        }
    }

    /// Whether the time is in the present slot or before it.
    #[inline]
    pub(super) fn is_present(&self, time: Time) -> bool {
        time.as_ns() >> self.shift <= self.present
    }

    /// Puts an entry into the slot that it belongs to.
    #[inline]
    pub(super) fn put(&mut self, slot: usize, entry: Entry) {
        let mut number = self.free;
        match self.nodes.get_mut(number as usize) {
            Some(node) => {
                self.free = node.next;
                node.entry = entry;
            }
            None => {
                number = self.nodes.len() as u32;
                self.nodes.push(Node { entry, next: NONE });
            }
        }
        self.link(slot, number);
    }

    /// Goes on to the next slot that has entries, or to that of `far` if it comes before, and hands
    /// out what the wheel has there, in no order. Stays where it is if there is neither.
    pub(super) fn advance(&mut self, far: Option<Time>, present: &mut Present) {
        let next = self.next_filled();
        let far = far.map(|time| time.as_ns() >> self.shift);
        match (next, far) {
            (Some(next), far) if far.is_none_or(|far| next <= far) => {
                self.present = next;
                self.hand_out((next % SLOTS) as usize, present);
            }
            (_, Some(far)) => self.present = self.present.max(far),
            _ => {}
        }
    }

    fn hand_out(&mut self, slot: usize, present: &mut Present) {
        self.turns += 1;
        self.filled[slot / 64] &= !(1 << (slot % 64));
        let mut number = std::mem::replace(&mut self.heads[slot], NONE);
        while let Some(&Node { next, .. }) = self.nodes.get(number as usize) {
            self.brought += 1;
            present.load(self.release(number));
            number = next;
        }
    }

    /// The number of the next slot that has entries.
    fn next_filled(&self) -> Option<u64> {
        let index = (self.present % SLOTS) as usize;
        let (word, bit) = (index / 64, index % 64);
        // The bits after the present one, then whole words, and those before it at the end.
        let after = self.filled[word] & (!0 << bit);
        let found = if after != 0 {
            word * 64 + after.trailing_zeros() as usize
        } else {
            let words = (1..=WORDS).map(|step| (word + step) % WORDS);
            let word = words.into_iter().find(|&word| self.filled[word] != 0)?;
            word * 64 + self.filled[word].trailing_zeros() as usize
        };
        Some(self.present + (found + SLOTS as usize - index) as u64 % SLOTS)
    }

    /// Whether enough was counted to adapt the slot length.
    #[inline]
    pub(super) fn is_adaptation_due(&self) -> bool {
        self.turns >= TURNS
    }

    /// Makes slots shorter where they are crowded, and longer where much lies beyond the
    /// wheel. Many entries of one instant crowd a slot of any length; then slots stay long enough for
    /// the wheel to hold most of what comes.
    pub(super) fn adapt_slots(&mut self, present: &mut Present, far: &mut Heap) {
        let crowded = self.brought > CROWDED * self.turns && self.far < self.near / 4;
        let short = self.brought < SPARSE * self.turns;
        (self.turns, self.brought, self.near, self.far) = (0, 0, 0, 0);
        let shift = match (crowded, short) {
            (true, _) => self.shift - 1,
            (_, true) => self.shift + 1,
            _ => return,
        };
        if SHIFTS.contains(&shift) {
            self.reshape(shift, present, far);
        }
    }

    /// Puts all entries where they belong with slots of another length. The present slot is the one in
    /// which the present one ended.
    fn reshape(&mut self, shift: u32, present: &mut Present, far: &mut Heap) {
        let mut list = NONE;
        for head in &mut self.heads {
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
        while let Some(&Node { entry, next }) = self.nodes.get(list as usize) {
            let number = std::mem::replace(&mut list, next);
            match self.region_of(entry.key.time) {
                Region::Slot(slot) => self.link(slot, number),
                Region::Present => present.load(self.release(number)),
                Region::Far => far.push(self.release(number)),
            }
        }
        present.sort();
    }

    /// Makes a node the first of a slot.
    #[inline]
    fn link(&mut self, slot: usize, number: u32) {
        self.nodes[number as usize].next = std::mem::replace(&mut self.heads[slot], number);
        self.filled[slot / 64] |= 1 << (slot % 64);
    }

    /// Frees a node that is in no slot. Returns its entry.
    #[inline]
    fn release(&mut self, number: u32) -> Entry {
        let node = &mut self.nodes[number as usize];
        node.next = std::mem::replace(&mut self.free, number);
        node.entry
    }
}
