//! The blocks that are sent for a while by all channels, for sessions that are too long for all encoders at once.
//!
//! A repair symbol needs the encoder of its block (RFC 6330, section 5.3.3): twice the block in memory, and some
//! microseconds of computing for each source symbol. So a few blocks at a time are active, on all channels. A block is
//! replaced by the next one when a share of its symbols has been sent, over all channels together: each encoder is made
//! once for so many symbols. Source symbols are sent in turns too, though they need no encoder: a receiver that misses the
//! beginning misses the same part of every block, not some blocks whole, for which it would wait a round. Each channel sends
//! the active block of which it has sent the smallest part, so that in the long run every channel carries the
//! same part of every block, however slow it is and in whatever order blocks return.

use std::collections::VecDeque;

use super::{CYCLE, Slot};

/// The number of active blocks, at least and at most, and the symbols from which on there are no more (CHOICE: with eight
/// active blocks, channels carry even parts of blocks of different sizes; encoders of more symbols take much memory).
const ACTIVE_MIN: usize = 2;
const ACTIVE_MAX: usize = 8;
const ACTIVE_SYMBOLS: u32 = 8192;
/// Encoders are ordered ahead for blocks of so many symbols together, or for as many blocks as are active at least (CHOICE).
const AHEAD: u32 = 8192;

/// When blocks are sent a few at a time, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockWindow {
    /// The maximum number of symbols of all coded objects for which all blocks are active.
    pub all_up_to: u64,
    /// A block stays active for this part of as many repair symbols as it has source symbols, from 0 to 1, and at most for
    /// [`TURN_MAX`](super::TURN_MAX). A small part costs
    /// computing at the source. With a large one receivers of most layers wait longer for the few symbols that they lost: up
    /// to so large a part of a round. Source symbols, which need no encoder, and the first repair symbols have short turns.
    pub turn: f64,
    /// Whether turns of source symbols and of the first repair symbols are half as long, and the last quarter of the source
    /// symbols has such turns too. Encoders are made twice as often, and blocks become complete at about the same time; but
    /// receivers of nearly all layers get fewer symbols of blocks that they have already.
    pub is_fine: bool,
    /// How many symbols are sent before the first ones, an eighth of all at most. They come again at the end of the first round, so
    /// a receiver that waits for the session may miss them while it opens its files.
    pub lead: u32,
}

impl BlockWindow {
    /// All blocks are always active.
    pub const NONE: BlockWindow = BlockWindow { all_up_to: u64::MAX, turn: 1.0, is_fine: false, lead: 0 };
}

#[derive(Clone, Copy, Debug)]
struct Active {
    slot: u32,
    /// How many of its symbols are sent before it is replaced.
    left: u32,
    is_fresh: bool,
}

/// What a channel has sent.
#[derive(Clone, Debug, Default)]
struct Sent {
    /// The part of each block, by slot, in cycles.
    parts: Vec<u64>,
    /// Symbols of all blocks together.
    symbols: u64,
}

/// The active blocks, and those that wait for their turn.
#[derive(Clone, Debug)]
pub(super) struct Window {
    of: BlockWindow,
    active: Vec<Active>,
    waiting: VecDeque<u32>,
    /// Blocks that were added while sending. One of them is active at a time, and gets every second symbol.
    fresh: VecDeque<u32>,
    was_fresh: bool,
    /// How many of the waiting blocks were announced to need encoders.
    announced: usize,
    channels: Vec<Sent>,
    /// The symbols of all blocks.
    symbols: u64,
}

impl Window {
    pub(super) fn new(of: BlockWindow, channels: usize) -> Window {
        Window {
            of,
            active: Vec::with_capacity(ACTIVE_MAX),
            waiting: VecDeque::new(),
            fresh: VecDeque::new(),
            was_fresh: false,
            announced: 0,
            channels: vec![Sent::default(); channels],
            symbols: 0,
        }
    }

    /// The symbols of all blocks.
    pub(super) fn symbols(&self) -> u64 {
        self.symbols
    }

    /// Adds a block of so many symbols; one that is fresh comes soon, with as many symbols as it has source symbols.
    pub(super) fn add(&mut self, slot: u32, symbols: u32, is_fresh: bool) {
        // It starts where the others are on the average, so that it is not sent alone until it has caught up.
        for sent in &mut self.channels {
            let part = u128::from(sent.symbols) * u128::from(CYCLE) / u128::from(self.symbols.max(1));
            sent.parts.resize(slot as usize + 1, part as u64);
            sent.symbols += sent.symbols * u64::from(symbols) / self.symbols.max(1);
        }
        self.symbols += u64::from(symbols);
        if is_fresh {
            self.fresh.push_back(slot);
        } else {
            self.waiting.push_back(slot);
        }
    }

    /// A block of so many symbols was removed.
    pub(super) fn remove(&mut self, symbols: u32) {
        let before = self.symbols.max(1);
        self.symbols = self.symbols.saturating_sub(u64::from(symbols));
        for sent in &mut self.channels {
            sent.symbols = (u128::from(sent.symbols) * u128::from(self.symbols) / u128::from(before)) as u64;
        }
    }

