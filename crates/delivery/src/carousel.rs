//! What each packet carries: the order of a source's symbols and of its file delivery table.
//!
//! Every channel cycles through all blocks of all objects, and a cycle visits a block as often as it has source
//! symbols, in even steps. A block's symbols are counted over all channels: source symbols first, then repair symbols,
//! and no two packets get the same one until the 24 bits wrap. So every packet of every channel is useful to every
//! receiver, and all blocks are complete at about the same time. With one cycle for all channels, a channel that sends
//! every second packet would carry only every second block, and a receiver of that channel alone would never finish.
//!
//! The table is sent first, on every channel, and then again and again: on the base channel at least once per second
//! while it is short, and on all channels in a share of their packets when it is long. A table of few long files whose blocks
//! have hashes is in between: it is nothing next to the files, and every receiver has the base channel.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use layercast_core::units::{Channel, Duration, Time};

use crate::object::Coding;
use crate::packet::{ESI_LIMIT, PayloadId};

/// The length of a cycle through all blocks. Positions are divided by the number of a block's symbols.
const CYCLE: u64 = 1 << 32;
/// The golden ratio's fraction of a cycle: multiples of it spread the first visits of blocks evenly.
const GOLDEN: u64 = 2_654_435_769;
/// The interval of a short table on the base channel: slightly below a second, so that with the base layer's spacing
/// it is sent at least once per second.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// One in so many packets of a channel carries a part of the table, if the table is long (CHOICE).
const TABLE_SHARE: u32 = 8;
/// A table of at most so many packets is short.
const SHORT_TABLE: usize = 4;
/// A table of at most so many packets, with at least so many symbols of objects for each of them, is light (CHOICE: that of
/// one file with the hashes of 255 blocks has eleven packets of 900 bytes).
const LIGHT_TABLE: usize = 20;
const LIGHT_SYMBOLS: u64 = 64;

/// How a table is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// On the base channel, by time.
    Short,
    /// On the base channel, by time and in a share of its packets.
    Light,
    /// On all channels, in a share of their packets.
    Long,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A part of an instance of the table, both by their places.
    Table {
        /// Which instance.
        instance: usize,
        /// Which part of it.
        part: usize,
    },
    /// A symbol of an object.
    Symbol {
        /// The object's number.
        toi: u32,
        /// The symbol.
        id: PayloadId,
    },
}

/// A block, or an object without a code.
#[derive(Clone, Copy, Debug)]
struct Slot {
    toi: u32,
    block: u8,
    symbols: u32,
    next_esi: u32,
    /// Whether every packet carries the same symbol.
    repeats: bool,
    is_removed: bool,
}

#[derive(Clone, Debug, Default)]
struct Cycle {
    /// The next visit of each slot, by position.
    visits: BinaryHeap<Reverse<(u64, u32)>>,
    position: u64,
    /// Slots of objects that were added while sending, and how many of their symbols come before the cycle goes on.
    fresh: VecDeque<(u32, u32)>,
    /// Every second packet is one of the cycle even while there is something fresh.
    was_fresh: bool,
    /// The place in the table: instance, part.
    table: (usize, usize),
    /// Parts of the table that are sent before anything else.
    first: usize,
    /// Packets since the last part of the table.
    since_table: u32,
    table_at: Time,
}

/// The order of packets.
#[derive(Clone, Debug)]
pub struct Carousel {
    slots: Vec<Slot>,
    by_object: BTreeMap<u32, (u32, u32)>,
    channels: Vec<Cycle>,
    /// Parts of each instance of the table.
    parts: Vec<usize>,
    weight: Weight,
    given: u64,
    symbols: u64,
    has_started: bool,
}

impl Carousel {
    /// A carousel with so many channels; those that are not layers count too.
    pub fn new(channels: u16) -> Carousel {
        Carousel {
            slots: Vec::new(),
            by_object: BTreeMap::new(),
            channels: vec![Cycle::default(); usize::from(channels)],
            parts: Vec::new(),
            weight: Weight::Short,
            given: 0,
            symbols: 0,
            has_started: false,
        }
    }

    /// Adds an object. `from_esi` is the first symbol of each block: 0, or what a source that was restarted had reached.
    pub fn add(&mut self, toi: u32, coding: Coding, from_esi: &[u32]) {
        let first = self.slots.len() as u32;
        match coding {
            Coding::NoCode(coding) => {
                for number in 0..coding.symbols().min(256) {
                    self.slot(Slot {
                        toi,
                        block: number as u8,
                        symbols: 1,
                        next_esi: 0,
                        repeats: true,
                        is_removed: false,
                    });
                }
            }
            Coding::RaptorQ(oti) => {
                for block in 0..oti.blocks() {
                    let next_esi = from_esi.get(usize::from(block)).copied().unwrap_or(0) % ESI_LIMIT;
                    let symbols = oti.block_symbols(block);
                    self.slot(Slot { toi, block, symbols, next_esi, repeats: false, is_removed: false });
                }
            }
        }
        self.by_object.insert(toi, (first, self.slots.len() as u32));
        self.symbols += coding.symbols();
    }

