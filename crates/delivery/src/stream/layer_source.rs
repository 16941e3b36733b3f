//! The source's side of a layer: which symbol each of its packets carries.

use std::collections::VecDeque;

use layercast_core::cannot_be;
use layercast_core::units::{Duration, Rate, Time};
use raptorq::{ObjectTransmissionInformation, SourceBlockEncoder};
use serde::Serialize;

use super::input::{Input, InputCounters};
use super::payload::{BLOCK_SYMBOLS, Head, SymbolHead, SymbolId};
use super::plan::StreamPlan;

/// Parts of the deadline: how long data waits for more of its symbol, how long a block takes, and how much of the layer's
/// rate may wait (CHOICE; `docs/streams.md` adds them up).
const HOLD: u64 = 10;
const BLOCK: u64 = 4;
const BUFFER: u64 = 8;
/// The least that may wait: of a slow layer some symbols, so that packets are full.
const BUFFER_SYMBOLS: usize = 4;
/// The alignment of symbols in bytes.
pub(super) const ALIGNMENT: u8 = 4;

/// What a layer's source has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceCounters {
    /// Source symbols.
    #[serde(rename = "source_symbols")]
    pub source: u64,
    /// Repair symbols.
    #[serde(rename = "repair_symbols")]
    pub repair: u64,
    /// Packets for which there was no data.
    #[serde(rename = "packets_idle")]
    pub idle: u64,
    /// Packets that were not sent, since nobody holds the layer.
    #[serde(rename = "packets_dropped")]
    pub dropped: u64,
}

/// The repair symbols of a block that were not sent yet.
#[derive(Debug)]
struct Repair {
    block: u32,
    /// The block's source symbols.
    count: u16,
    symbols: Vec<u8>,
    next: u16,
    total: u16,
    /// Source symbols that were sent since, each worth `total`; a repair symbol costs `count`.
    credit: u32,
}

/// The source's side of a layer.
#[derive(Debug)]
pub struct LayerSource {
    input: Input,
    symbol: usize,
    /// Repair symbols for each source symbol.
    share: f64,
    deadline: Duration,
    /// The number of the open block, and the source symbols of the one before.
    block: u32,
    before: u16,
    /// The open block.
    open: Vec<u8>,
    count: u16,
    opened: Time,
    repairs: VecDeque<Repair>,
    is_finished: bool,
    counters: SourceCounters,
}

impl LayerSource {
    /// A layer of this rate, with symbols of `symbol` bytes ([`symbol_size`](super::symbol_size)) and `share` repair symbols
    /// for each source symbol: for a block as many as that gives, rounded up, and one more; none with a share of 0.
    pub fn new(plan: &StreamPlan, rate: Rate, symbol: u16, share: f64) -> LayerSource {
        let symbol = usize::from(symbol);
        let waiting = rate.as_bps() / 8.0 * plan.deadline.as_secs_f64() / BUFFER as f64;
        LayerSource {
            input: Input::new((waiting as usize).max(BUFFER_SYMBOLS * symbol)),
            symbol,
            share: share.clamp(0.0, 1.0),
            deadline: plan.deadline,
            block: 0,
            before: 0,
            open: Vec::new(),
            count: 0,
            opened: Time::ZERO,
            repairs: VecDeque::new(),
            is_finished: false,
            counters: SourceCounters::default(),
        }
    }

    /// Whether so much waits that the input must.
    pub fn is_full(&self) -> bool {
        self.input.is_full()
    }

    /// Takes a unit of at most [`LONGEST_UNIT`](super::LONGEST_UNIT) bytes. Called while it is not full.
    pub fn push(&mut self, now: Time, unit: &[u8]) {
        self.input.push(now, unit);
    }

    /// The input has ended.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Whether the input has ended and all is sent.
    pub fn is_done(&self) -> bool {
        self.is_finished && self.input.is_empty() && self.count == 0 && self.repairs.is_empty()
    }

    /// What came.
    pub fn input(&self) -> InputCounters {
        self.input.counters
    }

    /// What was sent.
    pub fn counters(&self) -> SourceCounters {
        self.counters
    }

