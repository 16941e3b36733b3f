//! Which repairs are wanted, by which links, and which nodes were asked for them.

use crate::amca::dyram::{ChildKey, Missing, Standing, Table, UNKNOWN_WINDOW};
use layercast_core::cannot_be;
use layercast_core::contract::ChildSet;
use layercast_core::units::{Duration, Time};

/// The most packets of a gap that the router requests at once; receivers request the rest.
pub(super) const MOST_ASKED: u64 = 64;
/// The most packets with a state at a time; the one idle for longest is evicted.
const MOST_WANTED: usize = 512;
/// The most runs of missing packets that are remembered; the oldest are evicted, and count as received.
const MOST_RUNS: usize = 512;
/// Repliers asked for a packet before the source is.
const MOST_TRIED: usize = 2;
/// A state that was idle for this long is removed.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// The links that want a repair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    pub(super) links: ChildSet,
    pub(super) parent: bool,
}

/// What is to be done about a NACK.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// Ignore it: it was acted on already.
    Suppress,
    /// Send a NACK further up.
    Up(Standing),
    /// Wait for other NACKs, then choose a replier.
    Decide,
}

/// A packet for which a replier is to be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) seq: u64,
    pub(super) asking: ChildSet,
    pub(super) tried: [Option<ChildKey>; MOST_TRIED],
    pub(super) standing: Standing,
}

/// The state of one packet (NS).
#[derive(Clone, Copy, Debug)]
struct State {
    wanted: Wanted,
    tried: [Option<ChildKey>; MOST_TRIED],
    /// Until when further NACKs count as duplicates.
    acted_until: Time,
    decide_at: Option<Time>,
    /// The aggregate of the requesters' NACKs.
    standing: Standing,
    touched: Time,
}

/// The states of the packets that are wanted.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    missing: Missing,
    states: Table<State>,
    /// How many decisions are pending.
    pending: usize,
    turn: u64,
}

impl Recovery {
    pub(super) fn state_size(&self) -> usize {
        self.states.len() + self.missing.runs()
    }

    fn state(&mut self, now: Time, seq: u64) -> &mut State {
        if !self.states.contains(seq) && self.states.len() >= MOST_WANTED {
            let oldest = self.states.iter().min_by_key(|(_, state)| state.touched).map(|(seq, _)| seq);
            if let Some(oldest) = oldest {
                self.remove(oldest);
            }
        }
        let state = self.states.entry(seq, || State {
            wanted: Wanted::default(),
            tried: [None; MOST_TRIED],
            acted_until: Time::ZERO,
            decide_at: None,
            standing: Standing::default(),
            touched: now,
        });
        state.touched = now;
        state
    }

    fn remove(&mut self, seq: u64) {
        if self.states.remove(seq).is_some_and(|state| state.decide_at.is_some()) {
            self.pending -= 1;
        }
    }

    /// Packets were lost.
    pub(super) fn lost(&mut self, first: u64, end: u64) {
        self.missing.add(first, end);
        while self.missing.runs() > MOST_RUNS {
            let Some(oldest) = self.missing.first() else { return cannot_be("there are too many runs") };
            self.missing.remove(oldest);
        }
    }

    /// A packet arrived, first sent or repaired.
    pub(super) fn arrived(&mut self, seq: u64) {
        self.missing.remove(seq);
    }

    /// All receivers have the packets before this one.
    pub(super) fn forget(&mut self, below: u64) {
        self.missing.forget(below);
        while let Some((seq, _)) = self.states.first().filter(|(seq, _)| *seq < below) {
            self.remove(seq);
        }
    }

    /// Removes states that are no longer needed.
    pub(super) fn sweep(&mut self, now: Time) {
        self.states.retain(|_, state| state.decide_at.is_some() || now.since(state.touched) < FORGOTTEN);
    }

    /// This router itself lost a packet. Returns whether to request it now.
    pub(super) fn ask_early(
        &mut self,
        now: Time,
        seq: u64,
        asking: ChildSet,
        window: Option<Duration>,
    ) -> bool {
        let state = self.state(now, seq);
        state.wanted.links = ChildSet(state.wanted.links.0 | asking.0);
        if now < state.acted_until {
            return false;
        }
        state.acted_until = now + window.unwrap_or(UNKNOWN_WINDOW);
        true
    }

