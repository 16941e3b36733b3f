//! Source symbols that are sent twice, while nothing else would be as good.

use super::{LAST_TURN, Pick, Slot, TURNS};
use crate::packet::PayloadId;

/// What is sent while no block has an encoder: source symbols again, in the order of the first round. A receiver
/// that came late, or had few layers at first, gets what it missed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Again {
    turn: u32,
    slot: usize,
    sent: u32,
}

impl Again {
    pub(super) fn next(&mut self, slots: &[Slot]) -> Option<Pick> {
        // A block of fewer symbols has not one in every turn.
        for _ in 0..=slots.len() * TURNS as usize {
            let Some(slot) = slots.get(self.slot) else {
                *self = Again { turn: (self.turn + 1) % TURNS, slot: 0, sent: 0 };
                continue;
            };
            let turn = slot.symbols.div_ceil(TURNS);
            let esi = self.turn * turn + self.sent;
            let is_there = self.sent < turn && esi < slot.symbols && slot.is_repairing();
            if is_there && !slot.repeats && !slot.is_removed {
                self.sent += 1;
                return PayloadId::new(slot.block, esi).map(|id| Pick::Symbol { toi: slot.toi, id });
            }
            *self = Again { slot: self.slot + 1, sent: 0, ..*self };
        }
        None
    }
}

/// What is sent before the first symbols: source symbols of the last turns, which come again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lead {
    /// How many symbols are left of it.
    pub(super) left: u64,
    slot: usize,
    /// How many symbols of the slot were sent.
    sent: u32,
}

impl Lead {
    pub(super) fn next(&mut self, slots: &[Slot]) -> Option<Pick> {
        self.left = self.left.checked_sub(1)?;
        while let Some(slot) = slots.get(self.slot) {
            let last = slot.symbols / LAST_TURN;
            let is_sent = self.sent >= last || slot.repeats || slot.is_removed;
            if !is_sent && slot.next_esi <= slot.symbols - last {
                let id = PayloadId::new(slot.block, slot.symbols - last + self.sent);
                self.sent += 1;
                return id.map(|id| Pick::Symbol { toi: slot.toi, id });
            }
            *self = Lead { left: self.left, slot: self.slot + 1, sent: 0 };
        }
        self.left = 0;
        None
    }
}
