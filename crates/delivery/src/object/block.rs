//! A source block at a receiver: which of its symbols are here, and where.

use std::collections::BTreeMap;

use super::bits::{has, none_of, put, take};

/// What the place of a repair symbol takes in memory, about.
const REPAIR: usize = 12;

/// A block. Source symbols are in their places in the file. A repair symbol is in the place of a source symbol that is
/// missing, so that it needs no memory; until it is decoded a block has as many such places as it lacks symbols.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// How many source symbols it needs.
    symbols: u32,
    /// How many of its places a repair symbol fits: all, but for one at the end of the file that is shorter.
    places: u32,
    /// The source symbols that are in the file. It takes no memory before there are any, nor do the places.
    present: Vec<u64>,
    source_count: u32,
    /// The places that have repair symbols.
    filled: Vec<u64>,
    /// The place of each repair symbol.
    repair: BTreeMap<u32, u32>,
    /// Repair symbols that found no place.
    surplus: Vec<(u32, Vec<u8>)>,
    pub(super) is_complete: bool,
    /// It has enough symbols to try to complete it.
    pub(super) is_ready: bool,
    /// It is being decoded elsewhere.
    pub(super) is_decoding: bool,
    /// It was forged, and its repair symbols alone were thrown away.
    pub(super) is_doubted: bool,
}

impl Block {
    /// A block of so many source symbols without any of them, and with so many places for repair symbols.
    pub(super) fn new(symbols: u32, places: u32) -> Block {
        Block { symbols, places, ..Block::default() }
    }

    /// One that is complete.
    pub(super) fn complete() -> Block {
        Block { is_complete: true, ..Block::default() }
    }

    /// How many different symbols it has.
    pub(super) fn held(&self) -> u32 {
        self.source_count + self.repair.len() as u32 + self.surplus.len() as u32
    }

    /// How many source symbols it has.
    pub(super) fn source_count(&self) -> u32 {
        self.source_count
    }

    /// Whether a source symbol is in the file.
    pub(super) fn has_source(&self, esi: u32) -> bool {
        has(&self.present, esi.into())
    }

    /// Whether the place of a source symbol has a repair symbol.
    pub(super) fn is_filled(&self, esi: u32) -> bool {
        has(&self.filled, esi.into())
    }

    /// Whether it has a repair symbol.
    pub(super) fn has_repair(&self, esi: u32) -> bool {
        self.repair.contains_key(&esi) || self.surplus.iter().any(|(other, _)| *other == esi)
    }

    /// A source symbol is in its place now, and what was there is not.
    pub(super) fn mark(&mut self, esi: u32) {
        if !self.has_source(esi) {
            self.empty(esi);
            if self.present.is_empty() {
                self.present = none_of(self.symbols.into());
            }
            put(&mut self.present, esi.into());
            self.source_count += 1;
        }
    }

    /// All source symbols are in their places.
    pub(super) fn mark_all(&mut self, symbols: u32) {
        self.drop_repair();
        self.present = none_of(self.symbols.into());
        self.present.fill(u64::MAX);
        self.source_count = symbols;
    }

    /// A place for a repair symbol.
    pub(super) fn gap(&self) -> Option<u32> {
        // From the end: if a source sends source symbols again it begins with the first.
        (0..self.symbols.div_ceil(64)).rev().find_map(|word| {
            let of = |bits: &[u64]| bits.get(word as usize).copied().unwrap_or(0);
            let (present, filled) = (of(&self.present), of(&self.filled));
            let first = word * 64;
            let usable = match self.places.saturating_sub(first) {
                64.. => u64::MAX,
                count => (1 << count) - 1,
            };
            let free = !(present | filled) & usable;
            (free != 0).then(|| first + 63 - free.leading_zeros())
        })
    }

    /// A repair symbol is in a place now, and what was there, or elsewhere of it, is not. False if the place is none for it.
    pub(super) fn fill(&mut self, esi: u32, place: u32) -> bool {
        if place >= self.places || self.has_source(place) {
            return false;
        }
        self.empty(place);
        if self.filled.is_empty() {
            self.filled = none_of(self.symbols.into());
        }
        put(&mut self.filled, place.into());
        if let Some(before) = self.repair.insert(esi, place) {
            take(&mut self.filled, before.into());
        }
        true
    }

    /// Removes the repair symbol of a place.
    fn empty(&mut self, place: u32) {
        if self.is_filled(place) {
            take(&mut self.filled, place.into());
            self.repair.retain(|_, at| *at != place);
        }
    }

    /// Keeps a repair symbol in memory.
    pub(super) fn keep(&mut self, esi: u32, symbol: &[u8]) {
        self.surplus.push((esi, symbol.to_vec()));
    }

    /// The source symbols that are in the file, a bit each.
    pub(super) fn present(&self) -> &[u64] {
        &self.present
    }

    /// The repair symbols in the file, with their places.
    pub(super) fn repair(&self) -> impl Iterator<Item = (u32, u32)> {
        self.repair.iter().map(|(&esi, &place)| (esi, place))
    }

    /// The repair symbols in memory.
    pub(super) fn surplus(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.surplus.iter().map(|(esi, symbol)| (*esi, symbol.as_slice()))
    }

    pub(super) fn drop_repair(&mut self) {
        self.repair.clear();
        self.surplus.clear();
        self.filled = Vec::new();
    }

    /// About how much memory it takes, without repair symbols that found no place.
    pub(super) fn memory(&self) -> usize {
        size_of::<Block>() + 8 * (self.present.len() + self.filled.len()) + REPAIR * self.repair.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repair_symbols_take_the_last_gaps_and_make_way_when_they_are_dropped() {
        let mut block = Block::new(130, 129);
        (0..126).for_each(|esi| block.mark(esi));
        for (esi, place) in [(500, 128), (501, 127), (502, 126)] {
            assert_eq!(block.gap(), Some(place));
            assert!(block.fill(esi, place));
        }
        assert_eq!((block.gap(), block.held(), block.source_count()), (None, 129, 126));
        // The symbol at the end is shorter than a repair symbol.
        assert!(!block.fill(503, 129) && !block.fill(503, 3));
        block.keep(503, b"symbol");
        assert!(block.has_repair(503) && block.has_repair(501) && !block.has_repair(504));
        block.mark(127);
        assert!(!block.has_repair(501));
        assert_eq!(block.repair().collect::<Vec<_>>(), [(500, 128), (502, 126)]);
        block.drop_repair();
        assert_eq!((block.gap(), block.held()), (Some(128), 127));
    }

    #[test]
    fn a_repair_symbol_has_one_place_and_a_place_one_repair_symbol() {
        let mut block = Block::new(10, 10);
        assert!(block.fill(20, 3) && block.fill(20, 4) && block.fill(21, 4));
        assert_eq!(block.repair().collect::<Vec<_>>(), [(21, 4)]);
        assert!(!block.is_filled(3) && block.is_filled(4));
        assert_eq!(Block::new(0, 0).gap(), None);
    }
}