    /// A child requests a packet. Nothing from `end` on has passed.
    pub(super) fn asked_by_child(
        &mut self,
        now: Time,
        seq: u64,
        link: ChildSet,
        standing: Standing,
        end: u64,
    ) -> Verdict {
        let is_lost_above = seq >= end || self.missing.contains(seq);
        let state = self.state(now, seq);
        let is_first = state.wanted.links.0 == 0 && !state.wanted.parent;
        state.wanted.links = ChildSet(state.wanted.links.0 | link.0);
        state.standing = if is_first { standing } else { together(state.standing, standing) };
        if now < state.acted_until || state.decide_at.is_some() {
            return Verdict::Suppress;
        }
        let has_failed = state.tried.iter().all(Option::is_some);
        if is_lost_above || has_failed { Verdict::Up(state.standing) } else { Verdict::Decide }
    }

    /// The parent requests a packet that all children have. Returns whether to choose a replier.
    pub(super) fn asked_by_parent(&mut self, now: Time, seq: u64, standing: Standing) -> bool {
        if self.missing.contains(seq) {
            return false;
        }
        let state = self.state(now, seq);
        let is_first = state.wanted.links.0 == 0 && !state.wanted.parent;
        state.wanted.parent = true;
        if is_first {
            state.standing = standing;
        }
        if now < state.acted_until || state.decide_at.is_some() {
            return false;
        }
        if state.tried.iter().all(Option::is_some) {
            state.tried = [None; MOST_TRIED];
        }
        true
    }

    /// Schedules the choice of a replier.
    pub(super) fn decide_at(&mut self, seq: u64, at: Time) {
        if let Some(state) = self.states.get_mut(seq)
            && state.decide_at.replace(at).is_none()
        {
            self.pending += 1;
        }
    }

    /// The next packet for which a replier is to be chosen now.
    pub(super) fn take_decision(&mut self, now: Time) -> Option<Choice> {
        if self.pending == 0 {
            return None;
        }
        let is_due = |state: &State| state.decide_at.is_some_and(|at| at <= now);
        let (seq, state) = self.states.iter_mut().find(|(_, state)| is_due(state))?;
        state.decide_at = None;
        self.pending -= 1;
        Some(Choice { seq, asking: state.wanted.links, tried: state.tried, standing: state.standing })
    }

    /// When the next choice of a replier is due.
    pub(super) fn next_decision(&self) -> Option<Time> {
        if self.pending == 0 {
            return None;
        }
        self.states.iter().filter_map(|(_, state)| state.decide_at).min()
    }

    /// A NACK was sent for a packet.
    pub(super) fn on_nack_sent(&mut self, now: Time, seq: u64, window: Option<Duration>) {
        self.state(now, seq).acted_until = now + window.unwrap_or(UNKNOWN_WINDOW);
    }

    /// A child was asked for a packet. Returns in which turn.
    pub(super) fn elected(&mut self, now: Time, seq: u64, key: ChildKey, window: Option<Duration>) -> u64 {
        self.on_nack_sent(now, seq, window);
        self.turn += 1;
        let state = self.state(now, seq);
        if let Some(free) = state.tried.iter_mut().find(|tried| tried.is_none()) {
            *free = Some(key);
        }
        self.turn
    }

    /// A repair arrived. Returns the links that want it, and treats late NACKs for it as answered for a
    /// while. None if it was not requested.
    pub(super) fn repaired(&mut self, now: Time, seq: u64, window: Option<Duration>) -> Option<Wanted> {
        let state = self.states.get_mut(seq)?;
        let wanted = core::mem::take(&mut state.wanted);
        state.acted_until = state.acted_until.max(now + window.unwrap_or(UNKNOWN_WINDOW));
        if state.decide_at.take().is_some() {
            self.pending -= 1;
        }
        Some(wanted)
    }
}

fn together(one: Standing, other: Standing) -> Standing {
    Standing {
        below: one.below.min(other.below),
        end: one.end.max(other.end),
        limit: one.limit.min(other.limit),
    }
}