    /// Renumbers the slots, and forgets those without a number.
    pub(super) fn renumber(&mut self, numbers: &[Option<u32>]) {
        let number = |old: u32| numbers.get(old as usize).copied().flatten();
        let announced = self.waiting.iter().take(self.announced);
        self.announced = announced.filter(|&&old| number(old).is_some()).count();
        for waiting in [&mut self.waiting, &mut self.fresh] {
            *waiting = waiting.iter().filter_map(|&old| number(old)).collect();
        }
        self.active.retain_mut(|active| number(active.slot).map(|new| active.slot = new).is_some());
        for sent in &mut self.channels {
            let mut kept = numbers.iter().map(Option::is_some);
            sent.parts.retain(|_| kept.next().unwrap_or(false));
        }
    }

    /// The block of which a channel sends a symbol now. Blocks that soon need encoders are appended to `ahead`; while those are
    /// not ready (`holds`), no block becomes active that needs one, and there may be none.
    pub(super) fn next(
        &mut self,
        channel: usize,
        slots: &[Slot],
        holds: bool,
        ahead: &mut Vec<u32>,
    ) -> Option<u32> {
        let announced = self.announced;
        let mut ready = if holds { 0 } else { announced };
        if !holds && self.are_all_active() {
            // With a gap after each turn, channels could meet the same one of them again and again.
            ready = ACTIVE_MAX;
        } else if !holds && self.active.iter().all(|active| active.left == 0) {
            // There is always one. Others are not ready, and would be waited for.
            ready = ready.max(1);
        }
        if ready > 0 || !self.needs_encoder(slots) {
            let over = self.active.iter().filter(|active| active.left == 0).map(|active| active.slot);
            self.waiting.extend(over);
            self.active.retain(|active| active.left > 0);
        }
        self.active.retain(|active| is_alive(slots, active.slot));
        while self.has_place(slots) {
            if let Some(fresh) = self.next_fresh() {
                self.activate(fresh, true, slots);
            } else if ready > 0 || !self.needs_encoder(slots) {
                let Some(next) = self.waiting.pop_front() else { break };
                self.announced = self.announced.saturating_sub(1);
                ready = ready.saturating_sub(1);
                self.activate(next, false, slots);
            } else {
                break;
            }
        }
        // The number of those that were announced changes when a block becomes active; at first it is 0.
        if self.announced < announced || self.announced == 0 {
            self.announce(slots, ahead);
        }
        let sent = self.channels.get_mut(channel)?;
        let part = |slot: u32| sent.parts.get(slot as usize).copied().unwrap_or(0);
        let order = |active: &&mut Active| (active.is_fresh == self.was_fresh, part(active.slot));
        let active = self.active.iter_mut().filter(|active| active.left > 0).min_by_key(order)?;
        active.left -= 1;
        self.was_fresh = active.is_fresh;
        let slot = active.slot;
        let symbols = slots.get(slot as usize).map_or(1, |slot| slot.symbols.max(1));
        // What a fresh block gets is in addition to its turns.
        if !active.is_fresh
            && let Some(part) = sent.parts.get_mut(slot as usize)
        {
            sent.symbols += 1;
            *part += CYCLE / u64::from(symbols);
        }
        Some(slot)
    }

    /// Whether there are so few blocks that all may be active.
    fn are_all_active(&self) -> bool {
        let count = self.waiting.len() + self.active.len();
        count <= ACTIVE_MIN || count <= ACTIVE_MAX && self.symbols <= u64::from(ACTIVE_SYMBOLS)
    }

    /// Whether another block may become active.
    fn has_place(&self, slots: &[Slot]) -> bool {
        let symbols = |active: &Active| slots.get(active.slot as usize).map_or(0, |slot| slot.symbols);
        let count = self.active.len();
        count < ACTIVE_MIN
            || count < ACTIVE_MAX && self.active.iter().map(symbols).sum::<u32>() < ACTIVE_SYMBOLS
    }

    /// Whether the next block sends repair symbols.
    fn needs_encoder(&self, slots: &[Slot]) -> bool {
        self.waiting.front().and_then(|&slot| slots.get(slot as usize)).is_some_and(Slot::is_repairing)
    }

    /// The next block that was added while sending, if none of these is active.
    fn next_fresh(&mut self) -> Option<u32> {
        let may_be_fresh = !self.active.iter().any(|active| active.is_fresh);
        if may_be_fresh { self.fresh.pop_front() } else { None }
    }

    fn activate(&mut self, slot: u32, is_fresh: bool, slots: &[Slot]) {
        if let Some(of) = slots.get(slot as usize).filter(|slot| !slot.is_removed) {
            let left = if is_fresh { of.symbols } else { of.turn(&self.of) };
            self.active.push(Active { slot, left, is_fresh });
        }
    }

    fn announce(&mut self, slots: &[Slot], ahead: &mut Vec<u32>) {
        let symbols = |slot: &u32| slots.get(*slot as usize).map_or(0, |slot| slot.symbols);
        let mut announced: u32 = self.waiting.iter().take(self.announced).map(symbols).sum();
        while let Some(next) = self.waiting.get(self.announced) {
            let with = announced.saturating_add(symbols(next));
            if self.announced >= ACTIVE_MIN && with > AHEAD {
                break;
            }
            announced = with;
            self.announced += 1;
            ahead.push(*next);
        }
    }
}

fn is_alive(slots: &[Slot], slot: u32) -> bool {
    slots.get(slot as usize).is_some_and(|slot| !slot.is_removed)
}
