//! The receiver's side of a layer: units in order, within the deadline.

use layercast_core::units::{Duration, Time};
use serde::Serialize;

use super::clock::SourceClock;
use super::deframer::{Deframer, Whole};
use super::payload::{Head, SymbolHead, SymbolId};
use super::window::Window;

/// A gap is given up this long before what follows it would be late, so that it is not (CHOICE: the delay of a timer and
/// of the decoding of a block), but at most this part of the deadline.
const MARGIN_US: i64 = 3_000;
const MARGIN_PART: i64 = 10;

/// What became of a layer's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerCounters {
    /// Units delivered.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Units that were whole only after their deadline, and were not delivered.
    pub late: u64,
    /// Units that were lost and not repaired in time.
    pub lost: u64,
    /// Units that were sent while the layer was not held.
    pub absent: u64,
    /// Blocks whose lost symbols were repaired.
    pub repaired: u64,
    /// Packets that are not of a stream.
    pub malformed: u64,
    /// The sum of the delays of units delivered, and the longest one, in µs: from their arrival at the source, less the
    /// shortest transit time.
    pub delay_sum_us: u64,
    /// The longest of them.
    pub delay_max_us: u64,
}

impl LayerCounters {
    /// The mean delay of units delivered, in ms; none before the first.
    pub fn mean_delay_ms(&self) -> Option<f64> {
        (self.units > 0).then(|| self.delay_sum_us as f64 / self.units as f64 / 1e3)
    }
}

/// Why units are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// They were lost, or came too late.
    Lost,
    /// The layer was not held.
    Absent,
}

/// Units that are missing before one that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// How many.
    pub units: u32,
    /// Why.
    pub cause: GapCause,
}

/// A unit that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// Its layer.
    pub layer: u16,
    /// Its number, modulo 2^32.
    pub number: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The time since it arrived at the source, less the shortest transit time.
    pub delay: Duration,
    /// What is missing since the last unit that was delivered.
    pub gap: Option<Gap>,
}

/// The next symbol in order: an index in the first block of the window.
#[derive(Clone, Copy, Debug)]
struct Next(u16);

/// The receiver's side of a layer.
#[derive(Debug)]
pub(super) struct LayerReceiver {
    layer: u16,
    symbol: usize,
    deadline_us: i64,
    /// The most bytes that are kept.
    most: usize,
    window: Window,
    /// None before the first packet since the layer was joined.
    next: Option<Next>,
    deframer: Deframer,
    output: Output,
}

/// What was delivered.
#[derive(Debug, Default)]
struct Output {
    /// The number of the unit after the last that was delivered.
    expected: Option<u32>,
    /// The number of the unit up to which all are counted.
    counted: Option<u32>,
    was_absent: bool,
    counters: LayerCounters,
}

impl LayerReceiver {
    pub(super) fn new(layer: u16, symbol: u16, deadline: Duration, most: usize) -> LayerReceiver {
        let symbol = usize::from(symbol).max(SymbolHead::BYTES);
        LayerReceiver {
            layer,
            symbol,
            deadline_us: i64::try_from(deadline.as_ns() / 1000).unwrap_or(i64::MAX),
            most,
            window: Window::new(symbol),
            next: None,
            deframer: Deframer::default(),
            output: Output::default(),
        }
    }

    pub(super) fn counters(&self) -> LayerCounters {
        self.output.counters
    }

    pub(super) fn malformed(&mut self) {
        self.output.counters.malformed += 1;
    }

