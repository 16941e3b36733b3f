//! The order of one channel: its cycle through the slots, and its place in the file delivery table.

use core::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use layercast_core::units::{Channel, Duration, Time};

use super::{ACTIVE_BLOCKS, CYCLE, Pick, Slot};

/// The interval of a short table on the base channel: slightly below a second, so that with the base layer's spacing
/// it is sent at least once per second.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// One in so many packets of a channel carries a part of the table, if the table is long (CHOICE); one in up to so many if there
/// are [`LIGHT_SYMBOLS`] symbols of objects for each of its packets: a receiver that comes late has it after such a part of them.
const TABLE_SHARE: u32 = 8;
const SHARE_MAX: u32 = 64;
/// A table of at most so many packets is short.
const SHORT_TABLE: usize = 4;
/// A table of at most so many packets, with at least so many symbols of objects for each of them, is light (CHOICE: that of
/// one file with the hashes of 255 blocks has eleven packets of 900 bytes).
const LIGHT_TABLE: usize = 20;
const LIGHT_SYMBOLS: u64 = 64;

/// How a table is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// On the base channel, by time.
    Short,
    /// On the base channel, by time and in a share of its packets.
    Light,
    /// On all channels, in a share of their packets: one in so many.
    Long(u32),
}

impl Weight {
    /// That of a table of so many parts, for so many symbols.
    pub(super) fn of(parts: usize, symbols: u64) -> Weight {
        if parts <= SHORT_TABLE {
            Weight::Short
        } else if parts <= LIGHT_TABLE && symbols >= LIGHT_SYMBOLS * parts as u64 {
            Weight::Light
        } else {
            let share = symbols / (LIGHT_SYMBOLS * parts as u64);
            Weight::Long(share.clamp(TABLE_SHARE.into(), SHARE_MAX.into()) as u32)
        }
    }
}

/// The order of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    /// The next visit of each slot, by position.
    pub(super) visits: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) position: u64,
    /// Slots of objects that were added while sending, and how many of their symbols come before the cycle goes on.
    pub(super) fresh: VecDeque<(u32, u32)>,
    /// Every second packet is one of the cycle even while there is something fresh.
    was_fresh: bool,
    /// The place in the table: instance, part.
    pub(super) table: (usize, usize),
    /// Parts of the table that are sent before anything else.
    pub(super) first: usize,
    /// Packets since the last part of the table.
    since_table: u32,
    table_at: Time,
}

impl Cycle {
    /// Whether a part of the table is due; the next instance has `parts` of them.
    pub(super) fn is_table_due(
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
            Weight::Long(share) => {
                self.since_table >= share.saturating_mul(parts as u32) || (by_time && !has_objects)
            }
        }
    }

    pub(super) fn next_part(&mut self, parts: &[usize], now: Time) -> Option<Pick> {
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

    /// The next slot, or the active blocks, which have `coded` symbols together with those that wait for their turn.
    pub(super) fn next_slot(&mut self, slots: &[Slot], coded: u64) -> Option<u32> {
        self.since_table += 1;
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
            let symbols = match lives(number) {
                Some(slot) => u64::from(slot.symbols),
                None if number == ACTIVE_BLOCKS => coded,
                None => continue,
            };
            self.position = position;
            self.visits.push(Reverse((position + (CYCLE / symbols.max(1)).max(1), number)));
            return Some(number);
        }
    }
}