    /// Writes the payload of the layer's next packet to `room` and returns its length; 0 if there is nothing to send.
    pub fn next(&mut self, now: Time, room: &mut [u8]) -> usize {
        self.input.expire(now, self.deadline);
        if self.is_due(now) {
            self.close();
        }
        let Some((head, room)) = room.split_first_chunk_mut::<{ Head::BYTES }>() else {
            return cannot_be("a packet has room for a symbol");
        };
        let Some(room) = room.get_mut(..self.symbol) else {
            return cannot_be("a packet has room for a symbol");
        };
        let data = self.symbol - SymbolHead::BYTES.min(self.symbol);
        let hold = if self.is_finished { Duration::ZERO } else { part(self.deadline, HOLD) };
        let is_ready = !self.input.is_empty() && self.input.is_ready(now, data, hold);
        let is_turn = self.repairs.front().is_some_and(|repair| repair.credit >= u32::from(repair.count));
        // Of two blocks the older one's repair symbols are overdue.
        let repairs = !self.repairs.is_empty() && (is_turn || !is_ready || self.repairs.len() > 1);
        let sent = if repairs { self.repair(room) } else { self.source(now, is_ready, room) };
        let Some((block, symbol, length)) = sent else {
            self.counters.idle += 1;
            return 0;
        };
        *head = Head { block, symbol, sent_us: now.as_wire_us() }.to_bytes();
        Head::BYTES + length
    }

    /// As [`LayerSource::next`], of a packet that is not sent.
    pub fn drop_next(&mut self, now: Time, room: &mut [u8]) {
        let before = self.counters;
        let dropped = before.dropped + u64::from(self.next(now, room) > 0);
        self.counters = SourceCounters { dropped, ..before };
    }

    /// Writes a payload that says that the whole stream has ended, and returns its length.
    pub fn end(&self, now: Time, room: &mut [u8]) -> usize {
        let Some((head, _)) = room.split_first_chunk_mut() else {
            return cannot_be("a packet has room for a head");
        };
        *head = Head { block: self.block, symbol: SymbolId::End, sent_us: now.as_wire_us() }.to_bytes();
        Head::BYTES
    }

    /// Whether the open block ends.
    fn is_due(&self, now: Time) -> bool {
        let is_old = now.since(self.opened) >= part(self.deadline, BLOCK);
        let is_last = self.is_finished && self.input.is_empty();
        self.count > 0 && (self.count >= BLOCK_SYMBOLS || is_old || is_last)
    }

    fn close(&mut self) {
        let exact = f64::from(self.count) * self.share;
        let total = if self.share > 0.0 { exact.ceil() as u16 + 1 } else { 0 };
        if total > 0
            && let Some(config) = coder(self.count, self.symbol)
        {
            let encoder = SourceBlockEncoder::new(0, &config, &self.open);
            let mut symbols = Vec::with_capacity(usize::from(total) * self.symbol);
            for packet in encoder.repair_packets(0, total.into()) {
                symbols.extend_from_slice(packet.data());
            }
            let (block, count) = (self.block, self.count);
            self.repairs.push_back(Repair { block, count, symbols, next: 0, total, credit: 0 });
        }
        self.before = self.count;
        self.block = self.block.wrapping_add(1);
        self.open.clear();
        self.count = 0;
    }

    fn source(&mut self, now: Time, is_ready: bool, room: &mut [u8]) -> Option<(u32, SymbolId, usize)> {
        if !is_ready {
            return None;
        }
        let length = self.input.fill(room);
        if self.count == 0 {
            self.opened = now;
        }
        self.open.extend_from_slice(room);
        let symbol = SymbolId::Source { index: self.count, before: self.before };
        self.count += 1;
        self.counters.source += 1;
        if let Some(repair) = self.repairs.front_mut() {
            repair.credit = repair.credit.saturating_add(repair.total.into());
        }
        Some((self.block, symbol, length))
    }

    fn repair(&mut self, room: &mut [u8]) -> Option<(u32, SymbolId, usize)> {
        let repair = self.repairs.front_mut()?;
        let number = repair.next;
        let symbol = repair.symbols.chunks_exact(self.symbol).nth(number.into())?;
        room.copy_from_slice(symbol);
        repair.next += 1;
        repair.credit = repair.credit.saturating_sub(repair.count.into());
        let sent = (repair.block, SymbolId::Repair { number, count: repair.count }, symbol.len());
        if repair.next >= repair.total {
            self.repairs.pop_front();
        }
        self.counters.repair += 1;
        Some(sent)
    }
}

/// A part of a time.
fn part(of: Duration, parts: u64) -> Duration {
    Duration::from_ns(of.as_ns() / parts)
}

/// What the coder must know of a block; none if there is nothing to code.
pub(super) fn coder(count: u16, symbol: usize) -> Option<ObjectTransmissionInformation> {
    let size =
        u16::try_from(symbol).ok().filter(|size| *size > 0 && size.is_multiple_of(ALIGNMENT.into()))?;
    let length = u64::from(count) * u64::from(size);
    (count > 0).then(|| ObjectTransmissionInformation::new(length, size, 1, 1, ALIGNMENT))
}
