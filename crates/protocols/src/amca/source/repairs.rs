//! Repairs requested of the source.

use alloc::vec::Vec;

use crate::amca::dyram::Table;
use layercast_core::contract::ChildSet;
use layercast_core::units::{Duration, Time};

/// The most packets with a state at a time; NACKs for others count when they are repeated.
const MOST: usize = 512;

/// A repair to send now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub(super) seq: u64,
    pub(super) links: ChildSet,
    /// Whether it was requested over a link that has no bit in a set of links.
    pub(super) to_all: bool,
}

/// The state of one packet.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    asking: u64,
    to_all: bool,
    /// The links it was last sent to, and until when NACKs from them are ignored.
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

    /// A NACK arrived over a link, 0 for none. Returns whether it is valid, that is, not a duplicate.
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

    /// The next repair to send. NACKs from its links are ignored for `window`.
    pub(super) fn take_next(&mut self, now: Time, window: Duration) -> Option<Repair> {
        // The lowest first, so that receivers that wait for it make progress.
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

    /// All receivers have the packets before this one.
    pub(super) fn forget(&mut self, below: u64) {
        self.states.forget(below);
        self.waiting.retain(|&seq| seq >= below);
    }
}
