//! From the data of symbols, in order, to units.

use super::input::PREFIX;
use super::payload::SymbolHead;
use super::plan::LONGEST_UNIT;
use layercast_core::Always as _;

/// A unit that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole<'a> {
    /// Its number.
    pub(super) number: u32,
    /// When it arrived at the source, in µs of its clock.
    pub(super) entered_us: u32,
    pub(super) bytes: &'a [u8],
}

/// The unit that is being put together.
#[derive(Debug, Default)]
pub(super) struct Deframer {
    /// Its length in four bytes, and its bytes.
    buffer: Vec<u8>,
    /// Its number, and when it entered. None where the start of the next one must be found.
    current: Option<(u32, u32)>,
}

impl Deframer {
    /// What comes next does not follow what came: a unit that was begun is dropped.
    pub(super) fn lose(&mut self) {
        self.buffer.clear();
        self.current = None;
    }

    /// Takes the data of the next symbol.
    pub(super) fn feed(&mut self, head: SymbolHead, mut data: &[u8], each: &mut dyn FnMut(Whole<'_>)) {
        if self.current.is_none() {
            let Some(start) = head.start else { return };
            data = data.get(usize::from(start)..).always("a unit starts within the data");
            self.buffer.clear();
            self.current = Some((head.unit, head.entered_us));
        } else if self.buffer.is_empty() {
            // A unit begins with this symbol.
            self.current = Some((head.unit, head.entered_us));
        }
        while let Some((number, entered_us)) = self.current.filter(|_| !data.is_empty()) {
            let missing = PREFIX.saturating_sub(self.buffer.len());
            take(&mut self.buffer, &mut data, missing);
            let Some((&prefix, bytes)) = self.buffer.split_first_chunk::<PREFIX>() else { return };
            let length = u32::from_be_bytes(prefix) as usize;
            if length > LONGEST_UNIT {
                // A source sends none that is longer.
                self.lose();
                return;
            }
            let missing = length.saturating_sub(bytes.len());
            take(&mut self.buffer, &mut data, missing);
            let bytes = self.buffer.get(PREFIX..).always("the prefix is there");
            if bytes.len() < length {
                return;
            }
            each(Whole { number, entered_us, bytes });
            self.buffer.clear();
            // What follows in this symbol entered no earlier than its first byte.
            self.current = Some((number.wrapping_add(1), head.entered_us));
        }
    }
}

/// Moves up to `count` bytes.
fn take(to: &mut Vec<u8>, from: &mut &[u8], count: usize) {
    let (first, rest) = from.split_at(count.min(from.len()));
    to.extend_from_slice(first);
    *from = rest;
}
