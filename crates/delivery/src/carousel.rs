//! What each packet carries: the order of a source's symbols and of its file delivery table.
//!
//! Every channel cycles through all blocks of all objects, and a cycle visits a block as often as it has source
//! symbols, in even steps. A block's symbols are counted over all channels: source symbols first, then repair symbols,
//! and no two packets get the same one until the 24 bits wrap. So every packet of every channel is useful to every
//! receiver, and all blocks are complete at about the same time. With one cycle for all channels, a channel that sends
//! every second packet would carry only every second block, and a receiver of that channel alone would never finish.
//! The blocks of a session that is too long for all encoders at once take turns on all channels ([`BlockWindow`]).
//!
//! The table is sent first, on every channel, and then again and again: on the base channel at least once per second
//! while it is short, and on all channels in a share of their packets when it is long. A table of few long files whose blocks
//! have hashes is in between: it is nothing next to the files, and every receiver has the base channel.

mod cycle;
mod repeats;
mod window;

use core::cmp::Reverse;
use std::collections::BTreeMap;

use layercast_core::Always as _;
use layercast_core::units::{Channel, Time};

use crate::object::Coding;
use crate::packet::{ESI_LIMIT, PayloadId};

pub use window::BlockWindow;

use cycle::{Cycle, Weight};
use repeats::{Again, Lead};
use window::Window;

/// The length of a cycle through all blocks. Positions are divided by the number of a block's symbols.
const CYCLE: u64 = 1 << 32;
/// The golden ratio's fraction of a cycle: multiples of it spread the first visits of blocks evenly.
const GOLDEN: u64 = 2_654_435_769;
/// Slots of removed objects are forgotten when there are more than so many, and more than of others (CHOICE).
const REMOVED_MIN: usize = 256;
/// Blocks that take turns send so large a part of their source symbols in a turn (CHOICE): who comes late, or has few layers at
/// first, misses the same part of every block, which any later symbols of it can replace.
const TURNS: u32 = 16;
/// The same for fine turns (CHOICE): what a receiver gets of the last turn of a block is half needless on average.
const FINE_TURNS: u32 = 32;
/// The maximum number of repair symbols in a turn (CHOICE): four turns of symbols of 1400 bytes have 8 MB, which a source keeps
/// ready.
pub const TURN_MAX: u32 = 1536;
/// Repair symbols for the first so large part of a block have turns as short (CHOICE): enough for the losses of a path in order.
const QUICK: u32 = 8;
/// The last so large part of the source symbols is one turn (CHOICE): blocks become complete one after the other during so large
/// a part of the first round, so that receivers need not compare hashes of all of them at its end.
const LAST_TURN: u32 = 4;
/// At most so large a part of all symbols is sent before the first ones (CHOICE).
const LEAD_MAX: u64 = 8;
/// The number of a visit to the active blocks.
const ACTIVE_BLOCKS: u32 = u32::MAX;

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

/// Repair symbols that are needed soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The object's number.
    pub toi: u32,
    /// The first of them.
    pub first: PayloadId,
    /// How many follow each other in one turn of their block; none if blocks take no turns.
    pub turn: Option<u32>,
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

impl Slot {
    /// How many of its symbols are sent in a turn: of source symbols, which need no encoder, a small part of the block, and all
    /// of its last quarter unless turns are fine; as many of the first repair symbols, so that all blocks have some soon; later
    /// the window's part of as many as it has source symbols.
    fn turn(&self, window: &BlockWindow) -> u32 {
        let turns = if window.is_fine { FINE_TURNS } else { TURNS };
        let turn = self.symbols.div_ceil(turns).max(1);
        match self.symbols.saturating_sub(self.next_esi) {
            0 if self.next_esi < self.symbols + self.symbols.div_ceil(QUICK) => turn.min(TURN_MAX),
            0 => {
                let turn = (f64::from(self.symbols) * window.turn).ceil() as u32;
                turn.clamp(1, self.symbols.clamp(1, TURN_MAX))
            }
            last if !window.is_fine && last <= self.symbols / LAST_TURN => last,
            last => turn.min(last),
        }
    }

