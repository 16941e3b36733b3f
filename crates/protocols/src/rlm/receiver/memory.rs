//! What a receiver remembers of joins: its own and those of others.

use alloc::vec::Vec;

use layercast_core::units::{Duration, Layer, Time};

/// What is known of one level.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// When any receiver last joined it.
    joined: Option<Time>,
    /// When an experiment that may still cause loss here began.
    pending: Option<Time>,
    /// When this receiver last joined it.
    added: Option<Time>,
    /// Whether its top layer has delivered a packet since then.
    delivers: bool,
}

/// What is known of all levels, which count from 1.
#[derive(Clone, Debug)]
pub(super) struct LevelMemory(Vec<Known>);

fn within(at: Option<Time>, now: Time, span: Duration) -> bool {
    at.is_some_and(|at| at + span > now)
}

impl LevelMemory {
    pub(super) fn new(levels: u16) -> LevelMemory {
        LevelMemory(alloc::vec![Known::default(); usize::from(levels)])
    }

    fn of(&self, level: u16) -> Option<&Known> {
        self.0.get(usize::from(level).checked_sub(1)?)
    }

    fn of_mut(&mut self, level: u16) -> Option<&mut Known> {
        self.0.get_mut(usize::from(level).checked_sub(1)?)
    }

    /// This receiver joins a level. Loss at the base alone is not due to an experiment.
    pub(super) fn on_own_join(&mut self, level: u16, now: Time) {
        if let Some(known) = self.of_mut(level) {
            let experiment = (level > 1).then_some(now);
            let joined = experiment.or(known.joined);
            *known = Known { joined, pending: experiment, added: Some(now), delivers: false };
        }
    }

    /// Another receiver has joined a level, which may cause loss here if it is above ours.
    pub(super) fn on_join(&mut self, level: u16, now: Time, is_above: bool) {
        if let Some(known) = self.of_mut(level) {
            known.joined = Some(now);
            if is_above {
                known.pending = Some(now);
            }
        }
    }

    pub(super) fn on_packet(&mut self, layer: Layer) {
        if let Some(known) = self.0.get_mut(layer.index()) {
            known.delivers = true;
        }
    }

    /// The highest level whose experiment may still cause loss, and when that began.
    pub(super) fn highest_pending(&self, now: Time, blame: Duration) -> Option<(u16, Time)> {
        let pending = |(index, known): (usize, &Known)| {
            let began = known.pending.filter(|_| within(known.pending, now, blame))?;
            Some((index as u16 + 1, began))
        };
        self.0.iter().enumerate().rev().find_map(pending)
    }

    /// Whether any receiver joined one of the levels up to this one a short time ago.
    pub(super) fn joined_within(&self, level: u16, now: Time, span: Duration) -> bool {
        self.0.iter().take(usize::from(level)).any(|known| within(known.joined, now, span))
    }

    pub(super) fn added(&self, level: u16) -> Option<Time> {
        self.of(level).and_then(|known| known.added)
    }

    pub(super) fn added_within(&self, level: u16, now: Time, span: Duration) -> bool {
        within(self.added(level), now, span)
    }

    pub(super) fn delivers(&self, level: u16) -> bool {
        self.of(level).is_some_and(|known| known.delivers)
    }
}

/// The senders of recent announcements: a flood of announcements would stop all experiments.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders {
    newest: [Option<(u32, Time)>; 16],
}

impl Senders {
    /// Whether to accept an announcement: one per sender, and 16 in all, within `span_s`.
    pub(super) fn allow(&mut self, from: u32, now: Time, span_s: f64) -> bool {
        let span = Duration::from_secs_f64(span_s);
        let is_recent = |entry: &Option<(u32, Time)>| within(entry.map(|(_, at)| at), now, span);
        let known = |entry: &Option<(u32, Time)>| entry.is_some_and(|(sender, _)| sender == from);
        if self.newest.iter().any(|entry| known(entry) && is_recent(entry)) {
            return false;
        }
        match self.newest.iter_mut().find(|entry| !is_recent(entry)) {
            Some(room) => {
                *room = Some((from, now));
                true
            }
            None => false,
        }
    }
}
