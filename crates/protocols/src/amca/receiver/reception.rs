//! Which packets have arrived, which are missing, and which of those were requested.

use crate::amca::Data;
use crate::amca::dyram::{Missing, Standing, Table, after_wire};
use layercast_core::units::{Seq, Time, WireSeq};

/// The most missing packets that are requested at a time, however long a gap is.
const MOST_ASKED: usize = 64;

/// The consequences of a data packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataOutcome {
    /// It is new.
    pub(super) is_new: bool,
    /// It repeats the newest one, and nothing is missing.
    pub(super) is_repeated: bool,
    /// How many packets were found missing.
    pub(super) lost: u64,
    /// All packets up to this one have arrived.
    pub(super) deliver: Option<u64>,
    /// The packets up to this one are no longer needed by any node.
    pub(super) release: Option<u64>,
    /// The missing packets are no longer kept anywhere.
    pub(super) is_beyond_repair: bool,
}

/// The state of the packets of a session.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    buffer: u64,
    below: u64,
    end: u64,
    missing: Missing,
    /// NACKs that wait for their repairs: how often they were repeated, and when they are due again.
    asked: Table<(u32, Time)>,
    /// The packets before this one were requested, or have arrived.
    ask_from: u64,
    group_below: u64,
    /// The first packet that is delivered.
    start: u64,
    released: u64,
    has_delivered: bool,
    /// The number after the last packet of the session.
    last_end: Option<u64>,
}

impl Reception {
    /// Begins with the first packet that arrived, or with the first one still kept elsewhere.
    pub(super) fn new(first: &Data, buffer: u64, older: bool) -> Reception {
        let seq = u64::from(first.seq.0);
        let kept = after_wire(first.group_lo, seq).min(seq).max((seq + 1).saturating_sub(buffer));
        let below = if older { kept } else { seq };
        Reception {
            buffer,
            below,
            end: below,
            missing: Missing::default(),
            asked: Table::default(),
            ask_from: below,
            group_below: below,
            start: below,
            released: below,
            has_delivered: false,
            last_end: None,
        }
    }

    pub(super) fn state_size(&self) -> usize {
        self.missing.runs() + self.asked.len()
    }

    pub(super) fn standing(&self) -> Standing {
        Standing { below: self.below, end: self.end, limit: self.below + self.buffer }
    }

    pub(super) fn group_below(&self) -> u64 {
        self.group_below
    }

    /// Whether all packets of the session have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.last_end == Some(self.below)
    }

    pub(super) fn is_last(&self, seq: u64) -> bool {
        self.last_end == Some(seq + 1)
    }

    /// Whether a packet is in the store.
    pub(super) fn holds(&self, seq: u64) -> bool {
        (self.released..self.end).contains(&seq) && !self.missing.contains(seq)
    }

    /// The packet of that number on the wire, if it is in the store.
    pub(super) fn held(&self, wire: WireSeq) -> Option<u64> {
        let seq = wire.expand(Seq(self.end)).0;
        self.holds(seq).then_some(seq)
    }

    /// Accepts a packet. None if it cannot belong to the session, or there is no room for it.
    pub(super) fn accept(&mut self, data: &Data) -> Option<DataOutcome> {
        let seq = data.seq.expand(Seq(self.end)).0;
        if seq >= self.below + self.buffer || self.last_end.is_some_and(|end| seq >= end) {
            return None;
        }
        let group_below = after_wire(data.group_lo, self.end);
        if group_below > self.end.max(seq + 1) {
            return None;
        }
        let before = self.below;
        let mut outcome = DataOutcome::default();
        if seq >= self.end {
            self.missing.add(self.end, seq);
            outcome.lost = seq - self.end;
            self.end = seq + 1;
            outcome.is_new = true;
        } else {
            outcome.is_new = self.missing.remove(seq);
            self.asked.remove(seq);
        }
        if data.is_last && seq + 1 == self.end {
            self.last_end = Some(self.end);
        }
        outcome.is_beyond_repair = self.advance_group(group_below);
        self.below = self.missing.first().unwrap_or(self.end);
        outcome.is_repeated = !outcome.is_new && seq + 1 == self.below && self.below == self.end;
        if self.below > before.max(self.start) {
            self.has_delivered = true;
            outcome.deliver = Some(self.below - 1);
        }
        let released = self.group_below.min(self.below);
        if released > self.released && self.has_delivered {
            self.released = released;
            outcome.release = Some(released - 1);
        }
        Some(outcome)
    }

    /// All receivers have the packets before `group_below`, according to the source. Returns whether one is
    /// missing there that this receiver needs: one that has delivered nothing yet can still begin later.
    fn advance_group(&mut self, group_below: u64) -> bool {
        if group_below <= self.group_below {
            return false;
        }
        self.group_below = group_below;
        if self.missing.first().is_none_or(|first| first >= group_below) {
            return false;
        }
        self.missing.forget(group_below);
        self.asked.forget(group_below);
        self.start = group_below;
        self.has_delivered
    }

    /// The next missing packet not requested yet, if another request is allowed. It is due again at that time.
    pub(super) fn ask_next(&mut self, due: Time) -> Option<u64> {
        if self.asked.len() >= MOST_ASKED {
            return None;
        }
        let seq = self.missing.first_from(self.ask_from)?;
        self.ask_from = seq + 1;
        self.asked.entry(seq, || (0, due));
        Some(seq)
    }

    /// A packet whose NACK is due again, and how often it was repeated.
    pub(super) fn due(&self, now: Time) -> Option<(u64, u32)> {
        let due = self.asked.iter().find(|(_, (_, at))| *at <= now);
        due.map(|(seq, &(retries, _))| (seq, retries))
    }

    /// A NACK was repeated.
    pub(super) fn asked_again(&mut self, seq: u64, due: Time) {
        if let Some((retries, at)) = self.asked.get_mut(seq) {
            (*retries, *at) = (*retries + 1, due);
        }
    }

    /// When the next NACK is due again.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.asked.iter().map(|(_, &(_, at))| at).min()
    }
}