    fn slot(&mut self, slot: Slot) {
        let number = self.slots.len() as u32;
        let step = CYCLE / u64::from(slot.symbols.max(1));
        for (index, channel) in self.channels.iter_mut().enumerate() {
            // Channels begin at different blocks, so that the first packets are spread.
            let phase = (u64::from(number) + index as u64).wrapping_mul(GOLDEN) % CYCLE;
            let offset = ((u128::from(step) * u128::from(phase)) >> 32) as u64;
            channel.visits.push(Reverse((channel.position + offset, number)));
            if self.has_started {
                channel.fresh.push_back((number, slot.symbols));
            }
        }
        self.slots.push(slot);
    }

    /// Removes an object.
    pub fn remove(&mut self, toi: u32) {
        let Some((first, end)) = self.by_object.remove(&toi) else { return };
        for slot in self.slots.iter_mut().take(end as usize).skip(first as usize) {
            slot.is_removed = true;
            self.symbols -= u64::from(slot.symbols).min(self.symbols);
        }
    }

    /// Sets the table: how many packets each instance takes. The last `new` instances are sent at once on all channels.
    pub fn set_table(&mut self, parts: Vec<usize>, new: usize) {
        let start = parts.len().saturating_sub(new);
        let first = parts.iter().skip(start).sum();
        for channel in &mut self.channels {
            channel.table = (start, 0);
            channel.first = first;
        }
        let all = parts.iter().sum::<usize>();
        self.weight = if all <= SHORT_TABLE {
            Weight::Short
        } else if all <= LIGHT_TABLE && self.symbols >= LIGHT_SYMBOLS * all as u64 {
            Weight::Light
        } else {
            Weight::Long
        };
        self.parts = parts;
    }

    /// What the next packet of a channel carries; none if there is nothing to send.
    pub fn next(&mut self, channel: Channel, now: Time) -> Option<Pick> {
        self.has_started = true;
        let weight = self.weight;
        let has_objects = !self.by_object.is_empty();
        let cycle = self.channels.get_mut(channel.index())?;
        let next = self.parts.get(cycle.table.0).copied().unwrap_or(1);
        if cycle.is_table_due(channel, now, weight, has_objects, next)
            && let Some(pick) = cycle.next_part(&self.parts, now)
        {
            return Some(pick);
        }
        cycle.since_table += 1;
        let number = cycle.next_slot(&self.slots)?;
        let slot = self.slots.get_mut(number as usize)?;
        let (block, esi) =
            if slot.repeats { (0, u32::from(slot.block)) } else { (slot.block, slot.next_esi) };
        slot.next_esi = (slot.next_esi + 1) % ESI_LIMIT;
        self.given += 1;
        PayloadId::new(block, esi).map(|id| Pick::Symbol { toi: slot.toi, id })
    }

    /// The number of symbols sent, in multiples of all objects' symbols.
    pub fn rounds(&self) -> f64 {
        self.given as f64 / self.symbols.max(1) as f64
    }

    /// The next symbol of each block of an object, for a source that goes on later.
    pub fn reached(&self, toi: u32) -> impl Iterator<Item = u32> {
        let (first, end) = self.by_object.get(&toi).copied().unwrap_or((0, 0));
        self.slots.get(first as usize..end as usize).unwrap_or_default().iter().map(|slot| slot.next_esi)
    }
}

impl Cycle {
    /// Whether a part of the table is due; the next instance has `parts` of them.
    fn is_table_due(
        &self,
        channel: Channel,
        now: Time,
        weight: Weight,
        has_objects: bool,
        parts: usize,
    ) -> bool {
        // The parts of an instance follow each other.
        if self.first > 0 || self.table.1 > 0 {
            return true;
        }
        let by_time = channel == Channel(0) && now >= self.table_at;
        match weight {
            Weight::Short => by_time,
            Weight::Light => {
                by_time && (!has_objects || self.since_table >= TABLE_SHARE.saturating_mul(parts as u32))
            }
            Weight::Long => self.since_table >= TABLE_SHARE || (by_time && !has_objects),
        }
    }

    fn next_part(&mut self, parts: &[usize], now: Time) -> Option<Pick> {
        if parts.is_empty() {
            return None;
        }
        let (mut instance, mut part) = self.table;
        while part >= parts.get(instance).copied().unwrap_or(0) {
            (instance, part) = (if instance + 1 < parts.len() { instance + 1 } else { 0 }, 0);
            // Every instance has a part.
            if parts.get(instance).is_none_or(|&count| count == 0) {
                return None;
            }
        }
        let next = if part + 1 < parts.get(instance).copied().unwrap_or(0) {
            (instance, part + 1)
        } else if instance + 1 < parts.len() {
            (instance + 1, 0)
        } else {
            self.table_at = now + TABLE_EVERY;
            (0, 0)
        };
        self.table = next;
        self.first = self.first.saturating_sub(1);
        self.since_table = 0;
        Some(Pick::Table { instance, part })
    }

    fn next_slot(&mut self, slots: &[Slot]) -> Option<u32> {
        let lives = |number: u32| slots.get(number as usize).filter(|slot| !slot.is_removed);
        if !self.was_fresh {
            while let Some((number, left)) = self.fresh.pop_front() {
                if lives(number).is_none() || left == 0 {
                    continue;
                }
                self.fresh.push_back((number, left - 1));
                self.was_fresh = true;
                return Some(number);
            }
        }
        self.was_fresh = false;
        loop {
            let Reverse((position, number)) = self.visits.pop()?;
            let Some(slot) = lives(number) else { continue };
            self.position = position;
            self.visits.push(Reverse((position + CYCLE / u64::from(slot.symbols.max(1)), number)));
            return Some(number);
        }
    }
}
