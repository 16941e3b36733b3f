//! Repairs that the source was asked for.

use alloc::vec::Vec;

use crate::amca::dyram::Table;
use layercast_core::contract::ChildSet;
use layercast_core::units::{Duration, Time};

/// So many packets have a state at a time; NACKs for others are heard when they are repeated.
const MOST: usize = 512;

/// A repair that leaves now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub(super) seq: u64,
    pub(super) links: ChildSet,
    /// Whether somebody asked who is behind no link that has a place in a set.
    pub(super) to_all: bool,
}

/// The state of one packet.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    asking: u64,
    to_all: bool,
    /// To whom it was sent last, and until when they need not ask again.
    served: u64,
    served_all: bool,
    until: Time,
}

/// All repairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs {
    waiting: Vec<u64>,
    states: Table<State>,
}

impl Repairs {
    pub(super) fn state_size(&self) -> usize {
        self.waiting.len() + self.states.len()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A packet is asked for by link, 0 for none. Returns whether the NACK is valid: not the same as one before.
    pub(super) fn ask(&mut self, now: Time, seq: u64, link: u64) -> bool {
        if !self.states.contains(seq) && self.states.len() >= MOST {
            self.states.retain(|_, state| state.asking != 0 || state.to_all || state.until > now);
            if self.states.len() >= MOST {
                return false;
            }
        }
        let state = self.states.entry(seq, State::default);
        if now >= state.until {
            (state.served, state.served_all) = (0, false);
        }
        let is_served = state.served_all || (link != 0 && state.served & link != 0);
        if is_served {
            return false;
        }
        let is_waiting = state.asking != 0 || state.to_all;
        state.asking |= link;
        state.to_all |= link == 0;
        if !is_waiting {
            self.waiting.push(seq);
        }
        !is_waiting && state.served == 0
    }

    /// The next repair to send. Those who get it need not ask again within `window`.
    pub(super) fn take_next(&mut self, now: Time, window: Duration) -> Option<Repair> {
        // The lowest first, so that those who wait for it come further.
        let (place, _) = self.waiting.iter().enumerate().min_by_key(|&(_, seq)| seq)?;
        let seq = self.waiting.swap_remove(place);
        let state = self.states.get_mut(seq)?;
        let repair = Repair { seq, links: ChildSet(state.asking), to_all: state.to_all };
        state.served |= state.asking;
        state.served_all |= state.to_all;
        (state.asking, state.to_all) = (0, false);
        state.until = now + window;
        Some(repair)
    }

    /// All have what lies before.
    pub(super) fn forget(&mut self, below: u64) {
        self.states.forget(below);
        self.waiting.retain(|&seq| seq >= below);
    }
}
