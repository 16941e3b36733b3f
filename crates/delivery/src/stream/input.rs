//! The units of an input that wait to be sent, and symbols made of them.

use std::collections::VecDeque;

use layercast_core::cannot_be;
use layercast_core::units::{Duration, Time};
use serde::Serialize;

use super::payload::SymbolHead;
use super::plan::LONGEST_UNIT;

/// The length of a unit before its bytes.
pub(super) const PREFIX: usize = 4;

/// What became of an input's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputCounters {
    /// Units that came.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Units that were not sent, since they had waited for longer than the deadline.
    #[serde(rename = "units_expired")]
    pub expired: u64,
}

/// A unit that waits, or a part of one.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Bytes left, the length before it included.
    left: usize,
    /// Whether nothing of it was sent.
    is_whole: bool,
    entered: Time,
}

/// The units of an input that wait to be sent.
#[derive(Debug)]
pub(super) struct Input {
    bytes: VecDeque<u8>,
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting unit of which nothing was sent.
    number: u32,
    /// From how many bytes on it is full.
    limit: usize,
    pub(super) counters: InputCounters,
}

impl Input {
    /// An empty one, which is full from `limit` bytes on.
    pub(super) fn new(limit: usize) -> Input {
        let counters = InputCounters::default();
        Input { bytes: VecDeque::new(), waiting: VecDeque::new(), number: 0, limit, counters }
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= self.limit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a unit, of which at most [`LONGEST_UNIT`] bytes are taken.
    pub(super) fn push(&mut self, now: Time, unit: &[u8]) {
        let unit = unit.get(..LONGEST_UNIT).unwrap_or(unit);
        let length = u32::try_from(unit.len()).unwrap_or(u32::MAX);
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(unit);
        self.waiting.push_back(Waiting { left: PREFIX + unit.len(), is_whole: true, entered: now });
        self.counters.units += 1;
        self.counters.bytes += unit.len() as u64;
    }

    /// Drops units that have waited for longer than `longest` and of which nothing was sent: they could not be there in
    /// time.
    pub(super) fn expire(&mut self, now: Time, longest: Duration) {
        while let Some(first) = self.waiting.front().copied() {
            if !first.is_whole || now.since(first.entered) <= longest {
                return;
            }
            self.waiting.pop_front();
            self.bytes.drain(..first.left.min(self.bytes.len()));
            self.number = self.number.wrapping_add(1);
            self.counters.expired += 1;
        }
    }

    /// Whether there is data for a symbol now: as much as `data` bytes, or some that has waited for `hold`.
    pub(super) fn is_ready(&self, now: Time, data: usize, hold: Duration) -> bool {
        let has_waited = |first: &Waiting| now.since(first.entered) >= hold;
        self.bytes.len() >= data || self.waiting.front().is_some_and(has_waited)
    }

    /// Fills a symbol, whose rest becomes zero. Returns the length without these zeros; 0 if there is no data.
    pub(super) fn fill(&mut self, symbol: &mut [u8]) -> usize {
        let Some(first) = self.waiting.front() else { return 0 };
        let entered_us = first.entered.as_wire_us();
        let Some((head, room)) = symbol.split_first_chunk_mut::<{ SymbolHead::BYTES }>() else {
            return cannot_be("a symbol has room for its head");
        };
        let used = room.len().min(self.bytes.len()).min(usize::from(u16::MAX - 1));
        let (data, rest) = room.split_at_mut(used);
        rest.fill(0);
        let (one, two) = self.bytes.as_slices();
        for (to, from) in data.iter_mut().zip(one.iter().chain(two)) {
            *to = *from;
        }
        self.bytes.drain(..used);
        let (unit, mut start, mut at) = (self.number, None, 0);
        while at < used {
            let Some(first) = self.waiting.front_mut() else {
                cannot_be::<()>("each byte is one of a unit that waits");
                break;
            };
            if first.is_whole {
                start = start.or(u16::try_from(at).ok());
                self.number = self.number.wrapping_add(1);
                first.is_whole = false;
            }
            let taken = first.left.min(used - at);
            (first.left, at) = (first.left - taken, at + taken);
            if first.left == 0 {
                self.waiting.pop_front();
            }
        }
        *head = SymbolHead { entered_us, unit, used: used as u16, start }.to_bytes();
        SymbolHead::BYTES + used
    }
}