    /// Takes a packet, and delivers what is due. Returns in how many µs a gap must be given up, if there is one before a
    /// symbol that is here.
    pub(super) fn packet(
        &mut self,
        now: Time,
        clock: &SourceClock,
        head: Head,
        symbol: &[u8],
        each: &mut dyn FnMut(Unit<'_>),
    ) -> Option<i64> {
        self.insert(now, clock, head, symbol, each);
        self.advance(now, clock, each)
    }

    fn insert(
        &mut self,
        now: Time,
        clock: &SourceClock,
        head: Head,
        symbol: &[u8],
        each: &mut dyn FnMut(Unit<'_>),
    ) {
        let is_whole = match head.symbol {
            SymbolId::Source { .. } => (SymbolHead::BYTES..=self.symbol).contains(&symbol.len()),
            SymbolId::Repair { .. } => symbol.len() == self.symbol,
            SymbolId::End => false,
        };
        if !is_whole {
            self.malformed();
            return;
        }
        let (block, index) = match head.symbol {
            SymbolId::Source { index, .. } => (head.block, index),
            // Of a block that was sent before the layer was joined; the next one follows.
            SymbolId::Repair { .. } | SymbolId::End => (head.block.wrapping_add(1), 0),
        };
        if self.next.is_none() {
            self.begin(block, index);
        }
        let Some(mut place) = self.window.place(head.block) else { return };
        if Window::is_beyond(place) {
            // An outage of many blocks: what is left of those before it is given up.
            self.flush(now, clock, each);
            self.begin(block, index);
            if matches!(head.symbol, SymbolId::Repair { .. }) {
                return;
            }
            place = 0;
        }
        self.window.insert(place, head.symbol, symbol);
    }

    fn begin(&mut self, block: u32, index: u16) {
        self.window.restart(block);
        self.next = Some(Next(index));
        self.deframer.lose();
    }

    /// Delivers what is due, as [`LayerReceiver::packet`] does.
    pub(super) fn advance(
        &mut self,
        now: Time,
        clock: &SourceClock,
        each: &mut dyn FnMut(Unit<'_>),
    ) -> Option<i64> {
        self.deliver(now, clock, false, each)
    }

    /// Delivers what is here, gaps or not.
    pub(super) fn flush(&mut self, now: Time, clock: &SourceClock, each: &mut dyn FnMut(Unit<'_>)) {
        self.deliver(now, clock, true, each);
    }

    /// The layer is no longer held.
    pub(super) fn leave(&mut self, now: Time, clock: &SourceClock, each: &mut dyn FnMut(Unit<'_>)) {
        self.flush(now, clock, each);
        self.next = None;
        self.window.restart(0);
        self.deframer.lose();
        self.output.was_absent = true;
    }

    fn deliver(
        &mut self,
        now: Time,
        clock: &SourceClock,
        at_once: bool,
        each: &mut dyn FnMut(Unit<'_>),
    ) -> Option<i64> {
        let Next(mut index) = self.next?;
        let (layer, deadline_us) = (self.layer, self.deadline_us);
        let margin = MARGIN_US.min(deadline_us / MARGIN_PART);
        let wait = loop {
            if let Some(symbol) = self.window.symbol(index) {
                let output = &mut self.output;
                match SymbolHead::split(symbol) {
                    Ok((head, data)) => self.deframer.feed(head, data, &mut |whole| {
                        output.unit(layer, whole, clock.age_us(now, whole.entered_us), deadline_us, each);
                    }),
                    Err(_) => {
                        output.counters.malformed += 1;
                        self.deframer.lose();
                    }
                }
                index += 1;
                continue;
            }
            if self.window.ends_at(index) {
                self.window.pop();
                index = 0;
                continue;
            }
            if self.window.decode() {
                self.output.counters.repaired += 1;
                continue;
            }
            let Some(((place, held), symbol)) = self.window.next_held(index) else { break None };
            let entered_us = SymbolHead::split(symbol).map_or(0, |(head, _)| head.entered_us);
            let left = deadline_us - margin - clock.age_us(now, entered_us);
            if left > 0 && !at_once && self.window.bytes() <= self.most {
                break Some(left);
            }
            for _ in 0..place {
                self.window.pop();
            }
            index = held;
            self.deframer.lose();
        };
        self.next = Some(Next(index));
        wait
    }
}

impl Output {
    /// A unit is whole.
    fn unit(
        &mut self,
        layer: u16,
        whole: Whole<'_>,
        age_us: i64,
        deadline_us: i64,
        each: &mut dyn FnMut(Unit<'_>),
    ) {
        let next = whole.number.wrapping_add(1);
        let missing = self.counted.map_or(0, |counted| ahead(whole.number, counted));
        match self.was_absent {
            true => self.counters.absent += u64::from(missing),
            false => self.counters.lost += u64::from(missing),
        }
        self.counted = Some(next);
        if age_us > deadline_us {
            self.counters.late += 1;
            return;
        }
        let units = self.expected.map_or(0, |expected| ahead(whole.number, expected));
        let cause = if self.was_absent { GapCause::Absent } else { GapCause::Lost };
        self.expected = Some(next);
        self.was_absent = false;
        let delay_us = u64::try_from(age_us).unwrap_or_default();
        self.counters.units += 1;
        self.counters.bytes += whole.bytes.len() as u64;
        self.counters.delay_sum_us += delay_us;
        self.counters.delay_max_us = self.counters.delay_max_us.max(delay_us);
        each(Unit {
            layer,
            number: whole.number,
            bytes: whole.bytes,
            delay: Duration::from_us(delay_us),
            gap: (units > 0).then_some(Gap { units, cause }),
        });
    }
}

/// How far a number is ahead of another; 0 if it is behind.
fn ahead(number: u32, of: u32) -> u32 {
    let ahead = number.wrapping_sub(of);
    if ahead.cast_signed() < 0 { 0 } else { ahead }
}