    /// Whether the next symbol is a repair symbol.
    fn is_repairing(&self) -> bool {
        self.next_esi >= self.symbols
    }
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
    window: Option<Window>,
    block_window: BlockWindow,
    /// Symbols of objects with a code.
    coded: u64,
    /// Blocks of which repair symbols are sent soon.
    ahead: Vec<u32>,
    /// How many of the slots are of removed objects.
    removed: usize,
    holds: bool,
    /// Whether the next packet of the base channel is one of the table.
    announces: bool,
    lead: Lead,
    again: Again,
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
            window: None,
            block_window: BlockWindow::NONE,
            coded: 0,
            ahead: Vec::new(),
            removed: 0,
            holds: false,
            announces: false,
            lead: Lead::default(),
            again: Again::default(),
        }
    }

    /// Whether repair symbols that were announced ([`Carousel::take_ahead`]) are not ready yet. Until they are, source symbols
    /// are sent again, so that nobody waits.
    pub fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }

    /// Makes the next packet of the base channel one of the table, out of turn: its header says something that receivers should
    /// know soon.
    pub fn announce_soon(&mut self) {
        self.announces = true;
    }

    /// Lets blocks take turns when there are many. Called before objects are added.
    pub fn set_block_window(&mut self, block_window: BlockWindow) {
        self.block_window = block_window;
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
        self.slots.push(slot);
        if !slot.repeats {
            self.coded += u64::from(slot.symbols);
            if self.window.is_none() && self.coded > self.block_window.all_up_to {
                self.take_turns();
            } else if let Some(window) = &mut self.window {
                window.add(number, slot.symbols, self.has_started);
            }
            if self.window.is_some() {
                return;
            }
        }
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
    }

    /// From now on blocks take turns.
    fn take_turns(&mut self) {
        let mut window = Window::new(self.block_window, self.channels.len());
        for (slot, number) in self.slots.iter().zip(0..) {
            if !slot.repeats && !slot.is_removed {
                window.add(number, slot.symbols, false);
            }
        }
        let stays = |number: u32| self.slots.get(number as usize).is_some_and(|slot| slot.repeats);
        for channel in &mut self.channels {
            channel.visits.retain(|Reverse((_, number))| stays(*number));
            channel.fresh.retain(|(number, _)| stays(*number));
            channel.visits.push(Reverse((channel.position, ACTIVE_BLOCKS)));
        }
        self.window = Some(window);
    }

    /// Removes an object.
    pub fn remove(&mut self, toi: u32) {
        let Some((first, end)) = self.by_object.remove(&toi) else { return };
        for slot in self.slots.iter_mut().take(end as usize).skip(first as usize) {
            slot.is_removed = true;
            self.removed += 1;
            self.symbols -= u64::from(slot.symbols).min(self.symbols);
            if !slot.repeats {
                self.coded -= u64::from(slot.symbols).min(self.coded);
                if let Some(window) = &mut self.window {
                    window.remove(slot.symbols);
                }
            }
        }
        if self.removed > REMOVED_MIN && self.removed > self.slots.len() / 2 {
            self.compact();
        }
    }

    /// Forgets the slots of removed objects.
    fn compact(&mut self) {
        let mut kept = 0..;
        let numbers: Vec<Option<u32>> =
            self.slots.iter().map(|slot| if slot.is_removed { None } else { kept.next() }).collect();
        let number = |old: u32| numbers.get(old as usize).copied().flatten();
        // The slots of an object follow each other, and have none that is removed between them.
        for (first, end) in self.by_object.values_mut() {
            let length = *end - *first;
            *first = number(*first).unwrap_or(0);
            *end = *first + length;
        }
        self.slots.retain(|slot| !slot.is_removed);
        self.removed = 0;
        // Places have changed; the rest of it is not needed.
        self.lead.left = 0;
        for channel in &mut self.channels {
            let visits = std::mem::take(&mut channel.visits).into_iter();
            let renumbered = |Reverse((position, old))| match old {
                ACTIVE_BLOCKS => Some(Reverse((position, old))),
                old => Some(Reverse((position, number(old)?))),
            };
            channel.visits = visits.filter_map(renumbered).collect();
            let fresh = std::mem::take(&mut channel.fresh).into_iter();
            channel.fresh = fresh.filter_map(|(old, left)| Some((number(old)?, left))).collect();
        }
        self.ahead = self.ahead.iter().filter_map(|&old| number(old)).collect();
        if let Some(window) = &mut self.window {
            window.renumber(&numbers);
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
        self.weight = Weight::of(all, self.symbols);
        self.parts = parts;
    }

    /// What the next packet of a channel carries; none if there is nothing to send.
    pub fn next(&mut self, channel: Channel, now: Time) -> Option<Pick> {
        if !self.has_started && self.window.is_some() {
            self.lead.left = u64::from(self.block_window.lead).min(self.coded / LEAD_MAX);
        }
        self.has_started = true;
        let weight = self.weight;
        let has_objects = !self.by_object.is_empty();
        let cycle = self.channels.get_mut(channel.index())?;
        let next = self.parts.get(cycle.table.0).copied().unwrap_or(1);
        let announces = channel == Channel(0) && std::mem::take(&mut self.announces);
        if cycle.is_table_due(channel, now, weight, has_objects, next)
            && let Some(pick) = cycle.next_part(&self.parts, now)
        {
            return Some(pick);
        }
        let (instance, part) = cycle.table;
        if announces && self.parts.get(instance).is_some_and(|&parts| part < parts) {
            return Some(Pick::Table { instance, part });
        }
        if self.lead.left > 0
            && let Some(pick) = self.lead.next(&self.slots)
        {
            return Some(pick);
        }
        let number = match cycle.next_slot(&self.slots, self.window.as_ref().map_or(1, Window::symbols))? {
            ACTIVE_BLOCKS => {
                let window = self.window.as_mut()?;
                let next = window.next(channel.index(), &self.slots, self.holds, &mut self.ahead);
                let Some(number) = next else {
                    let again = self.again.next(&self.slots)?;
                    self.given += 1;
                    return Some(again);
                };
                number
            }
            number => number,
        };
        let slot = self.slots.get_mut(number as usize)?;
        // The first repair symbols are ready when they are needed.
        if self.window.is_none() && !slot.repeats && slot.next_esi == slot.symbols / 2 {
            self.ahead.push(number);
        }
        let (block, esi) =
            if slot.repeats { (0, u32::from(slot.block)) } else { (slot.block, slot.next_esi) };
        slot.next_esi = (slot.next_esi + 1) % ESI_LIMIT;
        self.given += 1;
        PayloadId::new(block, esi).map(|id| Pick::Symbol { toi: slot.toi, id })
    }

    /// Repair symbols that are sent soon, of a block that was not returned before.
    pub fn take_ahead(&mut self) -> Option<Ahead> {
        while let Some(number) = self.ahead.pop() {
            let slot = self.slots.get(number as usize)?;
            let turn = self.window.as_ref().map(|_| slot.turn(&self.block_window));
            let first = slot.next_esi.max(slot.symbols);
            let turn = turn.map(|turn| (slot.next_esi + turn).saturating_sub(first));
            if turn != Some(0)
                && !slot.is_removed
                && let Some(first) = PayloadId::new(slot.block, first)
            {
                return Some(Ahead { toi: slot.toi, first, turn });
            }
        }
        None
    }

    /// The number of symbols sent, in multiples of all objects' symbols.
    pub fn rounds(&self) -> f64 {
        self.given as f64 / self.symbols.max(1) as f64
    }

    /// The next symbol of each block of an object, for a source that goes on later.
    pub fn reached(&self, toi: u32) -> impl Iterator<Item = u32> {
        let (first, end) = self.by_object.get(&toi).copied().unwrap_or((0, 0));
        self.slots
            .get(first as usize..end as usize)
            .always("the slots of an object are known")
            .iter()
            .map(|slot| slot.next_esi)
    }
}

#[cfg(test)]
mod tests;
